// The time zones of shops, in which their days are split.
import type { Shop } from '../../merchants/domain/party.ts';
import type { Database } from '../../platform/database/database.ts';
import { list, text } from '../../platform/database/codec.ts';
import { statement, stored } from '../../platform/database/statement.ts';
import { timeZoneOf } from '../../recurring/domain/settings.ts';
import { recurringSettings } from '../../recurring/store/codec.ts';

const readZones = statement({
  name: 'read_shop_zones',
  parameters: { party_id: 'text', shop_ids: stored('json', list(text)) },
  row: { shop_id: 'text', settings: stored('json', recurringSettings) },
  text: `select shop_id, settings from recurring_settings
         where party_id = :party_id and shop_id = any(array(select json_array_elements_text(:shop_ids)))`,
});

/** The zone that all of them have, or else UTC. */
export async function commonZone(
  db: Pick<Database, 'run'>,
  partyId: string,
  shops: readonly Shop[],
): Promise<string> {
  const rows = await db.run(readZones, { party_id: partyId, shop_ids: shops.map(({ id }) => id) });
  const settings = new Map(rows.map((row) => [row.shop_id, row.settings]));
  const zones = new Set(shops.map(({ id, currency }) => timeZoneOf(settings.get(id) ?? {}, currency)));
  const [zone] = zones;
  return zones.size === 1 && zone !== undefined ? zone : 'UTC';
}
