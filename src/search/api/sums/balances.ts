// What is due to shops now, from the ledger.
import { Type } from 'typebox';
import type { Instant } from '../../../clock.ts';
import type { Shop } from '../../../merchants/domain/party.ts';
import type { Database } from '../../../platform/database/database.ts';
import { endpoint } from '../../../platform/http/endpoint.ts';
import { DateTime } from '../../../platform/http/schemas.ts';
import { settlementAccount } from '../../../platform/ledger/domain/account.ts';
import { readBalances } from '../../../platform/ledger/store/journals.ts';
import { accept } from '../../../refusal.ts';
import { isOwnParty, shopsOf, ShopsQuery } from '../shop-filter.ts';
import { Amounts, type SumDeps } from './sums-schema.ts';
import { totalsBy } from './totals.ts';

const balances = {
  access: { scope: 'payments:read' },
  method: 'GET',
  tag: 'Analytics',
  query: Type.Object(ShopsQuery),
  status: 200,
  errors: ['shopNotFound'],
  isOwnParty,
} as const;

type BalanceDeps = Pick<SumDeps, 'merchants' | 'payouts'> & { readonly db: Database };
type Request = Parameters<typeof shopsOf>[1] & { readonly now: Instant };

export const getCurrentBalances = endpoint({
  ...balances,
  operation: 'getCurrentBalances',
  path: '/v2/analytics/balances/current',
  summary: 'Get what is due to shops',
  description: 'By currency: what was captured and not refunded, less fees.',
  response: Type.Object({ result: Type.Array(Amounts), asOf: DateTime }),
  handle: (request, deps: BalanceDeps) =>
    balancesOf(deps, request, (shops) => {
      const rows = shops.map(({ shop, own }) => ({ currency: shop.currency, n: 1n, amount_minor: own }));
      return totalsBy(rows, ({ currency }) => currency)
        .map(({ key, minor }) => ({ currency: key, amount: minor }))
        .toSorted((one, other) => (one.currency < other.currency ? -1 : 1));
    }),
});

export const getCurrentShopBalances = endpoint({
  ...balances,
  operation: 'getCurrentShopBalances',
  path: '/v2/analytics/balances/current-shop-balances',
  summary: 'Get what is due to each shop',
  response: Type.Object({
    result: Type.Array(
      Type.Object({ id: Type.String(), amountResults: Type.Array(Amounts) }, { title: 'ShopAmountResult' }),
    ),
    asOf: DateTime,
  }),
  handle: (request, deps: BalanceDeps) =>
    balancesOf(deps, request, (shops) =>
      shops.map(({ shop: { id, currency }, own }) => ({
        id,
        amountResults: [{ currency, amount: own }],
      })),
    ),
});

async function balancesOf<Body>(
  deps: BalanceDeps,
  request: Request,
  body: (shops: { readonly shop: Shop; readonly own: bigint }[]) => Body[],
) {
  const shops = await shopsOf(deps, request);
  if (!shops.ok) return shops;
  const { partyId } = request.caller;
  const { livemode } = deps.payouts;
  const accounts = shops.value.map((shop) =>
    settlementAccount({ livemode, currency: shop.currency, partyId, shopId: shop.id }),
  );
  const own = await readBalances(deps.db, accounts);
  return accept({
    result: body(shops.value.map((shop, index) => ({ shop, own: own[index]?.own ?? 0n }))),
    asOf: request.now,
  });
}
