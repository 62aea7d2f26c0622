// What happens to a payment, in SQL: one statement over the payment, guarded by its version, its invoice, the events, the
// refund it is about and the journal of the ledger. So all of it is written, or nothing, in one round trip.
import type { Instant } from '../../clock.ts';
import { isVersionConflict, type Database } from '../../platform/database/database.ts';
import { initialClaim } from '../../platform/jobs/job-runner.ts';
import { recordExternalId } from '../../platform/database/external-id.ts';
import { statement, stored } from '../../platform/database/statement.ts';
import { appendEvents, changedAt, eventsOf } from '../../platform/events/log.ts';
import { cart as cartCodec } from '../../invoices/store/codec.ts';
import type { Journal } from '../../platform/ledger/domain/ledger.ts';
import {
  journalParameters,
  journalValues,
  recording,
  recordJournal,
} from '../../platform/ledger/store/journals.ts';
import { succeededCharge, type ApprovedCharge } from '../../recurring/store/charge-fragments.ts';
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
 * One event for each list of facts. What the payment means for its invoice is written with it; `more` may write beside. `first`
 * comes before it, with a row `held` for what the payment is a part of.
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
             ${recordJournal('invoice_id')} as journal
           from held left join changed on true`
        : `select version, ${recordJournal('invoice_id')} as journal from changed`
    }`;
}
const row = { version: 'int4', journal: 'text?' } as const;

const changePayment = statement({ name: 'change_payment', parameters, row, text: changeText() });

/** Without a row the series has moved; where anything else has, the statement fails. */
const changeChargedPayment = statement({
  name: 'change_charged_payment',
  parameters: { ...parameters, ...succeededCharge.parameters },
  row: { version: 'int4?', journal: 'text?' },
  text: changeText('', `${succeededCharge.text}, `),
});

const startRefund = statement({
  name: 'start_refund',
  parameters: {
    ...parameters,
    refund_id: 'text',
    created_at: 'timestamptz',
    amount_minor: 'int8',
    currency: 'text',
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
  parameters: { ...parameters, refund_id: 'text', refund_status: 'text', failure: stored('json?', failure) },
  row,
  text: changeText(`, ended as (
      update refund set status = :refund_status, failure = :failure
      from changed where refund.invoice_id = :invoice_id and payment_id = :payment_id and refund_id = :refund_id
    )`),
});

/** Somebody else changed the payment since it was read: what was to be written beside the change is taken back. */
class VersionConflict extends Error {}

/**
 * Undefined when somebody else changed the payment since it was read. What is written beside it is written first, in a
 * transaction with it: the journal comes last.
 */
export async function storeEvents(
  db: Database,
  stored: StoredPayment,
  events: readonly (readonly PaymentFact[])[],
  now: Instant,
  alsoWrite?: (tx: Database) => Promise<void>,
  /** Who writes this does at once what is due now, so that nobody else should begin with it. */
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
  if (rows === 'insufficient') throw new Error('what is no refund was refused for lack of money');
  return rows.length > 0 ? payment : undefined;
}

/**
 * A charge of a series that was approved, with the series, in one statement. Undefined when one of them has been changed
 * since it was read, and nothing was written.
 */
export async function storeApprovedCharge(
  db: Database,
  stored: StoredPayment,
  events: readonly (readonly PaymentFact[])[],
  success: ApprovedCharge['written'],
  now: Instant,
): Promise<Payment | undefined> {
  const { payment, values, journal } = changeOf(stored, events, now, true);
  const rows = await recording(db, journal, () =>
    db.run(changeChargedPayment, { ...values, ...success }),
  ).catch((error: unknown) => {
    if (isVersionConflict(error)) return [];
    throw error;
  });
  return rows !== 'insufficient' && rows.length > 0 ? payment : undefined;
}

/** The shop's money is set aside for it, or it is refused. An external id that is taken fails the whole statement. */
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
    // In a transaction of its own, or a part of one: a refusal must not break the transaction of the request.
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

/** What pays the invoice stands in one event with the capture, and after it. */
function eventOf(facts: readonly PaymentFact[], paymentId: string): InvoiceLogFact[] {
  const logged = facts.map((fact) => ({ ...fact, paymentId }));
  return facts.some(({ type }) => type === 'payment_captured')
    ? [...logged, { type: 'invoice_paid' }]
    : logged;
}
