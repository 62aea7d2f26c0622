// What the sums have in common: their parameters, the shops they are of, and their responses.
import { Type, type Static, type TSchema } from 'typebox';
import type { Instant } from '../../../clock.ts';
import { defined } from '../../../defined.ts';
import type { Shop } from '../../../merchants/domain/party.ts';
import type { Columns, Values } from '../../../platform/database/statement.ts';
import { DateTime } from '../../../platform/http/schemas.ts';
import { validationMessage } from '../../../platform/http/errors/validate.ts';
import { isTimeZone } from '../../../retry-rules/domain/time-zones.ts';
import { accept, refuse, type Outcome } from '../../../refusal.ts';
import { maxParts, partsOf, splitUnits, type Range, type Split } from '../../domain/splits.ts';
import { freshness } from '../../position.store.ts';
import { readSums, type SumStatement } from '../../sums/sums.store.ts';
import { payoutsOf } from '../../sums/summed.ts';
import { commonZone } from '../../sums/shop-zones.store.ts';
import { shopsOf, ShopsQuery } from '../shop-filter.ts';
import { freshnessMembers, tooWide, wholeRange, type SearchDeps } from '../search-schema.ts';

const times = { fromTime: DateTime, toTime: DateTime };
export const SumQuery = { ...times, ...ShopsQuery };
export const PartySumQuery = { ...times, partyID: ShopsQuery.partyID };
export const SplitQuery = {
  ...SumQuery,
  splitUnit: Type.Enum([...splitUnits]),
  timeZone: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'Such as Europe/Moscow. Absent: that of the shops, or UTC if they differ.',
    }),
  ),
};
const partyAsked = Type.Object(PartySumQuery);
const splitAsked = Type.Object(SplitQuery);
const sumAsked = Type.Object(SumQuery);
type SplitAsked = Static<typeof splitAsked>;
type SumAsked = Static<typeof sumAsked>;

export const sumErrors = ['shopNotFound', 'searchTooWide'] as const;

export function sumsOf<Item extends TSchema>(item: Item) {
  return Type.Object({ result: Type.Array(item), ...freshnessMembers });
}

export function splitsOf<Item extends TSchema>(item: Item) {
  return Type.Object({
    result: Type.Array(item),
    timeZone: Type.String({ description: 'In which the parts begin.' }),
    ...freshnessMembers,
  });
}

/** In minor units. A sum may have more digits than a number of JavaScript, and none of them is lost on the way. */
export const SumMinor = Type.Unsafe<bigint>(Type.Integer());

export const Amounts = Type.Object({ amount: SumMinor, currency: Type.String() }, { title: 'AmountResult' });

export type SumDeps = SearchDeps;

type Asked<Query> = {
  readonly caller: { readonly partyId: string };
  readonly query: Query;
  readonly now: Instant;
};
type Problem = 'invalidRequest' | 'searchTooWide' | 'shopNotFound' | 'tooManyRequests';
type Sums<Body> = { readonly result: Body[]; readonly asOf: Instant; readonly rebuilding?: boolean };

/** Reads sums over the whole range. */
export async function summed<Row extends Columns, Body>(
  deps: SumDeps,
  asked: Asked<SumAsked>,
  sums: SumStatement<Row>,
  body: (rows: Values<Row>[]) => Body[],
): Promise<Outcome<Sums<Body>, Problem>> {
  const shops = await shopsOf(deps, asked);
  const range = wholeRange(asked.query);
  if (!shops.ok) return shops;
  if (!range.ok) return range;
  const parts = { range: range.value, starts: [range.value.from], isFine: false };
  return read(deps, asked, { shopIds: idsOf(shops.value), sums, ...parts }, body);
}

/** Reads counts of rows over the whole range, of the shops that are asked for. */
export async function recoveredOf<Row, Body>(
  deps: SumDeps,
  asked: Asked<SumAsked>,
  readRows: (of: {
    readonly partyId: string;
    readonly shopIds: readonly string[];
    readonly range: Range;
  }) => Promise<Row[] | undefined>,
  body: (rows: Row[]) => Body[],
): Promise<Outcome<Sums<Body>, Problem>> {
  const shops = await shopsOf(deps, asked);
  const range = wholeRange(asked.query);
  if (!shops.ok) return shops;
  if (!range.ok) return range;
  const { partyId } = asked.caller;
  const of = { partyId, shopIds: idsOf(shops.value), range: range.value };
  return fresh(deps, asked, () => readRows(of), body);
}

/** Reads sums of payouts, which are of a whole party, over the whole range. */
export async function summedOfParty<Row extends Columns, Body>(
  deps: Pick<SumDeps, 'db' | 'payouts' | 'searchTurns'>,
  asked: Asked<Static<typeof partyAsked>>,
  sums: SumStatement<Row>,
  body: (rows: Values<Row>[]) => Body[],
): Promise<Outcome<Sums<Body>, Problem>> {
  const range = wholeRange(asked.query);
  if (!range.ok) return range;
  const parts = { range: range.value, starts: [range.value.from], isFine: false };
  return read(deps, asked, { shopIds: payoutsOf(deps.payouts.livemode), sums, ...parts }, body);
}

/** Reads sums by the parts of the range. */
export async function splitSums<Row extends Columns, Body>(
  deps: SumDeps,
  asked: Asked<SplitAsked>,
  sums: SumStatement<Row>,
  body: (rows: Values<Row>[], starts: readonly Instant[]) => Body[],
): Promise<Outcome<Sums<Body> & { readonly timeZone: string }, Problem>> {
  const { splitUnit: unit, timeZone: wanted } = asked.query;
  const shops = await shopsOf(deps, asked);
  const range = wholeRange(asked.query);
  if (!shops.ok) return shops;
  if (!range.ok) return range;
  if (wanted !== undefined && !isTimeZone(wanted))
    return refuse('invalidRequest', {
      message: validationMessage('timeZone', 'wrong_format', 'must be an IANA name such as Europe/Moscow'),
    });
  const timeZone = wanted ?? (await commonZone(deps.db, asked.caller.partyId, shops.value));
  const split: Split = { unit, timeZone };
  const starts = partsOf(split, range.value);
  if (!starts) return tooWide(`Send a shorter range or a longer splitUnit: at most ${maxParts} parts.`);
  const parts = { range: range.value, starts, isFine: unit === 'minute' };
  const answer = await read(deps, asked, { shopIds: idsOf(shops.value), sums, ...parts }, (rows) =>
    body(rows, starts),
  );
  return answer.ok ? accept({ ...answer.value, timeZone }) : answer;
}

const idsOf = (shops: readonly Shop[]) => shops.map(({ id }) => id);

async function read<Row extends Columns, Body>(
  { db, searchTurns }: Pick<SumDeps, 'db' | 'searchTurns'>,
  { caller: { partyId }, now }: Pick<Asked<unknown>, 'caller' | 'now'>,
  asked: {
    readonly shopIds: readonly string[];
    readonly sums: SumStatement<Row>;
    readonly range: Range;
    readonly starts: readonly Instant[];
    readonly isFine: boolean;
  },
  body: (rows: Values<Row>[]) => Body[],
): Promise<Outcome<Sums<Body>, 'searchTooWide' | 'tooManyRequests'>> {
  const { sums, ...parts } = asked;
  const readRows = () => readSums(db, sums, { partyId, ...parts });
  return fresh({ db, searchTurns }, { caller: { partyId }, now }, readRows, body);
}

async function fresh<Row, Body>(
  { db, searchTurns }: Pick<SumDeps, 'db' | 'searchTurns'>,
  { caller: { partyId }, now }: Pick<Asked<unknown>, 'caller' | 'now'>,
  readRows: () => Promise<Row[] | undefined>,
  body: (rows: Row[]) => Body[],
): Promise<Outcome<Sums<Body>, 'searchTooWide' | 'tooManyRequests'>> {
  const { asOf, isRebuilding } = await freshness(db, partyId, now);
  const rows = await searchTurns.run(partyId, readRows);
  if (rows === 'busy') return refuse('tooManyRequests', { waitSeconds: 1 });
  if (!rows) return tooWide('It took more than two seconds. Send a shorter range of time.');
  return accept({ result: body(rows), asOf, ...defined({ rebuilding: isRebuilding ? true : undefined }) });
}
