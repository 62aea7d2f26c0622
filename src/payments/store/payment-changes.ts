// Changes of a payment in SQL. One statement, guarded by the version, writes the payment, its invoice, events, refund and
// journal in one round trip.
import type { Instant } from '../../clock.ts';
import { isVersionConflict, type Database } from '../../platform/database/database.ts';
import { initialClaim } from '../../platform/jobs/job-runner.ts';
import { recordExternalId } from '../../platform/database/external-id.ts';
import { statement, stored } from '../../platform/database/statement.ts';
import { appendEvents, changedAt, eventsOf } from '../../platform/events/log.ts';
import { currency } from '../../platform/database/codec.ts';
import { refundStatus } from './refunds.ts';
import { cart as cartCodec } from '../../invoices/store/codec.ts';
import type { Journal } from '../../platform/ledger/domain/ledger.ts';
import {
  journalParameters,
  journalValues,
  recording,
  recordJournal,
} from '../../platform/ledger/store/journals.ts';
import {
  approvedCharge,
  type ApprovedCharge,
  type PreloadedEmail,
} from '../../recurring/store/charge-fragments.ts';
import { evolve, isInProgress, wakeOf, type Payment, type PaymentFact } from '../domain/payment.ts';
import { failure, invoiceLogFact, type InvoiceLogFact } from './codec.ts';
import { journalOf } from '../domain/postings.ts';
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
  events_count: 'int4',
  happened_at: 'timestamptz',
  ...journalParameters,
} as const;

/**
 * One event for each list of facts; `more` adds writes. `first` comes before the change and has a row `held` for what the
 * payment belongs to.
 */
function changeText(more = '', first = ''): string {
  return `
    with ${first}moved as (
      update payment
      set version = payment.version + 1, status = :status, captured_minor = :captured_minor, refunded_minor = :refunded_minor,
          state = :state, wake_at = :wake_at, attempts = :attempts, stuck_at = null, stuck_reason = null
      ${first && 'from held'}
      where payment.invoice_id = :invoice_id and payment.payment_id = :payment_id and payment.version = :version
      returning payment.invoice_id
    ), changed as (
      update invoice
      set version = invoice.version + :events_count, ${changedAt('invoice')},
          status = case when :invoice_paid then 'paid' else status end,
          payment_in_progress = :in_progress,
          wake_at = case when :in_progress or :invoice_paid or status <> 'unpaid' then null else due_date end
      from moved where invoice.invoice_id = moved.invoice_id
      returning invoice.invoice_id, party_id, invoice.version, invoice.changed_at
    ), logged as (
      ${appendEvents('invoice', 'invoice_id')}
    )${more}
    ${
      first
        ? `select case when exists (select from attempted) and changed.version is not null then changed.version
                else version_conflict() end as version,
             ${recordJournal('invoice_id')} as journal,
             (select recipient from posted) as recipient
           from held left join changed on true`
        : `select version, ${recordJournal('invoice_id')} as journal from changed`
    }`;
}
const row = { version: 'int4', journal: 'text?' } as const;

const changePayment = statement({ name: 'change_payment', parameters, row, text: changeText() });

/** No row means that the series had a version conflict. Any other conflict fails the statement. */
const changeChargedPayment = statement({
  name: 'change_charged_payment',
  parameters: { ...parameters, ...approvedCharge.parameters },
  row: { version: 'int4?', journal: 'text?', recipient: 'text?' },
  text: changeText('', `${approvedCharge.text}, `),
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
  },
  row,
  text: changeText(`, identified as (
      ${recordExternalId('createRefund', ":invoice_id || '.' || :payment_id || '.' || :refund_id")}
    ), made as (
      insert into refund (invoice_id, payment_id, refund_id, party_id, created_at, status, amount_minor, currency,
        fee_minor, reason, cart, external_id)
      select :invoice_id, :payment_id, :refund_id, party_id, :created_at, 'pending', :amount_minor, :currency,
        :fee_minor, :reason, :cart, :external_id
      from changed
    )`),
});

const endRefund = statement({
  name: 'end_refund',
  parameters: {
    ...parameters,
    refund_id: 'text',
    refund_status: refundStatus,
    failure: stored('json?', failure),
  },
  row,
  text: changeText(`, ended as (
      update refund set status = :refund_status, failure = :failure
      from changed where refund.invoice_id = :invoice_id and payment_id = :payment_id and refund_id = :refund_id
    )`),
});

/** The payment changed since it was read. Rolls back what was written with the change. */
class VersionConflict extends Error {}

/**
 * Undefined after a version conflict. `alsoWrite` runs first in the same transaction, because the journal must come last.
 */
export async function storeEvents(
  db: Database,
  stored: StoredPayment,
  events: readonly (readonly PaymentFact[])[],
  now: Instant,
  alsoWrite?: (tx: Database) => Promise<void>,
  /** The caller continues with the payment immediately, so no other node should claim it. */
  keepClaim = false,
): Promise<Payment | undefined> {
  const { payment, values, journal } = changeOf(stored, events, now, keepClaim);
  const ended = events.flat().find(({ type }) => type === 'refund_succeeded' || type === 'refund_failed');
  const writeOn = (on: Database) =>
    ended && 'refundId' in ended
      ? on.run(endRefund, {
          ...values,
          refund_id: ended.refundId,
          refund_status: ended.type === 'refund_failed' ? 'failed' : 'succeeded',
          failure: ended.type === 'refund_failed' ? ended.failure : null,
        })
      : on.run(changePayment, values);
  const writeBeside = async (tx: Database) => {
    await alsoWrite?.(tx);
    const written = await writeOn(tx);
    if (written.length === 0) throw new VersionConflict();
    return written;
  };
  const write = () => (alsoWrite ? db.transaction(writeBeside) : writeOn(db));
  const rows = await recording(db, journal, write).catch((error: unknown) => {
    if (error instanceof VersionConflict) return [];
    throw error;
  });
  if (rows === 'insufficient')
    throw new Error('The ledger refused a change that is not a refund for insufficient funds.');
  return rows.length > 0 ? payment : undefined;
}

/**
 * Writes an approved charge, its series and its receipt in one statement. Undefined if one of them changed since it was
 * read; then nothing is written.
 */
export async function storeApprovedCharge(
  db: Database,
  stored: StoredPayment,
  events: readonly (readonly PaymentFact[])[],
  { written, payerEmail }: ApprovedCharge,
  now: Instant,
): Promise<{ readonly payment: Payment; readonly payerEmail?: PreloadedEmail } | undefined> {
  const { payment, values, journal } = changeOf(stored, events, now, true);
  const rows = await recording(db, journal, () =>
    db.run(changeChargedPayment, { ...values, ...written }),
  ).catch((error: unknown) => {
    if (isVersionConflict(error)) return [];
    throw error;
  });
  const [row] = rows === 'insufficient' ? [] : rows;
  if (!row) return undefined;
  const { recipient } = row;
  return payerEmail && recipient !== null
    ? { payment, payerEmail: { ...payerEmail, recipient } }
    : { payment };
}

/** Reserves the shop's money or refuses. A taken external ID fails the whole statement. */
export async function storeRefundStart(
  db: Database,
  stored: StoredPayment,
  started: PaymentFact & { type: 'refund_started' },
  fingerprint: Buffer | null,
  now: Instant,
): Promise<'stored' | 'versionConflict' | 'insufficient'> {
  const { id, createdAt, amount, feeMinor, reason, cart, externalId } = started.refund;
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
      }),
    ),
  );
  if (rows === 'insufficient') return rows;
  return rows.length > 0 ? 'stored' : 'versionConflict';
}

function changeOf(
  stored: StoredPayment,
  events: readonly (readonly PaymentFact[])[],
  now: Instant,
  keepClaim = false,
) {
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
    events_count: events.length,
    happened_at: now,
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
