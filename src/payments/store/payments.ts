// New payments and reads, in SQL; changes are in payment-changes.ts. The facts of a payment are in its invoice's log.
import { exchangeParameters, recordExchanges } from '../../acquiring/exchange-log/store/exchange-rows.ts';
import { defined } from '../../defined.ts';
import { invoiceStatus } from '../../invoices/store/codec.ts';
import type { Instant } from '../../clock.ts';
import {
  retainCard,
  retentionReasonText,
  retainedCardParameters,
} from '../../cards/domain/retention-reason.ts';
import {
  attemptColumns,
  attemptParameters,
  attemptRow,
  attemptValues,
  beginAttempt,
  openedColumns,
  openedValues,
  unmade,
  type Unmade,
} from '../../cards/store/attempt-counting.ts';
import type { Attempt } from '../../cards/domain/attempt-limits.ts';
import { cardIdOf } from '../../cards/domain/payment-resource.ts';
import type { Database } from '../../platform/database/database.ts';
import { readStatement } from '../../platform/database/batches/read-statement.ts';
import { writeStatement } from '../../platform/database/batches/write-statement.ts';
import {
  readByExternalId,
  recordExternalId,
  type FoundByExternalId,
} from '../../platform/database/external-id.ts';
import {
  columnList,
  parameterList,
  optional,
  statement,
  type Values,
  stored,
} from '../../platform/database/statement.ts';
import { appendEvent, changedAt, changedWith } from '../../platform/events/log.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import {
  startedCharge,
  type PendingCharge,
  type StartedCharge,
} from '../../recurring/store/charge-changes.ts';
import { exchangesOfChange } from '../domain/exchanges/exchanges.ts';
import { evolve, type Payment, type PaymentFact } from '../domain/payment.ts';
import type { PayableInvoice } from '../domain/commands.ts';
import { currency } from '../../platform/database/codec.ts';
import { mandateTerms } from '../../receipts/store/codec.ts';
import { invoiceLogFact } from './codec.ts';
import { paymentColumns, rowOf, storedFromRow, type StoredPayment } from './rows.ts';
import { rescheduleStatement } from '../../platform/jobs/reschedule.ts';

const qualifiedColumns = columnList(paymentColumns, 'payment');

const insertParameters = {
  ...paymentColumns,
  invoice_version: 'int4',
  fingerprint: 'bytea?',
  wake_at: 'timestamptz',
  attempts: 'int4',
  ...changedWith(invoiceLogFact),
  ...exchangeParameters,
} as const;

/** A result of another 3-D Secure server pays once. A used one fails the statement, like an external ID that is taken. */
const useAuthentication = `
      insert into external_id (party_id, operation, external_id, entity_id, fingerprint)
      select changed.party_id, 'authenticatePayment', :authentication, :invoice_id || '.' || :payment_id, ''
      from changed where :authentication is not null`;

const readUsedAuthentication = statement({
  name: 'read_used_authentication',
  parameters: { party_id: 'text', authentication: 'text' },
  row: { entity_id: 'text' },
  text: `select entity_id from external_id
         where party_id = :party_id and operation = 'authenticatePayment' and external_id = :authentication`,
});

/** By whichever case the merchant writes it in. */
const nameOf = (dsTransId: string) => dsTransId.toLowerCase();

/** Its jobs wait for this bank. Charges without the payer have slots of their own, so that none of a payer waits for them. */
export const bankOfPayment =
  "(terms -> 'terminal' ->> 'bankId') || case when terms -> 'payer' ->> 'seriesId' is null then '' else ' without payer' end";

export async function isAuthenticationUsed(
  db: Database,
  partyId: string,
  dsTransId: string,
): Promise<boolean> {
  const name = { party_id: partyId, authentication: nameOf(dsTransId) };
  return (await db.run(readUsedAuthentication, name)).length > 0;
}

/**
 * If the invoice has changed since it was read, a limit is reached or the card is gone, no card is retained. A taken external ID fails the
 * whole statement.
 */
const insertPayment = statement({
  name: 'insert_payment',
  parameters: {
    ...insertParameters,
    ...retainedCardParameters,
    ...attemptParameters,
    authentication: 'text?',
  },
  row: { is_payable: 'bool', is_counted: 'bool', is_made: 'bool', ...openedColumns },
  text: `
    with payable as (
      select invoice_id from invoice where invoice_id = :invoice_id and version = :invoice_version for update
    ), ${beginAttempt('payable')}, kept as (${retainCard('counted')}
    ), changed as (
      update invoice
      set version = invoice.version + 1, ${changedAt('invoice')},
          payments_made = payments_made + 1, payment_in_progress = true, wake_at = null, payer_attempts = payer_attempts + 1
      from kept where invoice.invoice_id = :invoice_id and invoice.version = :invoice_version
      returning invoice.invoice_id, invoice.party_id, invoice.version, invoice.changed_at
    ), identified as (
      ${recordExternalId('createPayment', ":invoice_id || '.' || :payment_id")}
    ), used as (${useAuthentication}), made as (
      insert into payment (${columnList(paymentColumns)}, wake_at, attempts, ${attemptColumns})
      select ${parameterList(paymentColumns)}, :wake_at, :attempts, ${attemptValues} from changed
    ), logged as (
      ${appendEvent('invoice', 'invoice_id')}
    ), begun as (
      ${recordExchanges('changed')}
    )
    select exists (select from payable) as is_payable, exists (select from counted) as is_counted,
      exists (select from changed) as is_made, ${openedValues}`,
});

/** No row means that the series or the invoice had a version conflict. A taken external ID fails the statement. */
const startCharge = writeStatement({
  name: 'start_charge',
  leavesOut: 'held',
  change: { ...insertParameters, ...startedCharge },
  row: {},
  text: 'select asker from start_charges(:changes)',
});

const readPayment = readStatement({
  name: 'read_payment',
  parameters: { invoice_id: 'text', payment_id: 'text' },
  row: { ...paymentColumns, changed_at: 'timestamptz', unsent_attempts: 'int4' },
  text: `select ${qualifiedColumns}, invoice.changed_at, unsent_attempts from payment join invoice using (invoice_id)
         where invoice_id = :invoice_id and payment_id = :payment_id`,
});

/** No row: the party has no such invoice. A row without a payment: the invoice has none. */
const readPaymentsOfInvoice = statement({
  name: 'read_payments_of_invoice',
  parameters: { invoice_id: 'text', party_id: 'text' },
  row: { found: 'bool', ...optional(paymentColumns) },
  text: `select payment.invoice_id is not null as found, ${qualifiedColumns}
         from invoice left join payment on payment.invoice_id = invoice.invoice_id
         where invoice.invoice_id = :invoice_id and invoice.party_id = :party_id
         order by length(payment_id), payment_id`,
});

const readPaymentByExternalId = readByExternalId({
  name: 'read_payment_by_external_id',
  operation: 'createPayment',
  row: paymentColumns,
  select: qualifiedColumns,
  join: `payment on invoice_id = split_part(entity_id, '.', 1) and payment_id = split_part(entity_id, '.', 2)`,
});

const readPayableInvoice = readStatement({
  name: 'read_payable_invoice',
  parameters: { invoice_id: 'text', party_id: 'text' },
  row: {
    shop_id: 'text',
    version: 'int4',
    status: stored('text', invoiceStatus),
    amount_minor: 'int8',
    currency: stored('text', currency),
    due_date: 'timestamptz',
    payment_in_progress: 'bool',
    payments_made: 'int4',
    payer_attempts: 'int4',
    created_at: 'timestamptz',
    changed_at: 'timestamptz',
    recurring: stored('json?', mandateTerms),
    subscription_id: 'text?',
  },
  text: `select shop_id, version, status, amount_minor, currency, due_date, payment_in_progress, payments_made, payer_attempts,
           created_at, changed_at, recurring, subscription_id
         from invoice where invoice_id = :invoice_id and party_id = :party_id`,
});

const reschedulePayment = rescheduleStatement('payment', ['invoice_id', 'payment_id'], 'afterFirst');

export async function findPayableInvoice(
  db: Database,
  partyId: string,
  invoiceId: string,
): Promise<{ invoice: PayableInvoice; version: number; payerAttempts: number } | undefined> {
  const [row] = await db.run(readPayableInvoice, { invoice_id: invoiceId, party_id: partyId });
  return (
    row && {
      version: row.version,
      payerAttempts: row.payer_attempts,
      invoice: {
        id: invoiceId,
        partyId,
        shopId: row.shop_id,
        status: row.status,
        amount: { minor: row.amount_minor, currency: row.currency },
        dueDate: row.due_date,
        paymentInProgress: row.payment_in_progress,
        paymentsMade: row.payments_made,
        createdAt: row.created_at,
        changedAt: row.changed_at,
        ...defined({ recurring: row.recurring, subscriptionId: row.subscription_id }),
      },
    }
  );
}

/** The card's token if the payer is present, else the charge in its series. */
export type WithPayment =
  | { readonly keeps: string; readonly attempt: Attempt | undefined }
  | { readonly charges: { readonly written: StartedCharge; readonly pendingCharge: PendingCharge } };

/** What the creating node already knows when it runs the job. */
export type NewPayment = { readonly stored: StoredPayment; readonly pendingCharge?: PendingCharge };

export async function storeNewPayment(
  db: Database,
  started: PaymentFact & { type: 'payment_started' },
  options: {
    invoiceVersion: number;
    fingerprint: Buffer | null;
    claim: { wake_at: Instant; attempts: number };
    withPayment: WithPayment;
  },
): Promise<NewPayment | 'versionConflict' | Unmade> {
  const payment = evolve(undefined, started);
  const { withPayment } = options;
  const values = {
    invoice_version: options.invoiceVersion,
    fingerprint: options.fingerprint,
    happened_at: payment.createdAt,
    facts: [{ ...started, paymentId: payment.id }],
    exchanges: exchangesOfChange(undefined, payment, [started], payment.createdAt),
    ...rowOf(payment, 1),
    ...options.claim,
  };
  const stored = { payment, version: 1, unsentAttempts: 0 };
  if ('keeps' in withPayment) {
    const retained_card = cardIdOf(withPayment.keeps);
    if (retained_card === undefined) throw new Error('The card to retain is not named by a token.');
    const retained_for = retentionReasonText(['payment', payment.invoiceId, payment.id]);
    const { attempt } = withPayment;
    const { authenticated } = payment;
    const authentication = authenticated ? nameOf(authenticated.dsTransId) : null;
    const also = { ...attemptRow(attempt), retained_card, retained_for, authentication };
    const [row] = await db.run(insertPayment, { ...values, ...also });
    if (!row?.is_payable) return 'versionConflict';
    return row.is_made ? { stored } : unmade(attempt, row);
  }
  const { written, pendingCharge } = withPayment.charges;
  // Not by a second spread, which defines so many members slowly in V8.
  const made = await db.run(startCharge, Object.assign({}, values, written));
  return made.length > 0 ? { stored, pendingCharge } : 'versionConflict';
}

type PaymentName = { readonly invoiceId: string; readonly paymentId: string };

async function rowNamed(db: Database, { invoiceId, paymentId }: PaymentName) {
  return (await db.run(readPayment, { invoice_id: invoiceId, payment_id: paymentId }))[0];
}

export async function loadPayment(db: Database, name: PaymentName): Promise<StoredPayment | undefined> {
  const row = await rowNamed(db, name);
  return row && { ...storedFromRow(row), unsentAttempts: row.unsent_attempts };
}

/** With the time of the latest event of its invoice. */
export type DatedPayment = StoredPayment & { readonly changedAt: Instant };

export async function loadDatedPayment(db: Database, name: PaymentName): Promise<DatedPayment | undefined> {
  const row = await rowNamed(db, name);
  return row && { ...storedFromRow(row), changedAt: row.changed_at };
}

/** Undefined if the party has no such invoice. */
export async function findPayments(
  db: Database,
  name: { partyId: string; invoiceId: string },
): Promise<StoredPayment[] | undefined> {
  const rows = await db.run(readPaymentsOfInvoice, { invoice_id: name.invoiceId, party_id: name.partyId });
  if (rows.length === 0) return undefined;
  return rows.filter(({ found }) => found).map((row) => storedFromRow(row as Values<typeof paymentColumns>));
}

/** The most frequent read. It queries the invoice only if the payment is not found. */
export async function findPayment(
  db: Database,
  name: PaymentName & { readonly partyId: string },
): Promise<Outcome<DatedPayment, 'invoiceNotFound' | 'paymentNotFound'>> {
  const row = await rowNamed(db, name);
  if (row?.party_id === name.partyId) return accept({ ...storedFromRow(row), changedAt: row.changed_at });
  return refuse((await findPayments(db, name)) ? 'paymentNotFound' : 'invoiceNotFound');
}

export async function findPaymentByExternalId(
  db: Database,
  partyId: string,
  externalId: string,
): Promise<FoundByExternalId<Payment> | undefined> {
  const [row] = await db.run(readPaymentByExternalId, { party_id: partyId, external_id: externalId });
  return row && { value: storedFromRow(row).payment, fingerprint: row.request_fingerprint };
}

export async function reschedule(db: Database, stored: StoredPayment, at: Instant | null): Promise<void> {
  const { payment, version } = stored;
  await db.run(reschedulePayment, {
    invoice_id: payment.invoiceId,
    payment_id: payment.id,
    version,
    wake_at: at,
  });
}
