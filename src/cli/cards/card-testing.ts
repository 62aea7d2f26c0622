// mandate card-testing: list guarded shops, and end the guard of one.
import { endGuards, everyBin, guardedShops } from '../../cards/payer-attempts.ts';
import { printTable, withFoundation } from '../foundation.ts';
import { printJson } from '../json-members.ts';

export async function listGuardedShops(options: { json?: true }): Promise<void> {
  const rows = await withFoundation(({ database, ports }) => guardedShops(database, ports.clock.now()));
  const shops = rows.map(({ party_id, shop_id, mode, since, until, bin, approved, declined }) => ({
    partyId: party_id,
    shopId: shop_id,
    mode,
    since,
    until,
    bin: bin === everyBin ? null : bin,
    approved: Number(approved),
    declined: Number(declined),
  }));
  if (options.json) return printJson('card-testing list', shops);
  printTable(
    ['party', 'shop', 'mode', 'since', 'until', 'BIN', 'approved', 'declined'],
    shops.map(({ partyId, shopId, mode, since, until, bin, approved, declined }) => [
      partyId,
      shopId,
      mode,
      since,
      until,
      bin ?? 'all',
      String(approved),
      String(declined),
    ]),
  );
}

export async function resetGuard(shopId: string, options: { party: string }): Promise<void> {
  const wasGuarded = await withFoundation(({ database }) =>
    endGuards(database, { partyId: options.party, shopId }),
  );
  if (!wasGuarded)
    throw new Error(`Shop ${shopId} is not guarded. List guarded shops with "mandate card-testing list".`);
  console.log(`Shop ${shopId} takes cards as before within a second.`);
}
