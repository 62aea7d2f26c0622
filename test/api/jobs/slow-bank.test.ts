// A bank that takes less than there is, or is silent: what waits for it delays no other bank, and is sent once.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Bank, BankResponse } from '../../../src/acquiring/domain/bank-port.ts';
import { openSimulatedBank, type SimulatedBank } from '../../../src/sandbox/bank/simulated-bank.ts';
import { invoicesUrl } from '../../support/worlds/invoices.ts';
import { recurringWorld } from '../../support/worlds/recurring.ts';
import {
  secret,
  startPaymentWorld,
  type Paying,
  type PaymentWorld,
} from '../../support/worlds/payment-world.ts';

const hold = { flow: { type: 'PaymentFlowHold', onHoldExpiration: 'cancel' } };
const inDollars = { shopID: 'TEST_USD', currency: 'USD' };

let world: PaymentWorld;
let other: SimulatedBank;
/** What the first bank does instead of taking what no payer waits for. */
let instead: (() => Promise<BankResponse | undefined>) | undefined;
/** What no payer waited for: asked to be sent, and taken. */
let sent: string[];
let taken: string[];

beforeAll(async () => {
  world = await startPaymentWorld();
  const { banks, clock } = world.service;
  other = await openSimulatedBank({ clock, secret, log: { warn: () => {} } });
  await banks.putBank({ id: 'OTHER', url: other.url, secret });
  const terminal = {
    id: 'T2',
    merchantId: 'TEST_USD',
    descriptor: 'TEST SHOP',
    bankId: 'OTHER',
    priority: 0,
  };
  await banks.putTerminal({ ...terminal, partyId: world.merchant.partyId, shopId: 'TEST_USD' });
  const { bankOf } = banks;
  Object.assign(banks, {
    async bankOf(asked: Parameters<typeof bankOf>[0]): Promise<Bank> {
      const bank = await bankOf(asked);
      if (asked.bankId !== 'BANK') return bank;
      return {
        ...bank,
        async send(operation, ...limits) {
          const isByPayer = operation.kind === 'authorise' && operation.initiation.by === 'payer';
          if (isByPayer) return bank.send(operation, ...limits);
          sent.push(operation.operationId);
          const answer = await instead?.();
          if (answer) return answer;
          taken.push(operation.operationId);
          return bank.send(operation, ...limits);
        },
      };
    },
  });
});
afterAll(async () => {
  await world.close();
  await other.stop();
});

async function capture({ id }: Paying): Promise<void> {
  const { apiKey: token } = world.merchant;
  const url = `${invoicesUrl}/${id}/payments/1/capture`;
  const { status } = await world.service.call('POST', url, { token, body: { reason: 'sent' } });
  expect(status).toBe(202);
}

const statusOf = async (paying: Paying) => (await world.payment(paying)).status;

async function held(count: number, terms: Record<string, unknown> = {}): Promise<Paying[]> {
  const made: Paying[] = [];
  for (let number = 0; number < count; number++) made.push(await world.pay('4242424242424242', hold, terms));
  await world.service.jobs.whenIdle();
  return made;
}

test('a hundred captures at a bank that says nothing hold up no payment at another', async () => {
  const { jobs } = world.service;
  const slow = await held(100);
  const [quick] = await held(1, inDollars);
  if (!quick) throw new Error('no hold');
  [sent, taken] = [[], []];
  let answer = () => {};
  const answered = new Promise<undefined>((resolve) => (answer = () => resolve(undefined)));
  instead = () => answered;
  for (const one of slow) await capture(one);
  await expect.poll(() => sent.length).toBe(32);
  await capture(quick);
  const paid = await world.pay('4242424242424242', {}, inDollars);
  await expect.poll(() => statusOf(quick)).toBe('captured');
  await expect.poll(() => statusOf(paid)).toBe('captured');
  expect(taken).toEqual([]);
  answer();
  await jobs.whenIdle();
  for (const one of slow) expect(await statusOf(one)).toBe('captured');
  expect(new Set(taken).size).toBe(100);
  expect(taken).toHaveLength(100);
});

test('forty charges without the payer at a bank that says nothing hold up no capture there', async () => {
  const { clock, jobs } = world.service;
  const recurring = recurringWorld(world);
  const parents = [];
  for (let number = 0; number < 40; number++) parents.push(await recurring.parent());
  const [paid] = await held(1);
  if (!paid) throw new Error('no hold');
  const againInMs = 2_000;
  instead = () =>
    Promise.resolve({ outcome: 'notSent', why: 'the bank is full', turnedAway: true, againInMs });
  for (const parent of parents) await recurring.charge(parent, await recurring.invoice());
  await jobs.whenIdle();
  [sent, taken] = [[], []];
  let answer = () => {};
  const answered = new Promise<undefined>((resolve) => (answer = () => resolve(undefined)));
  instead = () => answered;
  clock.advance(againInMs);
  jobs.wake();
  await expect.poll(() => sent.length).toBe(32);
  await capture(paid);
  await expect.poll(() => sent.length).toBe(33);
  answer();
  await jobs.whenIdle();
  expect(await statusOf(paid)).toBe('captured');
  expect(new Set(taken).size).toBe(41);
});

describe('what a bank turns away', () => {
  const againInMs = 2_000;
  const full = { outcome: 'notSent', why: 'the bank is full', turnedAway: true, againInMs } as const;
  /** More often than a job may fail before it is stuck. */
  const times = 20;

  async function turnedAway(begin: () => Promise<unknown>, look: () => Promise<unknown>): Promise<unknown[]> {
    const { clock, jobs } = world.service;
    [sent, taken] = [[], []];
    instead = () => Promise.resolve(full);
    await begin();
    await jobs.whenIdle();
    const seen: unknown[] = [];
    for (let time = 1; time <= times; time++) {
      expect(sent).toHaveLength(time);
      seen.push(await look());
      if (time === times) instead = undefined;
      clock.advance(againInMs - 1);
      jobs.wake();
      await jobs.whenIdle();
      clock.advance(1);
      jobs.wake();
      await jobs.whenIdle();
    }
    expect(await jobs.stuckJobs()).toEqual([]);
    expect(await jobs.failingJobs()).toEqual([]);
    expect(new Set(sent).size).toBe(1);
    expect(taken).toHaveLength(1);
    return seen;
  }

  test('is tried again when the bank may take it, has not failed, and is sent once', async () => {
    const [one] = await held(1);
    if (!one) throw new Error('no hold');
    const reasons = await turnedAway(
      () => capture(one),
      async () => (await world.service.jobs.failingJobs()).map(({ attempts, reason }) => [attempts, reason]),
    );
    expect(reasons).toEqual(Array.from({ length: times }, () => [[1, 'the bank is full']]));
    expect(await statusOf(one)).toBe('captured');
  });

  test('stays a charge that no bank has seen', async () => {
    const recurring = recurringWorld(world);
    const parent = await recurring.parent();
    const charged = await recurring.invoice();
    const rows = await turnedAway(
      () => recurring.charge(parent, charged),
      () =>
        world.service.database.withClient(async (client) => {
          const text = 'select attempts, unsent_attempts from payment where invoice_id = $1';
          return (await client.query(text, [charged.id])).rows[0];
        }),
    );
    expect(rows).toEqual(Array.from({ length: times }, () => ({ attempts: 1, unsent_attempts: 1 })));
    expect((await world.payment(charged)).status).toBe('captured');
  });
});
