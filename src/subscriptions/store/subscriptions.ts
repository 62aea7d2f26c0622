// Subscriptions in SQL. A change is one statement: the row, guarded by its version, its events, and the rows of its periods.
import type { Instant } from '../../clock.ts';
import {
  instant,
  list,
  minorUnits,
  object,
  oneOf,
  optional,
  text,
  wholeNumber,
} from '../../platform/database/codec.ts';
import type { Database } from '../../platform/database/database.ts';
import { findByExternalId } from '../../platform/database/external-id.ts';
import { readStatement } from '../../platform/database/batches/read-statement.ts';
import { writeStatement } from '../../platform/database/batches/write-statement.ts';
import {
  columnList,
  parameterList,
  statement,
  stored,
  type Values,
} from '../../platform/database/statement.ts';
import { createdWith, eventsOf } from '../../platform/events/log.ts';
import { maxWebhookEventsPerEvent } from '../../platform/events/domain/topic.ts';
import { initialClaim } from '../../platform/jobs/job-runner.ts';
import { defined } from '../../defined.ts';
import type {
  Change,
  Period,
  Subscription,
  SubscriptionFact,
  SubscriptionTerms,
} from '../domain/subscription.ts';
import {
  periodKind,
  periodLines,
  periodOutcome,
  phase,
  subscriptionFact,
  subscriptionState,
  subscriptionTerms,
} from './codec.ts';

export type StoredSubscription = {
  readonly subscription: Subscription;
  readonly version: number;
  /** The time of the latest event. */
  readonly changedAt: Instant;
  /** Of the run of the job that has read the row. */
  readonly leasedUntil?: Instant;
  /** This run has written it since, with the time of the next look. */
  readonly isWritten?: true;
};

export const columns = {
  subscription_id: 'text',
  party_id: 'text',
  shop_id: 'text',
  customer_id: 'text?',
  version: 'int4',
  phase: stored('text', phase),
  terms: stored('json', subscriptionTerms),
  state: stored('json', subscriptionState),
  external_id: 'text?',
  created_at: 'timestamptz',
  changed_at: 'timestamptz',
} as const;

const insertSubscription = statement({
  name: 'insert_subscription',
  parameters: {
    ...columns,
    ...createdWith(subscriptionFact),
    wake_at: 'timestamptz?',
    fingerprint: 'bytea',
  },
  row: { version: 'int4' },
  text: `
    with changed as (
      insert into subscription (${columnList(columns)}, wake_at)
      select ${parameterList(columns)}, :wake_at
      where claim_external_id(:party_id, 'createSubscription', :external_id, :subscription_id, :fingerprint)
      returning subscription_id, party_id, version, changed_at
    )
    select append_event('subscription', subscription_id, version, party_id, changed_at, :facts) as version from changed`,
});

/** `isOfChange`: its invoice is known as that of the change that started it. */
type NewPeriod = Period & { readonly isOfChange?: true };
const newPeriods = list(
  object<NewPeriod>({
    number: wholeNumber,
    kind: periodKind,
    startsOn: text,
    endsOn: text,
    startsAt: instant,
    endsAt: instant,
    dueAt: instant,
    lines: periodLines,
    amountMinor: minorUnits,
    creditMinor: minorUnits,
    outcome: periodOutcome,
    invoiceId: optional(text),
    isOfChange: optional(oneOf(true)),
  }),
);
/** What a fact changes of a row. `endsOn` and `endsAt`: the next one starts earlier. */
type ChangedPeriod = { readonly number: number } & Partial<
  Pick<Period, 'outcome' | 'invoiceId' | 'endsOn' | 'endsAt'>
>;
type ChangeInvoice = { readonly number: number; readonly invoiceId: string };
const changeInvoices = list(object<ChangeInvoice>({ number: wholeNumber, invoiceId: text }));
const endedPeriods = list(
  object<ChangedPeriod>({
    number: wholeNumber,
    outcome: optional(periodOutcome),
    invoiceId: optional(text),
    endsOn: optional(text),
    endsAt: optional(instant),
  }),
);

/** No row is a version conflict. */
const changeSubscription = writeStatement({
  name: 'change_subscription',
  leavesOut: 'held',
  change: {
    subscription_id: 'text',
    version: 'int4',
    happened_at: 'timestamptz',
    ...eventsOf(subscriptionFact),
    phase: columns.phase,
    state: columns.state,
    wake_at: 'timestamptz?',
    created_periods: stored('json', newPeriods),
    ended_periods: stored('json', endedPeriods),
    change_invoices: stored('json', changeInvoices),
  },
  row: { version: 'int4' },
  text: 'select asker, version from change_subscriptions(:changes)',
});

const readSubscription = readStatement({
  name: 'read_subscription',
  parameters: { subscription_id: 'text' },
  row: columns,
  text: `select ${columnList(columns)} from subscription where subscription_id = :subscription_id`,
});

/** The newest first. */
const listOfCustomer = statement({
  name: 'list_subscriptions_of_customer',
  parameters: { party_id: 'text', customer_id: 'text' },
  row: columns,
  text: `select ${columnList(columns)} from subscription where customer_id = :customer_id and party_id = :party_id
         order by created_at desc, subscription_id desc limit 100`,
});

/** What each other one of the customer costs at most, as the next charges have it. One that ends costs what is open. */
const largestOfOthers = statement({
  name: 'find_largest_charge_of_customer',
  parameters: { party_id: 'text', customer_id: 'text', subscription_id: 'text', currency: 'text' },
  row: { others: 'int8', largest_minor: 'int8' },
  text: `
    with line as (
      select subscription_id, place, (item->>'quantity')::int8 as quantity, (item->>'priceMinor')::int8 as price,
        (item->>'lastPriceMinor')::int8 as last_price
      from subscription, lateral (values
          ('items', state->'items'), ('scheduled', state->'scheduledItems'), ('change', state->'change'->'items')
        ) as source (place, items), json_array_elements(items) as item
      where customer_id = :customer_id and state->'endsAfter' is null
    ), total as (
      select subscription_id, greatest(sum(quantity * price), sum(quantity * coalesce(last_price, price))) as minor
      from line group by subscription_id, place
      union all
      select subscription_id, (period->>'amountMinor')::int8 from subscription, json_array_elements(state->'open') as period
      where customer_id = :customer_id
    )
    select count(distinct subscription_id) as others, coalesce(max(minor), 0)::int8 as largest_minor
    from total join subscription using (subscription_id)
    where party_id = :party_id and subscription_id <> :subscription_id and phase <> 'ended' and terms->>'currency' = :currency`,
});

const periodColumns = {
  number: 'int4',
  kind: stored('text', periodKind),
  starts_on: 'text',
  ends_on: 'text',
  starts_at: 'timestamptz',
  ends_at: 'timestamptz',
  due_at: 'timestamptz',
  lines: stored('json', periodLines),
  amount_minor: 'int8',
  credit_minor: 'int8',
  outcome: stored('text', periodOutcome),
  invoice_id: 'text?',
} as const;

/** From the newest one back. */
const readPeriods = statement({
  name: 'read_periods_of_subscription',
  parameters: { subscription_id: 'text', before: 'int4', limit: 'int4' },
  row: periodColumns,
  text: `select ${columnList(periodColumns)} from subscription_period
         where subscription_id = :subscription_id and number < :before order by number desc limit :limit`,
});

const readOwner = statement({
  name: 'read_subscription_of_invoice',
  parameters: { invoice_id: 'text' },
  row: { subscription_id: 'text', number: 'int4' },
  text: 'select subscription_id, number from subscription_invoice where invoice_id = :invoice_id',
});

const readPaid = statement({
  name: 'read_paid_period_of_invoice',
  parameters: { subscription_id: 'text', invoice_id: 'text' },
  row: { ...periodColumns, paid_through: 'timestamptz?' },
  text: `select ${columnList(periodColumns)}, (
           select max(ends_at) from subscription_period
           where subscription_id = :subscription_id and outcome = 'paid' and invoice_id is distinct from :invoice_id
         ) as paid_through
         from subscription_period
         where subscription_id = :subscription_id and invoice_id = :invoice_id`,
});

/** Keeps the time of a wake-up that has come since the claim. */
const rest = statement({
  name: 'rest_subscription',
  parameters: {
    subscription_id: 'text',
    version: 'int4',
    leased_until: 'timestamptz',
    wake_at: 'timestamptz?',
  },
  row: {},
  text: `update subscription set attempts = 0, stuck_reason = null,
           wake_at = case when wake_at = :leased_until then :wake_at else wake_at end
         where subscription_id = :subscription_id and version = :version and (attempts > 0 or wake_at = :leased_until)`,
});

/**
 * A row that is due earlier, or waits for nothing, stays as it is. Otherwise the node that wakes it runs its job: with a claim, unless
 * no job holds the row and it is due within a lease.
 */
const wake = writeStatement({
  name: 'wake_subscription',
  leavesOut: 'held',
  change: { subscription_id: 'text', at: 'timestamptz', leased_until: 'timestamptz' },
  row: { may_run: 'bool' },
  text: 'select asker, is_claimed as may_run from wake_subscriptions(:changes)',
});

/** Its conditions are those of the two indexes. */
const countWaiting = statement({
  name: 'count_waiting_subscriptions',
  parameters: {},
  row: { parked: 'int8', misconfigured: 'int8' },
  text: `select
      (select count(*) from subscription
       where strpos(state::text, '"parkedFor"') > 0 and (state->>'parkedFor') is not null) as parked,
      (select count(*) from subscription where strpos(state::text, '"configuration"') > 0
       and (state->'open'->0->>'declineClass') = 'configuration') as misconfigured`,
});

/** Those that only a person can help. */
export async function countWaitingSubscriptions(db: Pick<Database, 'run'>) {
  const [row] = await db.run(countWaiting, {});
  return { parked: Number(row?.parked ?? 0), misconfigured: Number(row?.misconfigured ?? 0) };
}

/** Within hours that a night can be planned for. The index of due rows has all of them. */
const countDue = statement({
  name: 'count_due_subscriptions',
  parameters: { now: 'timestamptz' },
  row: { hour: 'int4', due: 'int8', oldest: 'timestamptz?' },
  text: `select greatest(ceil(extract(epoch from wake_at - :now) / 3600)::int - 1, 0) as hour, count(*) as due,
      min(wake_at) filter (where wake_at <= :now) as oldest
    from subscription where wake_at <= :now + interval '48 hours' group by 1 order by 1`,
});

export async function dueSubscriptions(db: Pick<Database, 'run'>, now: Instant) {
  const rows = await db.run(countDue, { now });
  const inHour = Array.from({ length: 48 }, (_, hour) =>
    Number(rows.find((row) => row.hour === hour)?.due ?? 0),
  );
  const within = [1, 6, 24, 48].map(
    (hours) => [`${hours}h`, inHour.slice(0, hours).reduce((sum, due) => sum + due, 0)] as const,
  );
  return { oldest: rows[0]?.oldest ?? undefined, within, inHour };
}

/** False if the external ID is taken. */
export async function storeNewSubscription(
  db: Database,
  subscription: Subscription,
  facts: readonly SubscriptionFact[],
  wakeAt: Instant | undefined,
  fingerprint: Buffer,
): Promise<boolean> {
  const { terms, phase: of, ...state } = subscription;
  const rows = await db.run(insertSubscription, {
    subscription_id: terms.id,
    party_id: terms.partyId,
    shop_id: terms.shopId,
    customer_id: terms.customerId ?? null,
    version: 1,
    phase: of,
    terms,
    state,
    external_id: terms.externalId ?? null,
    created_at: terms.createdAt,
    changed_at: terms.createdAt,
    facts,
    wake_at: wakeAt ?? null,
    fingerprint,
  });
  return rows.length > 0;
}

/** Undefined on a version conflict. */
export async function storeFacts(
  db: Database,
  before: StoredSubscription,
  facts: readonly SubscriptionFact[],
  {
    after,
    wakeAt,
    now,
  }: { readonly after: Subscription; readonly wakeAt: Instant | undefined; readonly now: Instant },
): Promise<StoredSubscription | undefined> {
  const { terms, phase: of, ...state } = after;
  const { created, ended } = periodsAfter(facts);
  const [row] = await db.run(changeSubscription, {
    subscription_id: terms.id,
    version: before.version,
    happened_at: now,
    events: inEvents(facts),
    phase: of,
    state,
    wake_at: wakeAt ?? null,
    created_periods: created,
    ended_periods: ended,
    change_invoices: facts.flatMap((fact) =>
      fact.type === 'change_started' && fact.change.invoiceId !== undefined
        ? [{ number: paidNumberOf(fact.change), invoiceId: fact.change.invoiceId }]
        : [],
    ),
  });
  if (!row) return undefined;
  const { leasedUntil } = before;
  const written = { subscription: after, version: row.version, changedAt: now, isWritten: true } as const;
  return { ...written, ...defined({ leasedUntil }) };
}

/** Of the period that the invoice of a change pays. */
function paidNumberOf({ period, newPeriod }: Change): number {
  return newPeriod ? period + 1 : period;
}

/** A webhook sends a few of one event. A long outage creates many periods at once. */
function inEvents(facts: readonly SubscriptionFact[]): SubscriptionFact[][] {
  const events: SubscriptionFact[][] = [];
  for (let start = 0; start < facts.length; start += maxWebhookEventsPerEvent)
    events.push(facts.slice(start, start + maxWebhookEventsPerEvent));
  return events;
}

/** The rows that the facts create, as they are after all of them, and what they change of others. */
function periodsAfter(facts: readonly SubscriptionFact[]) {
  const created = new Map<number, NewPeriod>();
  const ended = new Map<number, ChangedPeriod>();
  const ofChanges = new Set(
    facts.flatMap((fact) => (fact.type === 'items_changed' ? (fact.change.invoiceId ?? []) : [])),
  );
  const isOfChange = ({ invoiceId }: Period) => invoiceId !== undefined && ofChanges.has(invoiceId);
  const set = (number: number, change: Omit<ChangedPeriod, 'number'>) => {
    const row = created.get(number);
    if (row) created.set(number, { ...row, ...change });
    else ended.set(number, { ...ended.get(number), number, ...change });
  };
  for (const fact of facts) {
    if (fact.type === 'period_created')
      created.set(fact.period.number, {
        ...fact.period,
        ...(isOfChange(fact.period) ? { isOfChange: true } : {}),
      });
    if (fact.type === 'items_changed' && fact.change.newPeriod) {
      const { startsOn: endsOn, startsAt: endsAt } = fact.change.newPeriod;
      set(fact.change.period, { endsOn, endsAt });
    }
    if (fact.type === 'period_paid') set(fact.number, { outcome: 'paid' });
    if (fact.type === 'period_closed') set(fact.number, { outcome: fact.outcome });
    if (fact.type === 'payment_taken_back') set(fact.period.number, { outcome: fact.period.outcome });
    if (fact.type === 'subscription_unpaid') set(fact.number, { outcome: 'unpaid' });
    if (fact.type === 'missed_period_charged')
      set(fact.number, { outcome: 'open', invoiceId: fact.invoiceId });
  }
  return { created: [...created.values()], ended: [...ended.values()] };
}

export async function loadSubscription(
  db: Pick<Database, 'run'>,
  id: string,
): Promise<StoredSubscription | undefined> {
  const [row] = await db.run(readSubscription, { subscription_id: id });
  return row && fromRow(row);
}

export async function findSubscription(
  db: Pick<Database, 'run'>,
  partyId: string,
  id: string,
): Promise<StoredSubscription | undefined> {
  const found = await loadSubscription(db, id);
  return found?.subscription.terms.partyId === partyId ? found : undefined;
}

export const findSubscriptionByExternalId = findByExternalId(
  'subscription',
  'createSubscription',
  columns,
  (row) => ({ ...fromRow(row), id: row.subscription_id }),
);

export async function findSubscriptionsOfCustomer(
  db: Database,
  partyId: string,
  customerId: string,
): Promise<StoredSubscription[]> {
  return (await db.run(listOfCustomer, { party_id: partyId, customer_id: customerId })).map(fromRow);
}

/** Of those that are charged to the same card in the same currency. */
export async function findLargestOfOthers(
  db: Database,
  { id, partyId, customerId, currency }: SubscriptionTerms & { readonly customerId: string },
): Promise<{ readonly others: number; readonly largestMinor: number }> {
  const of = { party_id: partyId, customer_id: customerId, subscription_id: id, currency };
  const [row] = await db.run(largestOfOthers, of);
  return { others: Number(row?.others ?? 0), largestMinor: Number(row?.largest_minor ?? 0) };
}

export async function findPeriods(
  db: Database,
  subscriptionId: string,
  { before, limit }: { readonly before: number; readonly limit: number },
): Promise<Period[]> {
  const rows = await db.run(readPeriods, { subscription_id: subscriptionId, before, limit });
  return rows.map(periodFromRow);
}

function periodFromRow(row: Values<typeof periodColumns>): Period {
  return {
    number: row.number,
    kind: row.kind,
    startsOn: row.starts_on,
    endsOn: row.ends_on,
    startsAt: row.starts_at,
    endsAt: row.ends_at,
    dueAt: row.due_at,
    lines: row.lines,
    amountMinor: row.amount_minor,
    creditMinor: row.credit_minor,
    outcome: row.outcome,
    ...defined({ invoiceId: row.invoice_id }),
  };
}

export type PaidBy = {
  readonly stored: StoredSubscription;
  /** That of a change, if no period is here. */
  readonly number: number;
  readonly period?: Period;
  /** Until when the others are paid. */
  readonly paidThrough?: Instant;
};

/** The subscription that an invoice is of. */
export async function loadOwnerOf(db: Database, invoiceId: string): Promise<StoredSubscription | undefined> {
  const [owner] = await db.run(readOwner, { invoice_id: invoiceId });
  return owner && loadSubscription(db, owner.subscription_id);
}

/** What the invoice has paid. Undefined if it is of no subscription, or of a period that does not count as paid. */
export async function findPaidBy(db: Database, invoiceId: string): Promise<PaidBy | undefined> {
  const [owner] = await db.run(readOwner, { invoice_id: invoiceId });
  const stored = owner && (await loadSubscription(db, owner.subscription_id));
  if (!stored) return undefined;
  const id = stored.subscription.terms.id;
  const [row] = await db.run(readPaid, { subscription_id: id, invoice_id: invoiceId });
  const { number } = owner;
  if (row && row.outcome !== 'paid') return undefined;
  return row
    ? { stored, number, period: periodFromRow(row), ...defined({ paidThrough: row.paid_through }) }
    : { stored, number };
}

const readPeriodOf = readStatement({
  name: 'read_period_of_invoice',
  parameters: { subscription_id: 'text', invoice_id: 'text' },
  row: { starts_on: 'text', ends_on: 'text' },
  text: `select starts_on, ends_on from subscription_period
         where subscription_id = :subscription_id and invoice_id = :invoice_id`,
});

/** The dates of the period that an invoice pays. Undefined for that of a change within its period: only a new period has one. */
export async function findPeriodOf(
  db: Pick<Database, 'run'>,
  subscriptionId: string,
  invoiceId: string,
): Promise<Pick<Period, 'startsOn' | 'endsOn'> | undefined> {
  const [row] = await db.run(readPeriodOf, { subscription_id: subscriptionId, invoice_id: invoiceId });
  return row && { startsOn: row.starts_on, endsOn: row.ends_on };
}

/** The job has done what it was due for. Its count of failures starts again. */
export async function restSubscription(
  db: Database,
  { subscription, version }: StoredSubscription,
  leasedUntil: Instant,
  wakeAt: Instant | undefined,
): Promise<void> {
  const id = subscription.terms.id;
  await db.run(rest, { subscription_id: id, version, leased_until: leasedUntil, wake_at: wakeAt ?? null });
}

/** Whether its job may run at once. Its row is then claimed, or due within a lease as it stands. */
export async function wakeToRun(db: Database, subscriptionId: string, at: Instant): Promise<boolean> {
  const leased_until = initialClaim(at).wake_at;
  const [row] = await db.run(wake, { subscription_id: subscriptionId, at, leased_until });
  return row?.may_run ?? false;
}

export function fromRow(row: Values<typeof columns>): StoredSubscription {
  const { terms, phase: of, state, version, changed_at: changedAt } = row;
  return { subscription: { terms, phase: of, ...state }, version, changedAt };
}
