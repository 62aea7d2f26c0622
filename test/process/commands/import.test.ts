// mandate import cards as a process of its own, killed and interrupted between its batches.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { commandLine } from '../../support/processes/command-line.ts';
import { startTestService, type TestService } from '../../support/service/test-service.ts';
import { importFiles, importRow, type ImportFiles } from '../../support/service/imported.ts';

const masterKey = Buffer.alloc(32, 7).toString('base64');
let service: TestService;
let files: ImportFiles;
let party: string;
let environment: Record<string, string>;
beforeAll(async () => {
  service = await startTestService({ MANDATE_MASTER_KEY: masterKey });
  ({ partyId: party } = await service.createMerchant());
  files = importFiles();
  environment = { DATABASE_URL: service.testDatabase.url, MANDATE_MASTER_KEY: masterKey };
});
afterAll(async () => {
  await files.remove();
  await service.close();
});

/** Runs the import until it waits for the row `blocked`, which another transaction holds; then ends it by `how`. */
async function endedAt(path: string, blocked: string, how: 'SIGKILL' | 'SIGINT') {
  return service.database.withClient(async (client) => {
    await client.query(`begin; set local idle_in_transaction_session_timeout = 0`);
    await client.query(`insert into external_id values ($1, 'createBinding', $2, 'other', '')`, [
      party,
      blocked,
    ]);
    const { PATH = '', HOME = '' } = process.env;
    const words = ['import', 'cards', path, '--party', party, '--key', files.keyFile];
    const child = spawn(process.execPath, [inject('builtProgram'), ...words], {
      env: { PATH, HOME, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let said = '';
    child.stderr.on('data', (text) => (said += String(text)));
    const closed = once(child, 'close') as Promise<[number | null]>;
    while ((await client.query(waiting)).rows[0].count < 1) await new Promise(setImmediate);
    child.kill(how);
    if (how === 'SIGKILL') await closed;
    await client.query('rollback');
    const [code] = await closed;
    return { code, said };
  });
}

/** A statement that waits for the transaction of another, which may still take its row back. */
const waiting = `select count(*)::int as count from pg_locks
  where locktype = 'transactionid' and not granted
    and pid in (select pid from pg_stat_get_activity(null) where datid = (select oid from pg_database where datname = current_database()))`;

/** How many rows of each kind there are; equal numbers, if each binding is whole. */
async function made(): Promise<number> {
  const { rows } = await service.database.withClient((client) =>
    client.query(
      `select (select count(*)::int from binding) as bindings, (select count(*)::int from customer) as customers,
         (select count(*)::int from card) as cards, (select count(*)::int from series) as series,
         (select count(distinct external_id)::int from external_id) as ids`,
    ),
  );
  const counts = new Set(Object.values(rows[0] as Record<string, number>));
  expect([...counts]).toHaveLength(1);
  return [...counts][0] ?? 0;
}

test('killed, then interrupted, an import is finished by a third run and doubles nothing', async () => {
  const path = await files.seal(
    Array.from({ length: 750 }, (_, number) => importRow({ externalID: `row-${number}` })),
  );
  expect(await endedAt(path, 'row-300', 'SIGKILL')).toMatchObject({ code: null });
  expect(await made()).toBe(250);

  const stopped = await endedAt(path, 'row-600', 'SIGINT');
  expect(stopped.code).toBe(1);
  expect(stopped.said).toContain('Stopped by SIGINT. Run it again with the same file: it continues.');
  const bindings = await made();
  // The batch in progress is written if the connection lives to its end.
  expect([500, 750]).toContain(bindings);

  const words = ['import', 'cards', path, '--party', party, '--key', files.keyFile];
  expect(await commandLine(words, environment)).toEqual({
    code: 0,
    output: `Imported ${750 - bindings} rows.\n${bindings} rows were imported before and are unchanged.\n`,
    errors: '',
  });
  expect(await made()).toBe(750);
});
