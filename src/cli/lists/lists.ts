// mandate customers list, bindings list and series list: what the lists of the API look through, for an operator.
import { laterBy, parseInstant, type Instant } from '../../clock.ts';
import { defined } from '../../defined.ts';
import { livemodeOf } from '../../livemode.ts';
import { openMerchants } from '../../merchants/merchants.ts';
import type { Database } from '../../platform/database/database.ts';
import { bindingStates } from '../../search/api/lists/search-bindings.ts';
import { isChargeable } from '../../search/api/lists/search-series.ts';
import { searchBindings, searchCustomers, searchSeries } from '../../search/lists/searches.store.ts';
import {
  logInLiveMode,
  printTable,
  requireParty,
  requireShop,
  userHere,
  wholeNumber,
  withFoundation,
} from '../foundation.ts';
import { printJson } from '../json-members.ts';
import { moment } from '../option-values.ts';

type ListOptions = {
  readonly party: string;
  readonly shop?: string;
  readonly since?: string;
  readonly limit: string;
  readonly json?: true;
  readonly customer?: string;
  readonly externalId?: string;
};

type Place = {
  readonly party_id: string;
  readonly shop_id: string | null;
  readonly shop_ids: null;
  readonly created_from: Instant;
  readonly before_at: Instant;
  readonly limit: number;
};

const dayMs = 24 * 3_600_000;
const firstInstant = parseInstant('0001-01-01T00:00:00Z') as Instant;

/** Of a test clock that is ahead, too. */
const maxAheadMs = 3_660 * dayMs;

async function found<Row>(
  what: 'customers' | 'bindings' | 'series',
  options: ListOptions,
  isExact: boolean,
  search: (db: Database, place: Place, now: Instant) => Promise<{ found: Row[] } | undefined>,
): Promise<{ shown: Row[]; isMore: boolean; now: Instant }> {
  const limit = wholeNumber('--limit', options.limit, 1, 1_000);
  return withFoundation(async ({ database, ports: { clock }, config }) => {
    const { party, shop, since = isExact ? undefined : '30d' } = options;
    const merchant = await requireParty(database, party);
    if (shop !== undefined) await requireShop(database, party, shop);
    const now = openMerchants(database.lookups, clock, livemodeOf(config.mode)).timeOf(merchant);
    const place: Place = {
      party_id: party,
      shop_id: shop ?? null,
      shop_ids: null,
      created_from: since === undefined ? firstInstant : moment('--since', since, now),
      before_at: laterBy(now, maxAheadMs),
      // One more shows whether the list is complete.
      limit: limit + 1,
    };
    const page = await search(database, place, now);
    if (!page) throw new Error('The list took more than two seconds. Give a shorter --since.');
    logInLiveMode(config, { party, ...defined({ shop }), by: userHere() }, `${what} listed`);
    return { shown: page.found.slice(0, limit), isMore: page.found.length > limit, now };
  });
}

type Cell = string | number | boolean | undefined;

function printRows(rows: readonly Readonly<Record<string, Cell>>[], isMore: boolean): void {
  const [first] = rows;
  if (!first) return console.log('Nothing found. List older ones with --since.');
  printTable(
    Object.keys(first).map((name) => name.replace(/Id$/, '').replaceAll(/[A-Z]/g, ' $&').toLowerCase()),
    rows.map((row) => Object.values(row).map((cell) => `${cell ?? ''}`)),
  );
  if (isMore) console.log('\nThere are more. List up to 1000 with --limit.');
}

export async function listCustomers(
  options: ListOptions & { readonly email?: string; readonly status?: string },
): Promise<void> {
  const { externalId, email, status } = options;
  const isExact = (externalId ?? email) !== undefined;
  const { shown, isMore } = await found('customers', options, isExact, (db, place) =>
    searchCustomers(db, {
      ...place,
      before_customer: '',
      customer_id: null,
      external_id: externalId ?? null,
      email: email?.toLowerCase() ?? null,
      statuses: status ?? null,
    }),
  );
  const rows = shown
    .filter(({ state }) => state.name !== 'deleted')
    .map((customer) => ({
      customerId: customer.id,
      shopId: customer.shopId,
      status: customer.state.name,
      createdAt: customer.createdAt,
      externalId: customer.externalId,
      email: customer.contactInfo.email,
    }));
  if (options.json) return printJson('customers list', rows);
  printRows(rows, isMore);
}

export async function listBindings(
  options: ListOptions & {
    readonly status?: 'pending' | 'succeeded' | 'withdrawn' | 'failed';
    readonly last4?: string;
    readonly error?: string;
  },
): Promise<void> {
  const { customer, externalId, status, last4, error } = options;
  const isExact = (customer ?? externalId) !== undefined;
  const { shown, isMore } = await found('bindings', options, isExact, (db, place) =>
    searchBindings(db, {
      ...place,
      before_customer: '',
      before_binding: '',
      customer_id: customer ?? null,
      external_id: externalId ?? null,
      first6: null,
      last4: last4 ?? null,
      failure: error ?? null,
      statuses: status === undefined ? null : bindingStates(status),
    }),
  );
  const rows = shown
    .filter((one) => one.customer.state.name !== 'deleted')
    .map(({ binding, seriesId }) => ({
      customerId: binding.customerId,
      bindingId: binding.id,
      shopId: binding.shopId,
      state: binding.state.name,
      createdAt: binding.createdAt,
      card: `${binding.card.details.paymentSystem} ${binding.card.details.lastDigits}`,
      error: binding.state.name === 'failed' ? binding.state.failure.join(':') : undefined,
      seriesId,
    }));
  if (options.json) return printJson('bindings list', rows);
  printRows(rows, isMore);
}

export async function listSeries(
  options: ListOptions & {
    readonly invoice?: string;
    readonly status?: string;
    readonly chargeable?: true;
    readonly ended?: true;
  },
): Promise<void> {
  const { customer, invoice, status, chargeable, ended } = options;
  const isExact = (customer ?? invoice) !== undefined;
  if (customer !== undefined && invoice !== undefined)
    throw new Error(
      'A series begins with a payment or with a saved card. Give either --invoice or --customer.',
    );
  const { shown, isMore, now } = await found('series', options, isExact, (db, place, at) =>
    searchSeries(db, {
      ...place,
      before_series: '',
      series_id: null,
      root_kind: isExact ? (invoice === undefined ? 'customer' : 'parent') : null,
      root_of: invoice ?? customer ?? null,
      root_id: null,
      statuses: status ?? null,
      is_chargeable: (chargeable ?? ended) === undefined ? null : chargeable === true,
      now: at,
    }),
  );
  const rows = shown.map(({ stored: { series }, startedAt }) => ({
    seriesId: series.id,
    shopId: series.shopId,
    status: series.state.name,
    chargeable: isChargeable(series, now),
    createdAt: startedAt,
    lastSuccessAt: series.lastSuccessAt,
    chargesMade: series.chargesMade,
  }));
  if (options.json) return printJson('series list', rows);
  printRows(rows, isMore);
}
