// The hold lengths of terminals in SQL.
import { oneOf } from '../../platform/database/codec.ts';
import type { Database } from '../../platform/database/database.ts';
import { statement, stored } from '../../platform/database/statement.ts';
import { initiations, type HoldDays } from '../domain/routing/hold-days.ts';

const initiation = stored('text', oneOf(...initiations));
const shop = { party_id: 'text', shop_id: 'text' } as const;

const readHolds = statement({
  name: 'read_terminal_holds',
  parameters: shop,
  row: { terminal_id: 'text', network: 'text', initiation, days: 'int4' },
  text: `select terminal_id, network, initiation, days from terminal_hold
         where party_id = :party_id and shop_id = :shop_id order by terminal_id, network, initiation`,
});

const upsertHold = statement({
  name: 'upsert_terminal_hold',
  parameters: { ...shop, terminal_id: 'text', network: 'text', initiation, days: 'int4' },
  row: {},
  text: `insert into terminal_hold (party_id, shop_id, terminal_id, network, initiation, days)
         values (:party_id, :shop_id, :terminal_id, :network, :initiation, :days)
         on conflict (party_id, shop_id, terminal_id, network, initiation) do update set days = excluded.days`,
});

type ShopName = { readonly partyId: string; readonly shopId: string };

export async function findHoldDays(
  db: Pick<Database, 'run'>,
  { partyId, shopId }: ShopName,
): Promise<HoldDays[]> {
  const rows = await db.run(readHolds, { party_id: partyId, shop_id: shopId });
  return rows.map(({ terminal_id: terminalId, ...row }) => ({ terminalId, ...row }));
}

export async function storeHoldDays(
  db: Pick<Database, 'run'>,
  { partyId, shopId }: ShopName,
  { terminalId, network, initiation, days }: HoldDays,
): Promise<void> {
  await db.run(upsertHold, {
    party_id: partyId,
    shop_id: shopId,
    terminal_id: terminalId,
    network,
    initiation,
    days,
  });
}
