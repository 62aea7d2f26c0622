// A page of a search or a list, after the row that its continuation token names.
import type { Instant } from '../../clock.ts';
import { defined } from '../../defined.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import type { LastRow, PageTokens } from '../page-tokens.ts';
import type { Turns } from '../turns.ts';

type Asked = {
  readonly partyId: string;
  /** The operation, the party, and every parameter but the size of the page: what a token is for. */
  readonly bound: readonly unknown[];
  readonly limit: number;
  readonly continuationToken: string | undefined;
  /** Read before the page, so that the page has all of it. */
  readonly fresh: () => Promise<{ readonly asOf: Instant; readonly isRebuilding: boolean }>;
};

/** The last row of the page before. Without a token there is none. */
export type After = {
  readonly before_at?: Instant;
  readonly before: readonly string[];
  readonly isRebuilding: boolean;
};

/** What was read: one row more than is shown if there is a next page. */
export type Found<Row, More> = More & { readonly found: readonly Row[] };

type Shape<Row, Body> = {
  readonly last: (row: Row) => LastRow;
  /** An empty list leaves the row out. */
  readonly body: (row: Row) => Body | readonly Body[];
};

export async function paged<Row, Body, More extends object>(
  { pageTokens, searchTurns }: { readonly pageTokens: PageTokens; readonly searchTurns: Turns },
  { partyId, bound, limit, continuationToken, fresh }: Asked,
  read: (after: After) => Promise<Found<Row, More> | undefined>,
  { last, body }: Shape<Row, Body>,
): Promise<
  Outcome<
    { result: Body[]; asOf: Instant; continuationToken?: string; rebuilding?: boolean } & Omit<
      Found<Row, More>,
      'found'
    >,
    'searchTooWide' | 'invalidContinuationToken' | 'tooManyRequests'
  >
> {
  const after =
    continuationToken === undefined ? undefined : await pageTokens.verify(bound, continuationToken);
  if (continuationToken !== undefined && !after) return refuse('invalidContinuationToken');
  const { asOf, isRebuilding } = await fresh();
  const place = { before: after?.ids ?? [], isRebuilding, ...defined({ before_at: after?.createdAt }) };
  const page = await searchTurns.run(partyId, () => read(place));
  if (page === 'busy') return refuse('tooManyRequests', { waitSeconds: 1 });
  if (!page)
    return refuse('searchTooWide', {
      hint: 'It took more than two seconds. Send a shorter range of time, a shopID, or an exact key such as rrn.',
    });
  const { found, ...counted } = page;
  const shown = found.slice(0, limit);
  const end = shown.at(-1);
  const next = found.length > limit && end ? pageTokens.issue(bound, last(end)) : undefined;
  return accept({
    result: shown.flatMap(body),
    ...counted,
    asOf,
    ...defined({ continuationToken: next, rebuilding: isRebuilding ? (true as const) : undefined }),
  });
}
