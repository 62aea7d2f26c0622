// mandate party, mandate shop: merchants, their shops and whether they may write.
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
  setOneOffReceipts,
  setStrictIds,
  shopFromRow,
  setShopFlags,
} from '../../merchants/store/parties.ts';
import { timeZoneOf } from '../../recurring/domain/settings.ts';
import { findSettings } from '../../recurring/store/settings.ts';
import { originOf, maxOrigins } from '../../merchants/domain/party.ts';
import {
  partyNotFound,
  printTable,
  requireName,
  requireParty,
  requireShop,
  shopNotFound,
  withFoundation,
} from '../foundation.ts';
import { printJson } from '../json-members.ts';
import { refuseCardNumber } from '../option-values.ts';

export async function createParty(options: { name: string; id?: string }): Promise<void> {
  requireName(options.name);
  await withFoundation(async ({ database, ports }) => {
    const party_id = checkedId(options.id) ?? ports.ids.next();
    const rows = await database.run(insertParty, {
      party_id,
      name: options.name,
      created_at: ports.clock.now(),
    });
    if (rows.length === 0) throw new Error(`Party ${party_id} exists already. Choose another --id.`);
    console.log(party_id);
  });
}

export async function listAllParties(options: { json?: true }): Promise<void> {
  const rows = await withFoundation(({ database }) => database.run(listParties, {}));
  const parties = rows.map((row) => ({ partyId: row.party_id, name: row.name, status: statusOf(row) }));
  if (options.json) return printJson('party list', parties);
  printTable(
    ['party', 'name', 'status'],
    parties.map(({ partyId, name, status }) => [partyId, name, status]),
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
  if (rows.length === 0) throw partyNotFound(id);
  console.log(`Changed ${id}. Every node uses it within a second.`);
}

export async function createShop(options: {
  party: string;
  name: string;
  currency: string;
  url: string;
  category: string;
  id?: string;
}): Promise<void> {
  requireName(options.name);
  if (!isKnownCurrency(options.currency))
    throw new Error(`Unknown currency "${options.currency}". Use an ISO 4217 code such as RUB.`);
  if (!/^https?:\/\//.test(options.url) || !URL.canParse(options.url)) {
    throw new Error(`"${options.url}" is not an address. Begin it with https://.`);
  }
  await withFoundation(async ({ config, database, ports }) => {
    await requireParty(database, options.party);
    const categories = (await database.run(readCategories, {})).map(({ category_id }) => String(category_id));
    if (!categories.includes(options.category)) {
      throw new Error(`Unknown category "${options.category}". Use one of: ${categories.join(', ')}.`);
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
    if (rows.length === 0) throw new Error(`Shop ${shop_id} exists already. Choose another --id.`);
    console.log(shop_id);
  });
}

export async function listShops(options: { party: string; json?: true }): Promise<void> {
  const { rows, zones, livemode } = await withFoundation(async ({ config, database }) => {
    await requireParty(database, options.party);
    const { party: partyId } = options;
    const rows = await database.run(listShopsOf, { party_id: partyId });
    const zones: string[] = [];
    for (const { shop_id: shopId, currency } of rows)
      zones.push(timeZoneOf(await findSettings(database, { partyId, shopId }), currency));
    return { rows, zones, livemode: livemodeOf(config.mode) };
  });
  const shops = rows.map((row, index) => ({
    shopId: row.shop_id,
    name: row.name,
    url: row.url,
    currency: row.currency,
    timeZone: zones[index] as string,
    mode: modeName(row.livemode),
    status: row.livemode === livemode ? statusOf(row) : 'otherMode',
  }));
  if (options.json) return printJson('shop list', shops);
  printTable(
    ['shop', 'name', 'currency', 'time zone', 'mode', 'status'],
    shops.map(({ shopId, name, currency, timeZone, mode, status }) => [
      shopId,
      name,
      currency,
      timeZone,
      mode,
      status === 'otherMode' ? 'of the other mode' : status,
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
  if (rows.length === 0) throw shopNotFound(options.party, id);
  console.log(`Changed ${id}. Every node uses it within a second.`);
}

export async function shopOrigins(
  id: string,
  options: { party: string; add?: string[]; remove?: string[]; json?: true },
): Promise<void> {
  const name = { party_id: options.party, shop_id: id };
  await withFoundation(async ({ config, database }) => {
    const { origins } = shopFromRow(await requireShop(database, options.party, id));
    const removed = (options.remove ?? []).map((text) => originOf(text) ?? text);
    const added = (options.add ?? []).map((text) => checkedOrigin(text, config.mode));
    const changed = [...new Set([...origins, ...added])].filter((origin) => !removed.includes(origin));
    if (changed.length > maxOrigins)
      throw new Error(
        `${changed.length} origins are too many: a shop has at most ${maxOrigins}. Remove some with --remove.`,
      );
    await database.run(setShopOrigins, { ...name, origins: changed.join(' ') });
    if (options.json) console.log(JSON.stringify(changed, null, 2));
    else console.log(changed.length === 0 ? 'none' : changed.join('\n'));
  });
}

export async function shopStrictIds(id: string, answer: string, options: { party: string }): Promise<void> {
  if (answer !== 'yes' && answer !== 'no') throw new Error(`"${answer}" is not an answer. Use yes or no.`);
  const name = { party_id: options.party, shop_id: id };
  await withFoundation(async ({ database }) => {
    await requireShop(database, options.party, id);
    await database.run(setStrictIds, { ...name, strict_ids: answer === 'yes' });
  });
  console.log(`IDs that hold a card number are ${answer === 'yes' ? 'refused' : 'logged'} for shop ${id}.`);
}

export async function shopReceipts(id: string, answer: string, options: { party: string }): Promise<void> {
  if (answer !== 'yes' && answer !== 'no') throw new Error(`"${answer}" is not an answer. Use yes or no.`);
  const name = { party_id: options.party, shop_id: id };
  await withFoundation(async ({ database }) => {
    await requireShop(database, options.party, id);
    await database.run(setOneOffReceipts, { ...name, one_off_receipts: answer === 'yes' });
  });
  const which = answer === 'yes' ? 'All payments' : 'Recurring payments alone';
  console.log(`${which} of shop ${id} have receipts. Every node uses it within a second.`);
}

function checkedOrigin(text: string, mode: 'sandbox' | 'live'): string {
  const origin = originOf(text);
  if (origin === undefined || origin !== text.toLowerCase().replace(/\/$/, '')) {
    throw new Error(`"${text}" is not an origin. Write it as https://shop.example, without a path.`);
  }
  if (mode === 'live' && !origin.startsWith('https:')) {
    throw new Error(`"${text}" is not encrypted. In live mode, use an origin that begins with https://.`);
  }
  return origin;
}

function statusOf(row: { is_blocked: boolean; is_suspended: boolean }): string {
  return row.is_blocked ? 'blocked' : row.is_suspended ? 'suspended' : 'trading';
}

function checkedId(id: string | undefined): string | undefined {
  if (id !== undefined) refuseCardNumber('--id', id);
  if (id === undefined || /^[\x21-\x7e]{1,40}$/.test(id)) return id;
  throw new Error(`"${id}" is not an ID. Use 1 to 40 visible ASCII characters.`);
}
