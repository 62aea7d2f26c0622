// What the lists of customers, bindings and series have in common: their parameters, their shops, and their pages.
import { Type, type Static } from 'typebox';
import type { Caller } from '../../../caller.ts';
import type { Instant } from '../../../clock.ts';
import type { ErrorCode } from '../../../platform/http/errors/error-codes.ts';
import { EntityID } from '../../../platform/http/schemas.ts';
import type { LastRow } from '../../page-tokens.ts';
import { listFreshness } from '../../lists/position.store.ts';
import { paged } from '../pages.ts';
import { PageQuery, rangeAsked } from '../search-schema.ts';
import { shopsOf, ShopsQuery } from '../shop-filter.ts';
import type { SumDeps } from '../sums/sums-schema.ts';

const { invoiceID: _, externalID, ...page } = PageQuery;
export const ListQuery = { ...page, ...ShopsQuery };
export const ExternalIDQuery = { externalID };
export const id = Type.Optional(EntityID);

export const listErrors = [
  'shopNotFound',
  'searchTooWide',
  'invalidContinuationToken',
] as const satisfies readonly ErrorCode[];

/** The parts of the service that a list uses. */
export type ListDeps = SumDeps;

const common = Type.Object(ListQuery);
type Query = Static<typeof common>;

export type ListPlace = {
  readonly party_id: string;
  readonly shop_id: string | null;
  readonly shop_ids: string | null;
  readonly created_from: Instant;
  readonly before_at: Instant;
  readonly limit: number;
};

type Asked<Q extends Query> = {
  readonly operation: string;
  readonly caller: Pick<Caller, 'partyId'>;
  readonly query: Q;
  readonly now: Instant;
  /** Each finds few rows, so that no range of time is needed. */
  readonly exact: readonly (keyof Q & string)[];
};

/** `before`: the IDs of the last row of the page before, or nothing. */
export async function listed<Q extends Query, Row, Body>(
  deps: ListDeps,
  { operation, caller, query, now, exact }: Asked<Q>,
  read: (
    place: ListPlace,
    before: readonly string[],
  ) => Promise<{ readonly found: readonly Row[] } | undefined>,
  shape: {
    readonly last: (row: Row) => LastRow;
    readonly body: (row: Row) => Body | readonly Body[];
  },
) {
  const { partyId } = caller;
  const { limit, continuationToken, ...filters } = query;
  const shops = await shopsOf(deps, { caller, query });
  if (!shops.ok) return shops;
  const isExact = exact.some((name) => query[name] !== undefined);
  const range = rangeAsked(query, { isExact, names: exact });
  if (!range.ok) return range;
  const [first, ...others] = shops.value;
  const { created_from, before_at: until } = range.value;
  return paged(
    deps,
    {
      partyId,
      bound: [operation, partyId, Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1))],
      limit,
      continuationToken,
      exact,
      fresh: () => listFreshness(deps.db, partyId, now),
    },
    async ({ before_at = until, before }) => {
      if (!first) return { found: [] };
      const one = others.length === 0;
      const shop_ids = one ? null : shops.value.map((shop) => shop.id).join(',');
      const shop_id = one ? first.id : null;
      return read(
        { party_id: partyId, shop_id, shop_ids, created_from, before_at, limit: limit + 1 },
        before,
      );
    },
    shape,
  );
}
