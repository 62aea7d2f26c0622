// Where the card of a new payment comes from: a token of a payer who is present, a parent payment, or a customer.
import type { Series, SeriesTerms } from '../recurring/domain/series.ts';
import type { CardDetails, PaymentSystem } from '../cards/domain/card.ts';
import type { EnteredWith, PaymentResource } from '../cards/domain/payment-resource.ts';
import type { Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { Caller } from '../caller.ts';
import type { Banks } from '../acquiring/banks.ts';
import { unlessPaused, type ChargeRefusal } from '../retry-rules/domain/may-charge.ts';
import { seriesIdOf } from '../recurring/domain/series.ts';
import { accept, refuse, type Outcome } from '../refusal.ts';
import type { PayableInvoice } from './domain/commands.ts';
import { isTaken, publicStatus, type Payment, type PaymentTerms } from './domain/payment.ts';
import { agreedAmountOf } from '../receipts/domain/terms.ts';
import { noSavedCard } from './domain/payer/chargeable-customer.ts';
import type { ChargedAs, Payer } from './domain/payer/payer.ts';
import { findPayment, type WithPayment } from './store/payments.ts';
import { presentPayerOf } from './api/payer-present.ts';
import type { PaymentParams } from './api/schema.ts';
import { defined } from '../defined.ts';
import type { Evaluation, Recurring } from '../recurring/port.ts';
import type { ChargeableCustomers } from './port.ts';
import type { Cards } from '../cards/vault.ts';
import type { PayerAttempts } from '../cards/payer-attempts.ts';

export type CardSourceDeps = {
  readonly db: Database;
  readonly customers: ChargeableCustomers;
  readonly recurring: Recurring;
  readonly cards: Cards;
  readonly payerAttempts: PayerAttempts;
  readonly banks: Pick<Banks, 'pausedUntil'>;
};

export type PayerRefusal =
  | 'invalidRequest'
  | 'invalidPaymentToolToken'
  | 'invalidPaymentSession'
  | 'invalidRecurrentParent'
  | 'customerNotReady'
  | ChargeRefusal['code'];

export type CardSource = {
  /** The card of a payer who is present. */
  presentCard?(db: Database, invoice: PayableInvoice): Promise<Outcome<CardDetails, PayerRefusal>>;
  /** Two requests are the same if these values are equal. */
  readonly identity: readonly unknown[];
  /** The choice is only valid inside the transaction that creates the payment. */
  readonly needsLock?: true;
  /** Writes nothing. With `isLocked`, the rows it read stay locked until the transaction ends. */
  pick(
    db: Database,
    invoice: PayableInvoice,
    isLocked: boolean,
  ): Promise<Outcome<SelectedCard, PayerRefusal>>;
};

export type SelectedCard = {
  readonly payer: Payer;
  readonly paymentSystem: PaymentSystem;
  /** Written by the statement that creates the payment. */
  readonly withPayment: (terms: PaymentTerms) => WithPayment;
};

type Asked = {
  readonly caller: Caller;
  readonly payer: PaymentParams['payer'];
  readonly invoiceId: string;
  /** Undefined if the request does not say where it comes from. */
  readonly address: string | undefined;
  readonly countedAs: string;
  readonly now: Instant;
};
type AskedOf<Type> = Pick<Asked, 'caller' | 'now'> & {
  readonly payer: PaymentParams['payer'] & { payerType: Type };
};
type AskedOfCustomer = AskedOf<'CustomerPayer'>;

export async function cardSourceOf(
  { caller, payer, invoiceId, address, countedAs, now }: Asked,
  deps: CardSourceDeps,
): Promise<Outcome<CardSource, PayerRefusal>> {
  if (payer.payerType === 'RecurrentPayer') return accept(fromParent({ caller, payer, now }, deps));
  if (payer.payerType === 'CustomerPayer') {
    const { present, clientInfo } = payer;
    if (!present || !clientInfo) return accept(fromCustomer({ caller, payer, now }, deps));
    if (address === undefined)
      return refuse('invalidRequest', { message: "Malformed 'x-forwarded-for' header" });
    const enteredWith = presentPayerOf(clientInfo, caller, { address, countedAs });
    return accept(fromSavedCard({ caller, payer, now }, enteredWith, deps));
  }
  const handles = {
    token: payer.paymentToolToken,
    ...defined({ session: payer.paymentSession }),
  };
  const resource = await deps.cards.use(deps.db, caller, handles, now, {
    kind: 'invoice',
    id: invoiceId,
  });
  if (!resource.ok) return resource;
  return accept(fromResource(payer, resource.value, deps.payerAttempts));
}

/** The statement that creates the payment also retains the card. */
function fromResource(
  payer: PaymentParams['payer'] & { payerType: 'PaymentResourcePayer' },
  resource: PaymentResource,
  payerAttempts: PayerAttempts,
): CardSource {
  const { token, session, card, clientInfo } = resource;
  const taken = { type: 'resource', token, session, card, clientInfo, ...contactOf(payer) } as const;
  return {
    presentCard: () => Promise.resolve(accept(card)),
    identity: [payer.payerType, resource.cardMatchHash.toString('hex')],
    pick: () =>
      Promise.resolve(
        accept({
          payer: taken,
          paymentSystem: card.paymentSystem,
          withPayment: () => ({ keeps: token, attempt: payerAttempts.attemptOf(resource) }),
        }),
      ),
  };
}

/** The payment gets a copy of the card, with the facts of this visit. Neither a series nor its consent takes part. */
function fromSavedCard(
  { caller, payer, now }: AskedOfCustomer,
  enteredWith: EnteredWith,
  { customers, cards, payerAttempts }: Pick<CardSourceDeps, 'customers' | 'cards' | 'payerAttempts'>,
): CardSource {
  const { partyId } = caller;
  const { customerID: customerId, sessionInfo, cvv: securityCode } = payer;
  return {
    identity: [payer.payerType, customerId, 'present'],
    async presentCard(db, { shopId }) {
      const found = await savedCardOf(customers, db, { partyId, customerId, shopId });
      return found.ok ? accept(found.value.card.details) : found;
    },
    async pick(db, invoice) {
      const found = await savedCardOf(customers, db, { partyId, customerId, shopId: invoice.shopId });
      if (!found.ok) return found;
      const { card: saved, contactInfo } = found.value;
      const madeFor = caller.kind === 'apiKey' ? undefined : ({ kind: 'invoice', id: invoice.id } as const);
      const copy = {
        partyId,
        token: saved.token,
        clientInfo: enteredWith,
        ...defined({ madeFor, securityCode }),
      };
      const resource = await cards.tokeniseAgain(db, copy, now);
      if (!resource) return noSavedCard();
      const { token, session, card, clientInfo } = resource;
      const savedBy = { customerId, bindingId: saved.bindingId };
      const redirectUrl = sessionInfo?.redirectUrl;
      return accept({
        payer: {
          type: 'resource',
          token,
          session,
          card,
          clientInfo,
          savedBy,
          contactInfo,
          ...defined({ redirectUrl }),
        },
        paymentSystem: card.paymentSystem,
        withPayment: () => ({ keeps: token, attempt: payerAttempts.attemptOf(resource) }),
      });
    },
  };
}

async function savedCardOf(
  customers: ChargeableCustomers,
  db: Database,
  {
    partyId,
    customerId,
    shopId,
  }: { readonly partyId: string; readonly customerId: string; readonly shopId: string },
) {
  const customer = await customers.chargeable(db, partyId, customerId);
  if (!customer) return refuse('invalidRequest', { message: 'Customer not found' });
  if (customer.shopId !== shopId) return refuse('invalidRequest', { message: 'Invalid customer' });
  const { card, contactInfo } = customer;
  return card ? accept({ card, contactInfo }) : noSavedCard();
}

function fromParent(
  { caller, payer, now }: AskedOf<'RecurrentPayer'>,
  { recurring, banks }: Pick<CardSourceDeps, 'recurring' | 'banks'>,
): CardSource {
  const { partyId } = caller;
  const { invoiceID: invoiceId, paymentID: paymentId } = payer.recurrentParentPayment;
  const parent = { invoiceId, paymentId };
  return {
    identity: [payer.payerType, invoiceId, paymentId],
    async pick(db, invoice, isLocked) {
      const { shopId } = invoice;
      const askFor = (seriesId: string) =>
        recurring.evaluate(db, { seriesId, parent, ...chargeOf(invoice) }, now, isLocked);
      // A payment that started a series can always be its parent. For any other payment, read its series from the payment.
      let admission = await askFor(seriesIdOf(parent));
      let previous = admission?.series.rootNetworkTransactionId;
      if (!admission) {
        const found = await findPayment(db, { partyId, ...parent });
        if (!found.ok || found.value.payment.shopId !== shopId) return unknownParent();
        const { payment } = found.value;
        if (!('seriesId' in payment.payer) || !canBeParent(payment)) return unsuitedParent(payment);
        admission = await askFor(payment.payer.seriesId);
        previous = networkTransactionIdOf(payment) ?? admission?.series.rootNetworkTransactionId;
      }
      // A foreign series gets the same response as a missing one. A customer's series has an ID of the same form, but only
      // the customer knows the active card.
      const isOurs = admission?.series.partyId === partyId && admission.series.shopId === shopId;
      if (!isOurs || admission?.series.kind !== 'parent') return unknownParent();
      const { series, token } = admission;
      const seriesId = series.id;
      const verdict = unlessPaused(admission.verdict, await banks.pausedUntil(invoice, now));
      if (!verdict.may) return validationRefusal(verdict, caller);
      return accept({
        payer: {
          type: 'recurrent',
          token,
          seriesId,
          parent,
          warnings: verdict.warnings,
          ...chainOf(series, previous),
          ...chargedAs(series),
          ...(caller.kind === 'apiKey' ? {} : { receiptGoesToConsent: true as const }),
          ...contactOf(payer),
        },
        paymentSystem: series.card.paymentSystem,
        withPayment: charging(recurring, admission),
      });
    },
  };
}

function fromCustomer(
  { caller, payer, now }: AskedOfCustomer,
  { customers, recurring, cards, banks }: Omit<CardSourceDeps, 'db'>,
): CardSource {
  const { partyId } = caller;
  const { customerID: customerId, sessionInfo } = payer;
  return {
    identity: [payer.payerType, customerId],
    needsLock: true,
    async pick(tx, invoice) {
      const found = await savedCardOf(customers, tx, { partyId, customerId, shopId: invoice.shopId });
      if (!found.ok) return found;
      const { card, contactInfo } = found.value;
      const { bindingId, token, details, livemode, networkTransactionId: root } = card;
      const of = { named: card.seriesId, customerId, partyId, livemode, token };
      const seriesId = await recurring.seriesOfCustomer(tx, of);
      const admission = await recurring.evaluate(tx, { seriesId, ...chargeOf(invoice) }, now, true);
      if (!admission) throw new Error(`Customer ${customerId} is ready but has no series.`);
      const verdict = unlessPaused(admission.verdict, await banks.pausedUntil(invoice, now));
      if (!verdict.may) return validationRefusal(verdict, caller);
      // The card was deleted when its consent ended. A later binding renewed the consent and was then revoked.
      if (!(await cards.has(tx, partyId, token))) return noSavedCard();
      return accept({
        payer: {
          type: 'customer',
          customerId,
          bindingId,
          token,
          card: details,
          seriesId,
          warnings: verdict.warnings,
          ...defined({ rootNetworkTransactionId: root }),
          ...chargedAs(admission.series),
          contactInfo,
          ...defined({ redirectUrl: sessionInfo?.redirectUrl }),
        },
        paymentSystem: details.paymentSystem,
        withPayment: charging(recurring, admission),
      });
    },
  };
}

function unknownParent() {
  return refuse('invalidRecurrentParent', {
    hint: 'The shop of the invoice has no series with this payment.',
  });
}

function unsuitedParent({ state, makeRecurrent }: Payment) {
  const hint = makeRecurrent
    ? `The payment is ${publicStatus[state.name]}, not captured.`
    : 'The payment was created without `makeRecurrent`.';
  return refuse('invalidRecurrentParent', { hint });
}

function chargeOf({ id: invoiceId, createdAt: invoiceCreatedAt, amount }: PayableInvoice) {
  return { invoiceId, invoiceCreatedAt, amount };
}

function charging(recurring: Recurring, admission: Evaluation): SelectedCard['withPayment'] {
  return ({ invoiceId, id: paymentId, amount, createdAt }) => ({
    charges: recurring.chargeStarted(admission, { invoiceId, paymentId, amount }, createdAt),
  });
}

/** A refund does not change whether a captured payment can be a parent. */
function canBeParent({ state, makeRecurrent }: Payment): boolean {
  return makeRecurrent && isTaken(state);
}

/** A renewed consent has the IDs of another payment. */
function chainOf(
  { rootNetworkTransactionId, mandate }: Pick<SeriesTerms, 'rootNetworkTransactionId' | 'mandate'>,
  previousNetworkTransactionId: string | undefined,
) {
  const { networkTransactionId, networkIds } = mandate.payment;
  const rootNetworkIds = networkTransactionId === rootNetworkTransactionId ? networkIds : undefined;
  return defined({ rootNetworkTransactionId, previousNetworkTransactionId, rootNetworkIds });
}

function chargedAs({ mandate, declineClass }: Series): ChargedAs {
  return defined({
    agreedAmount: agreedAmountOf(mandate),
    followsLackOfFunds: declineClass === 'funds' ? (true as const) : undefined,
  });
}

function networkTransactionIdOf({ state }: Payment): string | undefined {
  return 'approval' in state ? state.approval.networkTransactionId : undefined;
}

/** The rule names the bank's code, which would help a card tester. Only merchants see it. */
function validationRefusal({ code, rule, pack, declineClass, retryAfter }: ChargeRefusal, { kind }: Caller) {
  const why = kind === 'apiKey' ? { rule, rulePack: pack, ...defined({ declineClass }) } : {};
  return refuse(code, { details: { ...why, ...(retryAfter ? { retryAfter } : {}) } });
}

function contactOf({
  contactInfo,
  sessionInfo,
}: Exclude<PaymentParams['payer'], { payerType: 'CustomerPayer' }>): Pick<
  Payer,
  'contactInfo' | 'redirectUrl'
> {
  const redirectUrl = sessionInfo?.redirectUrl;
  return { contactInfo, ...defined({ redirectUrl }) };
}
