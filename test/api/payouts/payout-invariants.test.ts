// The ledger checks of withdrawals, deposits and transfers hold for payouts in every state. Both the full and the recent check
// find every kind of tampering.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { everyInvariant } from '../../../src/app/composition/invariants.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { statement } from '../../../src/platform/database/statement.ts';
import { checkLedger } from '../../../src/platform/ledger/check-ledger.ts';
import { storePayoutFee } from '../../../src/payouts/store/payout-terms.ts';
import { startPayoutWorld, type PayoutWorld } from '../../support/worlds/payout-world.ts';

const runCommand = statement({
  name: 'test_run_payout_command',
  parameters: { command: 'text' },
  row: { changed: 'int4' },
  text: 'select run_command(:command) as changed',
});

let world: PayoutWorld;
let other: string;
/** By outcome. */
let withdrawals: Record<'paid' | 'sent' | 'declined' | 'unfunded', string>;

beforeAll(async () => {
  world = await startPayoutWorld();
  const { database, jobs, testDatabase } = world.service;
  await testDatabase.database.withClient((client) =>
    client.query(`create function run_command(command text) returns int language plpgsql as
      $$ declare changed int; begin execute command; get diagnostics changed = row_count; return changed; end $$`),
  );
  const { partyId } = world.merchant;
  await storePayoutFee(database, partyId, 'RUB', { basisPoints: 0n, fixedMinor: 7n });
  const good = (await world.destinationFor('4242424242424242')).id;
  const bad = (await world.destinationFor('4111110000000112')).id;
  const made = async (amount: number, destination: string) =>
    (await world.withdraw(amount, destination)).body.id;
  // So large that the wallet cannot pay it twice.
  await made(50_000_000, good);
  withdrawals = {
    paid: await made(1_000, good),
    sent: await made(199_916, good),
    declined: await made(1_000, bad),
    unfunded: await made(60_000_000, good),
  };
  other = (await world.openWallet(world.merchant, { provider: 'dpl', class: 'company' })).wallet;
  for (const amount of [5_000, 90_000_000]) {
    const body = { sender: world.wallet, receiver: other, body: { amount, currency: 'RUB' } };
    await world.post('/wallet/v0/w2w/transfers', body);
  }
  await jobs.whenIdle();
});
afterAll(() => world.close());

async function broken(db: Database, scope: 'all' | 'recent'): Promise<string[]> {
  const findings = await checkLedger(db, scope, everyInvariant);
  return findings.filter((finding) => finding.violations > 0n).map(({ id }) => id);
}

/** Tampers with the database as a superuser could, and rolls back in the end. */
async function brokenBy(command: string, scope: 'all' | 'recent'): Promise<string[]> {
  const undone = new Error('undone');
  let found: string[] = [];
  const outcome = await world.service.testDatabase.database
    .transaction(async (tx) => {
      await tx.run(runCommand, { command: 'alter table ledger_transfer disable trigger user' });
      const [row] = await tx.run(runCommand, { command });
      expect(row?.changed, command).toBeGreaterThan(0);
      found = await broken(tx, scope);
      throw undone;
    })
    .catch((error: unknown) => error);
  if (outcome !== undone) throw outcome;
  return found;
}

test('the checks hold for payouts in every state', async () => {
  const { rows } = await world.service.database.withClient((client) =>
    client.query('select withdrawal_id, status from withdrawal'),
  );
  const statusOf = (id: string) => rows.find(({ withdrawal_id }) => withdrawal_id === id)?.status;
  expect(Object.values(withdrawals).map(statusOf)).toEqual(['succeeded', 'sending', 'failed', 'failed']);
  const transfers = await world.service.database.withClient((client) =>
    client.query('select status from wallet_transfer order by amount_minor'),
  );
  expect(transfers.rows).toEqual([{ status: 'succeeded' }, { status: 'failed' }]);
  expect(await broken(world.service.database, 'all')).toEqual([]);
  expect(await broken(world.service.database, 'recent')).toEqual([]);
});

const of = (id: keyof typeof withdrawals) => `where withdrawal_id = '${withdrawals[id]}'`;

const booked: readonly (readonly [string, () => string, string])[] = [
  [
    'a pending payout stored as paid',
    () => `update withdrawal set status = 'succeeded', result = '{"reference":"X"}' ${of('sent')}`,
    'W1',
  ],
  ['a paid payout stored as failed', () => `update withdrawal set status = 'failed' ${of('paid')}`, 'W1'],
  [
    'a payout with another amount',
    () => `update withdrawal set amount_minor = amount_minor + 1 ${of('paid')}`,
    'W1',
  ],
  ['a payout with another fee', () => `update withdrawal set fee_minor = fee_minor + 1 ${of('sent')}`, 'W1'],
  ['a payout from another wallet', () => `update withdrawal set wallet_id = '${other}' ${of('sent')}`, 'W1'],
  ['a payout that is only in the ledger', () => `delete from withdrawal ${of('paid')}`, 'W1'],
  ['a deposit with another amount', () => 'update deposit set amount_minor = amount_minor + 1', 'W2'],
  ['a deposit into another wallet', () => `update deposit set wallet_id = '${other}'`, 'W2'],
  ['a deposit that is only in the ledger', () => 'delete from deposit', 'W2'],
  [
    'a failed transfer that was booked',
    () => `update wallet_transfer set status = 'failed' where status = 'succeeded'`,
    'W3',
  ],
  [
    'a transfer in the other direction',
    () => 'update wallet_transfer set sender_id = receiver_id, receiver_id = sender_id',
    'W3',
  ],
  [
    'a transfer that is only in the ledger',
    () => `delete from wallet_transfer where status = 'succeeded'`,
    'W3',
  ],
];

test.each(booked)('the checks find %s', async (_, command, id) => {
  expect(await brokenBy(command(), 'all')).toEqual([id]);
  expect(await brokenBy(command(), 'recent')).toEqual([id]);
});

/** Nothing new in the ledger, so only a full check finds it. */
const unbooked: readonly (readonly [string, () => string, string])[] = [
  [
    'a pending payout that reserves nothing',
    () => `update withdrawal set status = 'sending', result = null ${of('unfunded')}`,
    'W1',
  ],
  [
    'a successful transfer that moved nothing',
    () => `update wallet_transfer set status = 'succeeded' where status = 'failed'`,
    'W3',
  ],
  [
    'a deposit that is missing in the ledger',
    () => `delete from ledger_transfer where operation_id = 'deposit'`,
    'W2',
  ],
];

test.each(unbooked)('the checks find %s', async (_, command, id) => {
  expect(await brokenBy(command(), 'all')).toContain(id);
});
