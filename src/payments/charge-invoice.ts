// A charge that the service makes automatically: the payment of an invoice with a customer's saved card, by the same steps as the operation.
import type { Instant } from '../clock.ts';
import { defined } from '../defined.ts';
import type { InstalmentSequence } from '../acquiring/domain/initiation.ts';
import type { CardDetails } from '../cards/domain/card.ts';
import type { DeclineClass } from '../acquiring/domain/decline-class.ts';
import type { Database } from '../platform/database/database.ts';
import { requestFingerprint } from '../platform/http/idempotent-create.ts';
import type { PaymentRef } from '../recurring/domain/series.ts';
import type { Charging } from '../recurring/port.ts';
import { refuse } from '../refusal.ts';
import type { CardSource } from './card-source.ts';
import type { Retry } from './domain/payer/payer.ts';
import { isTaken, publicStatus, type Payment } from './domain/payment.ts';
import { startPayment, type StartPaymentDeps } from './start-payment.ts';
import { findPayableInvoice, findPayments, loadPayment } from './store/payments.ts';

export type ChargeAsked = {
  readonly partyId: string;
  readonly invoiceId: string;
  /** Whose saved card is charged, or whose card of an earlier payment. */
  readonly payer: { readonly customerId: string } | PaymentRef;
  readonly sequence?: InstalmentSequence;
  readonly retry?: Retry;
  readonly waitsForOthers?: true;
};

/** Within a transaction. The shop has agreed to it, so the rules for its own API keys apply. */
export async function chargeInvoice(
  { partyId, invoiceId, payer: of, ...ofSubscription }: ChargeAsked,
  now: Instant,
  deps: StartPaymentDeps,
) {
  const payable = await findPayableInvoice(deps.db, partyId, invoiceId);
  if (!payable) return refuse('invoiceNotFound');
  const caller = { kind: 'apiKey', keyId: 'subscription', partyId, scopes: [] } as const;
  const source = sourceOf(of, { caller, now, ...ofSubscription });
  const wish = {
    params: { flow: { type: 'PaymentFlowInstant' }, payer: source.payer },
    deadline: undefined,
    source,
    fingerprint: requestFingerprint([]),
    isLocked: true,
  } as const;
  return startPayment(payable, { caller, now, wish }, deps);
}

/** The receipt of a charge by a parent goes to the address of its consent. */
function sourceOf(
  of: ChargeAsked['payer'],
  asked: Pick<CardSource, 'caller' | 'now'> & Omit<ChargeAsked, 'partyId' | 'invoiceId' | 'payer'>,
): CardSource {
  if ('customerId' in of)
    return { ...asked, from: 'customer', payer: { payerType: 'CustomerPayer', customerID: of.customerId } };
  const recurrentParentPayment = { invoiceID: of.invoiceId, paymentID: of.paymentId };
  return {
    ...asked,
    from: 'parent',
    payer: { payerType: 'RecurrentPayer', recurrentParentPayment, contactInfo: {} },
  };
}

/** What has paid an invoice, and the payment that later charges can follow. Without a consent there is none. */
export async function paymentOfInvoice(
  db: Database,
  invoice: { readonly partyId: string; readonly invoiceId: string },
): Promise<{ readonly amountMinor: bigint; readonly parent?: PaymentRef } | undefined> {
  for (const { payment } of (await findPayments(db, invoice)) ?? [])
    if (isTaken(payment.state))
      return { amountMinor: payment.state.amount.minor, ...defined({ parent: parentOf(payment) }) };
  return undefined;
}

/** That a payer has entered or saved. */
export async function cardOfPayment(db: Database, name: PaymentRef): Promise<CardDetails | undefined> {
  const { payer } = (await loadPayment(db, name))?.payment ?? {};
  return payer && 'card' in payer ? payer.card : undefined;
}

function parentOf({ invoiceId, id: paymentId, payer, makeRecurrent }: Payment): PaymentRef | undefined {
  if (payer.type === 'recurrent') return payer.parent;
  return payer.type === 'resource' && makeRecurrent ? { invoiceId, paymentId } : undefined;
}

/** No series that has charged the invoice is to charge it again: it is given up, forgiven or paid. */
export async function endObligation(
  tx: Database,
  invoice: { readonly partyId: string; readonly invoiceId: string },
  charging: Pick<Charging, 'obligationEnded'>,
  now: Instant,
): Promise<void> {
  const payments = (await findPayments(tx, invoice)) ?? [];
  const series = new Set(
    payments.flatMap(({ payment: { payer } }) => ('seriesId' in payer ? [payer.seriesId] : [])),
  );
  for (const seriesId of [...series].toSorted())
    await charging.obligationEnded(tx, seriesId, invoice.invoiceId, now);
}

export type ChargeOutcome =
  | { readonly outcome: 'captured' }
  | { readonly outcome: 'unsent' | 'cancelled'; readonly retryAfter?: Instant }
  | {
      readonly outcome: 'failed';
      readonly declineClass: DeclineClass;
      readonly stop?: 'charge';
      readonly retryAfter?: Instant;
    };

/** Undefined while the outcome is not known. */
export async function outcomeOfCharge(
  name: { readonly invoiceId: string; readonly paymentId: string },
  invoiceCreatedAt: Instant,
  now: Instant,
  { db, charging }: { readonly db: Database; readonly charging: Charging },
): Promise<ChargeOutcome | undefined> {
  const stored = await loadPayment(db, name);
  if (!stored) throw new Error(`Payment ${name.invoiceId}/${name.paymentId} of a subscription is not found.`);
  const { state, payer, amount } = stored.payment;
  if (isTaken(state)) return { outcome: 'captured' };
  const status = publicStatus[state.name];
  if (status === 'pending' || status === 'processed') return undefined;
  if (!('seriesId' in payer)) throw new Error('A subscription is charged through a series.');
  const { seriesId } = payer;
  const charge = { invoiceId: name.invoiceId, invoiceCreatedAt, amount };
  const next = await charging.preview(db, seriesId, charge, now);
  const wait = next && !next.decision.may ? defined({ retryAfter: next.decision.retryAfter }) : {};
  if (state.name !== 'failed') return { outcome: 'cancelled', ...wait };
  const { outcome, stop } = await charging.endOfCharge(db, seriesId, name);
  if (outcome === 'unsent') return { outcome: 'unsent', ...wait };
  const { declineClass = 'technical' } = state;
  return { outcome: 'failed', declineClass, ...defined({ stop }), ...wait };
}
