// The lists of subscriptions, newest first. Each statement has the index that its plan walks.
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { columnList, statement } from '../../platform/database/statement.ts';
import type { Part } from '../../platform/lists/pages.ts';
import type { Status, Subscription } from '../domain/subscription.ts';
import { columns, fromRow } from './subscriptions.ts';

const page = { before_at: 'timestamptz?', before_id: 'text?', limit: 'int4' } as const;
type Page = {
  /** The last row of the page before. */
  readonly before_at: Instant | null;
  readonly before_id: string | null;
  readonly limit: number;
};

/** As `statusOf` says it. */
const status = `case
          when phase <> 'running' then phase
          when exists (select from json_array_elements(state->'open') as period where period->>'declineClass' is not null) then 'pastDue'
          when state->'latest'->>'kind' = 'trial' then 'trialing'
          else 'active' end`;
/** That of the index. */
const isParked = `strpos(state::text, '"parkedFor"') > 0 and (state->>'parkedFor') is not null`;
const hasStatus = `(:status is null or :status = ${status})`;
const isLater = `(created_at, subscription_id) < (coalesce(:before_at, 'infinity'), coalesce(:before_id, ''))`;
const newestFirst = 'order by created_at desc, subscription_id desc';
const isAsked = `${hasStatus} and (:is_parked is null or :is_parked = coalesce(${isParked}, false))`;

/** Rows of a shop that one page looks at. More than a page shows, so that only a filter ends a page before it is full. */
const mostLookedAt = 5_000;

/** The last row that it looks at comes too, so that the next page begins there. */
export const listOfShop = statement({
  name: 'list_subscriptions_of_shop',
  parameters: {
    party_id: 'text',
    shop_id: 'text',
    status: 'text?',
    is_parked: 'bool?',
    ...page,
    most_looked_at: 'int4',
  },
  row: { ...columns, is_found: 'bool', is_last: 'bool' },
  text: `select ${columnList(columns)}, ${isAsked} as is_found, number = :most_looked_at as is_last
      from (select ${columnList(columns)}, row_number() over (${newestFirst}) as number from subscription
        where party_id = :party_id and shop_id = :shop_id and ${isLater} ${newestFirst} limit :most_looked_at) as looked_at
      where number = :most_looked_at or (${isAsked}) ${newestFirst} limit :limit`,
});

/** Of all merchants, or of one. Few are parked, so their index decides. */
export const listParked = statement({
  name: 'list_parked_subscriptions',
  parameters: { party_id: 'text?', shop_id: 'text?', status: 'text?', ...page },
  row: columns,
  text: `select ${columnList(columns)} from subscription
      where ${isParked} and (:party_id is null or party_id = :party_id) and (:shop_id is null or shop_id = :shop_id)
        and ${hasStatus} and ${isLater} ${newestFirst} limit :limit`,
});

export type Listed = {
  readonly id: string;
  readonly createdAt: Instant;
  readonly subscription: Subscription;
};

type Asked = Page & {
  readonly partyId: string;
  readonly shopId: string;
  readonly status?: Status | undefined;
  readonly isParked?: boolean | undefined;
  readonly mostLookedAt?: number;
};

export async function listSubscriptions(
  db: Pick<Database, 'run'>,
  { partyId, shopId, status: asked, isParked: parked, mostLookedAt: most = mostLookedAt, ...from }: Asked,
): Promise<Part<Listed>> {
  const of = { party_id: partyId, shop_id: shopId, status: asked ?? null, ...from };
  if (parked) return { rows: (await db.run(listParked, of)).map(listedFrom) };
  const rows = await db.run(listOfShop, { ...of, is_parked: parked ?? null, most_looked_at: most });
  const last = rows.at(-1);
  return {
    rows: rows.filter((row) => row.is_found).map(listedFrom),
    ...(last?.is_last && { stoppedAt: { id: last.subscription_id, createdAt: last.created_at } }),
  };
}

/** Of all merchants, for an operator. */
export async function listParkedSubscriptions(
  db: Pick<Database, 'run'>,
  asked: {
    readonly partyId?: string | undefined;
    readonly status?: Status | undefined;
    readonly limit: number;
  },
): Promise<Listed[]> {
  const { partyId = null, status: of = null, limit } = asked;
  const all = { party_id: partyId, shop_id: null, status: of, before_at: null, before_id: null, limit };
  return (await db.run(listParked, all)).map(listedFrom);
}

function listedFrom(row: Parameters<typeof fromRow>[0]): Listed {
  return { id: row.subscription_id, createdAt: row.created_at, subscription: fromRow(row).subscription };
}
