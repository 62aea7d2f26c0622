// Series in SQL. Every change is made inside the transaction of the payment it belongs to, while the row of the series is
// held: two charges of one series at once wait for each other here.
import type { Instant } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { statement, type Values } from '../database/statement.ts';
import { nextNotice } from './notices.ts';
import { evolve, type Series, type SeriesFact } from './series.ts';

export type StoredSeries = { readonly series: Series; readonly version: number };

const columns = {
  series_id: 'text',
  party_id: 'text',
  shop_id: 'text',
  version: 'int4',
  state: 'text',
  card_key: 'bytea',
  terms: 'json',
  standing: 'json',
} as const;
const columnList = Object.keys(columns).join(', ');

/** Nothing when it was started before: then it goes on as it is. */
const insertSeries = statement({
  name: 'insert_series',
  parameters: { ...columns, wake_at: 'timestamptz?', happened_at: 'timestamptz', facts: 'json' },
  row: { series_id: 'text' },
  text: `
    with changed as (
      insert into series (${columnList}, wake_at)
      values (${Object.keys(columns)
        .map((name) => `:${name}`)
        .join(', ')}, :wake_at)
      on conflict do nothing
      returning series_id, party_id, version
    ), logged as (
      insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
      select series_id, version, 'series', party_id, :happened_at, :facts from changed
    )
    select series_id from changed`,
});

const changeSeriesRow = statement({
  name: 'change_series',
  parameters: {
    series_id: 'text',
    version: 'int4',
    state: 'text',
    card_key: 'bytea',
    terms: 'json',
    standing: 'json',
    wake_at: 'timestamptz?',
    happened_at: 'timestamptz',
    facts: 'json',
  },
  row: { version: 'int4' },
  text: `
    with changed as (
      update series
      set version = version + 1, state = :state, card_key = :card_key, terms = :terms, standing = :standing,
          wake_at = :wake_at, attempts = 0, stuck_at = null, stuck_reason = null
      where series_id = :series_id and version = :version
      returning series_id, party_id, version
    ), logged as (
      insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
      select series_id, version, 'series', party_id, :happened_at, :facts from changed
    )
    select version from changed`,
});

const readSeries = statement({
  name: 'read_series',
  parameters: { series_id: 'text' },
  row: columns,
  text: `select ${columnList} from series where series_id = :series_id`,
});

const lockSeriesRow = statement({
  name: 'lock_series',
  parameters: { series_id: 'text' },
  row: columns,
  text: `select ${columnList} from series where series_id = :series_id for update`,
});

const rescheduleSeries = statement({
  name: 'reschedule_series',
  parameters: { series_id: 'text', version: 'int4', wake_at: 'timestamptz?' },
  row: {},
  text: `update series set wake_at = :wake_at, attempts = 0 where series_id = :series_id and version = :version`,
});

/** False when there is one already. */
export async function storeNewSeries(
  db: Database,
  started: SeriesFact & { type: 'series_started' },
  now: Instant,
): Promise<boolean> {
  const series = evolve(undefined, started, now);
  const rows = await db.run(insertSeries, {
    ...rowOf(series, 1),
    wake_at: wakeOf(series),
    happened_at: now,
    facts: [started],
  });
  return rows.length > 0;
}

/** Guarded by the version; whoever holds the row cannot fail. */
export async function storeFacts(
  db: Database,
  { series, version }: StoredSeries,
  facts: readonly SeriesFact[],
  now: Instant,
): Promise<Series | undefined> {
  const after = facts.reduce((before, fact) => evolve(before, fact, now), series);
  const { state, card_key, terms, standing } = rowOf(after, version);
  const rows = await db.run(changeSeriesRow, {
    series_id: after.id,
    version,
    state,
    card_key,
    terms,
    standing,
    wake_at: wakeOf(after),
    happened_at: now,
    facts,
  });
  return rows.length > 0 ? after : undefined;
}

export async function findSeries(db: Database, seriesId: string): Promise<StoredSeries | undefined> {
  const [row] = await db.run(readSeries, { series_id: seriesId });
  return row && seriesFromRow(row);
}

/** Held until the transaction ends. */
export async function lockSeries(db: Database, seriesId: string): Promise<StoredSeries | undefined> {
  const [row] = await db.run(lockSeriesRow, { series_id: seriesId });
  return row && seriesFromRow(row);
}

export async function lookAgainAt(db: Database, stored: StoredSeries, at: Instant | null): Promise<void> {
  await db.run(rescheduleSeries, { series_id: stored.series.id, version: stored.version, wake_at: at });
}

export function keyOf(series: Series): Buffer {
  return Buffer.from(series.card.key, 'hex');
}

function wakeOf(series: Series): Instant | null {
  return nextNotice(series)?.at ?? null;
}

type Fixed = 'kind' | 'root' | 'rootNetworkTransactionId' | 'card' | 'consentedAt' | 'endsAt';
type TermsJson = Pick<Series, Fixed>;
type StandingJson = Omit<Series, Fixed | 'id' | 'partyId' | 'shopId'>;

function rowOf(series: Series, version: number): Values<typeof columns> {
  const {
    id,
    partyId,
    shopId,
    kind,
    root,
    rootNetworkTransactionId,
    card,
    consentedAt,
    endsAt,
    ...standing
  } = series;
  const terms: TermsJson = {
    kind,
    root,
    card,
    consentedAt,
    ...(rootNetworkTransactionId === undefined ? {} : { rootNetworkTransactionId }),
    ...(endsAt === undefined ? {} : { endsAt }),
  };
  return {
    series_id: id,
    party_id: partyId,
    shop_id: shopId,
    version,
    state: series.state.name,
    card_key: keyOf(series),
    terms,
    standing,
  };
}

function seriesFromRow(row: Values<typeof columns>): StoredSeries {
  const terms = row.terms as TermsJson;
  const standing = row.standing as StandingJson;
  const { series_id: id, party_id: partyId, shop_id: shopId } = row;
  return { version: row.version, series: { ...terms, ...standing, id, partyId, shopId } };
}
