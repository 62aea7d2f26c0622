// Payments as an operator looks for them: with the state of their job, and whether a bank has left their outcome unknown.
import { laterBy, type Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { columnList, statement, type Values } from '../../platform/database/statement.ts';
import { secondsText } from '../../ids.ts';
import { statesAtBank, type Payment } from '../domain/payment.ts';
import { paymentColumns, storedFromRow } from './rows.ts';

/** Times are on the party's clock, which a test clock may have moved forward. */
export type PaymentOverview = {
  readonly payment: Payment;
  /** Of the latest event of its invoice: a payment whose outcome is unknown waits since then. */
  readonly changedAt: Instant;
  readonly isWaiting: boolean;
  readonly attempts: number;
  readonly nextTryAt: Instant | null;
  readonly stuckSince: Instant | null;
  /** Null once the bank has answered. */
  readonly lastFailure: string | null;
  readonly invoiceCreatedAt: Instant;
  /** The party's time. */
  readonly now: Instant;
};

export type PaymentFilter = {
  readonly partyId: string | undefined;
  readonly shopId: string | undefined;
  readonly limit: number;
};

const parameters = { now: 'timestamptz', party_id: 'text?', shop_id: 'text?', limit: 'int4' } as const;

const row = {
  ...paymentColumns,
  changed_at: 'timestamptz',
  is_waiting: 'bool',
  attempts: 'int4',
  wake_at: 'timestamptz?',
  stuck_at: 'timestamptz?',
  stuck_reason: 'text?',
  invoice_created_at: 'timestamptz',
  own_now: 'timestamptz',
} as const;

/**
 * A payment waits from the first request that was not answered. It is listed too while the bank answers that it has not finished, and if
 * no node runs its job.
 */
const overviewColumns = `${columnList(paymentColumns, 'payment')}, invoice.changed_at,
           payment.stuck_reason is not null
             or payment.status in (${statesAtBank.map((name) => `'${name}'`).join(', ')})
               and (payment.attempts > 1 or payment.wake_at <= :now + coalesce(offset_ms, 0) * interval '1 ms') as is_waiting,
           payment.attempts, payment.wake_at, payment.stuck_at, payment.stuck_reason,
           invoice.created_at as invoice_created_at, :now + coalesce(offset_ms, 0) * interval '1 ms' as own_now`;

/**
 * Such rows are due within minutes or stuck, so two small indexes find them. One invoice at a time: PostgreSQL cannot know how few
 * payments are due, and would read every invoice.
 */
const listWaiting = statement({
  name: 'list_waiting_payments',
  parameters: { ...parameters, soon: 'timestamptz' },
  row,
  text: `select * from (
           select ${overviewColumns}
           from (
             select * from payment
             where wake_at <= :soon + (select coalesce(max(offset_ms), 0) from test_clock) * interval '1 ms'
             union all
             select * from payment where stuck_at is not null
           ) as payment
           join lateral (
             select changed_at, created_at from invoice where invoice.invoice_id = payment.invoice_id limit 1
           ) as invoice on true
           left join test_clock on test_clock.party_id = payment.party_id
           where (:party_id::text is null or payment.party_id = :party_id)
             and (:shop_id::text is null or payment.shop_id = :shop_id)
         ) as payment
         where is_waiting
         order by changed_at, invoice_id limit :limit`,
});

/** An ID begins with the second of its creation, so the primary key finds the newest. */
const listNewest = statement({
  name: 'list_newest_payments',
  parameters: { ...parameters, from_id: 'text' },
  row,
  text: `select ${overviewColumns}
         from payment
         join lateral (
           select changed_at, created_at from invoice where invoice.invoice_id = payment.invoice_id limit 1
         ) as invoice on true
         left join test_clock on test_clock.party_id = payment.party_id
         where payment.invoice_id >= :from_id and (:party_id::text is null or payment.party_id = :party_id)
           and (:shop_id::text is null or payment.shop_id = :shop_id)
         order by payment.invoice_id desc, payment.payment_id desc limit :limit`,
});

const listOfInvoice = statement({
  name: 'list_payments_of_invoice',
  parameters: { now: 'timestamptz', invoice_id: 'text' },
  row,
  text: `select ${overviewColumns}
         from payment
         join lateral (
           select changed_at, created_at from invoice where invoice.invoice_id = payment.invoice_id limit 1
         ) as invoice on true
         left join test_clock on test_clock.party_id = payment.party_id
         where payment.invoice_id = :invoice_id
         order by length(payment.payment_id), payment.payment_id`,
});

/** Longer than any lease and any retry delay. */
const longestPauseMs = 15 * 60_000;

/** The longest waiting first. */
export async function waitingPayments(
  db: Database,
  filter: PaymentFilter,
  now: Instant,
): Promise<PaymentOverview[]> {
  const soon = laterBy(now, longestPauseMs);
  return (await db.run(listWaiting, { ...parametersOf(filter), now, soon })).map(overviewOf);
}

/** Of invoices created since then, the newest first. */
export async function newestPayments(
  db: Database,
  { sinceMs, ...filter }: PaymentFilter & { readonly sinceMs: number },
  now: Instant,
): Promise<PaymentOverview[]> {
  const from_id = secondsText(sinceMs);
  return (await db.run(listNewest, { ...parametersOf(filter), now, from_id })).map(overviewOf);
}

/** The oldest first. */
export async function paymentsOfInvoice(
  db: Database,
  invoiceId: string,
  now: Instant,
): Promise<PaymentOverview[]> {
  return (await db.run(listOfInvoice, { now, invoice_id: invoiceId })).map(overviewOf);
}

function parametersOf({ partyId, shopId, limit }: PaymentFilter) {
  return { party_id: partyId ?? null, shop_id: shopId ?? null, limit };
}

function overviewOf(found: Values<typeof row>): PaymentOverview {
  return {
    payment: storedFromRow(found).payment,
    changedAt: found.changed_at,
    isWaiting: found.is_waiting,
    attempts: found.attempts,
    nextTryAt: found.wake_at,
    stuckSince: found.stuck_at,
    lastFailure: found.stuck_reason,
    invoiceCreatedAt: found.invoice_created_at,
    now: found.own_now,
  };
}
