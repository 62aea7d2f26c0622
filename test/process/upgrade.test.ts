// An upgrade as operators do it: a newer node with a migration starts next to an old one while merchants trade.
// Then the old one is stopped, and no request may fail.
import { cp, readdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import type { DatabasePool } from '../../src/platform/database/database.ts';
import {
  eventually,
  mandate,
  request,
  sandboxKey,
  type Server,
  startBank,
  startServer,
} from '../support/processes/program.ts';
import { temporaryFolder } from '../support/database/test-cluster.ts';
import { createTestDatabase } from '../support/database/test-database.ts';

const masterKey = Buffer.alloc(32, 9).toString('base64');
const salesInEachPart = 10;

/** What a later version may migrate: tables in use, with defaults for the rows that old nodes insert. */
const migration = `
alter table invoice add column colour text not null default 'blue';
alter table payment add column weight int;
create index payment_by_weight on payment (weight) where weight is not null;
create table palette (invoice_id id primary key, shade text not null);
create or replace function shade_of(colour text) returns text language sql as $$ select 'light ' || colour $$;
`;

test('a newer node migrates next to an old one, and no request fails', async () => {
  const testDatabase = await createTestDatabase('empty');
  onTestFinished(() => testDatabase.drop());
  const folders = [1, 2, 3].map(() => {
    const { folder, remove } = temporaryFolder();
    onTestFinished(remove);
    return folder;
  });
  // A separate bank, which outlives every node.
  const signing = { BANK_SECRET: 'what the bank and the nodes sign with' };
  const bank = await startBank({ MANDATE_DATA: folders[2]!, ...signing });
  const environments = folders.slice(0, 2).map((folder) => ({
    MANDATE_DATA: folder,
    DATABASE_URL: testDatabase.url,
    MANDATE_MASTER_KEY: masterKey,
    BANK_URL: bank.url,
    ...signing,
  }));
  const older = await startServer(environments[0]!);
  const token = sandboxKey(environments[0]!);
  const sold: string[] = [];
  const sell = async (node: Server) => void sold.push(await sellOn(node, token));

  // A backup reads the table meanwhile, so the migration has to wait for its lock.
  const starting = await testDatabase.database.withClient(async (client) => {
    await client.query('set idle_in_transaction_session_timeout = 0');
    await client.query('begin');
    await client.query('select from invoice');
    const newer = startServer(environments[1]!, { file: await newerProgram() });
    newer.catch(() => undefined); // it is waited for below
    for (let n = 0; n < salesInEachPart; n++) await sell(older);
    await eventually(() => isLockAwaited(testDatabase.database), 60_000, 'the migration waits');
    for (let n = 0; n < salesInEachPart; n++) await sell(older);
    await client.query('commit');
    return { newer };
  });
  for (let n = 0; n < salesInEachPart; n++) await sell(older);
  const newer = await starting.newer;

  const { rows } = await testDatabase.database.withClient((client) =>
    client.query<{ name: string }>('select name from migration order by number desc limit 1'),
  );
  expect(rows[0]?.name).toMatch(/_made_up\.sql$/);
  // Both serve, also the objects that the other created.
  await Promise.all(Array.from({ length: salesInEachPart }, (_, n) => sell(n % 2 === 0 ? older : newer)));
  expect((await fetch(`${older.url}/health/ready`)).status).toBe(200);
  for (const [n, id] of sold.entries()) await expectCaptured(n % 2 === 0 ? newer : older, token, id);
  expect(await older.stop()).toBe(0);
  for (let n = 0; n < salesInEachPart; n++) await sell(newer);
  for (const id of sold) await expectCaptured(newer, token, id);
  expect((await mandate(['ledger', 'check'], environments[1]!)).code).toBe(0);

  // A way back: the old version starts on the new schema.
  const again = await startServer(environments[0]!);
  await sell(again);
}, 240_000);

test('a database from before the first release is refused, with what to do', async () => {
  const testDatabase = await createTestDatabase();
  onTestFinished(() => testDatabase.drop());
  const { folder, remove } = temporaryFolder();
  onTestFinished(remove);
  await testDatabase.database.withClient((client) =>
    client.query("update migration set name = '0001_house.sql' where number = 1"),
  );
  const environment = {
    MANDATE_DATA: folder,
    DATABASE_URL: testDatabase.url,
    MANDATE_MASTER_KEY: masterKey,
  };
  for (const command of ['serve', 'migrate']) {
    const { code, output, errors } = await mandate([command], environment);
    expect({ command, code }).toEqual({ command, code: 1 });
    expect(output + errors).toContain('delete the data folder, or set DATABASE_URL to an empty database');
    expect(output + errors).not.toMatch(/^\s+at /m);
  }
}, 60_000);

/** This program with one more migration. */
async function newerProgram(): Promise<string> {
  const { folder, remove } = temporaryFolder();
  onTestFinished(remove);
  const installed = dirname(dirname(inject('builtProgram')));
  for (const part of ['bin', 'dist', 'package.json'])
    await cp(join(installed, part), join(folder, part), { recursive: true });
  await symlink(join(installed, 'node_modules'), join(folder, 'node_modules'));
  const migrations = join(folder, 'dist/platform/database/migrations');
  const number = String((await readdir(migrations)).length + 1).padStart(4, '0');
  await writeFile(join(migrations, `${number}_made_up.sql`), migration);
  return join(folder, 'bin/mandate.js');
}

async function sellOn({ url }: Server, token: string): Promise<string> {
  const post = async (path: string, body: unknown) => {
    const answer = await request('POST', `${url}/v2/processing/${path}`, { token, body });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const { invoice } = await post('invoices', {
    shopID: 'TEST',
    dueDate: '2099-01-20T10:00:00Z',
    amount: 6000,
    currency: 'RUB',
    product: 'Order',
  });
  const { paymentToolToken } = await post('payment-resources', {
    paymentTool: {
      paymentToolType: 'CardData',
      cardNumber: '4242424242424242',
      expDate: '12/99',
      cvv: '123',
    },
    clientInfo: { fingerprint: 'upgrade' },
  });
  await post(`invoices/${invoice.id}/payments`, {
    flow: { type: 'PaymentFlowInstant' },
    payer: { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} },
  });
  return invoice.id;
}

async function expectCaptured({ url }: Server, token: string, id: string): Promise<void> {
  await eventually(
    async () => {
      const path = `${url}/v2/processing/invoices/${id}/payments/1`;
      const { body } = await request('GET', path, { token });
      if (body.status === 'failed') throw new Error(`${id} failed`);
      return body.status === 'captured' ? true : undefined;
    },
    60_000,
    `${id} is captured`,
  );
}

async function isLockAwaited(database: DatabasePool): Promise<true | undefined> {
  const { rows } = await database.withClient((client) =>
    client.query<{ waits: boolean }>(
      `select exists (select from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock') as waits`,
    ),
  );
  return rows[0]?.waits ? true : undefined;
}
