// Customers in SQL: one statement writes the row, guarded by its version, and its event. The row of a deleted customer stays,
// because past charges refer to it.
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { readStatement } from '../../platform/database/batches/read-statement.ts';
import { findByExternalId } from '../../platform/database/external-id.ts';
import {
  columnList,
  parameterList,
  statement,
  stored,
  type Values,
} from '../../platform/database/statement.ts';
import { anyObject, oneOf } from '../../platform/database/codec.ts';
import { changedWith, createdWith } from '../../platform/events/log.ts';
import { contactInfo } from '../../recurring/store/codec.ts';
import { customerLogFact } from './codec.ts';
import {
  activeBindingOf,
  customerStateAfter,
  newCustomer,
  type Customer,
  type CustomerFact,
  type CustomerState,
} from '../domain/customer.ts';
import { defined } from '../../defined.ts';

export type StoredCustomer = {
  readonly customer: Customer;
  readonly version: number;
  /** The time of the latest event, a binding's included. */
  readonly changedAt: Instant;
};

export const customerColumns = {
  customer_id: 'text',
  party_id: 'text',
  shop_id: 'text',
  version: 'int4',
  status: stored('text', oneOf('unready', 'ready', 'deleted')),
  active_binding_id: 'text?',
  created_at: 'timestamptz',
  contact_info: stored('json', contactInfo),
  metadata: stored('json', anyObject),
  external_id: 'text?',
  bindings_made: 'int4',
  changed_at: 'timestamptz',
} as const;
const columns = columnList(customerColumns);

/** Claims the external ID and writes the customer and its first event, in one round trip. */
const insertCustomer = statement({
  name: 'insert_customer',
  parameters: { ...customerColumns, ...createdWith(customerLogFact), fingerprint: 'bytea' },
  row: { version: 'int4' },
  text: `
    with changed as (
      insert into customer (${columns})
      select ${parameterList(customerColumns)}
      where claim_external_id(:party_id, 'createCustomer', :external_id, :customer_id, :fingerprint)
      returning customer_id, party_id, version, changed_at
    )
    select append_event('customer', customer_id, version, party_id, changed_at, :facts) as version from changed`,
});

/** Also wakes the jobs of bindings in progress, which have to end. */
const deleteCustomer = statement({
  name: 'delete_customer',
  parameters: { ...changedWith(customerLogFact), customer_id: 'text', version: 'int4' },
  row: { version: 'int4' },
  text: `
    with changed as (
      update customer set version = version + 1, changed_at = greatest(changed_at, :happened_at), status = 'deleted',
        active_binding_id = null
      where customer_id = :customer_id and version = :version
      returning customer_id, party_id, version, changed_at
    ), expedited as (
      update binding set wake_at = :happened_at
      from changed where binding.customer_id = changed.customer_id and wake_at > :happened_at
    )
    select append_event('customer', customer_id, version, party_id, changed_at, :facts) as version from changed`,
});

const readCustomer = readStatement({
  name: 'read_customer_of_party',
  parameters: { customer_id: 'text', party_id: 'text' },
  row: customerColumns,
  text: `select ${columns} from customer
         where customer_id = :customer_id and party_id = :party_id and status <> 'deleted'`,
});

/** Takes no party, because the caller has the customer's token. Finds a deleted customer too. */
const readCustomerOfPayer = statement({
  name: 'read_customer_of_payer',
  parameters: { customer_id: 'text' },
  row: { ...customerColumns, is_binding: 'bool' },
  text: `select ${columns}, exists (
           select from binding where binding.customer_id = customer.customer_id
             and binding.status not in ('succeeded', 'withdrawn', 'failed')
         ) as is_binding
         from customer where customer_id = :customer_id`,
});

const readActiveCard = readStatement({
  name: 'read_active_card_of_customer',
  parameters: { customer_id: 'text' },
  row: { status: customerColumns.status, active_binding_id: 'text?' },
  text: `select status, active_binding_id from customer where customer_id = :customer_id`,
});

/** The card that is charged, of a deleted customer too. */
export async function findActiveCard(
  db: Pick<Database, 'run'>,
  customerId: string,
): Promise<{ readonly isDeleted: boolean; readonly bindingId?: string } | undefined> {
  const [row] = await db.run(readActiveCard, { customer_id: customerId });
  return row && { isDeleted: row.status === 'deleted', ...defined({ bindingId: row.active_binding_id }) };
}

/** False if the external ID is taken. */
export async function storeNewCustomer(
  db: Database,
  created: CustomerFact & { type: 'customer_created' },
  fingerprint: Buffer,
): Promise<boolean> {
  const customer = newCustomer(created);
  const row = customerRowOf(customer, { version: 1, at: customer.createdAt });
  const rows = await db.run(insertCustomer, { ...row, fingerprint, facts: [created] });
  return rows.length > 0;
}

export function customerRowOf(
  customer: Customer,
  { version, at }: { readonly version: number; readonly at: Instant },
): Values<typeof customerColumns> {
  return {
    customer_id: customer.id,
    party_id: customer.partyId,
    shop_id: customer.shopId,
    version,
    status: customer.state.name,
    active_binding_id: activeBindingOf(customer) ?? null,
    created_at: customer.createdAt,
    contact_info: customer.contactInfo,
    metadata: customer.metadata,
    external_id: customer.externalId ?? null,
    bindings_made: customer.bindingsMade,
    changed_at: at,
  };
}

/** False on a version conflict. */
export async function storeDeletion(
  db: Database,
  { customer: { id, state }, version }: StoredCustomer,
  now: Instant,
): Promise<boolean> {
  const deleted: CustomerFact = { type: 'customer_deleted' };
  customerStateAfter(state, deleted);
  const rows = await db.run(deleteCustomer, {
    customer_id: id,
    version,
    happened_at: now,
    facts: [deleted],
  });
  return rows.length > 0;
}

export async function findCustomer(
  db: Database,
  partyId: string,
  id: string,
): Promise<StoredCustomer | undefined> {
  const [row] = await db.run(readCustomer, { customer_id: id, party_id: partyId });
  return row && storedFromRow(row);
}

/** Finds a deleted customer too, because its external ID stays taken. */
export const findCustomerByExternalId = findByExternalId(
  'customer',
  'createCustomer',
  customerColumns,
  (row) => storedFromRow(row).customer,
);

/** `isBinding`: a binding is in progress. */
export async function loadCustomerOfPayer(
  db: Pick<Database, 'run'>,
  id: string,
): Promise<{ customer: Customer; isBinding: boolean } | undefined> {
  const [row] = await db.run(readCustomerOfPayer, { customer_id: id });
  return row && { customer: storedFromRow(row).customer, isBinding: row.is_binding };
}

export function storedFromRow(row: Values<typeof customerColumns>): StoredCustomer {
  return {
    version: row.version,
    changedAt: row.changed_at,
    customer: {
      id: row.customer_id,
      partyId: row.party_id,
      shopId: row.shop_id,
      createdAt: row.created_at,
      contactInfo: row.contact_info,
      metadata: row.metadata,
      ...defined({ externalId: row.external_id }),
      state: customerStateFromRow(row),
      bindingsMade: row.bindings_made,
    },
  };
}

export function customerStateFromRow(
  row: Pick<Values<typeof customerColumns>, 'status' | 'active_binding_id'>,
): CustomerState {
  const { status, active_binding_id: activeBindingId } = row;
  if (status !== 'ready') return { name: status };
  if (activeBindingId === null) throw new Error('a customer is stored as ready without an active binding');
  return { name: status, activeBindingId };
}
