// Inserts and reads bindings. A binding is part of its customer: every change of it raises the customer's version, and its
// facts are in the customer's log.
import { exchangeParameters, recordExchanges } from '../../acquiring/exchange-log/store/exchange-rows.ts';
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
import { laterBy, type Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { readStatement } from '../../platform/database/batches/read-statement.ts';
import {
  readByExternalId,
  recordExternalId,
  type FoundByExternalId,
} from '../../platform/database/external-id.ts';
import {
  columnList,
  isJoined,
  optional,
  parameterList,
  statement,
  type Values,
} from '../../platform/database/statement.ts';
import { appendEvent, changedAt, changedWith } from '../../platform/events/log.ts';
import { velocityWindowMs, type BindingRules, type RecentBindings } from '../domain/commands.ts';
import { bindingColumns, bindingFromRow, rowOf } from './rows.ts';
import { exchangesOfChange } from '../domain/exchanges.ts';
import { evolveBinding, type Binding, type BindingFact } from '../domain/binding.ts';
import { customerLogFact } from './codec.ts';
import { customerColumns, customerStateFromRow, type StoredCustomer } from './customers.ts';
import type { Customer } from '../domain/customer.ts';
import { defined } from '../../defined.ts';

export type StoredBinding = {
  readonly binding: Binding;
  /** The customer's version at the latest change of the binding. */
  readonly version: number;
  readonly customer: Pick<Customer, 'state'>;
  readonly customerVersion: number;
  /** The series by which a bound card is charged, if the row names it. */
  readonly seriesId?: string;
};

/** Its jobs wait for this bank. */
export const bankOfBinding = "terms -> 'terminal' ->> 'bankId'";

export const bindingColumnList = columnList(bindingColumns, 'binding');

const ofCustomer = {
  customer_status: customerColumns.status,
  active_binding_id: customerColumns.active_binding_id,
  customer_version: customerColumns.version,
} as const;
const customerColumnList =
  'customer.status as customer_status, customer.active_binding_id, customer.version as customer_version';
export const storedColumns = { ...bindingColumns, series_id: 'text?', ...ofCustomer } as const;
/** Of both tables joined. */
export const storedColumnList = `${bindingColumnList}, series_id, ${customerColumnList}`;

/**
 * Writes nothing if the customer has changed since it was read, or if the card is gone. A taken external ID fails the whole
 * statement.
 */
const insertBinding = statement({
  name: 'insert_binding',
  parameters: {
    ...bindingColumns,
    ...changedWith(customerLogFact),
    ...retainedCardParameters,
    ...attemptParameters,
    ...exchangeParameters,
    card_fingerprint: 'bytea',
    fingerprint: 'bytea?',
    wake_at: 'timestamptz',
    attempts: 'int4',
  },
  row: { version_conflict: 'bool', is_counted: 'bool', is_made: 'bool', ...openedColumns },
  text: `
    with unchanged as (
      select customer_id from customer where customer_id = :customer_id and version = :version - 1 for update
    ), ${beginAttempt('unchanged')}, kept as (${retainCard('counted')}
    ), changed as (
      update customer set version = version + 1, ${changedAt('customer')}, bindings_made = :number
      from unchanged where customer.customer_id = unchanged.customer_id and exists (select from kept)
      returning customer.customer_id, party_id, version, changed_at
    ), identified as (
      ${recordExternalId('createBinding', ':binding_id')}
    ), made as (
      insert into binding (${columnList(bindingColumns)}, card_fingerprint, wake_at, attempts, ${attemptColumns})
      select ${parameterList(bindingColumns)}, :card_fingerprint, :wake_at, :attempts, ${attemptValues} from changed
    ), logged as (
      ${appendEvent('customer', 'customer_id')}
    ), begun as (
      ${recordExchanges('changed')}
    )
    select not exists (select from unchanged) as version_conflict, exists (select from counted) as is_counted,
      exists (select from changed) as is_made, ${openedValues}`,
});

const readBinding = readStatement({
  name: 'read_binding',
  parameters: { customer_id: 'text', binding_id: 'text' },
  row: storedColumns,
  text: `select ${storedColumnList} from binding join customer using (customer_id)
         where customer_id = :customer_id and binding_id = :binding_id`,
});

/** No row means that the party has no such customer. A row without a binding means that there are no more bindings. */
const readBindings = statement({
  name: 'read_bindings_of_customer',
  parameters: { customer_id: 'text', party_id: 'text', after: 'int4', limit: 'int4' },
  row: { ...optional(bindingColumns), series_id: 'text?', ...ofCustomer },
  text: `select ${storedColumnList}
         from customer left join lateral (
           select * from binding
           where binding.customer_id = customer.customer_id and number > :after
           order by number limit :limit
         ) as binding on true
         where customer.customer_id = :customer_id and customer.party_id = :party_id
           and customer.status <> 'deleted'
         order by number`,
});

/** Reads one binding, the binding that would be active without it, and the time of the customer's latest event. */
const readOneBinding = readStatement({
  name: 'read_binding_of_customer',
  parameters: { customer_id: 'text', party_id: 'text', binding_id: 'text' },
  row: {
    ...optional(bindingColumns),
    series_id: 'text?',
    ...ofCustomer,
    changed_at: 'timestamptz',
    bound_before: 'text?',
  },
  text: `select customer.changed_at, ${storedColumnList}, (
           select before.binding_id from binding as before
           where before.customer_id = customer.customer_id and before.bound_at_version is not null
             and before.binding_id <> :binding_id
           order by before.bound_at_version desc limit 1
         ) as bound_before
         from customer
         left join binding on binding.customer_id = customer.customer_id and binding.binding_id = :binding_id
         where customer.customer_id = :customer_id and customer.party_id = :party_id
           and customer.status <> 'deleted'`,
});

const readBindingByExternalId = readByExternalId({
  name: 'read_binding_by_external_id',
  operation: 'createBinding',
  row: { entity_id: 'text' },
  select: 'entity_id',
});

/** Counts in an index and stops at the limit, so the cost does not grow with the number of bindings. */
const readEarlierBindings = statement({
  name: 'read_earlier_bindings',
  parameters: {
    customer_id: 'text',
    card_fingerprint: 'bytea',
    since: 'timestamptz',
    of_customer: 'int4?',
    with_card: 'int4?',
  },
  row: { of_customer: 'timestamptz?', with_card: 'timestamptz?' },
  text: `select (
           select created_at from binding
           where customer_id = :customer_id and :of_customer is not null
           order by number desc offset :of_customer - 1 limit 1
         ) as of_customer, (
           select created_at from binding
           where card_fingerprint = :card_fingerprint and :with_card is not null and created_at > :since
           order by created_at desc offset :with_card - 1 limit 1
         ) as with_card`,
});

export async function storeNewBinding(
  db: Database,
  { customer, version }: StoredCustomer,
  started: BindingFact & { type: 'binding_started' },
  options: {
    cardFingerprint: Buffer;
    attempt: Attempt | undefined;
    fingerprint: Buffer | null;
    claim: { wake_at: Instant; attempts: number };
  },
): Promise<StoredBinding | 'versionConflict' | Unmade> {
  const binding = evolveBinding(undefined, started);
  const { customerId, id, card } = binding;
  if (customerId !== customer.id) throw new Error('the binding belongs to another customer');
  const [row] = await db.run(insertBinding, {
    ...rowOf(binding, version + 1),
    ...options.claim,
    ...attemptRow(options.attempt),
    retained_card: cardIdOf(card.token) ?? null,
    retained_for: retentionReasonText(['binding', customerId, id]),
    card_fingerprint: options.cardFingerprint,
    fingerprint: options.fingerprint,
    happened_at: binding.createdAt,
    facts: [{ type: started.type, bindingId: id, terms: started.terms }],
    exchanges: exchangesOfChange(undefined, binding, binding.createdAt),
  });
  if (!row || row.version_conflict) return 'versionConflict';
  if (!row.is_made) return unmade(options.attempt, row);
  const made = version + 1;
  return { binding, version: made, customer: { state: customer.state }, customerVersion: made };
}

export async function loadBinding(
  db: Database,
  name: { customerId: string; bindingId: string },
): Promise<StoredBinding | undefined> {
  const [row] = await db.run(readBinding, { customer_id: name.customerId, binding_id: name.bindingId });
  return row && storedBindingFromRow(row);
}

/** The series of the customer's bound cards, and the bindings that name no series. */
const readBoundSeries = statement({
  name: 'read_bound_series',
  parameters: { customer_id: 'text' },
  row: { series_id: 'text?', binding_id: 'text?' },
  text: `select distinct series_id, case when series_id is null then binding_id end as binding_id
         from binding where customer_id = :customer_id and status = 'succeeded'`,
});

export async function findBoundSeries(
  db: Database,
  customerId: string,
): Promise<{ named: string[]; bindingsWithout: string[] }> {
  const rows = await db.run(readBoundSeries, { customer_id: customerId });
  return {
    named: rows.flatMap(({ series_id }) => series_id ?? []),
    bindingsWithout: rows.flatMap(({ binding_id }) => binding_id ?? []),
  };
}

const readLastRevoked = statement({
  name: 'read_last_revoked_binding',
  parameters: { customer_id: 'text' },
  row: { binding_id: 'text' },
  text: `select binding_id from binding where customer_id = :customer_id and status = 'withdrawn'
         order by version desc limit 1`,
});

export async function findLastRevoked(db: Database, customerId: string): Promise<string | undefined> {
  const [row] = await db.run(readLastRevoked, { customer_id: customerId });
  return row?.binding_id;
}

/** Bindings of the series, and those that name no series. */
const readBindingsOfSeries = statement({
  name: 'read_bindings_of_series',
  parameters: { customer_id: 'text', series_id: 'text' },
  row: { binding_id: 'text' },
  text: `select binding_id from binding
         where customer_id = :customer_id and status = 'succeeded'
           and (series_id = :series_id or series_id is null)`,
});

export async function findBindingsOfSeries(
  db: Database,
  { customerId, seriesId }: { customerId: string; seriesId: string },
): Promise<string[]> {
  const rows = await db.run(readBindingsOfSeries, { customer_id: customerId, series_id: seriesId });
  return rows.map(({ binding_id }) => binding_id);
}

/** Oldest first. Undefined if the party has no such customer. */
export async function findBindings(
  db: Database,
  name: { partyId: string; customerId: string },
  page: { after: number; limit: number },
): Promise<StoredBinding[] | undefined> {
  const names = { customer_id: name.customerId, party_id: name.partyId };
  const rows = await db.run(readBindings, { ...names, ...page });
  if (rows.length === 0) return undefined;
  return rows.filter((row) => isJoined(bindingColumns, row)).map(storedBindingFromRow);
}

/** Undefined if the party has no such customer. `boundBefore` is the binding that would be active without this one. */
export async function findBinding(
  db: Database,
  name: { partyId: string; customerId: string; bindingId: string },
): Promise<{ stored?: StoredBinding; changedAt: Instant; boundBefore?: string } | undefined> {
  const [row] = await db.run(readOneBinding, {
    customer_id: name.customerId,
    party_id: name.partyId,
    binding_id: name.bindingId,
  });
  if (!row) return undefined;
  const { changed_at: changedAt } = row;
  if (!isJoined(bindingColumns, row)) return { changedAt };
  return {
    stored: storedBindingFromRow(row),
    changedAt,
    ...defined({ boundBefore: row.bound_before }),
  };
}

export async function findBindingByExternalId(
  db: Database,
  partyId: string,
  externalId: string,
): Promise<FoundByExternalId<{ id: string }> | undefined> {
  const [row] = await db.run(readBindingByExternalId, { party_id: partyId, external_id: externalId });
  return row && { value: { id: row.entity_id }, fingerprint: row.request_fingerprint };
}

export async function findEarlierBindings(
  db: Database,
  of: { customerId: string; cardFingerprint: Buffer },
  rules: BindingRules,
  now: Instant,
): Promise<RecentBindings> {
  const { maxPerCustomer, maxPerCard } = rules;
  if (maxPerCustomer === undefined && maxPerCard === undefined) return {};
  const [row] = await db.run(readEarlierBindings, {
    customer_id: of.customerId,
    card_fingerprint: of.cardFingerprint,
    since: laterBy(now, -velocityWindowMs),
    of_customer: maxPerCustomer ?? null,
    with_card: maxPerCard ?? null,
  });
  return {
    ...(row?.of_customer ? { ofCustomer: row.of_customer } : {}),
    ...(row?.with_card ? { withCard: row.with_card } : {}),
  };
}

export function storedBindingFromRow(row: Values<typeof storedColumns>): StoredBinding {
  const { customer_status: status, active_binding_id } = row;
  return {
    binding: bindingFromRow(row),
    version: row.version,
    customer: { state: customerStateFromRow({ status, active_binding_id }) },
    customerVersion: row.customer_version,
    ...defined({ seriesId: row.series_id }),
  };
}
