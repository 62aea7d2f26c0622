// Parties, shops and categories in SQL.
import { readStatement } from '../../platform/database/batches/read-statement.ts';
import { currency, oneOf } from '../../platform/database/codec.ts';
import {
  columnList,
  parameterList,
  statement,
  stored,
  type Values,
} from '../../platform/database/statement.ts';
import { fees } from '../../platform/ledger/store/codec.ts';
import { threeDSecureWishes, whenShortChoices, type Party, type Shop } from '../domain/party.ts';
import { defined } from '../../defined.ts';

const partyColumns = {
  party_id: 'text',
  name: 'text',
  is_blocked: 'bool',
  is_suspended: 'bool',
  offset_ms: 'int8',
} as const;

export const readParty = readStatement({
  name: 'read_party',
  parameters: { party_id: 'text' },
  row: partyColumns,
  text: `select party_id, name, is_blocked, is_suspended, coalesce(offset_ms, 0) as offset_ms
         from party left join test_clock using (party_id)
         where party_id = :party_id`,
});

export const insertParty = statement({
  name: 'insert_party',
  parameters: { party_id: 'text', name: 'text', created_at: 'timestamptz' },
  row: { party_id: 'text' },
  text: `insert into party (party_id, name, created_at) values (:party_id, :name, :created_at)
         on conflict do nothing returning party_id`,
});

export const listParties = statement({
  name: 'list_parties',
  parameters: {},
  row: partyColumns,
  text: `select party_id, name, is_blocked, is_suspended, coalesce(offset_ms, 0) as offset_ms
         from party left join test_clock using (party_id)
         order by party.created_at`,
});

export const setPartyFlags = statement({
  name: 'set_party_flags',
  parameters: { party_id: 'text', is_blocked: 'bool?', is_suspended: 'bool?' },
  row: { party_id: 'text' },
  text: `update party set is_blocked = coalesce(:is_blocked, is_blocked),
                          is_suspended = coalesce(:is_suspended, is_suspended)
         where party_id = :party_id returning party_id`,
});

const shopColumns = {
  party_id: 'text',
  shop_id: 'text',
  livemode: 'bool',
  name: 'text',
  description: 'text?',
  url: 'text',
  category_id: 'int4',
  currency: stored('text', currency),
  fees: stored('json', fees),
  when_short: stored('text', oneOf(...whenShortChoices)),
  three_d_secure: stored('text', oneOf(...threeDSecureWishes)),
  one_off_receipts: 'bool',
  is_blocked: 'bool',
  is_suspended: 'bool',
  created_at: 'timestamptz',
  origins: 'text',
} as const;

export const readShop = readStatement({
  name: 'read_shop',
  parameters: { party_id: 'text', shop_id: 'text' },
  row: shopColumns,
  text: `select ${columnList(shopColumns)} from shop where party_id = :party_id and shop_id = :shop_id`,
});

export const listShopsOf = statement({
  name: 'list_shops',
  parameters: { party_id: 'text' },
  row: shopColumns,
  text: `select ${columnList(shopColumns)} from shop where party_id = :party_id order by created_at, shop_id`,
});

const newShopColumns = {
  party_id: 'text',
  shop_id: 'text',
  livemode: 'bool',
  name: 'text',
  url: 'text',
  category_id: 'int4',
  currency: 'text',
  created_at: 'timestamptz',
} as const;

export const insertShop = statement({
  name: 'insert_shop',
  parameters: newShopColumns,
  row: { shop_id: 'text' },
  text: `insert into shop (${columnList(newShopColumns)}) values (${parameterList(newShopColumns)})
         on conflict do nothing returning shop_id`,
});

export const setShopFlags = statement({
  name: 'set_shop_flags',
  parameters: { party_id: 'text', shop_id: 'text', is_blocked: 'bool?', is_suspended: 'bool?' },
  row: { shop_id: 'text' },
  text: `update shop set is_blocked = coalesce(:is_blocked, is_blocked),
                         is_suspended = coalesce(:is_suspended, is_suspended)
         where party_id = :party_id and shop_id = :shop_id returning shop_id`,
});

export const setShopFees = statement({
  name: 'set_shop_fees',
  parameters: { party_id: 'text', shop_id: 'text', fees: shopColumns.fees },
  row: { shop_id: 'text' },
  text: `update shop set fees = :fees where party_id = :party_id and shop_id = :shop_id returning shop_id`,
});

export const setWhenShort = statement({
  name: 'set_when_short',
  parameters: { party_id: 'text', shop_id: 'text', when_short: shopColumns.when_short },
  row: { shop_id: 'text' },
  text: `update shop set when_short = :when_short where party_id = :party_id and shop_id = :shop_id returning shop_id`,
});

export const setThreeDSecure = statement({
  name: 'set_three_d_secure',
  parameters: { party_id: 'text', shop_id: 'text', three_d_secure: shopColumns.three_d_secure },
  row: { shop_id: 'text' },
  text: `update shop set three_d_secure = :three_d_secure
         where party_id = :party_id and shop_id = :shop_id returning shop_id`,
});

export const setOneOffReceipts = statement({
  name: 'set_one_off_receipts',
  parameters: { party_id: 'text', shop_id: 'text', one_off_receipts: 'bool' },
  row: { shop_id: 'text' },
  text: `update shop set one_off_receipts = :one_off_receipts
         where party_id = :party_id and shop_id = :shop_id returning shop_id`,
});

export const setShopOrigins = statement({
  name: 'set_shop_origins',
  parameters: { party_id: 'text', shop_id: 'text', origins: 'text' },
  row: { shop_id: 'text' },
  text: `update shop set origins = :origins where party_id = :party_id and shop_id = :shop_id returning shop_id`,
});

export const setStrictIds = statement({
  name: 'set_strict_ids',
  parameters: { party_id: 'text', shop_id: 'text', strict_ids: 'bool' },
  row: { shop_id: 'text' },
  text: `update shop set strict_ids = :strict_ids where party_id = :party_id and shop_id = :shop_id returning shop_id`,
});

/** For the shop of a request: named by it, or of its invoice or customer. Without any, one strict shop of the party is enough. */
export const readStrictIds = statement({
  name: 'read_strict_ids',
  parameters: { party_id: 'text', shop_id: 'text?', invoice_id: 'text?', customer_id: 'text?' },
  row: { is_strict: 'bool' },
  text: `select exists (
      select from shop where party_id = :party_id and strict_ids and shop_id = coalesce(
        :shop_id,
        (select shop_id from invoice where invoice_id = :invoice_id and party_id = :party_id),
        (select shop_id from customer where customer_id = :customer_id and party_id = :party_id),
        shop_id)
    ) as is_strict`,
});

export const readCategories = statement({
  name: 'read_categories',
  parameters: {},
  row: { category_id: 'int4', name: 'text', description: 'text?' },
  text: 'select category_id, name, description from category order by category_id',
});

export function partyFromRow(row: Values<typeof partyColumns>): Party {
  return {
    id: row.party_id,
    name: row.name,
    isBlocked: row.is_blocked,
    isSuspended: row.is_suspended,
    clockOffsetMs: Number(row.offset_ms),
  };
}

export function shopFromRow(row: Values<typeof shopColumns>): Shop {
  return {
    id: row.shop_id,
    partyId: row.party_id,
    livemode: row.livemode,
    name: row.name,
    ...defined({ description: row.description }),
    url: row.url,
    categoryId: row.category_id,
    currency: row.currency,
    fees: row.fees,
    whenShort: row.when_short,
    threeDSecure: row.three_d_secure,
    oneOffReceipts: row.one_off_receipts,
    isBlocked: row.is_blocked,
    isSuspended: row.is_suspended,
    createdAt: row.created_at,
    origins: row.origins.split(' ').filter((origin) => origin !== ''),
  };
}
