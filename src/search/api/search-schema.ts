// What the searches have in common: their parameters, what has to be asked for, and their pages.
import { Type, type Static, type TProperties, type TSchema } from 'typebox';
import { epochMsOf, lastInstant, type Instant } from '../../clock.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import { publicStatus, type PaymentStateName } from '../../payments/domain/payment.ts';
import type { Database } from '../../platform/database/database.ts';
import { validationMessage } from '../../platform/http/errors/validate.ts';
import type { CardNumbers } from '../../platform/http/request/card-numbers.ts';
import { Amount, DateTime, EntityID, instantOf } from '../../platform/http/schemas.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import type { LastRow, PageTokens } from '../page-tokens.ts';
import { freshness } from '../position.store.ts';
import type { Range } from '../domain/splits.ts';
import { idList, type SearchKey } from '../searches.store.ts';
import { IDs, shopsOf, type ShopsAsked } from './shop-filter.ts';
import type { Turns } from '../turns.ts';
import { paged, type Found as Page } from './pages.ts';

const id = Type.Optional(EntityID);
export const AmountBound = Type.Optional(Type.Integer({ minimum: 1 }));

export const ShopPath = Type.Object({ shopID: EntityID });
export const searchErrors = ['shopNotFound', 'searchTooWide', 'invalidContinuationToken'] as const;

export const PageQuery = {
  fromTime: Type.Optional({ ...DateTime, description: 'Created at this time or later.' }),
  toTime: Type.Optional({ ...DateTime, description: 'Created before this time.' }),
  limit: Type.Integer({ minimum: 1, maximum: 1_000 }),
  continuationToken: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4_000,
      'x-cardNumbers': 'made' satisfies CardNumbers,
      description: 'From the previous page, with its parameters.',
    }),
  ),
  invoiceID: id,
  externalID: id,
};

export const PaymentQuery = {
  paymentID: id,
  paymentStatus: Type.Optional(
    Type.Enum(['pending', 'processed', 'captured', 'cancelled', 'refunded', 'failed']),
  ),
  paymentFlow: Type.Optional(Type.Enum(['instant', 'hold'])),
  paymentMethod: Type.Optional(Type.Enum(['bankCard', 'paymentTerminal'])),
  paymentAmount: Type.Optional(Amount),
  customerID: id,
  payerEmail: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  payerIP: Type.Optional(Type.String({ minLength: 1, maxLength: 45 })),
  payerFingerprint: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 })),
  first6: Type.Optional(Type.String({ pattern: '^\\d{6}$' })),
  last4: Type.Optional(
    Type.String({ pattern: '^\\d{0,4}$', description: 'Fewer digits are the end of the number.' }),
  ),
  bankCardPaymentSystem: id,
  bankCardTokenProvider: id,
  paymentTerminalProvider: id,
  rrn: id,
  approvalCode: id,
};

export const freshnessMembers = {
  asOf: { ...DateTime, description: 'Later changes may lack.' },
  rebuilding: Type.Optional(
    Type.Boolean({
      description: 'While everything is copied again: rows may lack.',
    }),
  ),
};

export function searchPage<Item extends TSchema, More extends TProperties>(
  title: string,
  item: Item,
  more: More,
) {
  return Type.Object(
    {
      result: Type.Array(item),
      ...more,
      continuationToken: Type.Optional(Type.String()),
      ...freshnessMembers,
    },
    { title },
  );
}
const NoItems = searchPage('none', Type.Unknown(), {});
type SearchPage<Body> = Omit<Static<typeof NoItems>, 'result'> & { readonly result: Body[] };

/** The parts of the service that a search uses. */
export type SearchDeps = {
  readonly db: Database;
  readonly merchants: Merchants;
  readonly pageTokens: PageTokens;
  readonly searchTurns: Turns;
  readonly payouts: { readonly livemode: boolean };
};

const whole = Type.Object({ ...PageQuery, ...PaymentQuery, invoiceIDs: Type.Optional(IDs) });
type Asked = Static<typeof whole> & { readonly invoiceAmount?: number };

type Place<Key> = {
  readonly key: Key | 'time';
  readonly created_from: Instant;
  /** Where the range ends. */
  readonly until: Instant;
  readonly before_at: Instant;
  /** The IDs of the last row of the page before, or nothing. */
  readonly before: readonly string[];
  readonly shop_ids: string;
  /** While everything is copied again, sums may lack. */
  readonly isRebuilding: boolean;
};

const longestRangeMs = 366 * 24 * 3_600_000;
const firstInstant = '0001-01-01T00:00:00.000000Z' as Instant;

type KeyParameter =
  | 'invoiceID'
  | 'invoiceIDs'
  | 'externalID'
  | 'invoiceAmount'
  | Extract<keyof typeof PaymentQuery, keyof Asked>;

/** The exact keys, which need no range of time. */
const exactKeys: Partial<Record<SearchKey, KeyParameter>> = {
  invoice_id: 'invoiceID',
  rrn: 'rrn',
  external_id: 'externalID',
  customer_id: 'customerID',
  email: 'payerEmail',
  invoice_ids: 'invoiceIDs',
};
/** They have an index as well, and one value may be of very many payments. */
const otherKeys: typeof exactKeys = {
  approval_code: 'approvalCode',
  fingerprint: 'payerFingerprint',
  ip: 'payerIP',
  last4: 'last4',
  payment_amount: 'paymentAmount',
  invoice_amount: 'invoiceAmount',
};

export const tooWide = (hint: string) => refuse('searchTooWide', { hint });

/** Of fewer digits there is no index. */
const isWhole = (last4: string | undefined) => last4?.length === 4;

/** What the search goes by, and the exact keys that it could go by. */
export function keyOf<Key extends SearchKey>(query: Asked, keys: readonly Key[]) {
  const namedIn = (parameters: typeof exactKeys) =>
    keys.flatMap((key) => (parameters[key] === undefined ? [] : [{ key, parameter: parameters[key] }]));
  const exact = namedIn(exactKeys);
  const isAsked = ({ parameter }: { readonly parameter: KeyParameter }) =>
    query[parameter] !== undefined && (parameter !== 'last4' || isWhole(query.last4));
  const exactKey = exact.find(isAsked)?.key;
  const key: Key | 'time' = exactKey ?? namedIn(otherKeys).find(isAsked)?.key ?? 'time';
  return { key, isExact: exactKey !== undefined, exact };
}

function rangeOf<Key extends SearchKey>(
  query: Asked,
  keys: readonly Key[],
): Outcome<Omit<Place<Key>, 'before' | 'shop_ids' | 'isRebuilding'>, 'invalidRequest' | 'searchTooWide'> {
  const { key, isExact, exact } = keyOf(query, keys);
  const names = exact.map(({ parameter }) => parameter);
  const range = rangeAsked(query, { isExact, names });
  return range.ok ? accept({ key, ...range.value }) : range;
}

/** Without one of the exact keys, the range has to have both ends and a bounded length. */
export function rangeAsked(
  query: Pick<Asked, 'fromTime' | 'toTime'>,
  { isExact, names }: { readonly isExact: boolean; readonly names: readonly string[] },
): Outcome<
  Omit<Place<never>, 'key' | 'before' | 'shop_ids' | 'isRebuilding'>,
  'invalidRequest' | 'searchTooWide'
> {
  const from = query.fromTime === undefined ? undefined : instantOf(query.fromTime);
  const to = query.toTime === undefined ? undefined : instantOf(query.toTime);
  if (from !== undefined && to !== undefined && from > to) return fromAfterTo();
  if (!isExact && (from === undefined || to === undefined))
    return tooWide(`Send fromTime and toTime, or one of ${names.join(', ')}.`);
  if (!isExact && from !== undefined && to !== undefined && isLonger(from, to)) return tooLong();
  const until = to ?? lastInstant;
  return accept({ created_from: from ?? firstInstant, until, before_at: until });
}

function isLonger(from: Instant, to: Instant): boolean {
  return epochMsOf(to) - epochMsOf(from) > longestRangeMs;
}
const tooLong = () => tooWide('Send a fromTime and a toTime that are at most 366 days apart.');
const outOfRange = (parameter: 'fromTime' | 'toTime', description: string) =>
  refuse('invalidRequest', { message: validationMessage(parameter, 'not_in_range', description) });
const fromAfterTo = () => outOfRange('fromTime', 'must not be later than toTime');

/** Calendars are certain in these years, and nothing was paid before. */
const firstSummed = '2000-01-01T00:00:00.000000Z' as Instant;
const lastSummed = '2200-01-01T00:00:00.000000Z' as Instant;

/** The range of sums. */
export function wholeRange(query: {
  readonly fromTime: string;
  readonly toTime: string;
}): Outcome<Range, 'invalidRequest' | 'searchTooWide'> {
  const range = { from: instantOf(query.fromTime), to: instantOf(query.toTime) };
  if (range.from > range.to) return fromAfterTo();
  const years = 'must be from 2000-01-01 to 2200-01-01';
  if (range.from < firstSummed || range.from > lastSummed) return outOfRange('fromTime', years);
  if (range.to > lastSummed) return outOfRange('toTime', years);
  return isLonger(range.from, range.to) ? tooLong() : accept(range);
}

/** Every condition as the statements take it. */
export function conditionsOf(query: Asked) {
  const { paymentStatus: status } = query;
  // Every payment is by a card that was entered, and not by a terminal or a wallet's token.
  const { paymentMethod, paymentTerminalProvider, bankCardTokenProvider } = query;
  const isOther =
    paymentMethod === 'paymentTerminal' || (paymentTerminalProvider ?? bankCardTokenProvider) !== undefined;
  const states = (Object.keys(publicStatus) as PaymentStateName[]).filter(
    (name) => !isOther && [undefined, publicStatus[name]].includes(status),
  );
  return {
    ofPlace: {
      invoice_id: query.invoiceID ?? null,
      external_id: query.externalID ?? null,
      limit: query.limit + 1,
    },
    ofPayment: {
      payment_id: query.paymentID ?? null,
      payment_statuses: status === undefined && !isOther ? null : states.join(','),
      flow: query.paymentFlow ?? null,
      payment_amount: minorOf(query.paymentAmount),
      customer_id: query.customerID ?? null,
      email: query.payerEmail?.toLowerCase() ?? null,
      ip: query.payerIP ?? null,
      fingerprint: query.payerFingerprint ?? null,
      first6: query.first6 ?? null,
      last4: query.last4 || null,
      payment_system: query.bankCardPaymentSystem ?? null,
      rrn: query.rrn ?? null,
      approval_code: query.approvalCode ?? null,
    },
  };
}

export function minorOf(amount: number | undefined): bigint | null {
  return amount === undefined ? null : BigInt(amount);
}

/** What the statements take. */
export type AmountsAsked = { readonly amount_from: bigint | null; readonly amount_to: bigint | null };

export const isBetweenAmounts = ({ amount_from, amount_to }: AmountsAsked) =>
  (amount_from ?? amount_to) !== null;

/** The shop of a path, or those of the party that are asked for. */
export type ShopsSearched =
  | { readonly shopId: string }
  | { readonly query: ShopsAsked & { readonly partyID?: string } };

type Sought<Key> = {
  readonly operation: string;
  readonly partyId: string;
  readonly shops: ShopsSearched;
  readonly now: Instant;
  readonly query: Asked;
  readonly keys: readonly Key[];
};

/** Finds the place where the page begins, has it read, and says how fresh it is. */
export async function searched<Key extends SearchKey, Found, Body, More extends object>(
  deps: SearchDeps,
  asked: Sought<Key>,
  read: (place: Place<Key>) => Promise<Page<Found, More> | undefined>,
  { last, body }: { readonly last: (found: Found) => LastRow; readonly body: (found: Found) => Body },
): Promise<
  Outcome<
    SearchPage<Body> & Omit<Page<Found, More>, 'found'>,
    'invalidRequest' | 'searchTooWide' | 'shopNotFound' | 'invalidContinuationToken' | 'tooManyRequests'
  >
> {
  const { db, pageTokens, searchTurns } = deps;
  const { operation, partyId, shops, query, keys, now } = asked;
  const { limit, continuationToken, ...filters } = query;
  const shopIds = await searchedShops(deps, partyId, shops);
  if (!shopIds.ok) return shopIds;
  const range = rangeOf(query, keys);
  if (!range.ok) return range;
  const shopId = 'shopId' in shops ? shops.shopId : null;
  const bound = [operation, partyId, shopId, Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1))];
  const shop_ids = idList(shopIds.value);
  const exact = keyOf(query, keys).exact.map(({ parameter }) => parameter);
  return paged(
    { pageTokens, searchTurns },
    { partyId, bound, limit, continuationToken, exact, fresh: () => freshness(db, partyId, now) },
    ({ before_at = range.value.before_at, before, isRebuilding }) =>
      read({ ...range.value, before_at, before, shop_ids, isRebuilding }),
    { last, body },
  );
}

async function searchedShops(
  deps: SearchDeps,
  partyId: string,
  shops: ShopsSearched,
): Promise<Outcome<string[], 'shopNotFound'>> {
  if ('shopId' in shops) {
    const shop = await deps.merchants.shop(partyId, shops.shopId);
    return shop ? accept([shop.id]) : refuse('shopNotFound');
  }
  const found = await shopsOf(deps, { caller: { partyId }, query: shops.query });
  return found.ok ? accept(found.value.map(({ id }) => id)) : found;
}
