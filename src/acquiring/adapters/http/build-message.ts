// Builds the message of an operation. It never carries a field without a value, and drops facts of the payer that do not fit: they must
// not cost a payment.
import { Compile } from 'typebox/compile';
import type { BankOperation, CardReference, OriginalOperation } from '../../domain/bank-port.ts';
import type { AuthenticationGiven } from '../../domain/authentication.ts';
import type { Initiation } from '../../domain/initiation.ts';
import type { PayerFacts, BrowserFacts } from '../../domain/payer-facts.ts';
import { defined } from '../../../defined.ts';
import type { Money } from '../../../money.ts';
import { payerFields, type AuthoriseMessage, type OperationMessage } from './messages.ts';
import { withoutMisfits } from './fields.ts';

export type ClearCard = {
  readonly number: string;
  /** Such as `2030-12`. A card that only receives payouts may lack it. */
  readonly expiry?: string;
  readonly holder?: string;
  readonly securityCode?: string;
  /** In which the payer entered the card. */
  readonly browser?: BrowserFacts;
  /** Proves an authentication elsewhere, in one message. */
  readonly authenticationValue?: string;
  /** Makes the security code and the value usable again. Call it only when no byte of the message was sent. */
  readonly returnCode?: () => Promise<void>;
};

export type RevealCard = (card: CardReference) => Promise<ClearCard>;

const withoutPayerMisfits = withoutMisfits(
  Object.fromEntries(Object.entries(payerFields).map(([name, schema]) => [name, Compile(schema)])),
);

export async function messageOf(
  operation: BankOperation,
  reveal: RevealCard,
  callbackUrl: string | undefined,
): Promise<OperationMessage> {
  const { terminal, notAfter } = operation;
  const common = {
    merchant: {
      id: terminal.merchantId,
      terminal: terminal.id,
      descriptor: terminal.descriptor,
      ...terminal.merchant,
    },
    ...defined({ callbackUrl, notAfter }),
  };
  switch (operation.kind) {
    case 'authorise': {
      const clear = await reveal(operation.card);
      const card = cardOf(clear, operation.initiation);
      const how = authorisationOf(operation, clear);
      return { card, ...common, ...moneyOf(operation.amount), ...how };
    }
    case 'capture': {
      const { kind, final } = operation;
      return {
        kind,
        ...common,
        ...moneyOf(operation.amount),
        ...originalOf(operation),
        ...defined({ final }),
      };
    }
    case 'refund':
      return { kind: 'refund', ...common, ...moneyOf(operation.amount), ...originalOf(operation) };
    case 'reverse': {
      const part = operation.amount && moneyOf(operation.amount);
      return { kind: 'reverse', ...common, ...originalOf(operation), ...part };
    }
    case 'payout': {
      const card = receivingCardOf(await reveal(operation.card));
      const { sender, purpose, recipient } = operation;
      const how = defined({ sender, purpose, recipient });
      return { kind: 'payout', ...common, ...moneyOf(operation.amount), card, ...how };
    }
    case 'verify': {
      const card = receivingCardOf(await reveal(operation.card));
      return { kind: 'verify', ...common, currency: operation.currency, card };
    }
  }
}

function authorisationOf(operation: BankOperation & { kind: 'authorise' }, clear: ClearCard) {
  const { kind, capture, authentication, authenticated, returnUrl, obligation, attempt } = operation;
  const { authenticationAmount: confirmed, demandsChallenge } = operation;
  const given = authenticated && givenOf(authenticated, clear);
  return {
    kind,
    capture,
    initiation: initiationOf(operation.initiation),
    authentication,
    returnUrl,
    payer: payerOf({ ...defined({ browser: clear.browser }), ...operation.payer }),
    ...given,
    ...defined({
      demandsChallenge,
      authenticationAmount: confirmed && moneyOf(confirmed),
      obligation,
      attempt,
    }),
  };
}

/** Without its value the bank could take the charge for one without authentication. */
function givenOf(authenticated: AuthenticationGiven, { authenticationValue: value }: ClearCard) {
  if ('exemption' in authenticated) return authenticated;
  if (value === undefined) throw new Error('the value of the authentication is used up');
  return { authenticated: { ...authenticated, value } };
}

function initiationOf(initiation: Initiation): AuthoriseMessage['initiation'] {
  if (initiation.by === 'payer') return { ...initiation };
  const { rootNetworkIds: root, previousNetworkIds: previous, ...rest } = initiation;
  return {
    ...rest,
    ...defined({ rootNetworkIds: root && [...root], previousNetworkIds: previous && [...previous] }),
  };
}

function payerOf(payer: PayerFacts): NonNullable<AuthoriseMessage['payer']> {
  return withoutPayerMisfits(defined(payer));
}

function originalOf(operation: {
  readonly originalOperationId: string;
  readonly original?: OriginalOperation;
}) {
  const { originalOperationId, original } = operation;
  if (!original) return { originalOperationId };
  const { amount, references, at } = original;
  return { originalOperationId, original: { ...moneyOf(amount), at, ...defined({ references }) } };
}

/** A payout needs only the number. */
function receivingCardOf({ number, expiry, holder }: ClearCard) {
  return { number, ...defined({ expiry, holder }) };
}

/** A charge without the payer never carries a security code, even if the vault has one. */
function cardOf(card: ClearCard, initiation: Initiation): ClearCard & { expiry: string } {
  const { number, expiry, holder, securityCode } = card;
  if (expiry === undefined) throw new Error('a card without an expiry cannot be charged');
  return {
    number,
    expiry,
    ...defined({ holder }),
    ...(securityCode === undefined || initiation.by === 'merchant' ? {} : { securityCode }),
  };
}

function moneyOf({ minor, currency }: Money) {
  return { amount: Number(minor), currency };
}
