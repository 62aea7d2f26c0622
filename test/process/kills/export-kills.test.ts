// Kills nodes (SIGKILL) between two pieces of an export, and while its file is fetched. What a client gets is the whole file or an error.
import { createHash } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { eventually, request, sandboxKey, startServer } from '../../support/processes/program.ts';
import { temporaryFolder } from '../../support/database/test-cluster.ts';
import { createTestDatabase } from '../../support/database/test-database.ts';

/** Of a file that has several pieces, and more than a socket holds. */
const invoices = 30_000;
const exportsUrl = '/v2/analytics/exports';

test('a killed node leaves half an export to the next, and half a file to no client', async () => {
  const { folder: data, remove } = temporaryFolder();
  onTestFinished(remove);
  const db = await createTestDatabase();
  onTestFinished(() => db.drop());
  const query = (text: string) =>
    db.database.withClient(async (client) => (await client.query<Record<string, any>>(text)).rows);
  const environment = { MANDATE_DATA: data, DATABASE_URL: db.url };
  const first = await startServer(environment);
  const token = sandboxKey(environment);
  const [shop] = await query(`select party_id from shop where shop_id = 'TEST'`);
  await query(`
    insert into invoice (invoice_id, party_id, shop_id, version, status, created_at, due_date, amount_minor, currency, product, metadata)
    select 'I' || n, '${shop?.['party_id']}', 'TEST', 1, 'unpaid', now() - n * interval '1 second', '2090-01-01', n, 'RUB', repeat('p', 900), '{}'
    from generate_series(1, ${invoices}) as n`);
  await query(`update search_position set rebuild_after = ''`);
  const isCopied = async () => {
    const [row] = await query(
      'select rebuild_after is null and resum_from is null as is_copied from search_position',
    );
    return row?.['is_copied'] === true || undefined;
  };
  await eventually(isCopied, 120_000, 'all invoices are copied');

  // The third piece of the first run waits for this lock, so the node is killed between two pieces.
  const locked = await db.database.withClient(async (client) => {
    await client.query('begin');
    await client.query(`create function wait_for_kill() returns trigger language plpgsql as $$
      begin
        if new.run = 1 and new.number = 3 then perform pg_advisory_xact_lock(3); end if;
        return new;
      end $$`);
    await client.query(
      `create trigger waits before insert on export_piece for each row execute function wait_for_kill()`,
    );
    await client.query('commit');
    await client.query('select pg_advisory_lock(3)');
    const now = Date.now();
    const range = {
      fromTime: new Date(now - 86_400_000).toISOString(),
      toTime: new Date(now + 86_400_000).toISOString(),
    };
    const body = { of: 'invoices', shopID: 'TEST', ...range };
    const ordered = await request('POST', `${first.url}${exportsUrl}`, { token, body });
    expect(ordered.status).toBe(202);
    const isHalf = async () => {
      const [row] = await query(`select count(*)::int as pieces from export_piece`);
      return row?.['pieces'] === 2 || undefined;
    };
    await eventually(isHalf, 60_000, 'two pieces are written');
    await first.stop('SIGKILL');
    await client.query('select pg_advisory_unlock(3)');
    return ordered.body;
  });

  const second = await startServer(environment);
  const read = async (url: string) =>
    (await request('GET', `${url}${exportsUrl}/${locked.id}`, { token })).body;
  expect(await read(second.url)).toMatchObject({ status: 'running' });
  expect((await read(second.url)).url).toBeUndefined();
  // Instead of a minute, until the lease of the dead node expires.
  await query('update export set wake_at = now()');
  const isReady = async () => {
    const found = await read(second.url);
    return found.status === 'ready' ? found : undefined;
  };
  const ready = await eventually(isReady, 60_000, 'the next node makes the file');
  expect(ready.rows).toBe(invoices);
  expect(await query('select distinct run from export_piece')).toEqual([{ run: 2 }]);

  const answer = await fetch(ready.url);
  const reader = answer.body!.getReader();
  expect((await reader.read()).done).toBe(false);
  await second.stop('SIGKILL');
  const rest = async () => {
    for (;;) if ((await reader.read()).done) return;
  };
  await expect(rest()).rejects.toThrow('terminated');

  const third = await startServer(environment);
  const file = Buffer.from(await (await fetch((await read(third.url)).url)).arrayBuffer());
  expect(createHash('sha256').update(file).digest('hex')).toBe(ready.sha256);
  expect(file.length).toBe(ready.bytes);
}, 240_000);
