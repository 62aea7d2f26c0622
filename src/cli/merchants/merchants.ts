// mandate party, mandate shop: who may trade, and whether.
import { livemodeOf, modeName } from '../../livemode.ts';
import { isKnownCurrency } from '../../money.ts';
import {
  insertParty,
  insertShop,
  listParties,
  listShopsOf,
  readCategories,
  setPartyFlags,
  setShopOrigins,
  shopFromRow,
  setShopFlags,
} from '../../merchants/store/parties.ts';
import { originOf, maxOrigins } from '../../merchants/domain/party.ts';
import { printTable, requireParty, requireShop, withFoundation } from '../foundation.ts';

export async function createParty(options: { name: string; id?: string }): Promise<void> {
  await withFoundation(async ({ database, ports }) => {
    const party_id = checkedId(options.id) ?? ports.ids.next();
    const rows = await database.run(insertParty, {
      party_id,
      name: options.name,
      created_at: ports.clock.now(),
    });
    if (rows.length === 0) throw new Error(`there is a party ${party_id} already`);
    console.log(party_id);
  });
}

export async function listAllParties(): Promise<void> {
  const rows = await withFoundation(({ database }) => database.run(listParties, {}));
  printTable(
    ['party', 'name', 'state'],
    rows.map((row) => [row.party_id, row.name, stateOf(row)]),
  );
}

export async function setParty(
  id: string,
  flags: { is_blocked?: boolean; is_suspended?: boolean },
): Promise<void> {
  const rows = await withFoundation(({ database }) =>
    database.run(setPartyFlags, {
      party_id: id,
      is_blocked: flags.is_blocked ?? null,
      is_suspended: flags.is_suspended ?? null,
    }),
  );
  if (rows.length === 0) throw new Error(`there is no party ${id}; mandate party list shows all`);
  console.log(`${id} is changed; every node knows within a second.`);
}

export async function createShop(options: {
  party: string;
  name: string;
  currency: string;
  url: string;
  category: string;
  id?: string;
}): Promise<void> {
  if (!isKnownCurrency(options.currency)) throw new Error(`${options.currency} is no currency of ISO 4217`);
  if (!/^https?:\/\//.test(options.url) || !URL.canParse(options.url)) {
    throw new Error(`${options.url} is no address; write it with https://`);
  }
  await withFoundation(async ({ config, database, ports }) => {
    await requireParty(database, options.party);
    const categories = (await database.run(readCategories, {})).map(({ category_id }) => String(category_id));
    if (!categories.includes(options.category)) {
      throw new Error(`there is no category ${options.category}; there are ${categories.join(', ')}`);
    }
    const shop_id = checkedId(options.id) ?? ports.ids.next();
    const rows = await database.run(insertShop, {
      party_id: options.party,
      shop_id,
      livemode: livemodeOf(config.mode),
      name: options.name,
      url: options.url,
      category_id: Number(options.category),
      currency: options.currency,
      created_at: ports.clock.now(),
    });
    if (rows.length === 0) throw new Error(`the party has a shop ${shop_id} already`);
    console.log(shop_id);
  });
}

export async function listShops(options: { party: string }): Promise<void> {
  const { rows, livemode } = await withFoundation(async ({ config, database }) => ({
    rows: await database.run(listShopsOf, { party_id: options.party }),
    livemode: livemodeOf(config.mode),
  }));
  printTable(
    ['shop', 'name', 'currency', 'mode', 'state'],
    rows.map((row) => [
      row.shop_id,
      row.name,
      row.currency,
      modeName(row.livemode),
      row.livemode === livemode ? stateOf(row) : 'of the other mode',
    ]),
  );
}

export async function setShop(
  id: string,
  options: { party: string; is_blocked?: boolean; is_suspended?: boolean },
): Promise<void> {
  const rows = await withFoundation(({ database }) =>
    database.run(setShopFlags, {
      party_id: options.party,
      shop_id: id,
      is_blocked: options.is_blocked ?? null,
      is_suspended: options.is_suspended ?? null,
    }),
  );
  if (rows.length === 0) throw new Error(`party ${options.party} has no shop ${id}`);
  console.log(`${id} is changed; every node knows within a second.`);
}

/** Shows the origins of a shop, after changing them if that was asked for. */
export async function shopOrigins(
  id: string,
  options: { party: string; add?: string[]; remove?: string[] },
): Promise<void> {
  const name = { party_id: options.party, shop_id: id };
  await withFoundation(async ({ config, database }) => {
    const { origins } = shopFromRow(await requireShop(database, options.party, id));
    const removed = (options.remove ?? []).map((text) => originOf(text) ?? text);
    const added = (options.add ?? []).map((text) => checkedOrigin(text, config.mode));
    const changed = [...new Set([...origins, ...added])].filter((origin) => !removed.includes(origin));
    if (changed.length > maxOrigins) throw new Error(`a shop has at most ${maxOrigins} origins`);
    await database.run(setShopOrigins, { ...name, origins: changed.join(' ') });
    console.log(changed.length === 0 ? 'none' : changed.join('\n'));
  });
}

function checkedOrigin(text: string, mode: 'sandbox' | 'live'): string {
  const origin = originOf(text);
  if (origin === undefined || origin !== text.toLowerCase().replace(/\/$/, '')) {
    throw new Error(`${text} is no origin; write it like https://shop.example, without a path`);
  }
  if (mode === 'live' && !origin.startsWith('https:')) {
    throw new Error(`${text} is not safe: in live mode an origin begins with https://`);
  }
  return origin;
}

function stateOf(row: { is_blocked: boolean; is_suspended: boolean }): string {
  return row.is_blocked ? 'blocked' : row.is_suspended ? 'suspended' : 'trading';
}

function checkedId(id: string | undefined): string | undefined {
  if (id === undefined || /^[\x21-\x7e]{1,40}$/.test(id)) return id;
  throw new Error('an id has 1 to 40 visible ASCII characters');
}
