// Changes of a payment in SQL. One statement, guarded by the version, writes the payment, its invoice, events, refund and
// journal in one round trip.
import type { ChangeOptions } from '../../acquiring/authorisation/job.ts';
import type { BankResponse } from '../../acquiring/domain/bank-port.ts';
import { exchangeParameters, recordExchanges } from '../../acquiring/exchange-log/store/exchange-rows.ts';
import { failure } from '../../acquiring/store/codec.ts';
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { initialClaim } from '../../platform/jobs/job-runner.ts';
import { writeStatement } from '../../platform/database/batches/write-statement.ts';
import { recordExternalId } from '../../platform/database/external-id.ts';
import { guardedWrite } from '../../platform/database/guarded-write.ts';
import { statement, stored } from '../../platform/database/statement.ts';
import { appendEvents, changedAt, eventsOf } from '../../platform/events/log.ts';
import { currency } from '../../platform/database/codec.ts';
import { refundStatus } from './refunds.ts';
import {
  attemptIn,
  decideAttempt,
  decisionParameters,
  decisionRow,
  forgetAttempt,
} from '../../cards/store/attempt-counting.ts';
import { cart as cartCodec } from '../../invoices/store/codec.ts';
import type { Journal } from '../../platform/ledger/domain/ledger.ts';
import {
  journalParameters,
  journalValues,
  recording,
  recordJournal,
} from '../../platform/ledger/store/journals.ts';
import type { PayerEmail } from '../../emails/domain/payer-email.ts';
import { approvedCharge, type ApprovedCharge } from '../../recurring/store/charge-changes.ts';
import { exchangesOfChange } from '../domain/exchanges/exchanges.ts';
import {
  evolve,
  isInProgress,
  wakeOf,
  withInteractionEnd,
  type Payment,
  type PaymentFact,
} from '../domain/payment.ts';
import { invoiceLogFact, type InvoiceLogFact } from './codec.ts';
import { journalOf } from '../domain/payment-postings.ts';
import { paymentColumns, rowOf, type StoredPayment } from './rows.ts';

const parameters = {
  invoice_id: 'text',
  payment_id: 'text',
  version: 'int4',
  status: 'text',
  captured_minor: 'int8?',
  refunded_minor: 'int8',
  state: paymentColumns.state,
  wake_at: 'timestamptz?',
  attempts: 'int4',
  invoice_paid: 'bool',
  in_progress: 'bool',
  ...eventsOf(invoiceLogFact),
  happened_at: 'timestamptz',
  ...exchangeParameters,
  ...journalParameters,
} as const;

/** One event for each list of facts; `more` adds writes. */
function changeText(more = '', alsoSet = ''): string {
  return `
    with moved as (
      update payment
      set version = payment.version + 1, status = :status, captured_minor = :captured_minor, refunded_minor = :refunded_minor,
          state = :state, wake_at = :wake_at, attempts = :attempts, stuck_at = null, stuck_reason = null${alsoSet}
      where payment.invoice_id = :invoice_id and payment.payment_id = :payment_id and payment.version = :version
      returning payment.invoice_id
    ), changed as (
      update invoice
      set version = invoice.version + json_array_length(:events), ${changedAt('invoice')},
          status = case when :invoice_paid then 'paid' else status end,
          payment_in_progress = :in_progress,
          wake_at = case when :in_progress or :invoice_paid or status <> 'unpaid' then null else due_date end
      from moved where invoice.invoice_id = moved.invoice_id
      returning invoice.invoice_id, party_id, invoice.version, invoice.changed_at
    ), logged as (
      ${appendEvents('invoice', 'invoice_id')}
    ), exchanged as (
      ${recordExchanges('changed')}
    )${more}
    select version, ${recordJournal('invoice_id')} as journal from changed`;
}
const row = { version: 'int4', journal: 'text?' } as const;

/** Also decides the attempt of a payer who was present. */
const changePayment = statement({
  name: 'change_payment',
  parameters: { ...parameters, ...decisionParameters },
  row,
  text: changeText(
    `, ${attemptIn('payment', 'invoice_id = :invoice_id and payment_id = :payment_id')}, ${decideAttempt('moved', ':invoice_id')}`,
    `, ${forgetAttempt}`,
  ),
});

/** No row means a version conflict, or that the charge has ended. */
const approveCharge = writeStatement({
  name: 'approve_charge',
  leavesOut: 'held',
  change: { ...parameters, ...approvedCharge },
  row: { is_posted: 'bool' },
  text: 'select asker, is_posted from approve_charges(:changes)',
});

const startRefund = statement({
  name: 'start_refund',
  parameters: {
    ...parameters,
    refund_id: 'text',
    created_at: 'timestamptz',
    amount_minor: 'int8',
    currency: stored('text', currency),
    fee_minor: 'int8',
    reason: 'text?',
    cart: stored('json?', cartCodec),
    external_id: 'text?',
    fingerprint: 'bytea?',
    shop_id: 'text',
    waits_until: 'timestamptz?',
  },
  row,
  text: changeText(`, identified as (
      ${recordExternalId('createRefund', ":invoice_id || '.' || :payment_id || '.' || :refund_id")}
    ), made as (
      insert into refund (invoice_id, payment_id, refund_id, party_id, created_at, status, amount_minor, currency,
        fee_minor, reason, cart, external_id, waits_until)
      select :invoice_id, :payment_id, :refund_id, party_id, :created_at, 'pending', :amount_minor, :currency,
        :fee_minor, :reason, :cart, :external_id, :waits_until
      from changed
    ), queued as (
      insert into waiting_refund (invoice_id, payment_id, refund_id, party_id, shop_id, created_at)
      select :invoice_id, :payment_id, :refund_id, party_id, :shop_id, :created_at
      from changed where :waits_until is not null
    )`),
});

/** A waiting refund leaves the queue, whether it got its money or failed. */
const leaveQueue = `, left_queue as (
      delete from waiting_refund using changed
      where waiting_refund.invoice_id = :invoice_id and payment_id = :payment_id and refund_id = :refund_id
    )`;

const fundRefund = statement({
  name: 'fund_refund',
  parameters: { ...parameters, refund_id: 'text' },
  row,
  text: changeText(`, funded as (
      update refund set waits_until = null
      from changed where refund.invoice_id = :invoice_id and payment_id = :payment_id and refund_id = :refund_id
    )${leaveQueue}`),
});

const endRefund = statement({
  name: 'end_refund',
  parameters: {
    ...parameters,
    refund_id: 'text',
    refund_status: refundStatus,
    failure: stored('json?', failure),
    rrn: 'text?',
    arn: 'text?',
  },
  row,
  text: changeText(`, ended as (
      update refund set status = :refund_status, failure = :failure, waits_until = null, rrn = coalesce(:rrn, rrn),
        arn = coalesce(:arn, arn)
      from changed where refund.invoice_id = :invoice_id and payment_id = :payment_id and refund_id = :refund_id
    )${leaveQueue}`),
});

/** Only a capture that failed takes money from a shop here. */
export class ShopLacksMoney extends Error {}

/** Undefined after a version conflict. */
export async function storeEvents(
  db: Database,
  stored: StoredPayment,
  events: readonly (readonly PaymentFact[])[],
  now: Instant,
  { alsoWrite, keepClaim = false, decidedAt = now, answer }: ChangeOptions = {},
): Promise<Payment | undefined> {
  const { payment, values, journal } = changeOf(stored, events, now, { keepClaim, answer });
  const ended = events
    .flat()
    .find(
      ({ type }) => type === 'refund_succeeded' || type === 'refund_failed' || type === 'refund_returned',
    );
  const writeOn = (on: Database) =>
    ended && 'refundId' in ended
      ? on.run(endRefund, {
          ...values,
          refund_id: ended.refundId,
          refund_status: 'failure' in ended ? 'failed' : 'succeeded',
          failure: 'failure' in ended ? ended.failure : null,
          rrn: ended.type === 'refund_succeeded' ? (ended.rrn ?? null) : null,
          arn: ended.type === 'refund_succeeded' ? (ended.arn ?? null) : null,
        })
      : on.run(changePayment, {
          ...values,
          ...decisionRow(stored.payment.state, payment.state, decidedAt),
        });
  const rows = await recording(db, journal, () => guardedWrite(db, writeOn, alsoWrite));
  if (rows === 'insufficient') throw new ShopLacksMoney('The shop lacks the money that the bank takes back.');
  return rows.length > 0 ? payment : undefined;
}

/** Writes an approved charge, its series and its receipt. Undefined if one of them changed since it was read; then nothing is written. */
export async function storeApprovedCharge(
  db: Database,
  stored: StoredPayment,
  events: readonly (readonly PaymentFact[])[],
  { written, payerEmail }: ApprovedCharge,
  now: Instant,
  answer: BankResponse | undefined,
): Promise<{ readonly payment: Payment; readonly payerEmail?: PayerEmail } | undefined> {
  const { payment, values, journal } = changeOf(stored, events, now, { keepClaim: true, answer });
  // Not by a second spread, which defines so many members slowly in V8.
  const change = Object.assign({}, values, written);
  const rows = await recording(db, journal, () => db.run(approveCharge, change));
  const [row] = rows === 'insufficient' ? [] : rows;
  if (!row) return undefined;
  return { payment, ...(payerEmail && row.is_posted ? { payerEmail } : {}) };
}

/** Reserves the money that a refund has waited for. */
export async function storeRefundFunding(
  db: Database,
  stored: StoredPayment,
  funded: PaymentFact & { type: 'refund_funded' },
  now: Instant,
): Promise<Payment | 'versionConflict' | 'insufficient'> {
  const { payment, values, journal } = changeOf(stored, [[funded]], now, { keepClaim: true });
  const rows = await recording(db, journal, () =>
    db.run(fundRefund, { ...values, refund_id: funded.refundId }),
  );
  if (rows === 'insufficient') return rows;
  return rows.length > 0 ? payment : 'versionConflict';
}

/** Reserves the shop's money or refuses, unless the refund waits for it. A taken external ID fails the whole statement. */
export async function storeRefundStart(
  db: Database,
  stored: StoredPayment,
  started: PaymentFact & { type: 'refund_started' },
  fingerprint: Buffer | null,
  now: Instant,
): Promise<'stored' | 'versionConflict' | 'insufficient'> {
  const { id, createdAt, amount, feeMinor, reason, cart, externalId, waitsUntil } = started.refund;
  const { values, journal } = changeOf(stored, [[started]], now);
  const rows = await recording(db, journal, () =>
    // In its own transaction or savepoint: a refusal must not abort the request's transaction.
    db.transaction((tx) =>
      tx.run(startRefund, {
        ...values,
        refund_id: id,
        created_at: createdAt,
        amount_minor: amount.minor,
        currency: amount.currency,
        fee_minor: feeMinor,
        reason: reason ?? null,
        cart: cart ?? null,
        external_id: externalId ?? null,
        fingerprint,
        shop_id: stored.payment.shopId,
        waits_until: waitsUntil ?? null,
      }),
    ),
  );
  if (rows === 'insufficient') return rows;
  return rows.length > 0 ? 'stored' : 'versionConflict';
}

function changeOf(
  stored: StoredPayment,
  decided: readonly (readonly PaymentFact[])[],
  now: Instant,
  { keepClaim = false, answer }: { keepClaim?: boolean; answer?: BankResponse | undefined } = {},
) {
  const events = withInteractionEnd(stored.payment, decided);
  const facts = events.flat();
  const payment = facts.reduce<Payment>((before, fact) => evolve(before, fact), stored.payment);
  const journal: Journal | undefined = journalOf(stored.payment, facts);
  const { status, captured_minor, refunded_minor, state } = rowOf(payment, stored.version);
  const wakeAt = wakeOf(payment, now);
  const { wake_at, attempts } =
    keepClaim && wakeAt === now ? initialClaim(now) : { wake_at: wakeAt, attempts: 0 };
  const values = {
    invoice_id: payment.invoiceId,
    payment_id: payment.id,
    version: stored.version,
    status,
    captured_minor,
    refunded_minor,
    state,
    wake_at,
    attempts,
    invoice_paid: facts.some(({ type }) => type === 'payment_captured'),
    in_progress: isInProgress(payment),
    events: events.map((group) => eventOf(group, payment.id)),
    happened_at: now,
    exchanges: exchangesOfChange(stored.payment, payment, facts, now, answer),
    ...journalValues(journal),
  };
  return { payment, values, journal };
}

/** `invoice_paid` is in the same event as the capture, after it. */
function eventOf(facts: readonly PaymentFact[], paymentId: string): InvoiceLogFact[] {
  const logged = facts.map((fact) => ({ ...fact, paymentId }));
  return facts.some(({ type }) => type === 'payment_captured')
    ? [...logged, { type: 'invoice_paid' }]
    : logged;
}
