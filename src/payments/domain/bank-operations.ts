// The messages to the bank about a payment, built from its state: a repeat has the same content. Only the end of the last day of a consent
// follows the time zone of the shop.
import { referencesOf } from '../../acquiring/authorisation/domain/approval.ts';
import type { BankOperation, CardReference, OriginalOperation } from '../../acquiring/domain/bank-port.ts';
import type { Initiation } from '../../acquiring/domain/initiation.ts';
import type { PayerFacts, PostalAddress } from '../../acquiring/domain/payer-facts.ts';
import type { StandIn } from '../../acquiring/domain/routing/reroute.ts';
import type { Instant } from '../../clock.ts';
import type { ContactInfo } from '../../recurring/domain/mandate.ts';
import { seriesIdOf } from '../../recurring/domain/series.ts';
import { storedFor } from '../../recurring/domain/stored-for.ts';
import { defined } from '../../defined.ts';
import { authenticationOf, wantedCharge } from './authentication/three-d-secure.ts';
import type { NextAction } from './bank-actions.ts';
import {
  carriesNetworkIds,
  firstChargeIdOf,
  operationIdOf,
  sendUntilOf,
  type Payment,
  type UndoName,
} from './payment.ts';
import type { Money } from '../../money.ts';
import type { Payer } from './payer/payer.ts';

type AbsentPayer = Payer & { readonly type: 'recurrent' | 'customer' };

/** What the exchange log keeps of it, besides the card. */
export function authorisedOf(payment: Payment) {
  const { amount, terminal, flow } = payment;
  return {
    kind: 'authorise',
    operationId: operationIdOf(payment, 'authorise'),
    terminal,
    notAfter: sendUntilOf(payment),
    amount,
    capture: flow.type === 'instant',
  } as const;
}

/** The last day of a consent ends in the time zone. */
export function authorisationOf(payment: Payment, returnUrl: string, timeZone = 'UTC'): BankOperation {
  const { payer, makeRecurrent } = payment;
  const contact = contactOf(payer.contactInfo);
  const common = {
    authentication: authenticationOf(payment),
    returnUrl,
    obligation: payment.invoiceId,
    attempt: Number(payment.id),
    ...authorisedOf(payment),
  } as const;
  if ('seriesId' in payer) {
    const reference = payer.type === 'customer' ? payer.customerId : payer.seriesId;
    // What is spread comes last: V8 defines members after a spread slowly.
    return {
      card: { token: payer.token },
      initiation: initiationOfCharge(payer, payment),
      payer: { reference, ...contact },
      ...common,
    };
  }
  const { ip, fingerprint } = payer.clientInfo;
  const { savedBy } = payer;
  return {
    ...common,
    ...givenIn(payment, { token: payer.token, session: payer.session }),
    initiation: {
      by: 'payer',
      storesCard: makeRecurrent,
      ...(makeRecurrent ? { stores: storedFor(payment.recurrentTerms, timeZone) } : {}),
      ...(savedBy ? { usesStored: true } : {}),
    },
    ...(payment.isSteppedUp ? { demandsChallenge: true } : {}),
    payer: {
      ip,
      fingerprint,
      ...contact,
      ...defined({ reference: savedBy?.customerId ?? seriesOf(payment) }),
    },
  };
}

function initiationOfCharge(payer: AbsentPayer, { id }: Payment): Initiation {
  const { rootNetworkTransactionId, previousNetworkTransactionId } = payer;
  const { rootNetworkIds, previousNetworkIds, agreedAmount, sequence } = payer;
  // The first attempt to collect an invoice repeats nothing.
  const isRepeat = payer.followsLackOfFunds && id !== '1';
  return {
    by: 'merchant',
    reason: payer.chargeReason ?? 'recurring',
    ...defined({ rootNetworkTransactionId, previousNetworkTransactionId }),
    ...defined({ rootNetworkIds, previousNetworkIds, amount: agreedAmount, sequence }),
    ...(isRepeat ? { resubmission: true } : {}),
  };
}

/** That the payment starts. Later charges name the same. */
function seriesOf({ makeRecurrent, invoiceId, id: paymentId }: Payment): string | undefined {
  return makeRecurrent ? seriesIdOf({ invoiceId, paymentId }) : undefined;
}

/** What another server said of the payer, or why they need not be authenticated. The adapter adds the value that proves the first. */
function givenIn({ authenticated: said, exemption, isSteppedUp }: Payment, card: CardReference) {
  if (exemption && !isSteppedUp) return { card, authenticated: { exemption } };
  if (!said) return { card };
  const { keptAs: authentication, ...authenticated } = said;
  return { card: { ...card, authentication }, authenticated };
}

/** Only what banks use for fraud checks. */
function contactOf(contact: ContactInfo): PayerFacts {
  const { email, phoneNumber: phone, firstName, lastName, address: line, city, state } = contact;
  const { postalCode, country } = contact;
  const name = [firstName, lastName].filter(Boolean).join(' ');
  const address: PostalAddress = defined({ line, city, state, postalCode, country });
  const hasAddress = Object.keys(address).length > 0;
  return defined({
    email,
    phone,
    name: name === '' ? undefined : name,
    billingAddress: hasAddress ? address : undefined,
  });
}

/** An original that was never approved has no references. */
function originalOf({ state, amount, createdAt }: Payment): OriginalOperation {
  const approval = 'approval' in state ? state.approval : undefined;
  const references = approval && referencesOf(approval);
  return { amount, at: createdAt, ...defined({ references }) };
}

/** Undoes a charge that does not decide the payment. Of one that was declined first, the references are not known. */
export function undoOf(
  payment: Payment,
  { operation, amount }: { readonly operation: UndoName; readonly amount?: Money },
): BankOperation {
  const isFirst = operation.startsWith('f');
  const common = {
    terminal: payment.terminal,
    operationId: operationIdOf(payment, operation),
    originalOperationId: isFirst ? firstChargeIdOf(payment) : operationIdOf(payment, 'authorise'),
    original: isFirst ? { amount: payment.amount, at: payment.createdAt } : originalOf(payment),
  };
  return amount ? { ...common, kind: 'refund', amount } : { ...common, kind: 'reverse' };
}

export function followUpOf(
  payment: Payment,
  next: NextAction & { do: 'capture' | 'refund' | 'reverse' | 'undo' | 'undoLate' },
): BankOperation {
  const { terminal } = payment;
  const common = {
    terminal,
    originalOperationId: operationIdOf(payment, 'authorise'),
    original: originalOf(payment),
  };
  switch (next.do) {
    case 'capture':
      return {
        ...common,
        kind: 'capture',
        operationId: operationIdOf(payment, 'capture'),
        amount: next.amount,
      };
    case 'refund':
      return {
        ...common,
        kind: 'refund',
        operationId: operationIdOf(payment, { refund: next.id }),
        amount: next.amount,
      };
    case 'reverse':
      return { ...common, kind: 'reverse', operationId: operationIdOf(payment, 'reverse') };
    case 'undo':
      return { ...common, kind: 'refund', operationId: operationIdOf(payment, 'undo'), amount: next.amount };
    case 'undoLate': {
      const late = { ...common, operationId: operationIdOf(payment, 'late') };
      return next.amount ? { ...late, kind: 'refund', amount: next.amount } : { ...late, kind: 'reverse' };
    }
  }
}

/** What another terminal must be able to do to take the place of the payment's own. */
export function standInFor(payment: Payment, now: Instant): StandIn {
  const { payer, terminal, amount, flow } = payment;
  const isCharge = 'seriesId' in payer;
  const network = payer.type === 'recurrent' ? payer.paymentSystem : payer.card.paymentSystem;
  const by = isCharge ? 'merchant' : 'payer';
  return {
    terminal,
    ...(isCharge ? { chargedAt: now } : {}),
    ...(carriesNetworkIds(payment) ? { idsOf: terminal } : {}),
    ...(flow.type === 'hold' ? { heldAt: terminal } : {}),
    wanted: wantedCharge({ ...payment, by, currency: amount.currency, ...defined({ network }) }),
  };
}
