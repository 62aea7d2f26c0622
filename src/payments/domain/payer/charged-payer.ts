// Who pays a charge without the payer present, decided on what was read of its series.
import type { Approval } from '../../../acquiring/authorisation/domain/approval.ts';
import type { DeclineClass } from '../../../acquiring/domain/decline-class.ts';
import type { InstalmentSequence } from '../../../acquiring/domain/initiation.ts';
import type { Caller } from '../../../caller.ts';
import { defined } from '../../../defined.ts';
import { agreedAmountOf } from '../../../receipts/domain/terms.ts';
import type { PaymentRef, Series } from '../../../recurring/domain/series.ts';
import { accept, refuse, type Outcome } from '../../../refusal.ts';
import type { ChargeDecision, ChargeRefusal } from '../../../retry-rules/domain/may-charge.ts';
import { isTaken, publicStatus, type Payment } from '../payment.ts';
import type { ChargeableCustomer } from './chargeable-customer.ts';
import type { ChargedAs, Payer, Retry } from './payer.ts';

/** The series as it was evaluated, and the last word about the charge. */
export type EvaluatedSeries = {
  readonly series: Series;
  /** The token of its card. */
  readonly token: string;
  readonly decision: ChargeDecision;
  /** How the latest attempt to collect the invoice was declined. */
  readonly invoiceDecline?: DeclineClass;
};

export type Contact = Pick<Payer, 'contactInfo' | 'redirectUrl'>;

/** What networks call a payment of a series. */
type NetworkNames = Pick<Approval, 'networkTransactionId' | 'networkIds'>;

type Asked = {
  readonly caller: Caller;
  readonly contact: Contact;
  /** Of a subscription that ends after a number of periods. */
  readonly sequence?: InstalmentSequence;
  readonly retry?: Retry;
};

/** `previous`: how the parent was approved, if it is another payment than the first. */
export function payerOfParent(
  asked: Asked & { readonly parent: PaymentRef },
  { series, token, decision, invoiceDecline }: EvaluatedSeries,
  previous: NetworkNames | undefined,
): Outcome<Payer, ChargeRefusal['code']> {
  const { caller, parent, contact, retry } = asked;
  // The payer paid the first one as they agreed. Which of a later agreement counts as its first is not known.
  const { sequence = isRenewed(series) ? undefined : { number: series.chargesMade + 2 } } = asked;
  if (!decision.may) return refusalOf(decision, caller);
  return accept({
    type: 'recurrent',
    token,
    seriesId: series.id,
    paymentSystem: series.card.paymentSystem,
    parent,
    warnings: decision.warnings,
    ...chainOf(series, previous),
    ...chargedAs(series, invoiceDecline, sequence),
    ...defined({ retry }),
    ...(caller.kind === 'apiKey' ? {} : { receiptGoesToConsent: true as const }),
    ...contact,
  });
}

export function payerOfCustomer(
  asked: Asked & { readonly customerId: string },
  {
    bindingId,
    token,
    details: card,
    networkTransactionId,
    networkIds,
  }: NonNullable<ChargeableCustomer['card']>,
  { series, decision, invoiceDecline }: EvaluatedSeries,
): Outcome<Payer & { type: 'customer' }, ChargeRefusal['code']> {
  const { caller, customerId, contact, sequence, retry } = asked;
  if (!decision.may) return refusalOf(decision, caller);
  return accept({
    type: 'customer',
    customerId,
    bindingId,
    token,
    card,
    seriesId: series.id,
    warnings: decision.warnings,
    ...defined({ rootNetworkTransactionId: networkTransactionId, rootNetworkIds: networkIds }),
    ...chargedAs(series, invoiceDecline, sequence),
    ...defined({ retry }),
    ...contact,
  });
}

/** The series that the payment belongs to, if it can be a parent. A refund does not change that. */
export function seriesOfParent(payment: Payment): Outcome<string, 'invalidRecurrentParent'> {
  const { payer, state, makeRecurrent } = payment;
  if ('seriesId' in payer && makeRecurrent && isTaken(state)) return accept(payer.seriesId);
  const hint = makeRecurrent
    ? `The payment is ${publicStatus[state.name]}, not captured.`
    : 'The payment was created without `makeRecurrent`.';
  return refuse('invalidRecurrentParent', { hint });
}

/** The payer agreed again, on the page of a consent link. */
function isRenewed({ mandate }: Series): boolean {
  return mandate.consent?.link !== undefined;
}

/** A renewed consent has the IDs of another payment. */
function chainOf(
  { rootNetworkTransactionId, mandate }: Pick<Series, 'rootNetworkTransactionId' | 'mandate'>,
  previous: NetworkNames = {},
) {
  const { networkTransactionId, networkIds } = mandate.payment;
  const rootNetworkIds = networkTransactionId === rootNetworkTransactionId ? networkIds : undefined;
  const previousNetworkTransactionId = previous.networkTransactionId ?? rootNetworkTransactionId;
  const { networkIds: previousNetworkIds } = previous;
  return defined({
    rootNetworkTransactionId,
    previousNetworkTransactionId,
    rootNetworkIds,
    previousNetworkIds,
  });
}

function chargedAs(
  { mandate }: Series,
  invoiceDecline: DeclineClass | undefined,
  place: InstalmentSequence | undefined,
): ChargedAs {
  const followsLackOfFunds = invoiceDecline === 'funds' ? (true as const) : undefined;
  const { chargeReason } = mandate;
  const sequence = chargeReason === 'instalment' ? place : undefined;
  return defined({ agreedAmount: agreedAmountOf(mandate), chargeReason, sequence, followsLackOfFunds });
}

/** The rule names the bank's code, which would help a card tester. Only merchants see it. */
function refusalOf({ code, rule, pack, declineClass, retryAfter }: ChargeRefusal, { kind }: Caller) {
  const why = kind === 'apiKey' ? { rule, rulePack: pack, ...defined({ declineClass }) } : {};
  return refuse(code, { details: { ...why, ...(retryAfter ? { retryAfter } : {}) } });
}
