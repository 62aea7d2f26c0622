// Reads and locks a customer and its active card for a charge, in one round trip.
import type { Database } from '../../platform/database/database.ts';
import { lockStatement } from '../../platform/database/batches/read-statement.ts';
import { isJoined, optional, statement, type Values } from '../../platform/database/statement.ts';
import { bindingColumns, bindingFromRow } from './rows.ts';
import { bindingColumnList } from './bindings.ts';
import { customerColumns } from './customers.ts';
import type { ChargeableCustomer } from '../../payments/domain/payer/chargeable-customer.ts';
import { defined } from '../../defined.ts';

const parameters = { customer_id: 'text', party_id: 'text' } as const;
const columns = {
  ...optional(bindingColumns),
  of_shop: 'text',
  series_id: 'text?',
  contact_info: customerColumns.contact_info,
  is_ready: 'bool',
} as const;
const customerWithCard = `select ${bindingColumnList}, customer.shop_id as of_shop, series_id, contact_info,
           customer.active_binding_id is not null as is_ready
         from customer left join binding
           on binding.customer_id = customer.customer_id and binding.binding_id = customer.active_binding_id
         where customer.customer_id = :customer_id and customer.party_id = :party_id
           and customer.status <> 'deleted'`;

const readChargeable = statement({
  name: 'read_chargeable_customer',
  parameters,
  row: columns,
  text: customerWithCard,
});

const lockChargeable = lockStatement({
  name: 'lock_chargeable_customer',
  parameters,
  row: columns,
  text: `${customerWithCard}
         for share of customer`,
});

/** Without a lock: for what only reads. */
export async function findChargeable(
  db: Pick<Database, 'run'>,
  partyId: string,
  customerId: string,
): Promise<ChargeableCustomer | undefined> {
  const [row] = await db.run(readChargeable, { customer_id: customerId, party_id: partyId });
  return row && customerFromRow(customerId, row);
}

export async function lockCustomer(
  tx: Database,
  partyId: string,
  customerId: string,
): Promise<ChargeableCustomer | undefined> {
  const lock = async () => (await tx.run(lockChargeable, { customer_id: customerId, party_id: partyId }))[0];
  let row = await lock();
  // After a wait for the lock, the customer is current but the joined binding may not be. Read again, now that it is locked.
  if (row?.is_ready && !isJoined(bindingColumns, row)) row = await lock();
  return row && customerFromRow(customerId, row);
}

function customerFromRow(customerId: string, row: Values<typeof columns>): ChargeableCustomer {
  const customer = { id: customerId, shopId: row.of_shop, contactInfo: row.contact_info };
  if (!isJoined(bindingColumns, row)) return customer;
  const { id: bindingId, card, state, livemode } = bindingFromRow(row);
  if (state.name !== 'succeeded') throw new Error(`the active binding ${bindingId} is ${state.name}`);
  const { networkTransactionId, networkIds } = state.approval;
  return {
    ...customer,
    card: {
      bindingId,
      token: card.token,
      details: card.details,
      livemode,
      ...defined({ seriesId: row.series_id, networkTransactionId, networkIds }),
    },
  };
}
