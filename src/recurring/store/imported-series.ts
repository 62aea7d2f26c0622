// Writes the series of a batch of imported consents, each with its first event.
import { list, text } from '../../platform/database/codec.ts';
import type { Database } from '../../platform/database/database.ts';
import { manyRows } from '../../platform/database/many-rows.ts';
import { columnList, statement, stored } from '../../platform/database/statement.ts';
import type { Instant } from '../../clock.ts';
import type { SeriesFact } from '../domain/series.ts';
import { seriesFact } from './codec.ts';
import { newRowOf, newSeries, newSeriesColumns, type StoredSeries } from './series.ts';

const writtenColumns = { ...newSeriesColumns, facts: stored('json', list(seriesFact)) } as const;

const insertImported = statement({
  name: 'insert_imported_series',
  parameters: { series: manyRows(writtenColumns) },
  row: {},
  text: `
    with made as (
      insert into series (${columnList(newSeriesColumns)})
      select ${columnList(newSeriesColumns)} from json_populate_recordset(null::series, :series)
    )
    insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
    select series_id, 1, 'series', party_id, changed_at, facts
    from json_to_recordset(:series)
      as given (series_id text, party_id text, changed_at timestamptz, facts json)`,
});

const readKnown = statement({
  name: 'read_known_series',
  parameters: { ids: stored('json', list(text)) },
  row: { series_id: 'text' },
  text: `select series_id from series where series_id in (select json_array_elements_text(:ids))`,
});

export type NewSeries = {
  readonly started: SeriesFact & { type: 'series_started' };
} & Pick<StoredSeries, 'handles' | 'settings'>;

export async function storeImported(tx: Database, series: readonly NewSeries[], now: Instant): Promise<void> {
  const rows = series.map(({ started, ...kept }) => ({
    ...newRowOf(newSeries(started, kept, now)),
    facts: [started],
  }));
  await tx.run(insertImported, { series: rows });
}

export async function knownSeries(
  db: Pick<Database, 'run'>,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db.run(readKnown, { ids });
  return new Set(rows.map(({ series_id }) => series_id));
}
