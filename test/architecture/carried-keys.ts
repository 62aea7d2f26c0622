// Whether a statement names, for each table it reads, the column by which the table is distributed. It checks the plan that PostgreSQL
// makes without parameter values, and what PostgreSQL then does with them.
import type pg from 'pg';
import type { Database, DatabasePool } from '../../src/platform/database/database.ts';
import type { Statement } from '../../src/platform/database/statement.ts';
import { distributedBy, keptWhole } from './distribution.ts';

type Plan = {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Recheck Cond'?: string;
  readonly Filter?: string;
  readonly 'Actual Loops'?: number;
  readonly Plans?: readonly Plan[];
};

/** On tables this small, other plans would seem as good. */
const settings = ['seqscan', 'hashjoin', 'mergejoin', 'bitmapscan', 'material', 'memoize'];

/** The tables whose partitions the statement reads without a key, sorted. */
export async function tablesLookedThrough(client: pg.ClientBase, { text }: Statement): Promise<string[]> {
  for (const name of settings) await client.query(`set enable_${name} = off`);
  const { rows } = await client.query<{ 'QUERY PLAN': readonly { Plan: Plan }[] }>(
    `explain (generic_plan, format json) ${text}`,
  );
  for (const name of settings) await client.query(`reset enable_${name}`);
  const found = rows.flatMap((row) => row['QUERY PLAN'].flatMap(({ Plan }) => scansWithoutKey(Plan)));
  return [...new Set(found)].sort();
}

function scansWithoutKey(plan: Plan): string[] {
  const deeper = (plan.Plans ?? []).flatMap(scansWithoutKey);
  const name = tableOf(plan['Relation Name'] ?? '');
  const key = distributedBy[name];
  if (plan['Node Type'] === 'ModifyTable' || key === undefined || keptWhole.includes(name)) return deeper;
  const conditions = [plan['Index Cond'], plan['Recheck Cond'], plan.Filter].join(' ');
  return namesOne(key).test(conditions) ? deeper : [...deeper, name];
}

/** `payment_3` is a part of `payment`. */
function tableOf(part: string): string {
  return part.replace(/_\d$/, '');
}

/** `((invoice_id)::text = $1)`, or reversed. */
function namesOne(key: string): RegExp {
  return new RegExp(`\\b${key}\\)?(::text)? = |= \\(*(\\w+\\.)?${key}\\b`);
}

/** For each statement, the highest number of partitions of each table that it read. */
export type Seen = Map<string, Map<string, number>>;

class TakenBack extends Error {}

/** Before each statement of these names runs, records what PostgreSQL does in it, and rolls that back. */
export function watchParts(database: DatabasePool, names: readonly string[]): Seen {
  const seen: Seen = new Map();
  const watched = (db: Database): Pick<Database, 'run' | 'transaction' | 'withSavepoint'> => {
    const { run, transaction, withSavepoint } = db;
    const look = async (statement: Statement, values: never) => {
      if (statement.writes) {
        await transaction(async (tx) => {
          const before = await scansOfParts(tx);
          await tx.run(statement, values);
          const after = await scansOfParts(tx);
          const read = [...after].filter(([part, scans]) => scans !== before.get(part)).map(([part]) => part);
          note(seen, statement.name, read);
          throw new TakenBack();
        }).catch(() => undefined);
        return;
      }
      const { name, text, parameterNames, parameters } = statement;
      const base = { parameterNames, parameters, row: { 'QUERY PLAN': 'json' }, codecs: [] } as const;
      const explained = {
        ...base,
        name: `explained_${name}`,
        text: `explain (analyze, format json) ${text}`,
      };
      await transaction(async (tx) => {
        const [row] = await tx.run(explained, values);
        const plans = (row?.['QUERY PLAN'] ?? []) as readonly { Plan: Plan }[];
        for (const { Plan } of plans) note(seen, name, partsLookedInto(Plan));
        throw new TakenBack();
      }).catch(() => undefined);
    };
    return {
      async run(statement, values) {
        if (names.includes(statement.name)) await look(statement as never, values as never);
        return run(statement, values);
      },
      transaction: (work) => transaction((tx) => work({ ...tx, ...watched(tx) })),
      withSavepoint: (work) => withSavepoint((part) => work({ ...part, ...watched(part) })),
    };
  };
  Object.assign(database, watched({ ...database }));
  return seen;
}

/**
 * A function hides its plans, so PostgreSQL says what the session has read. Those of the ledger are left out: a journal has two
 * accounts.
 */
async function scansOfParts(tx: Pick<Database, 'run'>): Promise<ReadonlyMap<string, bigint>> {
  const base = { parameterNames: [], parameters: {}, codecs: [] } as const;
  const rows = await tx.run(
    {
      ...base,
      name: 'test_scans_of_parts',
      text: `select relname as part, seq_scan + coalesce(idx_scan, 0) as scans from pg_stat_xact_user_tables
             where relname ~ '_\\d$' and relname !~ '^ledger_'`,
      row: { part: 'text', scans: 'int8' },
    } as const,
    {},
  );
  return new Map(rows.map(({ part, scans }) => [part, scans]));
}

function note(seen: Seen, statement: string, read: readonly string[]): void {
  const parts = new Set(read);
  const most = seen.get(statement) ?? new Map<string, number>();
  seen.set(statement, most);
  for (const table of new Set([...parts].map(tableOf)))
    most.set(
      table,
      Math.max(most.get(table) ?? 0, [...parts].filter((part) => tableOf(part) === table).length),
    );
}

function partsLookedInto(plan: Plan): string[] {
  const name = plan['Relation Name'] ?? '';
  const isLookedInto = plan['Node Type'] !== 'ModifyTable' && (plan['Actual Loops'] ?? 0) > 0;
  const own = isLookedInto && distributedBy[tableOf(name)] && tableOf(name) !== name ? [name] : [];
  return [...own, ...(plan.Plans ?? []).flatMap(partsLookedInto)];
}
