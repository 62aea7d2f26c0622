// Payments in SQL. A payment is a part of its invoice: its facts stand in the invoice's log, and while it is in progress the
// invoice neither falls overdue nor takes another. So every change is one statement over both, guarded by the payment's
// version.
import type { Instant } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { statement, type Values } from '../database/statement.ts';
import type { Currency, Money } from '../money.ts';
import {
  evolve,
  isInProgress,
  wakeOf,
  type Payment,
  type PaymentFact,
  type PaymentState,
} from './payment.ts';
import type { PayableInvoice } from './payment.commands.ts';
import { factToJson } from './payment-json.ts';

export type StoredPayment = { readonly payment: Payment; readonly version: number };

const columns = {
  invoice_id: 'text',
  payment_id: 'text',
  party_id: 'text',
  shop_id: 'text',
  version: 'int4',
  status: 'text',
  created_at: 'timestamptz',
  amount_minor: 'int8',
  currency: 'text',
  captured_minor: 'int8?',
  refunded_minor: 'int8',
  terms: 'json',
  state: 'json',
  external_id: 'text?',
} as const;
const columnList = Object.keys(columns).join(', ');
const qualifiedColumns = Object.keys(columns)
  .map((name) => `payment.${name}`)
  .join(', ');

/** Nothing is written when the invoice has moved since it was read. A name used before breaks the whole statement. */
const insertPayment = statement({
  name: 'insert_payment',
  parameters: {
    ...columns,
    invoice_version: 'int4',
    fingerprint: 'bytea?',
    wake_at: 'timestamptz',
    attempts: 'int4',
    happened_at: 'timestamptz',
    facts: 'json',
  },
  row: { version: 'int4' },
  text: `
    with changed as (
      update invoice
      set version = invoice.version + 1, payments_made = payments_made + 1, payment_in_progress = true, wake_at = null
      where invoice_id = :invoice_id and version = :invoice_version
      returning invoice_id, party_id, version
    ), named as (
      insert into external_id (party_id, operation, external_id, entity_id, fingerprint)
      select :party_id, 'createPayment', :external_id, :invoice_id || '.' || :payment_id, :fingerprint
      from changed where :external_id is not null
    ), made as (
      insert into payment (${columnList}, wake_at, attempts)
      select ${Object.keys(columns)
        .map((name) => `:${name}`)
        .join(', ')}, :wake_at, :attempts from changed
    ), logged as (
      insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
      select invoice_id, version, 'invoice', party_id, :happened_at, :facts from changed
    )
    select version from changed`,
});

/** One event for each list of facts. What the payment means for its invoice is written with it. */
const changePaymentRow = statement({
  name: 'change_payment',
  parameters: {
    invoice_id: 'text',
    payment_id: 'text',
    version: 'int4',
    status: 'text',
    captured_minor: 'int8?',
    refunded_minor: 'int8',
    state: 'json',
    wake_at: 'timestamptz?',
    invoice_paid: 'bool',
    in_progress: 'bool',
    events: 'json',
    events_count: 'int4',
    happened_at: 'timestamptz',
  },
  row: { version: 'int4' },
  text: `
    with moved as (
      update payment
      set version = version + 1, status = :status, captured_minor = :captured_minor, refunded_minor = :refunded_minor,
          state = :state, wake_at = :wake_at, attempts = 0, stuck_at = null, stuck_reason = null
      where invoice_id = :invoice_id and payment_id = :payment_id and version = :version
      returning invoice_id
    ), changed as (
      update invoice
      set version = invoice.version + :events_count,
          status = case when :invoice_paid then 'paid' else status end,
          payment_in_progress = :in_progress,
          wake_at = case when :in_progress or :invoice_paid or status <> 'unpaid' then null else due_date end
      from moved where invoice.invoice_id = moved.invoice_id
      returning invoice.invoice_id, party_id, invoice.version
    ), logged as (
      insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
      select invoice_id, version - :events_count + entry.place::int, 'invoice', party_id, :happened_at, entry.facts
      from changed, json_array_elements(:events) with ordinality as entry (facts, place)
    )
    select version from changed`,
});

const readPayment = statement({
  name: 'read_payment',
  parameters: { invoice_id: 'text', payment_id: 'text' },
  row: columns,
  text: `select ${columnList} from payment where invoice_id = :invoice_id and payment_id = :payment_id`,
});

/** No row: no such invoice of that party. A row without a payment: the invoice has none. */
const readPaymentsOfInvoice = statement({
  name: 'read_payments_of_invoice',
  parameters: { invoice_id: 'text', party_id: 'text', payment_id: 'text?' },
  row: { found: 'bool', ...optional(columns) },
  text: `select payment.invoice_id is not null as found, ${qualifiedColumns}
         from invoice left join payment on payment.invoice_id = invoice.invoice_id
           and (:payment_id is null or payment_id = :payment_id)
         where invoice.invoice_id = :invoice_id and invoice.party_id = :party_id
         order by length(payment_id), payment_id`,
});

const readPaymentByExternalId = statement({
  name: 'read_payment_by_external_id',
  parameters: { party_id: 'text', external_id: 'text' },
  row: { ...columns, fingerprint: 'bytea' },
  text: `select ${qualifiedColumns}, named.fingerprint
         from external_id as named
         join payment on invoice_id = split_part(entity_id, '.', 1) and payment_id = split_part(entity_id, '.', 2)
         where named.party_id = :party_id and operation = 'createPayment' and named.external_id = :external_id`,
});

const readPayableInvoice = statement({
  name: 'read_payable_invoice',
  parameters: { invoice_id: 'text', party_id: 'text' },
  row: {
    shop_id: 'text',
    version: 'int4',
    status: 'text',
    amount_minor: 'int8',
    currency: 'text',
    due_date: 'timestamptz',
    payment_in_progress: 'bool',
    payments_made: 'int4',
  },
  text: `select shop_id, version, status, amount_minor, currency, due_date, payment_in_progress, payments_made
         from invoice where invoice_id = :invoice_id and party_id = :party_id`,
});

const reschedulePayment = statement({
  name: 'reschedule_payment',
  parameters: { invoice_id: 'text', payment_id: 'text', version: 'int4', wake_at: 'timestamptz?' },
  row: {},
  // An answer was had: the delays start anew with the next silence.
  text: `update payment set wake_at = :wake_at, attempts = 1
         where invoice_id = :invoice_id and payment_id = :payment_id and version = :version`,
});

export async function findPayableInvoice(
  db: Database,
  partyId: string,
  invoiceId: string,
): Promise<{ invoice: PayableInvoice; version: number } | undefined> {
  const [row] = await db.run(readPayableInvoice, { invoice_id: invoiceId, party_id: partyId });
  return (
    row && {
      version: row.version,
      invoice: {
        id: invoiceId,
        partyId,
        shopId: row.shop_id,
        status: row.status,
        amount: money(row.amount_minor, row.currency),
        dueDate: row.due_date,
        paymentInProgress: row.payment_in_progress,
        paymentsMade: row.payments_made,
      },
    }
  );
}

/** False when the invoice has moved since it was read. */
export async function storeNewPayment(
  db: Database,
  started: PaymentFact & { type: 'payment_started' },
  options: {
    invoiceVersion: number;
    fingerprint: Buffer | null;
    claim: { wake_at: Instant; attempts: number };
  },
): Promise<boolean> {
  const payment = evolve(undefined, started);
  const rows = await db.run(insertPayment, {
    ...rowOf(payment, 1),
    ...options.claim,
    invoice_version: options.invoiceVersion,
    fingerprint: options.fingerprint,
    happened_at: payment.createdAt,
    facts: [factToJson(started, payment.id)],
  });
  return rows.length > 0;
}

/** False when somebody else changed the payment since it was read. */
export async function storeEvents(
  db: Database,
  stored: StoredPayment,
  events: readonly (readonly PaymentFact[])[],
  now: Instant,
  wakeAt?: Instant,
): Promise<Payment | undefined> {
  const payment = events.flat().reduce<Payment>((before, fact) => evolve(before, fact), stored.payment);
  const invoicePaid = payment.state.name === 'captured' && stored.payment.state.name !== 'captured';
  const { status, captured_minor, refunded_minor, state } = rowOf(payment, stored.version);
  const rows = await db.run(changePaymentRow, {
    invoice_id: payment.invoiceId,
    payment_id: payment.id,
    version: stored.version,
    status,
    captured_minor,
    refunded_minor,
    state,
    wake_at: wakeAt ?? wakeOf(payment, now),
    invoice_paid: invoicePaid,
    in_progress: isInProgress(payment),
    events: events.map((facts) => eventToJson(facts, payment.id)),
    events_count: events.length,
    happened_at: now,
  });
  return rows.length > 0 ? payment : undefined;
}

/** What pays the invoice stands in one event with the capture, and after it. */
function eventToJson(facts: readonly PaymentFact[], paymentId: string): unknown[] {
  const json = facts.map((fact) => factToJson(fact, paymentId));
  return facts.some(({ type }) => type === 'payment_captured') ? [...json, { type: 'invoice_paid' }] : json;
}

export async function loadPayment(
  db: Database,
  name: { invoiceId: string; paymentId: string },
): Promise<StoredPayment | undefined> {
  const [row] = await db.run(readPayment, { invoice_id: name.invoiceId, payment_id: name.paymentId });
  return row && storedFromRow(row);
}

/** Undefined when there is no such invoice of that party. */
export async function findPayments(
  db: Database,
  name: { partyId: string; invoiceId: string; paymentId?: string },
): Promise<StoredPayment[] | undefined> {
  const rows = await db.run(readPaymentsOfInvoice, {
    invoice_id: name.invoiceId,
    party_id: name.partyId,
    payment_id: name.paymentId ?? null,
  });
  if (rows.length === 0) return undefined;
  return rows.filter(({ found }) => found).map((row) => storedFromRow(row as Values<typeof columns>));
}

export async function findPaymentNamed(
  db: Database,
  partyId: string,
  externalId: string,
): Promise<{ payment: Payment; fingerprint: Buffer } | undefined> {
  const [row] = await db.run(readPaymentByExternalId, { party_id: partyId, external_id: externalId });
  return row && { payment: storedFromRow(row).payment, fingerprint: row.fingerprint };
}

export async function lookAgainAt(db: Database, stored: StoredPayment, at: Instant | null): Promise<void> {
  const { payment, version } = stored;
  await db.run(reschedulePayment, {
    invoice_id: payment.invoiceId,
    payment_id: payment.id,
    version,
    wake_at: at,
  });
}

type TermsJson = Pick<Payment, 'flow' | 'payer' | 'makeRecurrent' | 'deadline' | 'terminal'> & {
  metadata?: unknown;
};

function rowOf(payment: Payment, version: number): Values<typeof columns> {
  const { flow, payer, makeRecurrent, deadline, terminal, metadata, state } = payment;
  const terms: TermsJson = {
    flow,
    payer,
    makeRecurrent,
    deadline,
    terminal,
    ...(metadata === undefined ? {} : { metadata }),
  };
  return {
    invoice_id: payment.invoiceId,
    payment_id: payment.id,
    party_id: payment.partyId,
    shop_id: payment.shopId,
    version,
    status: state.name,
    created_at: payment.createdAt,
    amount_minor: payment.amount.minor,
    currency: payment.amount.currency,
    captured_minor: 'amount' in state ? state.amount.minor : null,
    refunded_minor:
      'refundedMinor' in state ? state.refundedMinor : state.name === 'refunded' ? state.amount.minor : 0n,
    terms,
    state: stateToJson(state),
    external_id: payment.externalId ?? null,
  };
}

/** What of a state is neither its name nor money that has a column. */
function stateToJson(state: PaymentState): unknown {
  const { name: _, ...rest } = state;
  if ('refundedMinor' in rest) {
    const { amount: _amount, refundedMinor: _refunded, refund, ...more } = rest;
    return { ...more, ...(refund ? { refund: { id: refund.id, minor: Number(refund.minor) } } : {}) };
  }
  if ('amount' in rest) {
    const { amount: _amount, ...more } = rest;
    return more;
  }
  return rest;
}

function storedFromRow(row: Values<typeof columns>): StoredPayment {
  const { metadata, ...terms } = row.terms as TermsJson;
  const amount = money(row.amount_minor, row.currency);
  return {
    version: row.version,
    payment: {
      ...terms,
      ...(metadata === undefined ? {} : { metadata }),
      ...(row.external_id === null ? {} : { externalId: row.external_id }),
      invoiceId: row.invoice_id,
      id: row.payment_id,
      partyId: row.party_id,
      shopId: row.shop_id,
      createdAt: row.created_at,
      amount,
      state: stateFromRow(row),
    },
  };
}

function stateFromRow(row: Values<typeof columns>): PaymentState {
  const { refund, ...rest } = row.state as Record<string, unknown> & {
    refund?: { id: string; minor: number };
  };
  const captured = row.captured_minor === null ? {} : { amount: money(row.captured_minor, row.currency) };
  const refunds =
    row.status === 'captured'
      ? {
          refundedMinor: row.refunded_minor,
          ...(refund ? { refund: { id: refund.id, minor: BigInt(refund.minor) } } : {}),
        }
      : {};
  return { name: row.status, ...rest, ...captured, ...refunds } as PaymentState;
}

function money(minor: bigint, currency: string): Money {
  return { minor, currency: currency as Currency };
}

type Optional<C> = {
  [K in keyof C]: C[K] extends `${string}?` ? C[K] : C[K] extends string ? `${C[K]}?` : never;
};

/** The same columns as they come from the far side of a left join. */
function optional<C extends Readonly<Record<string, string>>>(of: C): Optional<C> {
  const entries = Object.entries(of).map(([name, type]) => [name, type.endsWith('?') ? type : `${type}?`]);
  return Object.fromEntries(entries) as Optional<C>;
}
