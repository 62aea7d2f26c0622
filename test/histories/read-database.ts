// Reads the histories in a database and writes those worth keeping to a file.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { instantFromDatabase } from '../../src/clock.ts';
import { tablesOf, tablesWithoutLog, type History, type Recorded, type RecordedRow } from './recorded.ts';
import { worthKeeping } from './worth-keeping.ts';

export async function recordInto(
  folder: string,
  connection: pg.ClientConfig & { readonly database: string },
): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    const lines = (await worthKeeping(await readDatabase(client))).map((line) => JSON.stringify(line));
    if (lines.length > 0) writeFileSync(join(folder, `${connection.database}.ndjson`), lines.join('\n'));
  } finally {
    await client.end();
  }
}

async function readDatabase(client: pg.Client): Promise<Recorded[]> {
  await client.query(`begin isolation level repeatable read, read only`);
  await client.query(`set local time zone 'UTC'`);
  const { rows: found } = await client.query<{ there: boolean }>(
    `select to_regclass('event') is not null and to_regclass('webhook_feed') is not null as there`,
  );
  if (!found[0]?.there) return [];
  const histories: Recorded[] = [];
  for (const [aggregate, tables] of Object.entries(tablesOf)) {
    const events = await eventsOf(client, aggregate);
    const rows = new Map<string, Record<string, RecordedRow[]>>();
    for (const [table, column] of Object.entries(tables)) {
      for (const row of await rowsOf(client, table)) {
        const id = row[column] as string;
        const ofOne = rows.get(id) ?? Object.fromEntries(Object.keys(tables).map((name) => [name, []]));
        ofOne[table]?.push(row);
        rows.set(id, ofOne);
      }
    }
    for (const [id, ofOne] of rows)
      histories.push({ aggregate, id, events: events.get(id) ?? [], rows: ofOne });
  }
  for (const table of Object.keys(tablesWithoutLog))
    for (const row of await rowsOf(client, table)) histories.push({ table, row });
  return histories;
}

async function eventsOf(
  client: pg.Client,
  aggregate: string,
): Promise<Map<string, History['events'][number][]>> {
  const { rows } = await client.query<RecordedRow>({
    text: `select aggregate_id, sequence, created_at, facts from event where aggregate = $1
           order by aggregate_id, sequence`,
    values: [aggregate],
    types,
  });
  const events = new Map<string, History['events'][number][]>();
  for (const { aggregate_id, sequence, created_at, facts } of rows) {
    const event = { sequence, at: created_at, facts } as History['events'][number];
    const ofOne = events.get(aggregate_id as string);
    if (ofOne) ofOne.push(event);
    else events.set(aggregate_id as string, [event]);
  }
  return events;
}

/** Omits what derives from a card number, except what a series needs. */
const bytesKept = ['card_key'];

async function rowsOf(client: pg.Client, table: string): Promise<RecordedRow[]> {
  const { rows: columns } = await client.query<{ name: string; type: string }>(
    `select attname as name, format_type(atttypid, null) as type from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`,
    [table],
  );
  const kept = columns.filter(({ name, type }) => type !== 'bytea' || bytesKept.includes(name));
  const { rows: key } = await client.query<{ columns: string }>(
    `select string_agg(attname, ', ' order by array_position(conkey, attnum)) as columns
     from pg_constraint join pg_attribute on attrelid = conrelid and attnum = any (conkey)
     where conrelid = $1::regclass and contype = 'p'`,
    [table],
  );
  const { rows } = await client.query<RecordedRow>({
    text: `select ${kept.map(({ name }) => name).join(', ')} from ${table} order by ${orderOf(table, key[0]?.columns)}`,
    types,
  });
  return rows;
}

/** The rows of an aggregate in the order of creation. */
function orderOf(table: string, key = ''): string {
  if (table === 'binding') return 'customer_id, number';
  return key.replaceAll(/(payment_id|refund_id)/g, 'length($1), $1');
}

const parsers: Record<number, (text: string) => unknown> = {
  16: (text) => text === 't',
  20: Number,
  23: Number,
  114: (text) => JSON.parse(text) as unknown,
  1184: instantFromDatabase,
};
const types = { getTypeParser: (type: number) => parsers[type] ?? ((text: string) => text) };
