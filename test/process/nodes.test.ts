// Several nodes on one PostgreSQL, and nodes of both modes.
import { onTestFinished, expect, test } from 'vitest';
import { waitMs } from '../../tools/tests/waits.ts';
import { eventually, mandate, request, sandboxKey, startServer } from '../support/processes/program.ts';
import { temporaryFolder } from '../support/database/test-cluster.ts';
import { createTestDatabase } from '../support/database/test-database.ts';
import { dueAfter } from '../support/worlds/due-date.ts';

const masterKey = 'xIRmjtfwL9GGfTQrmVrYsTugHVIGYTJIdyaakdofOPk=';
const hourMs = 3_600_000;
/** How often both nodes have to run the jobs of the same invoices at the same time. */
const racesWanted = 5;
const maxRounds = 25;

test('two nodes started together on an empty database share everything, and each overdue invoice ends once', async () => {
  const testDatabase = await createTestDatabase('empty');
  onTestFinished(() => testDatabase.drop());
  const environments = [1, 2].map(() => {
    const { folder, remove } = temporaryFolder();
    onTestFinished(remove);
    return { MANDATE_DATA: folder, DATABASE_URL: testDatabase.url, MANDATE_MASTER_KEY: masterKey };
  });
  const [one, two] = await Promise.all(environments.map((environment) => startServer(environment)));
  const token = sandboxKey(environments[0]!);
  const on = (node: typeof one, path = '') => `${node!.url}/v2/processing/invoices${path}`;
  const clockOf = (node: typeof one) => `${node!.url}/sandbox/clock`;

  // Created on both nodes. The clock moves on both at once: if it moves on one, that one alone runs the jobs.
  const created: Awaited<ReturnType<typeof request>>[] = [];
  let races = 0;
  for (let rounds = 0; races < racesWanted; rounds++) {
    expect(rounds, `${races} races of the nodes`).toBeLessThan(maxRounds);
    const { now } = (await request('GET', clockOf(one), { token })).body;
    const dueDate = dueAfter(now, hourMs);
    const body = { shopID: 'TEST', dueDate, amount: 100, currency: 'RUB', product: 'Overdue in an hour' };
    const more = Array.from({ length: 20 }, (_, n) =>
      request('POST', on(n % 2 ? one : two), { token, body }),
    );
    created.push(...(await Promise.all(more)));
    const moved = await Promise.all(
      [one, two].map((node) => request('POST', clockOf(node), { token, body: { now: dueDate } })),
    );
    // A node that is asked after the other has finished is already past that time, and refuses to go back.
    const inTime = moved.filter(({ status }) => status === 200);
    expect(inTime).not.toEqual([]);
    if (inTime.length === 2) races += 1;
  }
  // Created on the second node in the last round, and read on the first with the token that the second signed.
  const sample = created.at(-2)!.body;
  const read = await request('GET', on(one, `/${sample.invoice.id}`), {
    token: sample.invoiceAccessToken.payload,
  });
  expect(read.body).toMatchObject({
    id: sample.invoice.id,
    createdAt: sample.invoice.createdAt,
    amount: 100,
  });

  for (const [
    n,
    {
      body: { invoice },
    },
  ] of created.entries()) {
    const events = await eventually(
      async () => {
        const page = await request('GET', on(n % 2 ? two : one, `/${invoice.id}/events?limit=100`), {
          token,
        });
        return page.body.length > 1 ? page.body : undefined;
      },
      waitMs,
      `invoice ${invoice.id} is overdue`,
    );
    expect(events.map((event: { id: number; changes: unknown[] }) => [event.id, event.changes])).toEqual([
      [1, [{ changeType: 'InvoiceCreated', invoice }]],
      [2, [{ changeType: 'InvoiceStatusChanged', status: 'cancelled', reason: 'overdue' }]],
    ]);
  }

  // Both nodes poll on, and no invoice ends twice: it would have more events.
  const { rows } = await testDatabase.database.withClient((client) =>
    client.query<{ events: number }>('select count(*)::int as events from event'),
  );
  expect(rows).toEqual([{ events: 2 * created.length }]);
  expect(await Promise.all([one!.stop(), two!.stop()])).toEqual([0, 0]);
});

test('a node refuses to start with another master key than the one that created the database', async () => {
  const { environment } = await nothingYet();
  expect((await mandate(['migrate'], { ...environment, MANDATE_MASTER_KEY: masterKey })).code).toBe(0);
  const other = 'UnP1Ga5r00+ukEdZ50vot1qHCYuKSbp/eJcy3f7qka4=';
  const { code, errors } = await mandate(['serve'], { ...environment, MANDATE_MASTER_KEY: other, PORT: '0' });
  expect(code).toBe(2);
  expect(errors).toContain('Start the program with the master key that this database was created with');
});

test('listing and revoking keys fail on a database without tables, and the message says so', async () => {
  const { environment } = await nothingYet();
  for (const command of [
    ['keys', 'list', '--party', 'SANDBOX'],
    ['keys', 'revoke', 'k'],
  ]) {
    const { code, errors } = await mandate(command, environment);
    expect({ code, errors }).toEqual({
      code: 2,
      errors: expect.stringContaining('has no Mandate tables'),
    });
  }
});

test('neither mode works on a database of the other, except to list and revoke its keys', async () => {
  const { testDatabase, environment: empty } = await nothingYet();
  const environment = { ...empty, MANDATE_MASTER_KEY: masterKey };
  const sandbox = await startServer(environment);
  await sandbox.stop();
  const inLiveMode = { ...environment, MANDATE_MODE: 'live' };
  const refused = await mandate(['serve'], { ...inLiveMode, PORT: '0' });
  expect(refused.code).toBe(1);
  expect(refused.errors).toContain(
    '"mandate keys list --party SANDBOX" shows them, "mandate keys revoke" revokes one',
  );

  const list = ['keys', 'list', '--party', 'SANDBOX'];
  // The operator has their own master key in live mode, which is another one than the sandbox's.
  const asFound = { ...inLiveMode, MANDATE_MASTER_KEY: 'UnP1Ga5r00+ukEdZ50vot1qHCYuKSbp/eJcy3f7qka4=' };
  for (const { keyId } of JSON.parse((await mandate([...list, '--json'], asFound)).output))
    expect((await mandate(['keys', 'revoke', keyId], asFound)).code).toBe(0);
  const live = await startServer({ ...inLiveMode, CARD_TESTING_LIMITS: 'off' });
  expect(live.output()).toContain('PUBLIC_URL is a loopback address');
  expect(live.output()).toContain('CARD_TESTING_LIMITS is off');
  expect((await fetch(`${live.url}/sandbox/clock`)).status).toBe(404);
  expect((await fetch(`${live.url}/metrics`)).status).toBe(404);
  expect(await live.stop()).toBe(0);

  const create = ['keys', 'create', '--party', 'SANDBOX', '--name', 'server'];
  expect((await mandate(create, inLiveMode)).code).toBe(0);
  for (const command of [create, ['serve'], ['ledger', 'check']]) {
    const { errors } = await mandate(command, { ...environment, PORT: '0' });
    expect(errors).toContain('Set MANDATE_MODE=live');
  }
  // The refusal comes before the migrations of this version.
  const newest = 'select max(number) as newest from migration';
  const forgotten = `delete from migration where number = (${newest}) returning number - 1 as newest`;
  const query = (text: string) => testDatabase.database.withClient((client) => client.query(text));
  const before = (await query(forgotten)).rows;
  expect((await mandate(['ledger', 'check'], environment)).errors).toContain('Set MANDATE_MODE=live');
  expect((await query(newest)).rows).toEqual(before);
  expect((await mandate(list, inLiveMode)).output).toMatch(/ live +server /);
});

/** An empty folder and a database without tables. */
async function nothingYet() {
  const testDatabase = await createTestDatabase('empty');
  const { folder, remove } = temporaryFolder();
  onTestFinished(remove);
  onTestFinished(() => testDatabase.drop());
  return { testDatabase, environment: { MANDATE_DATA: folder, DATABASE_URL: testDatabase.url } };
}
