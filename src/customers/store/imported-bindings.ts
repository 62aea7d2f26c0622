// Writes a batch of imported bindings: their customers, new or not, the external IDs, and one event for each customer.
import type { Instant } from '../../clock.ts';
import { list, text } from '../../platform/database/codec.ts';
import type { Database } from '../../platform/database/database.ts';
import { manyRows } from '../../platform/database/many-rows.ts';
import { columnList, statement, stored, type Values } from '../../platform/database/statement.ts';
import type { Binding, BindingFact } from '../domain/binding.ts';
import type { Customer, CustomerFact } from '../domain/customer.ts';
import { customerLogFact, isBindingFact } from './codec.ts';
import { customerColumns, customerRowOf, customerStateFromRow } from './customers.ts';
import { bindingColumns, rowOf } from './rows.ts';

const ids = stored('json', list(text));

const readTaken = statement({
  name: 'read_imported_external_ids',
  parameters: { party_id: 'text', bindings: ids, customers: ids },
  row: { operation: 'text', external_id: 'text', entity_id: 'text', fingerprint: 'bytea' },
  text: `select claim.operation, claim.external_id, entity_id, fingerprint
         from (
           select 'createBinding' as operation, json_array_elements_text(:bindings) as external_id
           union select 'createCustomer', json_array_elements_text(:customers)
         ) as asked
         join external_id as claim on claim.operation = asked.operation and claim.external_id = asked.external_id
         where claim.party_id = :party_id`,
});

const ownerColumns = {
  customer_id: 'text',
  party_id: 'text',
  shop_id: 'text',
  version: 'int4',
  status: customerColumns.status,
  active_binding_id: 'text?',
  contact_info: customerColumns.contact_info,
  bindings_made: 'int4',
  changed_at: 'timestamptz',
} as const;

const readOwners = statement({
  name: 'read_customers_to_import_for',
  parameters: { ids },
  row: ownerColumns,
  text: `select ${columnList(ownerColumns)}
         from json_array_elements_text(:ids) as asked (id) join customer on customer_id = asked.id
         where status <> 'deleted'`,
});

const changedColumns = {
  customer_id: 'text',
  version: 'int4',
  status: customerColumns.status,
  active_binding_id: 'text?',
  bindings_made: 'int4',
  changed_at: 'timestamptz',
} as const;
const boundColumns = {
  ...bindingColumns,
  card_fingerprint: 'bytea',
  bound_at_version: 'int4',
  series_id: 'text',
  attempts: 'int4',
} as const;
const idColumns = {
  party_id: 'text',
  operation: 'text',
  external_id: 'text',
  entity_id: 'text',
  fingerprint: 'bytea',
} as const;
const eventColumns = { customer_id: 'text', facts: stored('json', list(customerLogFact)) } as const;

/** A customer that has changed since it was read fails the whole statement. */
const insertImported = statement({
  name: 'insert_imported_bindings',
  parameters: {
    customers: manyRows(customerColumns),
    owners: manyRows(changedColumns),
    bindings: manyRows(boundColumns),
    external_ids: manyRows(idColumns),
    events: manyRows(eventColumns),
  },
  row: { conflicts: 'int4' },
  text: `
    with moved as (
      update customer
      set version = given.version, status = given.status, active_binding_id = given.active_binding_id,
          bindings_made = given.bindings_made, changed_at = greatest(customer.changed_at, given.changed_at)
      from json_populate_recordset(null::customer, :owners) as given
      where customer.customer_id = given.customer_id and customer.version = given.version - 1
      returning customer.customer_id, customer.party_id, customer.version, customer.changed_at
    ), made as (
      insert into customer (${columnList(customerColumns)})
      select ${columnList(customerColumns)} from json_populate_recordset(null::customer, :customers)
      returning customer_id, party_id, version, changed_at
    ), bound as (
      insert into binding (${columnList(boundColumns)})
      select ${columnList(boundColumns)} from json_populate_recordset(null::binding, :bindings)
    ), identified as (
      insert into external_id (${columnList(idColumns)})
      select ${columnList(idColumns)} from json_populate_recordset(null::external_id, :external_ids)
    ), logged as (
      insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
      select customer_id, version, 'customer', party_id, changed_at, facts
      from (select * from moved union all select * from made) as changed
      join json_to_recordset(:events) as given (customer_id text, facts json) using (customer_id)
    )
    select case when count(*) = json_array_length(:owners) then 0 else version_conflict() end as conflicts from moved`,
});

export type TakenIds = {
  /** By external ID: the fingerprint of what made the binding. */
  readonly bindings: ReadonlyMap<string, Buffer>;
  /** By external ID: the customer's ID. */
  readonly customers: ReadonlyMap<string, string>;
};

export async function findTaken(
  db: Pick<Database, 'run'>,
  partyId: string,
  asked: { readonly bindings: readonly string[]; readonly customers: readonly string[] },
): Promise<TakenIds> {
  const rows = await db.run(readTaken, { party_id: partyId, ...asked });
  const of = (operation: string) => rows.filter((row) => row.operation === operation);
  return {
    bindings: new Map(of('createBinding').map((row) => [row.external_id, row.fingerprint])),
    customers: new Map(of('createCustomer').map((row) => [row.external_id, row.entity_id])),
  };
}

/** A customer that gets a card. */
export type CardOwner = Pick<Customer, 'id' | 'shopId' | 'state' | 'contactInfo' | 'bindingsMade'> & {
  readonly version: number;
  readonly changedAt: Instant;
};

export async function findOwners(
  db: Pick<Database, 'run'>,
  partyId: string,
  customerIds: readonly string[],
): Promise<ReadonlyMap<string, CardOwner>> {
  if (customerIds.length === 0) return new Map();
  const rows = await db.run(readOwners, { ids: customerIds });
  const own = rows.filter(({ party_id }) => party_id === partyId);
  return new Map(own.map((row) => [row.customer_id, ownerFromRow(row)]));
}

function ownerFromRow(row: Values<typeof ownerColumns>): CardOwner {
  return {
    id: row.customer_id,
    shopId: row.shop_id,
    state: customerStateFromRow(row),
    contactInfo: row.contact_info,
    bindingsMade: row.bindings_made,
    version: row.version,
    changedAt: row.changed_at,
  };
}

/** What one row makes: a binding, and its customer if that is new. */
export type ImportedBinding = {
  readonly binding: Binding;
  readonly seriesId: string;
  readonly cardFingerprint: Buffer;
  readonly fingerprint: Buffer;
  readonly customer: Customer;
  /** Of the customer, with this binding. */
  readonly version: number;
  readonly isNewCustomer: boolean;
  readonly facts: readonly (CustomerFact | BindingFact)[];
  readonly at: Instant;
};

export async function storeImportedBindings(tx: Database, all: readonly ImportedBinding[]): Promise<void> {
  await tx.run(insertImported, {
    customers: all
      .filter(({ isNewCustomer }) => isNewCustomer)
      .map((one) => customerRowOf(one.customer, one)),
    owners: all.filter(({ isNewCustomer }) => !isNewCustomer).map((one) => customerRowOf(one.customer, one)),
    bindings: all.map(({ binding, version, seriesId, cardFingerprint }) => ({
      ...rowOf(binding, version),
      card_fingerprint: cardFingerprint,
      bound_at_version: version,
      series_id: seriesId,
      attempts: 0,
    })),
    external_ids: all.flatMap(idRowsOf),
    events: all.map(({ customer, facts, binding }) => ({
      customer_id: customer.id,
      facts: facts.map((fact) => (isBindingFact(fact) ? { ...fact, bindingId: binding.id } : fact)),
    })),
  });
}

/** The row's ID is that of the binding, and of a customer that is made with it. */
function idRowsOf({ binding, customer, isNewCustomer, fingerprint }: ImportedBinding) {
  const { partyId, externalId } = binding;
  if (externalId === undefined) return [];
  const of = (operation: string, entityId: string) => ({
    party_id: partyId,
    operation,
    external_id: externalId,
    entity_id: entityId,
    fingerprint,
  });
  const ofBinding = of('createBinding', binding.id);
  return isNewCustomer ? [ofBinding, of('createCustomer', customer.id)] : [ofBinding];
}
