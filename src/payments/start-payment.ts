// Starts a payment: of a request that creates one, of a charge with its invoice, and of a subscription. The response does not wait for
// the bank.
import { hash } from 'node:crypto';
import type { Banks } from '../acquiring/banks.ts';
import type { Terminal } from '../acquiring/domain/bank-port.ts';
import type { Caller } from '../caller.ts';
import type { CardDetails } from '../cards/domain/card.ts';
import type { Instant } from '../clock.ts';
import { defined } from '../defined.ts';
import { mayReturn } from '../merchants/domain/return-address.ts';
import type { Shop } from '../merchants/domain/party.ts';
import type { Merchants } from '../merchants/merchants.ts';
import { allOrNothing } from '../platform/database/all-or-nothing.ts';
import type { Database } from '../platform/database/database.ts';
import { withSince } from '../platform/events/since.ts';
import { validationMessage } from '../platform/http/errors/validate.ts';
import { initialClaim, type JobRunner } from '../platform/jobs/job-runner.ts';
import type { AccessTokens } from '../platform/keys/access-token.ts';
import { mandateGiven } from '../recurring/api/schema.ts';
import { consentWarnings } from '../recurring/domain/mandate.ts';
import { accept, refuse, type Outcome, type Warning } from '../refusal.ts';
import { kept, requireUsable } from './api/authenticated-elsewhere.ts';
import { paymentBody, unlistedReturn, type PaymentParams } from './api/schema.ts';
import {
  presentCardOf,
  selectCard,
  withPaymentOf,
  type CardSource,
  type CardSourceDeps,
  type SelectedCard,
} from './card-source.ts';
import { keptWish, wantedCharge, type KeptWish } from './domain/authentication/three-d-secure.ts';
import {
  recurrenceOf,
  requirePayable,
  startedBy,
  type PayableInvoice,
  type Recurrence,
  type StartPayment,
} from './domain/commands.ts';
import type { Payer } from './domain/payer/payer.ts';
import { storeNewPayment, type findPayableInvoice, type NewPayment } from './store/payments.ts';

export type StartPaymentDeps = CardSourceDeps & {
  readonly merchants: Merchants;
  readonly banks: Banks;
  readonly jobs: Pick<JobRunner<{ payment: NewPayment }>, 'run'>;
  readonly publicUrl: () => string;
  readonly tokens: Pick<AccessTokens, 'verify'>;
};

/** A payment as it is asked for, by a request or by the service itself. */
export type PaymentWish = {
  readonly params: PaymentParams;
  readonly deadline: Instant | undefined;
  readonly source: CardSource;
  readonly fingerprint: Buffer;
  /** What the names of members begin with in messages. */
  readonly where?: string;
  /** In a transaction that the rows it reads stay locked for. */
  readonly isLocked: boolean;
};
type Asked = { readonly caller: Caller; readonly now: Instant; readonly wish: PaymentWish };
/** How long a hold lasts is known with its terminal and card. */
type WantedFlow = { readonly type: 'instant' } | Omit<StartPayment['flow'] & { type: 'hold' }, 'days'>;
type Command = Omit<
  StartPayment,
  'terminal' | 'livemode' | 'fees' | 'payer' | 'flow' | keyof KeptWish | 'authenticated'
> & {
  readonly flow: WantedFlow;
};

export async function startPayment(
  payable: NonNullable<Awaited<ReturnType<typeof findPayableInvoice>>>,
  asked: Asked,
  deps: StartPaymentDeps,
) {
  const { caller, now, wish } = asked;
  const { params } = wish;
  const { db, merchants, banks, jobs } = deps;
  const recurrence = recurrenceFor(asked, payable.invoice);
  const problem = recurrenceProblem(params, recurrence);
  if (problem !== undefined) return refuse('invalidRequest', { message: problem });
  const shop = await merchants.trading(payable.invoice);
  if (!shop.ok) return shop;
  const { redirectUrl } = params.payer.sessionInfo ?? {};
  if (redirectUrl !== undefined && !mayReturn(redirectUrl, shop.value.origins, [deps.publicUrl()]))
    return unlistedReturn(`${wish.where ?? ''}payer.`);
  const mayStart = requirePayable(payable.invoice, wish, now);
  if (!mayStart.ok) return withSince(db, mayStart, payable.invoice.id);
  const allowed = await allowedByShop(shop.value, asked, recurrence, deps);
  if (!allowed.ok) return allowed;
  const presentCard = await presentCardOf(wish.source, deps, payable.invoice);
  if (!presentCard.ok) return presentCard;
  const present = presentCard.value;
  const refused =
    present && (await deps.payerAttempts.refusalBefore(payable.invoice, present, payable.payerAttempts));
  if (refused) return refused;
  const { authenticated } = params;
  const fits = present && (await requireUsable(db, { authenticated, now }, payable.invoice, present));
  if (fits && !fits.ok) return fits;
  const secured = present ? await threeDSecureOf(shop.value, params, present, deps) : accept({});
  if (!secured.ok) return secured;
  const { currency } = payable.invoice.amount;
  const by = present ? 'payer' : 'merchant';
  const { livemode, fees } = shop.value;
  const command = { ...commandOf(wish), ...recurrence, ...secured.value, livemode, fees };
  const terminalFor = (network: string, payer: Payer) => {
    const wanted = wantedCharge({ ...command, authenticated, by, currency, network, payer });
    return present ? banks.terminalFor(shop.value, wanted) : banks.terminalOfCharge(shop.value, wanted, now);
  };
  const store = (on: Database) => storePayment(on, payable, { ...asked, command, terminalFor }, deps);
  const stored = await (wish.isLocked ? allOrNothing(db, store) : db.withSavepoint(store));
  if (stored === 'versionConflict' || !stored.ok) return stored;
  const { payment } = stored.value.stored;
  db.afterCommit(() => jobs.run('payment', [payment.invoiceId, payment.id], now, stored.value));
  return accept(paymentBody(payment, caller), allowed.value);
}

/** An invoice that changed since it was read is a version conflict. */
async function storePayment(
  db: Database,
  { invoice, version: invoiceVersion }: { readonly invoice: PayableInvoice; readonly version: number },
  {
    now,
    wish,
    command,
    terminalFor,
  }: Asked & {
    readonly command: Command & Pick<StartPayment, 'livemode' | 'fees' | keyof KeptWish>;
    readonly terminalFor: (network: string, payer: Payer) => ReturnType<Banks['terminalFor']>;
  },
  deps: StartPaymentDeps,
) {
  const selected = await selectCard(wish, { ...deps, db }, invoice);
  if (!selected.ok) return selected;
  const { payer, paymentSystem } = selected.value;
  const terminal = await terminalFor(paymentSystem, payer);
  if (!terminal.ok) return terminal;
  const routed = { ...command, terminal: terminal.value };
  const flow = await flowWithDays(invoice, routed, selected.value, deps.banks);
  const { partyId } = invoice;
  const { authenticated: given } = wish.params;
  const authenticated = given && (await kept(deps.cards, db, given, { partyId, payer }));
  const started = startedBy({ ...routed, ...defined({ authenticated }), flow, payer }, invoice, now);
  const stored = await storeNewPayment(db, started, {
    invoiceVersion,
    fingerprint: command.externalId === undefined ? null : wish.fingerprint,
    claim: initialClaim(now),
    withPayment: withPaymentOf(selected.value, started.terms, deps),
  });
  if (stored === 'versionConflict') return stored;
  return 'why' in stored ? deps.payerAttempts.refusalOf(db, stored) : accept(stored);
}

/** What the wish means for its invoice. Charges without a payer follow their own request. */
export function recurrenceFor(
  { caller, wish }: { readonly caller: Caller; readonly wish: Pick<PaymentWish, 'params' | 'deadline'> },
  invoice: Pick<PayableInvoice, 'recurring'> = {},
): Recurrence {
  const command = commandOf(wish);
  const isEntered = wish.params.payer.payerType === 'PaymentResourcePayer';
  return isEntered ? recurrenceOf(command, invoice, caller.kind === 'apiKey') : command;
}

export const needsSavedCard = (where: string) =>
  validationMessage(
    `${where}recurrentTerms`,
    'no_match',
    'requires makeRecurrent and a PaymentResourcePayer',
  );

/** Checks that need to know what the invoice says. A card that is saved is always authenticated. */
function recurrenceProblem(
  { recurrentTerms, threeDSecure, exemption, authenticated }: PaymentParams,
  { makeRecurrent }: Recurrence,
): string | undefined {
  if (recurrentTerms && !makeRecurrent) return needsSavedCard('');
  if (!makeRecurrent) return undefined;
  if (authenticated?.status === 'A')
    return validationMessage('authenticated.status', 'no_match', 'must be Y with makeRecurrent');
  if (exemption !== undefined)
    return validationMessage('exemption', 'no_match', 'must not be sent with makeRecurrent');
  if (threeDSecure !== 'never') return undefined;
  return validationMessage('threeDSecure', 'no_match', 'must not be never with makeRecurrent');
}

async function threeDSecureOf(
  shop: Shop,
  { threeDSecure: request, exemption, authenticated }: PaymentParams,
  card: CardDetails,
  { payerAttempts }: StartPaymentDeps,
): Promise<Outcome<KeptWish, 'authenticationMismatch'>> {
  const { partyId, id: shopId, threeDSecure } = shop;
  const isChallenged = await payerAttempts.isChallenged({ partyId, shopId }, card);
  const wish = keptWish({ request, exemption, shop: threeDSecure, isChallenged });
  if (!authenticated) return accept(wish);
  // An attempt may shift the liability, and does not show who the payer is.
  if (wish.threeDSecure === 'always' && authenticated.status === 'A')
    return refuse('authenticationMismatch', {
      hint: 'The shop charges only payers who are authenticated. Send a result with status Y.',
    });
  return accept({});
}

async function flowWithDays(
  shop: PayableInvoice,
  { flow, terminal }: { readonly flow: WantedFlow; readonly terminal: Terminal },
  { payer, paymentSystem }: SelectedCard,
  banks: Banks,
): Promise<StartPayment['flow']> {
  if (flow.type !== 'hold') return flow;
  const initiation = payer.type === 'resource' ? 'payerPresent' : 'withoutPayer';
  return { ...flow, days: await banks.holdDays(shop, terminal, paymentSystem, initiation) };
}

/** What the shop's own settings say: a refusal, or warnings about the consent. Most payments need no lookup. */
async function allowedByShop(
  { partyId, id: shopId }: Shop,
  { caller, wish: { params } }: Asked,
  { makeRecurrent, recurrentTerms }: Recurrence,
  { db, consents }: Pick<StartPaymentDeps, 'db' | 'consents'>,
): Promise<Outcome<Warning[], 'operationNotPermitted'>> {
  const { payer } = params;
  // The customer's own token was checked: that is no charge without the payer.
  if (payer.payerType === 'CustomerPayer' && payer.customerAccessToken !== undefined) return accept([]);
  const isCharge = payer.payerType !== 'PaymentResourcePayer';
  if (isCharge ? caller.kind === 'apiKey' : !makeRecurrent) return accept([]);
  const settings = await consents.settings(db, { partyId, shopId });
  if (isCharge && settings.needsApiKey)
    return refuse('operationNotPermitted', {
      message: 'This shop accepts recurring charges only with an API key',
    });
  if (isCharge) return accept([]);
  if (settings.requireConsentEvidence && !recurrentTerms?.consent)
    return refuse('operationNotPermitted', {
      message: 'This shop saves a card only with recurrentTerms.consent. Send the consent.',
    });
  return accept(consentWarnings(recurrentTerms, settings.terms));
}

function commandOf({ params, deadline }: Pick<PaymentWish, 'params' | 'deadline'>): Command {
  const { metadata, externalID, recurrentTerms, makeRecurrent = false } = params;
  return {
    flow: flowOf(params.flow),
    makeRecurrent,
    ...defined({
      recurrentTerms: recurrentTerms && mandateGiven(recurrentTerms, sha256),
      deadline,
      metadata,
      externalId: externalID,
    }),
  };
}

function sha256(text: string): string {
  return hash('sha256', text);
}

export function flowOf(flow: PaymentParams['flow']): WantedFlow {
  return flow?.type === 'PaymentFlowHold'
    ? { type: 'hold', onExpiration: flow.onHoldExpiration ?? 'cancel' }
    : { type: 'instant' };
}
