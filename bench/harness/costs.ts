// What a contender costs: processor time of its own and of PostgreSQL, statements, and transactions, rows and bytes in the log.
// A reader of the report can see from it that floor and service do the same durable writes.
import { readFileSync } from 'node:fs';
import type { Contender, Processes } from './processes.ts';
import { tableRow } from './report.ts';

/** The cost of one piece of work. */
export type Cost = {
  readonly ownMs: number;
  readonly databaseMs: number;
  readonly statements: number;
  readonly writingTransactions: number;
  readonly rowsWritten: number;
  /** Without full-page images, which follow a checkpoint. */
  readonly walBytes: number;
};

type Spent = {
  readonly ownMs: number;
  readonly databaseMs: number;
  readonly statements: number;
  readonly lsn: string;
};

const msPerTick = 10;

/** Processor time of a contender and of PostgreSQL until now. */
export function processorsSoFar(
  processes: Processes,
  { pid }: Contender,
): Pick<Spent, 'ownMs' | 'databaseMs'> {
  return {
    ownMs: processorMs(pid),
    databaseMs: processes.postgresPids().reduce((sum, one) => sum + ticksOf(one), 0) * msPerTick,
  };
}

export async function spentSoFar(processes: Processes, one: Contender): Promise<Spent> {
  // Begin and commit count as well: each is a round trip.
  const [row] = await processes.query(
    'postgres',
    `select coalesce(sum(calls), 0)::text as calls, pg_current_wal_lsn()::text as lsn
     from pg_stat_statements join pg_database on oid = dbid where datname = '${one.database}' and toplevel`,
  );
  return {
    ...processorsSoFar(processes, one),
    statements: Number(row?.['calls']),
    lsn: row?.['lsn'] ?? '0/0',
  };
}

/** The mean cost of each of the `done` pieces of work since `before`. */
export async function costSince(
  before: Spent,
  processes: Processes,
  one: Contender,
  done: number,
): Promise<Cost> {
  const after = await spentSoFar(processes, one);
  const [wal] = await processes.query(
    one.database,
    `select sum(record_size)::text as bytes,
       sum(count) filter (where record like 'Transaction/COMMIT%')::text as commits,
       sum(count) filter (where record ~ '^Heap2?/(INSERT|UPDATE|HOT_UPDATE|DELETE|MULTI_INSERT)')::text as rows
     from (
       select "resource_manager/record_type" as record, count, record_size
       from pg_get_wal_stats('${before.lsn}', '${after.lsn}', true)
     ) as written`,
  );
  const each = (sum: unknown) => Number(sum ?? 0) / done;
  return {
    ownMs: each(after.ownMs - before.ownMs),
    databaseMs: each(after.databaseMs - before.databaseMs),
    statements: each(after.statements - before.statements),
    writingTransactions: each(wal?.['commits']),
    rowsWritten: each(wal?.['rows']),
    walBytes: each(wal?.['bytes']),
  };
}

/** The statements that took most since PostgreSQL's counters began, as a table for each of the `done` pieces of work. */
export async function costliestStatements(
  processes: Processes,
  database: string,
  { done, limit }: { readonly done: number; readonly limit: number },
): Promise<string[]> {
  const rows = await processes.query(
    'postgres',
    `select round((total_exec_time * 1000 / ${done})::numeric, 1) as us, calls, rows, round(wal_bytes / ${done}) as log,
       case when toplevel then '' else '… ' end || left(regexp_replace(query, '\\s+', ' ', 'g'), 100) as text
     from pg_stat_statements join pg_database on oid = dbid where datname = '${database}'
     order by total_exec_time desc limit ${limit}`,
  );
  const cellsOf = ({ us = '', calls = '', rows = '', log = '', text = '' }) => [us, calls, rows, log, text];
  return [
    tableRow(['elapsed µs', 'calls', 'rows', 'log bytes', 'statement']),
    tableRow(['---:', '---:', '---:', '---:', '---']),
    ...rows.map((row) => tableRow(cellsOf(row))),
  ];
}

/** How often rows were written, and how many updates changed no index, or moved their row to another page. */
export async function writtenTables(processes: Processes, database: string, done: number): Promise<string[]> {
  const each = (column: string) => `round(${column}::numeric / ${done}, 2)`;
  const rows = await processes.query(
    database,
    `select relname as name, ${each('n_tup_ins')} as inserted, ${each('n_tup_upd')} as updated, ${each('n_tup_hot_upd')} as hot,
       ${each('n_tup_newpage_upd')} as moved
     from pg_stat_user_tables where n_tup_ins + n_tup_upd >= ${done} order by n_tup_ins + n_tup_upd desc`,
  );
  const cellsOf = ({ name = '', inserted = '', updated = '', hot = '', moved = '' }) => [
    name,
    inserted,
    updated,
    hot,
    moved,
  ];
  return [
    tableRow(['table', 'inserted', 'updated', 'HOT', 'to another page']),
    tableRow(['---', '---:', '---:', '---:', '---:']),
    ...rows.map((row) => tableRow(cellsOf(row))),
  ];
}

/** Resident memory of a process in MB; `NaN` without /proc. */
export function residentMb(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
  } catch {
    return Number.NaN;
  }
}

/** Processor time of a process since its start. */
export function processorMs(pid: number): number {
  return ticksOf(pid) * msPerTick;
}

export function meanOf(costs: readonly Cost[]): Cost {
  const mean = (name: keyof Cost) => costs.reduce((sum, cost) => sum + cost[name], 0) / costs.length;
  return {
    ownMs: mean('ownMs'),
    databaseMs: mean('databaseMs'),
    statements: mean('statements'),
    writingTransactions: mean('writingTransactions'),
    rowsWritten: mean('rowsWritten'),
    walBytes: mean('walBytes'),
  };
}

/**
 * User and system time in hundredths of a second; 0 without /proc. Ended children count, because autovacuum starts a process
 * for each run.
 */
function ticksOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
  } catch {
    return 0;
  }
}
