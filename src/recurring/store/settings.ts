// What a shop wants of recurring charges where it wants anything else than the rules say.
import type { Database } from '../../platform/database/database.ts';
import { statement, stored } from '../../platform/database/statement.ts';
import { recurringSettings } from './codec.ts';
import type { MandateTerms } from '../../receipts/domain/terms.ts';
import type { ReceiptLanguage } from '../../receipts/domain/receipt.ts';

export type RecurringSettings = {
  /** Of a consent whose payment brings none of its own. */
  readonly terms?: MandateTerms;
  /** A charge after six months without one is refused, not only warned about. */
  readonly enforceMaxGap?: boolean;
  /** No card is stored without what the payer agreed to. */
  readonly requireConsentEvidence?: boolean;
  /** The access token of an invoice does not charge without the payer. */
  readonly needsApiKey?: boolean;
  /** Where the payer can ask, on his receipts. */
  readonly contact?: string;
  /** Of receipts that are mailed, where it is not known in which the payer agreed. */
  readonly language?: ReceiptLanguage;
};

const settings = stored('json', recurringSettings);
/** Of a statement that reads those of a series; null where the shop has none. */
export const settingsColumn = stored('json?', recurringSettings);

const readSettings = statement({
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
