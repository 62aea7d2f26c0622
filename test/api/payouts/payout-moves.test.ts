// A payout goes to the next bank only with a proof about all that was sent of it, not about the last message alone.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BankResponse } from '../../../src/acquiring/domain/bank-port.ts';
import { openSimulatedBank, type SimulatedBank } from '../../../src/sandbox/bank/simulated-bank.ts';
import { waylay, type FaultyBank } from '../../support/bank/faulty-bank.ts';
import { secret } from '../../support/worlds/payment-world.ts';
import { setBlocked } from '../../support/worlds/wallets-side.ts';
import { startPayoutWorld, type PayoutWorld } from '../../support/worlds/payout-world.ts';

let world: PayoutWorld;
let second: SimulatedBank;
let bank: FaultyBank;
let destination: string;
beforeAll(async () => {
  world = await startPayoutWorld();
  const { service, merchant } = world;
  second = await openSimulatedBank({ clock: service.clock, secret, log: { warn: () => {} } });
  await service.banks.putBank({ id: 'SECOND', url: second.url, secret });
  const terminal = { id: 'P2', merchantId: 'PAYOUTS', descriptor: 'TEST PAYOUTS', priority: 2 };
  await service.banks.putPayoutTerminal({ ...terminal, partyId: merchant.partyId, bankId: 'SECOND' });
  destination = (await world.destinationFor('4242424242424242')).id;
  bank = waylay(service.banks);
});
afterAll(async () => {
  await world.close();
  await second.stop();
});

/** Something in front of the bank may have refused the signature after it had passed the message on. */
const refused: BankResponse = { outcome: 'notSent', why: 'the signature was refused', isUnauthorised: true };
const busy: BankResponse = { outcome: 'notSent', why: 'busy', notDone: true };
const left: [string, BankResponse][] = [
  ['is turned away', { outcome: 'notSent', why: 'too many', turnedAway: true }],
  ['reaches no bank', { outcome: 'notSent', why: 'ECONNREFUSED', noBytesSent: true }],
  ['its bank cannot do', { outcome: 'declined', network: 'bank', code: 'not-supported', noBytesSent: true }],
];

/** The banks that a payout was sent to, and how it ended, when that happens to the first sends. */
async function sentAfter(...mishaps: BankResponse[]): Promise<{ to: string[]; status: string }> {
  const { clock, jobs } = world.service;
  const sentBefore = bank.sent.length;
  bank.happens('payout', ...mishaps);
  const { id } = (await world.withdraw(1_000, destination)).body;
  await jobs.whenIdle();
  for (let minute = 0; minute < mishaps.length; minute++) {
    clock.advance(60_000);
    jobs.wake();
    await jobs.whenIdle();
  }
  const { status } = (await world.get(`/wallet/v0/withdrawals/${id}`)).body;
  return { to: bank.sent.slice(sentBefore).map(({ terminal }) => terminal.bankId), status };
}

test('a payout whose wallet is blocked while it waits for its bank is not sent, there or elsewhere', async () => {
  const { clock, jobs } = world.service;
  const nameOf = (id: string) => bank.sent.filter(({ operationId }) => operationId === `${id}.p`);
  bank.meanwhile('payout', () => setBlocked(world, world.identity, true));
  bank.happens('payout', 'waits');
  const { id } = (await world.withdraw(1_000, destination)).body;
  await jobs.whenIdle();
  clock.advance(60_000);
  jobs.wake();
  await jobs.whenIdle();
  expect((await world.get(`/wallet/v0/withdrawals/${id}`)).body.status).toBe('Pending');
  expect(nameOf(id)).toHaveLength(1);
  expect(await world.book()).toEqual([]);
  await setBlocked(world, world.identity, false);
  clock.advance(3_600_000);
  jobs.wake();
  await jobs.whenIdle();
  expect((await world.get(`/wallet/v0/withdrawals/${id}`)).body.status).toBe('Succeeded');
});

test.each(left)('a first send that %s goes to the next bank', async (_, answer) =>
  expect(await sentAfter(answer)).toEqual({ to: ['BANK', 'SECOND'], status: 'Succeeded' }),
);

test.each(left)('a later send that %s stays where an earlier one may have arrived', async (_, answer) =>
  expect(await sentAfter(refused, answer)).toEqual({ to: ['BANK', 'BANK', 'BANK'], status: 'Succeeded' }),
);

test('only attempt 1 of the job moves it, so a later send stays even if its bank says that it was not done', async () =>
  expect(await sentAfter(refused, busy)).toEqual({ to: ['BANK', 'BANK', 'BANK'], status: 'Succeeded' }));
