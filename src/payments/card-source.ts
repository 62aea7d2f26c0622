// Where the card of a new payment comes from: a token of a payer who is present, a parent payment, or a customer.
import type { PaymentResource } from '../cards/domain/payment-resource.ts';
import type { Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { Caller } from '../caller.ts';
import type { ChargeRefusal } from '../retry-rules/domain/may-charge.ts';
import { seriesIdOf } from '../recurring/domain/series.ts';
import { accept, refuse, type Outcome } from '../refusal.ts';
import type { PayableInvoice } from './domain/commands.ts';
import { isTaken, type Payer, type Payment, type PaymentTerms } from './domain/payment.ts';
import { findPayment, type WithPayment } from './store/payments.ts';
import type { PaymentParams } from './api/schema.ts';
import { defined } from '../defined.ts';
import type { Evaluation, Recurring } from '../recurring/port.ts';
import type { ChargeableCustomers } from './port.ts';
import type { Cards } from '../cards/vault.ts';

export type CardSourceDeps = {
  readonly db: Database;
  readonly customers: ChargeableCustomers;
  readonly recurring: Recurring;
  readonly cards: Cards;
};

export type PayerRefusal =
  | 'invalidRequest'
  | 'invalidPaymentToolToken'
  | 'invalidPaymentSession'
  | 'invalidRecurrentParent'
  | 'customerNotReady'
  | ChargeRefusal['code'];

export type CardSource = {
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
  /** Written by the statement that creates the payment. */
  readonly withPayment: (terms: PaymentTerms) => WithPayment;
};

type Asked = { readonly caller: Caller; readonly payer: PaymentParams['payer']; readonly now: Instant };

export async function cardSourceOf(
  { caller, payer, now }: Asked,
  deps: CardSourceDeps,
): Promise<Outcome<CardSource, PayerRefusal>> {
  if (payer.payerType === 'RecurrentPayer') return accept(fromParent({ caller, payer, now }, deps.recurring));
  if (payer.payerType === 'CustomerPayer') return accept(fromCustomer({ caller, payer, now }, deps));
  const handles = {
    token: payer.paymentToolToken,
    ...defined({ session: payer.paymentSession }),
  };
  const resource = await deps.cards.use(deps.db, caller, handles, now);
  if (!resource.ok) return resource;
  return accept(fromResource(payer, resource.value));
}

/** The statement that creates the payment also retains the card. */
function fromResource(
  payer: PaymentParams['payer'] & { payerType: 'PaymentResourcePayer' },
  resource: PaymentResource,
): CardSource {
  const { token, session, card, clientInfo } = resource;
  const taken = { type: 'resource', token, session, card, clientInfo, ...contactOf(payer) } as const;
  return {
    identity: [payer.payerType, resource.cardMatchHash.toString('hex')],
    pick: () => Promise.resolve(accept({ payer: taken, withPayment: () => ({ keeps: token }) })),
  };
}

function fromParent(
  { caller, payer, now }: Asked & { payer: { payerType: 'RecurrentPayer' } },
  recurring: Recurring,
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
        if (!found.ok) return refuse('invalidRecurrentParent');
        const { payment } = found.value;
        if (!('seriesId' in payment.payer) || !canBeParent(payment)) return refuse('invalidRecurrentParent');
        admission = await askFor(payment.payer.seriesId);
        previous = networkTransactionIdOf(payment) ?? admission?.series.rootNetworkTransactionId;
      }
      // A foreign series gets the same response as a missing one. A customer's series has an ID of the same form, but only
      // the customer knows the active card.
      const isOurs = admission?.series.partyId === partyId && admission.series.shopId === shopId;
      if (!isOurs || admission?.series.kind !== 'parent') return refuse('invalidRecurrentParent');
      const { series, token, verdict } = admission;
      const seriesId = series.id;
      if (!verdict.may) return validationRefusal(verdict, caller);
      const root = series.rootNetworkTransactionId;
      return accept({
        payer: {
          type: 'recurrent',
          token,
          seriesId,
          parent,
          warnings: verdict.warnings,
          ...defined({ rootNetworkTransactionId: root, previousNetworkTransactionId: previous }),
          ...(caller.kind === 'apiKey' ? {} : { receiptGoesToConsent: true as const }),
          ...contactOf(payer),
        },
        withPayment: charging(recurring, admission),
      });
    },
  };
}

function fromCustomer(
  { caller, payer, now }: Asked & { payer: { payerType: 'CustomerPayer' } },
  { customers, recurring, cards }: Pick<CardSourceDeps, 'customers' | 'recurring' | 'cards'>,
): CardSource {
  const { partyId } = caller;
  const { customerID: customerId, sessionInfo } = payer;
  return {
    identity: [payer.payerType, customerId],
    needsLock: true,
    async pick(tx, invoice) {
      const customer = await customers.chargeable(tx, partyId, customerId);
      if (!customer) return refuse('invalidRequest', { message: 'Customer not found' });
      if (customer.shopId !== invoice.shopId)
        return refuse('invalidRequest', { message: 'Invalid customer' });
      const { card, contactInfo } = customer;
      if (!card) return refuse('customerNotReady');
      const { bindingId, token, details, livemode, networkTransactionId: root } = card;
      const of = { named: card.seriesId, customerId, partyId, livemode, token };
      const seriesId = await recurring.seriesOfCustomer(tx, of);
      const admission = await recurring.evaluate(tx, { seriesId, ...chargeOf(invoice) }, now, true);
      if (!admission) throw new Error(`Customer ${customerId} is ready but has no series.`);
      const { verdict } = admission;
      if (!verdict.may) return validationRefusal(verdict, caller);
      // The card was deleted when its consent ended. A later binding renewed the consent and was then revoked.
      if (!(await cards.has(tx, partyId, token))) return refuse('customerNotReady');
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
          contactInfo,
          ...defined({ redirectUrl: sessionInfo?.redirectUrl }),
        },
        withPayment: charging(recurring, admission),
      });
    },
  };
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

function networkTransactionIdOf({ state }: Payment): string | undefined {
  return 'approval' in state ? state.approval.networkTransactionId : undefined;
}

/** The rule names the bank's code, which would help a card tester. Only merchants see it. */
function validationRefusal({ code, rule, pack, retryAfter }: ChargeRefusal, { kind }: Caller) {
  const why = kind === 'apiKey' ? { rule, rulePack: pack } : {};
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
