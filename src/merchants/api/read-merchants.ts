// Reads what belongs to a merchant: the party, its shops, and the categories of shops.
import { modeName } from '../../livemode.ts';
import { Type, type Static } from 'typebox';
import { endpoint } from '../../platform/http/endpoint.ts';
import { CurrencyCode, DateTime, EntityID } from '../../platform/http/schemas.ts';
import { accept, refuse } from '../../refusal.ts';
import { readCategories } from '../store/parties.ts';
import type { Shop } from '../domain/party.ts';
import { defined } from '../../defined.ts';
import type { Merchants } from '../merchants.ts';
import type { Database } from '../../platform/database/database.ts';

const Me = Type.Object(
  { id: EntityID, isBlocked: Type.Boolean(), isSuspended: Type.Boolean() },
  { title: 'Party' },
);

const ShopSchema = Type.Object(
  {
    id: EntityID,
    createdAt: DateTime,
    isBlocked: Type.Boolean({ description: 'Set by the operator.' }),
    isSuspended: Type.Boolean({ description: 'Set by the merchant.' }),
    categoryID: Type.Integer(),
    location: Type.Object({ locationType: Type.Enum(['ShopLocationUrl']), url: Type.String() }),
    details: Type.Object({ name: Type.String(), description: Type.Optional(Type.String()) }),
    contractID: EntityID,
    currency: CurrencyCode,
    realm: Type.Enum(['test', 'live'], { description: 'A test shop moves no real money.' }),
  },
  { title: 'Shop' },
);

const Category = Type.Object(
  { categoryID: Type.Integer(), name: Type.String(), description: Type.Optional(Type.String()) },
  { title: 'Category' },
);

export const getMe = endpoint({
  operation: 'getMe',
  access: { scope: 'shops:read' },
  method: 'GET',
  path: '/v2/processing/me',
  tag: 'Merchant',
  summary: 'Get the party of the API key',
  status: 200,
  response: Me,
  errors: [],
  handle: async ({ caller }, { merchants }: { merchants: Merchants }) => {
    const party = await merchants.party(caller.partyId);
    if (!party) throw new Error(`party ${caller.partyId} of the API key was not found`);
    return accept({ id: party.id, isBlocked: party.isBlocked, isSuspended: party.isSuspended });
  },
});

export const listShops = endpoint({
  operation: 'listShops',
  access: { scope: 'shops:read' },
  method: 'GET',
  path: '/v2/processing/shops',
  tag: 'Merchant',
  summary: 'List your shops',
  status: 200,
  response: Type.Array(ShopSchema),
  errors: [],
  handle: async ({ caller }, { merchants }: { merchants: Merchants }) =>
    accept((await merchants.shops(caller.partyId)).map(shopBody)),
});

export const getShop = endpoint({
  operation: 'getShop',
  access: { scope: 'shops:read' },
  method: 'GET',
  path: '/v2/processing/shops/{shopID}',
  tag: 'Merchant',
  summary: 'Get a shop',
  params: Type.Object({ shopID: EntityID }),
  status: 200,
  response: ShopSchema,
  errors: ['shopNotFound'],
  handle: async ({ caller, params }, { merchants }: { merchants: Merchants }) => {
    const shop = await merchants.shop(caller.partyId, params.shopID);
    return shop ? accept(shopBody(shop)) : refuse('shopNotFound');
  },
});

export const listCategories = endpoint({
  operation: 'listCategories',
  access: { scope: 'shops:read' },
  method: 'GET',
  path: '/v2/processing/categories',
  tag: 'Merchant',
  summary: 'List the categories of shops',
  status: 200,
  response: Type.Array(Category),
  errors: [],
  handle: async (_request, { db }: { db: Database }) =>
    accept((await db.run(readCategories, {})).map(categoryBody)),
});

export const getCategory = endpoint({
  operation: 'getCategory',
  access: { scope: 'shops:read' },
  method: 'GET',
  path: '/v2/processing/categories/{categoryID}',
  tag: 'Merchant',
  summary: 'Get a category',
  params: Type.Object({ categoryID: EntityID }),
  status: 200,
  response: Category,
  errors: ['categoryNotFound'],
  handle: async ({ params }, { db }: { db: Database }) => {
    const rows = await db.run(readCategories, {});
    const row = rows.find(({ category_id }) => String(category_id) === params.categoryID);
    return row ? accept(categoryBody(row)) : refuse('categoryNotFound');
  },
});

function shopBody(shop: Shop): Static<typeof ShopSchema> {
  return {
    id: shop.id,
    createdAt: shop.createdAt,
    isBlocked: shop.isBlocked,
    isSuspended: shop.isSuspended,
    categoryID: shop.categoryId,
    location: { locationType: 'ShopLocationUrl', url: shop.url },
    details: {
      name: shop.name,
      ...defined({ description: shop.description }),
    },
    // Each party has one contract, under the party's ID.
    contractID: shop.partyId,
    currency: shop.currency,
    realm: modeName(shop.livemode),
  };
}

function categoryBody(row: {
  category_id: number;
  name: string;
  description: string | null;
}): Static<typeof Category> {
  return {
    categoryID: row.category_id,
    name: row.name,
    ...defined({ description: row.description }),
  };
}
