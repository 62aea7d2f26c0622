// Forward-only migrations: numbered SQL files, each applied once in its own transaction, under a lock for nodes that start together.
// A file edited after it was applied is refused.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';
import { codeOf } from '../../error-code.ts';
import { assetPath } from '../../asset-paths.ts';
import { NotSetUp } from '../../not-set-up.ts';
import { withoutTimeout, type Database, type DatabasePool } from './database.ts';
import { statement } from './statement.ts';

type Migration = {
  readonly number: number;
  readonly name: string;
  readonly text: string;
  readonly sha256: string;
};

const folder = assetPath('platform/database/migrations/');
const baseline = '0001_baseline.sql';
const fileName = /^(\d{4})_[a-z0-9_]+\.sql$/;
/** The program takes no other advisory lock. */
export const lockNumber = 7_305_226_013;

/**
 * A migration waits `lockWaitMs` for a table in use, then pauses so that the statements queued behind it can run. Nodes that start
 * together take turns, so the limit is a time and not a number of tries.
 */
const usualLimits = {
  lockWaitMs: 2_000,
  pauseMs: 3_000,
  giveUpAfterMs: 3_600_000,
  nowMs: () => performance.now(),
};

/** Read once, at the start: an upgrade may put a newer version's files there while this node still runs. */
let known: Promise<Migration[]> | undefined;

/** Applies what is missing and returns the names of the files it applied. */
export async function migrate(database: DatabasePool, limits = usualLimits): Promise<string[]> {
  const migrations = await (known ??= readMigrations());
  const applied: string[] = [];
  let refusedAtMs: number | undefined;
  for (;;) {
    try {
      const name = await database.withClient((client) => applyNext(client, migrations, limits));
      if (name === undefined) return applied;
      applied.push(name);
      refusedAtMs = undefined;
    } catch (error) {
      refusedAtMs ??= limits.nowMs();
      if (codeOf(error) === insufficientPrivilege) throw notTheOwner(error);
      if (!isLocked(error) || limits.nowMs() - refusedAtMs >= limits.giveUpAfterMs) throw error;
    }
  }
}

/** Refuses a database that no version has ever migrated. */
export async function requireTables(database: DatabasePool): Promise<void> {
  if (await database.withClient(hasTable)) return;
  throw new NotSetUp(
    'The database has no Mandate tables. Check DATABASE_URL; if it is right, start the service or run "mandate migrate".',
  );
}

/** Refuses a database that lacks a migration of this program. */
export async function requireMigrations(database: DatabasePool): Promise<void> {
  await requireTables(database);
  if (await isMigrated(database)) return;
  throw new NotSetUp(
    'The tables of the database are older than this version. Start a node of this version, or run "mandate migrate".',
  );
}

/** Refuses a database created before the first release: the baseline has replaced its migrations, so no upgrade is possible. */
export function refuseEarlierSchema(database: DatabasePool): Promise<void> {
  return database.withClient(async (client) => {
    if (!(await hasTable(client))) return;
    const { rows } = await client.query<{ name: string }>('select name from migration where number = 1');
    if (rows[0] && rows[0].name !== baseline) {
      throw new Error(
        `This database was created by a version before the first release (${rows[0].name}) and cannot be upgraded. ` +
          'Start again: stop the service, then delete the data folder, or set DATABASE_URL to an empty database.',
      );
    }
  });
}

const readNewestMigration = statement({
  name: 'read_newest_migration',
  parameters: {},
  row: { newest: 'int4?' },
  text: 'select max(number) as newest from migration',
});

/** Whether all of this program's migrations are applied, for the readiness check. Additional ones of a newer node are fine. */
export async function isMigrated(db: Pick<Database, 'run'>): Promise<boolean> {
  const migrations = await (known ??= readMigrations());
  const [row] = await db.run(readNewestMigration, {});
  return (row?.newest ?? 0) >= migrations.length;
}

async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name, index) => {
      const number = Number(fileName.exec(name)?.[1]);
      if (number !== index + 1)
        throw new Error(`Migration ${name} must have the number ${index + 1}. Rename the file.`);
      const text = await readFile(new URL(name, folder), 'utf8');
      return { number, name, text, sha256: createHash('sha256').update(text).digest('hex') };
    }),
  );
}

/** One transaction: waits for the lock, reads what other nodes have applied, applies the first missing file. */
async function applyNext(
  client: pg.ClientBase,
  migrations: readonly Migration[],
  { lockWaitMs, pauseMs }: typeof usualLimits,
): Promise<string | undefined> {
  await client.query('begin');
  try {
    // Waiting for another node's migrations, and a migration itself, may take longer than the usual limit of a statement.
    await client.query('set local statement_timeout = 0');
    await client.query(withoutTimeout('select pg_advisory_xact_lock($1)', [lockNumber]));
    await client.query(`set local lock_timeout = ${lockWaitMs}; savepoint untouched`);
    const name = await applyUnderLock(client, migrations).catch(async (error: unknown) => {
      // Every node pauses: all of them wait for this lock, and for nothing else.
      const pause = `rollback to savepoint untouched; select pg_sleep(${pauseMs / 1_000})`;
      if (isLocked(error)) await client.query(pause);
      throw error;
    });
    await client.query('commit');
    return name;
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

async function applyUnderLock(
  client: pg.ClientBase,
  migrations: readonly Migration[],
): Promise<string | undefined> {
  const next = firstMissing(migrations, await appliedMigrations(client));
  if (!next) return undefined;
  await client.query(withoutTimeout(next.text));
  await client.query('insert into migration (number, name, sha256) values ($1, $2, $3)', [
    next.number,
    next.name,
    next.sha256,
  ]);
  return next.name;
}

const insufficientPrivilege = '42501';

function notTheOwner(cause: unknown): Error {
  return new NotSetUp(
    'The tables must be brought up to date, and the role in DATABASE_URL may not change them. ' +
      'Run "mandate migrate" with the DATABASE_URL of their owner, and "mandate database grants" after it.',
    { cause },
  );
}

/** PostgreSQL's codes for a lock that was not granted in time, or never could be. */
function isLocked(error: unknown): boolean {
  return ['55P03', '40P01'].includes(codeOf(error));
}

/** Reads the catalogue, because `to_regclass` does not see what another node created while this transaction waited for it. */
async function hasTable(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ is_there: boolean }>(
    `select exists (select from pg_class join pg_namespace on pg_namespace.oid = relnamespace
                    where relname = 'migration' and nspname = any (current_schemas(false))) as is_there`,
  );
  return rows[0]?.is_there ?? false;
}

async function appliedMigrations(client: pg.ClientBase): Promise<Map<number, string>> {
  // Checked first: creating the table, even if it exists, needs a privilege that a node does not need otherwise.
  if (!(await hasTable(client))) {
    await client.query(
      `create table migration (
         number int primary key, name text not null, sha256 text not null, applied_at timestamptz not null default now())`,
    );
  }
  const { rows } = await client.query<{ number: number; sha256: string }>(
    'select number, sha256 from migration',
  );
  return new Map(rows.map((row) => [row.number, row.sha256]));
}

function firstMissing(migrations: readonly Migration[], applied: Map<number, string>): Migration | undefined {
  for (const migration of migrations) {
    const sha256 = applied.get(migration.number);
    if (sha256 === undefined) return migration;
    if (sha256 !== migration.sha256) {
      throw new Error(
        `Migration ${migration.name} was edited after it was applied. Restore the file and put the change into a new one.`,
      );
    }
  }
  return undefined;
}
