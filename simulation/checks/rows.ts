// The rows that the checks compare: all of them, or those of some aggregates, read in one statement and so at one moment.
// Ledger sums are bigint; amounts of single objects have twelve digits at most.
import type { CheckWorld } from './world.ts';

export type Fact = { readonly type: string } & Readonly<Record<string, unknown>>;
export type EventRow = {
  readonly aggregate_id: string;
  readonly aggregate: string;
  readonly sequence: number;
  readonly created_at: string;
  readonly facts: readonly Fact[];
  /** The transaction that wrote it, and the part since its last savepoint. Each got its number before its first write. */
  readonly transaction: number;
  readonly part: number;
};
/** Columns of every row that jobs run on. */
type Due = { readonly wake_at: string | null; readonly stuck_at: string | null };
export type InvoiceRow = Due & {
  readonly invoice_id: string;
  readonly version: number;
  readonly status: string;
  readonly created_at: string;
  readonly amount_minor: number;
  readonly payments_made: number;
  readonly payment_in_progress: boolean;
};
export type Fee = { basisPoints: number; fixedMinor: number; leastMinor?: number; mostMinor?: number };
export type PaymentRow = Due & {
  readonly invoice_id: string;
  readonly payment_id: string;
  readonly party_id: string;
  readonly shop_id: string;
  readonly status: string;
  readonly amount_minor: number;
  readonly currency: string;
  readonly captured_minor: number | null;
  readonly refunded_minor: number;
  readonly mode: string;
  readonly bank_id: string;
  readonly is_instant: boolean;
  /** The bank has refused the reversal for good. */
  readonly is_refused: boolean;
  readonly is_stepped_up: boolean;
  /** The bank has approved the charge before the step-up as well. */
  readonly is_first_late: boolean;
  /** Without a step-up: the bank has reported that it approved what it had declined. */
  readonly is_late: boolean;
  readonly is_first_undone: boolean;
  /** The charges undone that did not decide it, with what was refunded of each; a hold was released. */
  readonly undone: readonly (readonly [operation: string, minor: number | null])[];
  /** The bank has reported that its hold has ended. */
  readonly has_ended: boolean;
  /** What the refund in its place gave back. */
  readonly given_back_minor: number | null;
  /** What the bank has not paid of a capture that it had approved. */
  readonly uncaptured_minor: number | null;
  /** The shop lacked that money. */
  readonly is_uncaptured_aside: boolean;
  readonly fees: { readonly processing?: Fee; readonly refund?: Fee };
};
export type RefundRow = {
  readonly invoice_id: string;
  readonly payment_id: string;
  readonly refund_id: string;
  readonly status: string;
  readonly amount_minor: number;
  readonly fee_minor: number;
  readonly waits: boolean;
  readonly failure: readonly string[] | null;
  /** It had succeeded, and its money came back. */
  readonly is_returned: boolean;
};
export type CustomerRow = {
  readonly customer_id: string;
  readonly version: number;
  readonly status: string;
  readonly active_binding_id: string | null;
  readonly email?: string | null;
};
export type BindingRow = Due & {
  readonly customer_id: string;
  readonly binding_id: string;
  readonly status: string;
  readonly amount_minor: number;
  readonly currency: string;
  readonly mode: string;
  readonly bank_id: string;
};
export type WithdrawalRow = Due & {
  readonly withdrawal_id: string;
  readonly wallet_id: string;
  readonly version: number;
  readonly status: string;
  readonly amount_minor: number;
  readonly fee_minor: number;
  readonly currency: string;
  readonly bank_id: string | null;
  readonly terminal_id: string | null;
  readonly returned_minor: number | null;
  /** The banks it was to go to before. */
  readonly moved_from: readonly string[];
};
/** What a card was paid in roubles on a day, over all wallets. */
export type CardDayRow = { readonly card: string; readonly day: string; readonly amount_minor: number };
export type DestinationRow = Due & {
  readonly destination_id: string;
  readonly version: number;
  readonly status: string;
};
export type DepositRow = {
  readonly deposit_id: string;
  readonly wallet_id: string;
  readonly amount_minor: number;
  readonly is_reversed: boolean;
};
export type TopUpRow = {
  readonly top_up_id: string;
  readonly party_id: string;
  readonly shop_id: string;
  readonly bank_account_id: string;
  readonly amount_minor: number;
  readonly currency: string;
  readonly is_reversed: boolean;
};
export type TransferRow = {
  readonly transfer_id: string;
  readonly sender_id: string;
  readonly receiver_id: string;
  readonly amount_minor: number;
  readonly status: string;
};
/** Objects with a version whose states no check compares. */
export type OtherRow = { readonly id: string; readonly kind: string; readonly version: number };
export type AttemptRow = {
  readonly series_id: string;
  readonly invoice_id: string;
  readonly payment_id: string;
  readonly created_at: string;
  readonly ended_at: string | null;
  readonly outcome: string;
  readonly network: string | null;
  readonly code: string | null;
  readonly advice: string | null;
  readonly terminal: string;
  readonly amount_minor: number;
  readonly currency: string;
  readonly invoice_created_at: string;
  /** Of a hold. */
  readonly held_until: string | null;
  readonly captured_at: string | null;
  readonly cancelled_at: string | null;
  /** Of the shop, with its default. */
  readonly time_zone: string;
  readonly period_rule: string | null;
  readonly card_key: string;
  readonly shop: string;
  readonly payment_system: string;
};
export type SeriesRow = { readonly series_id: string; readonly failing_since: string | null };
/** A decline of a payment whose payer was present. */
export type PayerDeclineRow = {
  readonly card_key: string;
  readonly shop: string;
  readonly invoice_id: string;
  readonly payment_id: string;
  readonly amount_minor: number;
};
/** Of a subscription, its ID and that of the email are in the columns of an invoice and its payment. */
export type PayerEmailRow = Due & {
  readonly about: string;
  readonly invoice_id: string;
  readonly payment_id: string;
  readonly status: string;
  readonly recipient: string;
};
/** An update of a bank that is not done with. */
export type BankUpdateRow = {
  readonly operation_id: string;
  readonly what: string;
  readonly meaning: 'waits' | 'contradiction';
};
export type ConsentLinkRow = {
  readonly consent_link_id: string;
  readonly series_id: string;
  readonly terms: Readonly<Record<string, unknown>>;
  readonly customer_id: string | null;
  readonly binding_id: string | null;
};
export type PeriodRow = {
  readonly subscription_id: string;
  readonly number: number;
  readonly outcome: string;
  readonly amount_minor: number;
  readonly invoice_id: string | null;
  /** What its invoice says. */
  readonly of_subscription: string | null;
  readonly of_number: number | null;
  readonly asked_minor: number | null;
  /** By the invoice with which the payer started the subscription. A part of its hold may be captured. */
  readonly started: boolean | null;
  readonly captured: number;
  /** The merchant says that it was paid without Mandate. */
  readonly elsewhere: boolean;
  /** A policy that its subscription has or had asks for periods next to each other. */
  readonly stacks: boolean;
};
export type SubscriptionRow = Due & {
  readonly subscription_id: string;
  readonly customer_id?: string | null;
  /** All invoices that say they are of it. */
  readonly invoices: readonly string[];
  readonly phase: string;
  readonly state: {
    readonly paidThrough?: string;
    readonly creditMinor?: number;
    readonly change?: { readonly invoiceId?: string };
    readonly parkedFor?: string;
    readonly endedFor?: string;
    readonly payerReason?: string;
    readonly endsAfter?: { readonly number: number };
    readonly pause?: { readonly resumesAt?: string };
    readonly latest?: { readonly kind: string };
    readonly open: readonly { readonly declineClass?: string; readonly charging?: string }[];
  };
};
export type LedgerRow = {
  readonly aggregate_id: string;
  readonly operation_id: string;
  readonly step: string;
  readonly phase: 'single' | 'pending' | 'post' | 'void';
  readonly debit_account: string;
  readonly credit_account: string;
  readonly posted_minor: number;
  readonly pending_minor: number;
  readonly happened_at: string;
};
/** A sum of searches that is not the sum of its rows, and by how much. */
export type WrongSumRow = {
  readonly shop: string;
  readonly quarter: string;
  readonly summed_by: string;
  readonly n: number;
  readonly amount_minor: number;
};
/** The sum over all shards of an account, as text. */
export type BalanceRow = {
  readonly account_id: string;
  readonly debits_posted: string;
  readonly credits_posted: string;
  readonly debits_pending: string;
  readonly credits_pending: string;
};

export type Books = {
  readonly events: readonly EventRow[];
  readonly invoices: readonly InvoiceRow[];
  readonly payments: readonly PaymentRow[];
  readonly refunds: readonly RefundRow[];
  readonly customers: readonly CustomerRow[];
  readonly bindings: readonly BindingRow[];
  readonly withdrawals: readonly WithdrawalRow[];
  /** All of them, whichever aggregates were asked for. */
  readonly cardDays: readonly CardDayRow[];
  readonly destinations: readonly DestinationRow[];
  readonly deposits: readonly DepositRow[];
  readonly topUps: readonly TopUpRow[];
  readonly transfers: readonly TransferRow[];
  readonly others: readonly OtherRow[];
  readonly payerEmails: readonly PayerEmailRow[];
  readonly attempts: readonly AttemptRow[];
  readonly series: readonly SeriesRow[];
  readonly payerDeclines: readonly PayerDeclineRow[];
  readonly consentLinks: readonly ConsentLinkRow[];
  readonly periods: readonly PeriodRow[];
  readonly subscriptions: readonly SubscriptionRow[];
  /** All of them, whichever aggregates were asked for. */
  readonly bankUpdates: readonly BankUpdateRow[];
  readonly ledger: readonly LedgerRow[];
  /** Of all, whichever aggregates were asked for. */
  readonly wrongSums: readonly WrongSumRow[];
  /** All accounts, whichever aggregates were asked for. */
  readonly balances: readonly BalanceRow[];
};

type Source = {
  readonly text: string;
  /** The column with the aggregate's ID. */
  readonly key?: string;
  /** The aggregates that have such rows; all of them by default. */
  readonly of?: readonly string[];
};

const factsOf = (
  type: string,
) => `select fact, event.created_at from event, json_array_elements(facts) as fact
          where aggregate_id = payment.invoice_id and fact ->> 'paymentId' = payment.payment_id and fact ->> 'type' = '${type}'`;

const sources: Record<keyof Books, Source> = {
  events: {
    text: `select aggregate_id, aggregate, sequence, created_at, facts,
        written_in::text::bigint as transaction, xmin::text::bigint as part
      from event`,
    key: 'aggregate_id',
  },
  invoices: {
    text: `select invoice_id, version, status, created_at, amount_minor, payments_made, payment_in_progress, wake_at, stuck_at
      from invoice`,
    key: 'invoice_id',
    of: ['invoice'],
  },
  payments: {
    text: `select invoice_id, payment_id, party_id, shop_id, status, amount_minor, currency, captured_minor, refunded_minor,
        terms ->> 'realm' as mode, terms -> 'terminal' ->> 'bankId' as bank_id,
        terms -> 'flow' ->> 'type' = 'instant' as is_instant, terms -> 'fees' as fees, wake_at, stuck_at,
        exists (${factsOf('payment_reversal_refused')}) as is_refused,
        exists (${factsOf('payment_stepped_up')}) as is_stepped_up,
        exists (${factsOf('payment_undo_started')}) as is_first_late,
        exists (${factsOf('payment_approved_late')}) as is_late,
        exists (${factsOf('payment_undone')}) as is_first_undone,
        coalesce((select json_agg(json_build_array(fact ->> 'operation', (fact -> 'amount' ->> 'minor')::float8))
          from (${factsOf('payment_undone')}) as done), '[]') as undone,
        exists (select from exchange_note where what = 'holdEnded'
          and operation_id in (invoice_id || '.' || payment_id || '.a', invoice_id || '.' || payment_id || '.s')) as has_ended,
        (select max((fact -> 'amount' ->> 'minor')::float8) from (${factsOf('payment_given_back')}) as back) as given_back_minor,
        (select max((fact -> 'amount' ->> 'minor')::float8) from (${factsOf('payment_capture_failed')}) as lost) as uncaptured_minor,
        exists (${factsOf('payment_capture_failed')} and fact ->> 'isAside' = 'true') as is_uncaptured_aside
      from payment`,
    key: 'invoice_id',
    of: ['invoice'],
  },
  refunds: {
    text: `select invoice_id, payment_id, refund_id, status, amount_minor, fee_minor, waits_until is not null as waits, failure,
        exists (select from event, json_array_elements(facts) as fact
          where aggregate_id = refund.invoice_id and fact ->> 'paymentId' = refund.payment_id
            and fact ->> 'refundId' = refund.refund_id and fact ->> 'type' = 'refund_returned') as is_returned
      from refund`,
    key: 'invoice_id',
    of: ['invoice'],
  },
  customers: {
    text: `select customer_id, version, status, active_binding_id, contact_info ->> 'email' as email from customer`,
    key: 'customer_id',
    of: ['customer'],
  },
  bindings: {
    text: `select customer_id, binding_id, status, amount_minor, currency, terms ->> 'realm' as mode,
        terms -> 'terminal' ->> 'bankId' as bank_id, wake_at, stuck_at
      from binding`,
    key: 'customer_id',
    of: ['customer'],
  },
  withdrawals: {
    text: `select withdrawal_id, wallet_id, version, status, amount_minor, fee_minor, currency,
        terms -> 'route' ->> 'bankId' as bank_id, terms -> 'route' -> 'terminal' ->> 'id' as terminal_id,
        (result -> 'returned' -> 'amount' ->> 'minor')::int8 as returned_minor,
        coalesce(terms -> 'movedFrom', '[]'::json) as moved_from, wake_at, stuck_at
      from withdrawal`,
    key: 'withdrawal_id',
    of: ['withdrawal'],
  },
  cardDays: {
    text: `select card ->> 'mask' as card, to_char(withdrawal.created_at at time zone 'UTC', 'YYYY-MM-DD') as day,
        sum(amount_minor)::int8 as amount_minor
      from withdrawal join destination using (destination_id)
      where withdrawal.status <> 'failed' and withdrawal.currency = 'RUB' group by 1, 2`,
  },
  destinations: {
    text: 'select destination_id, version, status, wake_at, stuck_at from destination',
    key: 'destination_id',
    of: ['destination'],
  },
  deposits: {
    text: 'select deposit_id, wallet_id, amount_minor, reversed_at is not null as is_reversed from deposit',
    key: 'deposit_id',
    of: ['deposit'],
  },
  topUps: {
    text: `select top_up_id, party_id, shop_id, bank_account_id, amount_minor, currency, reversed_at is not null as is_reversed
      from shop_top_up`,
    key: 'top_up_id',
    of: ['shop_top_up'],
  },
  transfers: {
    text: 'select transfer_id, sender_id, receiver_id, amount_minor, status from wallet_transfer',
    key: 'transfer_id',
    of: ['wallet_transfer'],
  },
  others: {
    text: `select * from (
        select series_id as id, 'series' as kind, version from series
        union all select subscription_id, 'subscription', version from subscription
        union all select identity_id, 'identity', version from identity
        union all select wallet_id, 'wallet', 1 from wallet
        union all select deposit_id, 'deposit', case when reversed_at is null then 1 else 2 end from deposit
        union all select top_up_id, 'shop_top_up', case when reversed_at is null then 1 else 2 end from shop_top_up
        union all select transfer_id, 'transfer', 2 from wallet_transfer) as other`,
    key: 'id',
    of: ['series', 'subscription', 'identity', 'wallet', 'deposit', 'shop_top_up', 'wallet_transfer'],
  },
  payerEmails: {
    text: 'select about, invoice_id, payment_id, status, recipient, wake_at, stuck_at from payer_email',
    key: 'invoice_id',
    of: ['invoice', 'subscription'],
  },
  attempts: {
    text: `select attempt.series_id, invoice_id, payment_id, attempt.created_at, ended_at, outcome, network,
        code, advice, payment.terms -> 'terminal' ->> 'id' as terminal, attempt.amount_minor, attempt.currency, invoice.created_at as invoice_created_at,
        encode(card_key, 'hex') as card_key, series.party_id || ' ' || series.shop_id as shop,
        series.terms -> 'card' ->> 'paymentSystem' as payment_system, payment.terms -> 'flow' ->> 'heldUntil' as held_until,
        (select max(created_at) from (${factsOf('payment_captured')}) as captured) as captured_at,
        (select max(created_at) from (${factsOf('payment_cancelled')}) as cancelled) as cancelled_at,
        coalesce(settings ->> 'timeZone', case invoice.currency when 'RUB' then 'Europe/Moscow' else 'UTC' end) as time_zone,
        settings ->> 'periodRule' as period_rule
      from series_attempt as attempt join series using (series_id) join invoice using (invoice_id)
        join payment using (invoice_id, payment_id)
        left join recurring_settings as rules on rules.party_id = series.party_id and rules.shop_id = series.shop_id`,
    key: 'attempt.series_id',
    of: ['series'],
  },
  series: {
    text: `select series_id, state ->> 'failingSince' as failing_since from series`,
    key: 'series_id',
    of: ['series'],
  },
  payerDeclines: {
    text: `select encode(card_key, 'hex') as card_key, party_id || ' ' || shop_id as shop, invoice_id, payment_id, amount_minor
      from (select * from card_decline where not by_merchant) as declined`,
    key: 'invoice_id',
    of: ['invoice'],
  },
  consentLinks: {
    text: 'select consent_link_id, series_id, terms, customer_id, binding_id from consent_link',
    key: 'series_id',
    of: ['series'],
  },
  periods: {
    text: `select subscription_id, number, outcome, amount_minor, invoice_id,
        (select subscription_id from invoice where invoice.invoice_id = period.invoice_id) as of_subscription,
        (select number from subscription_invoice as of where of.invoice_id = period.invoice_id) as of_number,
        (select amount_minor from invoice where invoice.invoice_id = period.invoice_id) as asked_minor,
        (select terms->'firstInvoice'->>'id' = period.invoice_id from subscription
          where subscription.subscription_id = period.subscription_id) as started,
        (select count(*)::int from payment where payment.invoice_id = period.invoice_id
          and status in ('captured', 'refunding', 'refunded')) as captured,
        exists (select from event, json_array_elements(facts) as fact
          where aggregate_id = period.subscription_id and fact->>'type' = 'period_paid'
            and fact->>'by' = 'elsewhere' and (fact->>'number')::int = period.number) as elsewhere,
        exists (select from event, json_array_elements(facts) as fact
          where aggregate_id = period.subscription_id
            and coalesce(fact->'policy', fact->'terms'->'dunning')->>'stack' = 'true') as stacks
      from subscription_period as period`,
    key: 'subscription_id',
    of: ['subscription'],
  },
  subscriptions: {
    text: `select subscription_id, terms ->> 'customerId' as customer_id, phase, state, wake_at, stuck_at,
        array(select invoice_id::text from invoice where invoice.subscription_id = subscription.subscription_id) as invoices
      from subscription`,
    key: 'subscription_id',
    of: ['subscription'],
  },
  bankUpdates: {
    text: `select operation_id, what, meaning from exchange_note where meaning in ('waits', 'contradiction')`,
  },
  ledger: {
    text: `select aggregate_id, operation_id, step, phase, debit_account, credit_account, posted_minor, pending_minor,
        happened_at
      from ledger_transfer`,
    key: 'aggregate_id',
    of: ['invoice', 'customer', 'withdrawal', 'deposit', 'shop_top_up', 'wallet_transfer'],
  },
  wrongSums: {
    text: `select shop, quarter, summed_by, sum(n)::float8 as n, sum(amount_minor)::float8 as amount_minor
      from (
        select party_id || ' ' || shop_id as shop, quarter,
          concat_ws('|', what, currency, status, attempt, payment_system, decline_class, failure, bank_code) as summed_by,
          n, amount_minor
        from search_sum
        union all
        select party_id || ' ' || shop_id, to_timestamp(floor(extract(epoch from created_at) / 900) * 900),
          concat_ws('|', 'payment', currency,
            case when status in ('authorising', 'challenged', 'reversing') then 'pending'
              when status in ('held', 'capturing', 'cancelling') then 'processed'
              when status = 'refunding' then 'captured' else status end,
            attempt, coalesce(payment_system, ''), coalesce(decline_class, ''), coalesce(failure, ''), coalesce(bank_code, '')),
          -1, -amount_minor
        from search_payment
        union all
        select party_id || ' ' || shop_id, to_timestamp(floor(extract(epoch from created_at) / 900) * 900),
          concat_ws('|', 'refund', currency, status, 0, '', '', '', ''), -1, -amount_minor
        from search_refund
        union all
        select party_id || ' ' || shop_id, to_timestamp(floor(extract(epoch from created_at) / 900) * 900),
          concat_ws('|', 'payout', currency, status, 0, '', '', '', ''), -1, -amount_minor
        from search_payout
        union all
        select party_id || ' ' || shop_id, hour, concat_ws('|', 'hour', what, currency, status, decline_class), n, amount_minor
        from search_hour_sum
        union all
        select party_id || ' ' || shop_id, date_trunc('hour', quarter, 'UTC'),
          concat_ws('|', 'hour', what, currency, status, decline_class), -n, -amount_minor
        from search_sum
        union all
        select party_id || ' ' || shop_id, day,
          concat_ws('|', 'day', what, currency, status, attempt, payment_system, decline_class, failure, bank_code), n, amount_minor
        from search_day_sum
        union all
        select party_id || ' ' || shop_id, date_trunc('day', quarter, 'UTC'),
          concat_ws('|', 'day', what, currency, status, attempt, payment_system, decline_class, failure, bank_code), -n, -amount_minor
        from search_sum
      ) as both_ways
      group by shop, quarter, summed_by having sum(n) <> 0 or sum(amount_minor) <> 0`,
  },
  balances: {
    text: `select account_id, sum(debits_posted)::text as debits_posted, sum(credits_posted)::text as credits_posted,
        sum(debits_pending)::text as debits_pending, sum(credits_pending)::text as credits_pending
      from ledger_balance group by account_id`,
  },
};
const kinds = Object.keys(sources) as (keyof Books)[];

function statementOver(some: readonly (keyof Books)[], condition: (key: string) => string): string {
  return some
    .map((kind) => {
      const { text, key } = sources[kind];
      const rows = key === undefined ? text : `${text}${condition(key)}`;
      return `select '${kind}' as kind, row_to_json(row)::text as row from (${rows}) as row`;
    })
    .join('\nunion all\n');
}
const readAll = statementOver(kinds, () => '');
/** Statements by kinds of aggregates: a shorter statement is planned faster. */
const readSome = new Map<string, string>();

function statementFor(aggregates: readonly string[]): string {
  const name = aggregates.toSorted().join(' ');
  const known = readSome.get(name);
  if (known !== undefined) return known;
  const some = kinds.filter((kind) => sources[kind].of?.some((one) => aggregates.includes(one)) ?? true);
  const text = statementOver(some, (key) => ` where ${key} = any($1::text[])`);
  readSome.set(name, text);
  return text;
}

export type Touched = { readonly ids: readonly string[]; readonly aggregates: readonly string[] };

/** Reads the rows of these aggregates, or of all. */
export async function readBooks(query: CheckWorld['query'], only?: Touched): Promise<Books> {
  const books = Object.fromEntries(kinds.map((kind) => [kind, [] as unknown[]])) as Record<
    keyof Books,
    unknown[]
  >;
  const rows = only ? await query(statementFor(only.aggregates), [only.ids]) : await query(readAll);
  for (const { kind, row } of rows) books[kind as keyof Books].push(JSON.parse(String(row)));
  books.events.sort((a, b) => (a as EventRow).sequence - (b as EventRow).sequence);
  return books as unknown as Books;
}

export function groupedBy<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const key = keyOf(one);
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  return groups;
}
