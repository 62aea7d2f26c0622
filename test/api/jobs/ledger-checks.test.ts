// What the ledger check of every minute finds, also when money should have been posted and was not.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { everyInvariant } from '../../../src/app/composition/invariants.ts';
import { monitorLedger } from '../../../src/app/gauges.ts';
import { moveWatermark } from '../../../src/platform/ledger/check-ledger.ts';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';

let world: PaymentWorld;
beforeAll(async () => {
  world = await startPaymentWorld();
  // The ledger uses the database's clock.
  world.service.clock.set(Date.now());
});
afterAll(() => world.close());

type Logged = { readonly id: string };
async function check(): Promise<string[]> {
  const broken: string[] = [];
  const log = { error: (fields: unknown) => void broken.push((fields as Logged).id) };
  await monitorLedger(world.service.database, log, everyInvariant).check();
  return broken;
}

const sql = (text: string, id: string) =>
  world.service.database.withClient((client) => client.query(text, [id]));

test('a payment captured without a journal is found within a minute, and again until it is corrected', async () => {
  await world.paid('4242424242424242');
  const invoice = await world.paid('4000000000000002');
  expect(await world.payment(invoice)).toMatchObject({ status: 'failed' });
  // All earlier transfers have been checked.
  await moveWatermark(world.service.database, { from: 'start', marginMs: 0 });
  expect(await check()).toEqual([]);

  await sql(
    `update payment set status = 'captured', captured_minor = amount_minor where invoice_id = $1`,
    invoice.id,
  );
  expect(await check()).toEqual(['P1']);
  expect(await check()).toEqual(['P1']);
  await sql(`update payment set status = 'failed', captured_minor = null where invoice_id = $1`, invoice.id);
  expect(await check()).toEqual([]);
});

test('a customer that is ready without a card is found although it has no transfers', async () => {
  const url = '/v2/processing/customers';
  const body = { shopID: 'TEST', contactInfo: {}, metadata: {} };
  const { customer } = (await world.service.call('POST', url, { token: world.merchant.apiKey, body })).body;
  await moveWatermark(world.service.database, { from: 'start', marginMs: 0 });
  await sql(
    `update customer set status = 'ready', active_binding_id = 'none' where customer_id = $1`,
    customer.id,
  );
  expect(await check()).toEqual(['B2']);
  await sql(
    `update customer set status = 'unready', active_binding_id = null where customer_id = $1`,
    customer.id,
  );
  expect(await check()).toEqual([]);
});

test('the age of the last check is reported, and a failed check does not count', async () => {
  const { database } = world.service;
  let nowMs = 0;
  const log = { error: () => {} };
  const books = monitorLedger(database, log, everyInvariant, () => nowMs);
  nowMs = 60_000;
  expect(books.checkAgeSeconds()).toBe(60);
  await books.check();
  expect(books.checkAgeSeconds()).toBe(0);

  const away: typeof database = { ...database, run: () => Promise.reject(new Error('away')) };
  const unlucky = monitorLedger(away, log, everyInvariant, () => nowMs);
  nowMs = 90_000;
  await expect(unlucky.check()).rejects.toThrow('away');
  expect([books, unlucky].map((one) => one.checkAgeSeconds())).toEqual([30, 30]);
});

test('a check of recent transfers waits at most ten minutes for a silent connection', async () => {
  const { database } = world.service;
  const waitedFor: (number | undefined)[] = [];
  const heard: typeof database = {
    ...database,
    transaction: (work) =>
      database.transaction((tx) =>
        work({
          ...tx,
          run(statement, parameters) {
            waitedFor.push(statement.timeoutMs);
            return tx.run(statement, parameters);
          },
        }),
      ),
  };
  await monitorLedger(heard, { error: () => {} }, everyInvariant).check();
  expect(waitedFor.length).toBeGreaterThan(everyInvariant.length);
  expect(Math.max(...waitedFor.map((ms) => ms ?? 0))).toBe(600_000);
});
