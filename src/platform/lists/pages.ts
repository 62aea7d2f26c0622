// Pages of lists, newest first. A continuation token names the last row and its query; it needs no signature, because every
// query is limited to the caller's party.
import { createHash } from 'node:crypto';
import { Type, type TSchema } from 'typebox';
import { parseInstant, type Instant } from '../../clock.ts';
import type { CardNumbers } from '../http/request/card-numbers.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import { defined } from '../../defined.ts';

const Limit = Type.Integer({ minimum: 1, maximum: 1_000 });
const ContinuationToken = Type.String({
  minLength: 1,
  maxLength: 4_000,
  'x-cardNumbers': 'made' satisfies CardNumbers,
  description: 'From the previous page. Send it with the same parameters.',
});
/** The parameters of every list. */
export const PageQuery = { limit: Limit, continuationToken: Type.Optional(ContinuationToken) };
export const OptionalPageQuery = { ...PageQuery, limit: Type.Optional(Limit) };

export function pageSchema<Item extends TSchema>(title: string, item: Item) {
  return Type.Object(
    { result: Type.Array(item), continuationToken: Type.Optional(Type.String()) },
    { title },
  );
}

type Query = Readonly<Record<string, unknown>> & {
  readonly limit?: number;
  readonly continuationToken?: string;
};
type Row = { readonly id: string; readonly createdAt: Instant };

type Page = {
  /** One more than is shown, to know whether there is another page. */
  readonly limit: number;
  readonly before_at: Instant | null;
  readonly before_id: string | null;
};

type Answer<Body> = Outcome<{ result: Body[]; continuationToken?: string }, 'invalidContinuationToken'>;

export function listed<R extends Row, Body>(
  query: Query,
  read: (page: Page) => Promise<readonly R[]>,
  body: (row: R) => Body,
): Promise<Answer<Body>> {
  return listedInParts(query, async (page) => ({ rows: await read(page) }), body);
}

/** Of a list that looks at so many rows at a time: `stoppedAt` is the last one, whether it is found or not. */
export type Part<R extends Row> = { readonly rows: readonly R[]; readonly stoppedAt?: Row };

/** A page may be short, or empty, and have a next one. */
export async function listedInParts<R extends Row, Body>(
  query: Query,
  read: (page: Page) => Promise<Part<R>>,
  body: (row: R) => Body,
): Promise<Answer<Body>> {
  const page = pageOf(query);
  return page.ok ? accept(pageBody(query, await read(page.value), body)) : page;
}

function pageOf(query: Query): Outcome<Page, 'invalidContinuationToken'> {
  const { limit = 1_000, continuationToken } = query;
  if (continuationToken === undefined) return accept({ limit: limit + 1, before_at: null, before_id: null });
  const [of, at, id, ...more] = Buffer.from(continuationToken, 'base64url').toString().split('|');
  const instant = parseInstant(at ?? '');
  if (of !== fingerprintOf(query) || !instant || !id || !/^[0-9A-Za-z]{1,40}$/.test(id) || more.length > 0) {
    return refuse('invalidContinuationToken');
  }
  return accept({ limit: limit + 1, before_at: instant, before_id: id });
}

/** `rows` may have one row more than the page shows. */
function pageBody<R extends Row, Body>(
  query: Query,
  { rows, stoppedAt }: Part<R>,
  body: (row: R) => Body,
): { result: Body[]; continuationToken?: string } {
  const { limit = 1_000 } = query;
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : stoppedAt;
  const token = last && tokenOf(query, last);
  return { result: shown.map(body), ...defined({ continuationToken: token }) };
}

function tokenOf(query: Query, { createdAt, id }: Row): string {
  return Buffer.from([fingerprintOf(query), createdAt, id].join('|')).toString('base64url');
}

function fingerprintOf({ continuationToken: _, ...query }: Query): string {
  const parameters = Object.entries(query).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(parameters)).digest('base64url').slice(0, 16);
}
