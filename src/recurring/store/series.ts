// Series in SQL. Changes run in the transaction of the payment, with the row of the series locked: two charges of one
// series wait for each other here.
import { latest, type Instant } from '../../clock.ts';
import { lockStatement } from '../../platform/database/batches/read-statement.ts';
import type { Database } from '../../platform/database/database.ts';
import { anything, list, oneOf, written } from '../../platform/database/codec.ts';
import {
  columnList,
  parameterList,
  statement,
  stored,
  type Values,
} from '../../platform/database/statement.ts';
import type { LoggedEvent } from '../../platform/events/domain/topic.ts';
import { linkOf } from '../consent-bundle.ts';
import { nextAdvanceNotice } from '../domain/advance-notices.ts';
import { evolve, storedRef, type CardRef, type Series, type SeriesFact } from '../domain/series.ts';
import { rowState, rowTerms, seriesFact, type RowTerms } from './codec.ts';
import type { RecurringSettings } from '../domain/settings.ts';
import { settingsColumn } from './settings.ts';
import { defined } from '../../defined.ts';
import { rescheduleStatement } from '../../platform/jobs/reschedule.ts';

export type StoredSeries = {
  readonly series: Series;
  readonly version: number;
  readonly handles: CardRef;
  /** The hash of the last event. The next event is chained to it. */
  readonly chain: string;
  /** The time of the latest event. The chain covers times, so the next event's time is fixed before it is written. */
  readonly changedAt: Instant;
  /** Of its shop. */
  readonly settings: RecurringSettings;
};

export const seriesColumns = {
  series_id: 'text',
  party_id: 'text',
  shop_id: 'text',
  version: 'int4',
  status: stored('text', oneOf('active', 'stopped', 'withdrawn')),
  card_key: 'bytea',
  card_token: 'text',
  chain: 'text',
  terms: stored('json', rowTerms),
  state: stored('json', rowState),
  changed_at: 'timestamptz',
} as const;
const facts = stored('json', list(seriesFact));

/** No row if the series exists already. It is then left unchanged. */
const insertSeries = statement({
  name: 'insert_series',
  parameters: { ...seriesColumns, wake_at: 'timestamptz?', facts },
  row: { version: 'int4' },
  text: `
    with changed as (
      insert into series (${columnList(seriesColumns)}, wake_at)
      values (${parameterList(seriesColumns)}, :wake_at)
      on conflict do nothing
      returning series_id, party_id, version, changed_at
    )
    select append_event('series', series_id, version, party_id, changed_at, :facts) as version from changed`,
});

/** The parameters of a statement that changes a series. It locks the series before other rows. */
export const seriesChange = {
  series_id: 'text',
  series_version: 'int4',
  series_status: seriesColumns.status,
  series_chain: 'text',
  series_state: seriesColumns.state,
  series_changed_at: 'timestamptz',
  series_wake_at: 'timestamptz?',
  series_facts: facts,
} as const;

const changeSeries = statement({
  name: 'change_series',
  parameters: { ...seriesChange, series_terms: seriesColumns.terms },
  row: { version: 'int4' },
  text: `
    with changed as (
      update series
      set version = version + 1, status = :series_status, chain = :series_chain, state = :series_state,
          terms = :series_terms, changed_at = :series_changed_at, wake_at = :series_wake_at,
          attempts = 0, stuck_at = null, stuck_reason = null
      where series_id = :series_id and version = :series_version
      returning series_id, party_id, version, changed_at
    )
    select append_event('series', series_id, version, party_id, changed_at, :series_facts) as version from changed`,
});

/** What a statement returns of a series that it reads, with the settings of its shop. */
export const storedSeries = {
  row: { ...seriesColumns, settings: settingsColumn },
  columns: `${columnList(seriesColumns, 'series')},
       (select settings from recurring_settings as wish
        where wish.party_id = series.party_id and wish.shop_id = series.shop_id) as settings`,
} as const;

const readSeries = statement({
  name: 'read_series',
  parameters: { series_id: 'text' },
  row: storedSeries.row,
  text: `select ${storedSeries.columns} from series where series_id = :series_id`,
});

const lockSeriesRow = lockStatement({
  name: 'lock_series',
  parameters: { series_id: 'text' },
  row: storedSeries.row,
  text: `select ${storedSeries.columns} from series where series_id = :series_id for update`,
});

const rescheduleSeries = rescheduleStatement('series', ['series_id'], 'restart');

/** Undefined if the series exists already. */
export async function storeNewSeries(
  db: Database,
  started: SeriesFact & { type: 'series_started' },
  { handles, settings }: Pick<StoredSeries, 'handles' | 'settings'>,
  now: Instant,
): Promise<StoredSeries | undefined> {
  const stored = newSeries(started, { handles, settings }, now);
  const rows = await db.run(insertSeries, { ...newRowOf(stored), facts: [started] });
  return rows.length > 0 ? stored : undefined;
}

export function newSeries(
  started: SeriesFact & { type: 'series_started' },
  { handles, settings }: Pick<StoredSeries, 'handles' | 'settings'>,
  now: Instant,
): StoredSeries {
  const series = evolve(undefined, started, now);
  const chain = linkAfter('', { sequence: 1, at: now, facts: [started] });
  return { series, version: 1, handles, chain, changedAt: now, settings };
}

export const newSeriesColumns = { ...seriesColumns, wake_at: 'timestamptz?' } as const;

export function newRowOf(stored: StoredSeries): Values<typeof newSeriesColumns> {
  return { ...rowOf(stored), wake_at: wakeOf(stored.series) };
}

/** The caller must hold a lock on the row. A version conflict is therefore a bug and rolls back. */
export async function storeFacts(
  db: Database,
  stored: StoredSeries,
  facts: readonly SeriesFact[],
  now: Instant,
): Promise<StoredSeries> {
  const { after, values } = changeOf(stored, facts, now);
  mustBeHeld(after, await db.run(changeSeries, values));
  return after;
}

export function mustBeHeld({ series }: StoredSeries, changed: readonly unknown[]): void {
  if (changed.length === 0) throw new Error(`Series ${series.id} was changed without a lock.`);
}

/** The series after the facts, and the values to store. */
export function changeOf(stored: StoredSeries, facts: readonly SeriesFact[], now: Instant) {
  const changedAt = latest(now, stored.changedAt);
  const version = stored.version + 1;
  const series = facts.reduce((before, fact) => evolve(before, fact, changedAt), stored.series);
  const chain = linkAfter(stored.chain, { sequence: version, at: changedAt, facts });
  const after: StoredSeries = { ...stored, series, version, chain, changedAt };
  const { status, terms, state } = rowOf(after);
  const values = {
    series_id: series.id,
    series_version: stored.version,
    series_status: status,
    series_chain: chain,
    series_terms: terms,
    series_state: state,
    series_changed_at: changedAt,
    series_wake_at: wakeOf(series),
    series_facts: facts,
  };
  return { after, values };
}

function linkAfter(
  before: string,
  { facts, ...entry }: { sequence: number; at: Instant; facts: readonly SeriesFact[] },
): string {
  return linkOf(before, { ...entry, facts: facts.map((fact) => written(seriesFact, fact)) });
}

export async function findSeries(db: Database, seriesId: string): Promise<StoredSeries | undefined> {
  const [row] = await db.run(readSeries, { series_id: seriesId });
  return row && seriesFromRow(row);
}

/** Locks the row until the transaction ends. */
export async function lockSeries(db: Database, seriesId: string): Promise<StoredSeries | undefined> {
  const [row] = await db.run(lockSeriesRow, { series_id: seriesId });
  return row && seriesFromRow(row);
}

export async function mustLockSeries(db: Database, seriesId: string): Promise<StoredSeries> {
  const stored = await lockSeries(db, seriesId);
  if (!stored) throw new Error(`Series ${seriesId} not found.`);
  return stored;
}

export async function reschedule(db: Database, stored: StoredSeries, at: Instant | null): Promise<void> {
  await db.run(rescheduleSeries, { series_id: stored.series.id, version: stored.version, wake_at: at });
}

function wakeOf(series: Series): Instant | null {
  return nextAdvanceNotice(series)?.at ?? null;
}

function rowOf({ series, version, handles, chain, changedAt }: StoredSeries): Values<typeof seriesColumns> {
  const {
    id,
    partyId,
    shopId,
    kind,
    root,
    rootNetworkTransactionId,
    card,
    mandate,
    consentedAt,
    endsAt,
    trialEndsAt,
    bindsAmount,
    imported,
    latest = storedRef(root),
    ...state
  } = series;
  const terms: RowTerms = {
    kind,
    root,
    card,
    mandate,
    consentedAt,
    ...defined({ rootNetworkTransactionId, endsAt, trialEndsAt, bindsAmount, imported }),
  };
  return {
    series_id: id,
    party_id: partyId,
    shop_id: shopId,
    version,
    status: state.state.name,
    card_key: handles.key,
    card_token: handles.token,
    chain,
    terms,
    state: { ...state, latest },
    changed_at: changedAt,
  };
}

export function seriesFromRow(row: Values<typeof storedSeries.row>): StoredSeries {
  const { series_id: id, party_id: partyId, shop_id: shopId, terms } = row;
  const { latest, ...state } = row.state;
  const parent = terms.kind === 'parent' ? { latest } : {};
  return {
    version: row.version,
    handles: { token: row.card_token, key: row.card_key },
    chain: row.chain,
    changedAt: row.changed_at,
    settings: row.settings ?? {},
    series: { id, partyId, shopId, ...terms, ...state, ...parent },
  };
}

const readLog = statement({
  name: 'read_series_events',
  parameters: { series_id: 'text', after: 'int4', limit: 'int4' },
  row: { sequence: 'int4', created_at: 'timestamptz', facts: stored('json', list(anything)) },
  text: `select sequence, created_at, facts from event
         where aggregate_id = :series_id and sequence > :after order by sequence limit :limit`,
});

/** Includes facts of unknown kinds, because the seal covers the whole log. */
export async function readSeriesEvents(
  db: Database,
  seriesId: string,
  after: number,
  limit: number,
): Promise<LoggedEvent<unknown>[]> {
  const rows = await db.run(readLog, { series_id: seriesId, after, limit });
  return rows.map(({ created_at: createdAt, ...event }) => ({ ...event, createdAt }));
}
