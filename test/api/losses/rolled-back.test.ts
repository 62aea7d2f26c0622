// The whole database goes back to an earlier state, as after the restore of a backup, while the bank remembers what it did since.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { storeConfirmation } from '../../../src/acquiring/exchange-log/store/watched-banks.ts';
import { doubtSends } from '../../../src/payouts/store/sends.ts';
import { waylay, type FaultyBank } from '../../support/bank/faulty-bank.ts';
import { brokenInvariants } from '../../support/database/ledger.ts';
import { invoicesUrl } from '../../support/worlds/invoices.ts';
import { startPayoutWorld, type PayoutWorld } from '../../support/worlds/payout-world.ts';

const card = '4242424242424242';
const minuteMs = 60_000;

let world: PayoutWorld;
let bank: FaultyBank;
beforeAll(async () => {
  world = await startPayoutWorld();
  bank = waylay(world.service.banks);
});
afterAll(() => world.close());

const query = async (text: string, values: unknown[] = []): Promise<any[]> =>
  (await world.service.testDatabase.database.withClient((client) => client.query(text, values))).rows;

/** Those with foreign keys hold settings, which do not change here. */
const tables = async () =>
  (
    await query(
      `select c.relname from pg_class as c join pg_namespace as n on n.oid = relnamespace
       where nspname = 'public' and relkind = 'r'
         and not exists (select from pg_constraint where contype = 'f' and c.oid in (conrelid, confrelid)) order by 1`,
    )
  ).map(({ relname }) => String(relname));

async function keepCopy(): Promise<void> {
  await query('create schema kept');
  for (const table of [...(await tables()), 'bank'])
    await query(`create table if not exists kept.${table} as table public.${table}`);
}

async function goBack(): Promise<void> {
  const statements = (await tables()).flatMap((table) => [
    `alter table ${table} disable trigger user`,
    `delete from ${table}`,
    `insert into ${table} select * from kept.${table}`,
    `alter table ${table} enable trigger user`,
  ]);
  const cursors = `update bank set report_cursor = kept.report_cursor, updates_cursor = kept.updates_cursor
    from kept.bank as kept where bank.bank_id = kept.bank_id`;
  await query(`begin; ${statements.join(';')}; ${cursors}; commit`);
}

async function pass(ms: number): Promise<void> {
  world.service.clock.advance(ms);
  world.service.jobs.wake();
  await world.service.jobs.whenIdle();
}

const stopped = async () => (await query(`select stopped_because from bank where bank_id = 'BANK'`))[0];
const statusOf = async (id: string) => (await world.get(`/wallet/v0/withdrawals/${id}`)).body.status;

test('nothing leaves for the bank until an operator confirms, and then nothing is done a second time', async () => {
  const { service, merchant } = world;
  const { id: destination } = await world.destinationFor(card);
  const paying = await world.paid(card);
  await pass(minuteMs);
  await service.bankWatch.watch();

  // Each is in progress when the copy is made. The bank has received none of them.
  bank.happens('refund', 'message lost');
  const { body: refund } = await service.call('POST', `${invoicesUrl}/${paying.id}/payments/1/refunds`, {
    token: merchant.apiKey,
    body: { amount: 1_000, currency: 'RUB' },
  });
  bank.happens('payout', { outcome: 'notSent', why: 'busy', notDone: true });
  const { id: payout } = (await world.withdraw(2_000, destination)).body;
  await service.jobs.whenIdle();
  await keepCopy();

  await pass(minuteMs);
  await pass(minuteMs);
  const since = await world.paid(card);
  const { id: payoutSince } = (await world.withdraw(3_000, destination)).body;
  await service.jobs.whenIdle();
  const done = (await world.book()).map(({ operationId }) => operationId);
  expect(done).toEqual(
    expect.arrayContaining([
      `${paying.id}.1.${refund.id}`,
      `${payout}.p`,
      `${since.id}.1.a`,
      `${payoutSince}.p`,
    ]),
  );

  await goBack();
  await service.bankWatch.watch();
  await pass(minuteMs);
  await service.bankWatch.watch();
  expect(await stopped()).toEqual({ stopped_because: expect.stringContaining(`${since.id}.1.a`) });
  const waiting = await world.pay(card);
  for (let round = 0; round < 3; round++) await pass(minuteMs);
  expect(await world.payment(waiting)).toMatchObject({ status: 'pending' });
  expect((await world.book()).map(({ operationId }) => operationId)).toEqual(done);

  await doubtSends(service.database);
  const end = (await world.book()).at(-1)?.sequence ?? 0;
  await storeConfirmation(service.database, 'BANK', { reportCursor: end, reason: 'test' });
  await service.banks.forget('BANK');
  for (let round = 0; round < 5; round++) await pass(10 * minuteMs);
  // What was in progress is found, and not done again. What no row knows is left to the operator's commands.
  expect(await statusOf(payout)).toBe('Succeeded');
  expect(await world.payment(paying)).toMatchObject({ status: 'captured' });
  const after = (await world.book()).map(({ operationId }) => operationId);
  expect(new Set(after).size).toBe(after.length);
  expect(after.filter((id) => !done.includes(id)).every((id) => id.startsWith(waiting.id))).toBe(true);
  expect(await query(`select status from refund where invoice_id = $1`, [paying.id])).toEqual([
    { status: 'succeeded' },
  ]);
  expect(await brokenInvariants(service.database)).toEqual([]);
});
