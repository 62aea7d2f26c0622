// Reads and writes a shop's settings for recurring charges.
import type { Database } from '../../platform/database/database.ts';
import { readStatement } from '../../platform/database/batches/read-statement.ts';
import { statement, stored } from '../../platform/database/statement.ts';
import type { RecurringSettings } from '../domain/settings.ts';
import { recurringSettings } from './codec.ts';

const settings = stored('json', recurringSettings);
/** For statements that read a series. Null if the shop has no settings. */
export const settingsColumn = stored('json?', recurringSettings);

const readSettings = readStatement({
  name: 'read_recurring_settings',
  parameters: { party_id: 'text', shop_id: 'text' },
  row: { settings },
  text: 'select settings from recurring_settings where party_id = :party_id and shop_id = :shop_id',
});

const putSettings = statement({
  name: 'put_recurring_settings',
  parameters: { party_id: 'text', shop_id: 'text', settings },
  row: {},
  text: `insert into recurring_settings (party_id, shop_id, settings) values (:party_id, :shop_id, :settings)
         on conflict (party_id, shop_id) do update set settings = excluded.settings`,
});

type ShopName = { readonly partyId: string; readonly shopId: string };

export async function findSettings(
  db: Pick<Database, 'run'>,
  { partyId, shopId }: ShopName,
): Promise<RecurringSettings> {
  const [row] = await db.run(readSettings, { party_id: partyId, shop_id: shopId });
  return row?.settings ?? {};
}

export async function storeSettings(
  db: Database,
  { partyId, shopId }: ShopName,
  wanted: RecurringSettings,
): Promise<void> {
  await db.run(putSettings, { party_id: partyId, shop_id: shopId, settings: wanted });
}
