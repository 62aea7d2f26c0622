// Kills a node before and after each message while a charge is undone that never counted. Then another node gives the payer their money
// back once, and the bank's report, the exchange log and the ledger agree.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exchangesOf } from '../../../src/acquiring/exchange-log/store/exchange-rows.ts';
import { waylay, type FaultyBank, type Mishap } from '../../support/bank/faulty-bank.ts';
import { notFinal } from '../../support/checks/ledger-check.ts';
import { differencesFrom } from '../../support/checks/report-differences.ts';
import { brokenInvariants } from '../../support/database/ledger.ts';
import { mortalNode, type CrashableNode } from '../../support/service/crashable-node.ts';
import { atEveryDeath } from '../../support/service/every-death.ts';
import { startPaymentWorld, type Paying, type PaymentWorld } from '../../support/worlds/payment-world.ts';

const card = '4242424242424242';
const leaseMs = 61_000;
const minuteMs = 60_000;
const rounds = 4;
/** Amounts of the simulated bank. */
const isNotReversed = 99_918;
const isApprovedLate = 99_942;

let world: PaymentWorld;
let bank: FaultyBank;
let node: CrashableNode;
beforeAll(async () => {
  world = await startPaymentWorld();
  bank = waylay(world.service.banks);
  node = mortalNode(world.service, ['change_payment', 'insert_exchange_note', 'change_exchange_note']);
});
afterAll(() => world.close());

/** The leases of a dead node expire, and another one runs what is due. */
async function pass(ms: number): Promise<void> {
  const { clock, jobs, bankWatch } = world.service;
  clock.advance(ms);
  jobs.wake();
  await jobs.whenIdle();
  await bankWatch.watch().catch(() => {});
  await jobs.whenIdle();
  if (node.isDead) node.revive();
}

async function endOf(paying: Paying, before: { readonly own: number }) {
  const { id } = paying;
  const suffix = (operationId: string) => operationId.slice(id.length + 1);
  const booked = (await world.book()).filter(({ operationId }) => operationId.startsWith(`${id}.`));
  const logged = await exchangesOf(world.service.database, id);
  return {
    status: (await world.payment(paying)).status,
    earned: (await world.balance()).own - before.own,
    booked: booked.map(({ operationId, kind, sign }) => `${suffix(operationId)} ${kind} ${sign}`),
    logged: logged.map(({ operationId, state }) => `${suffix(operationId)} ${state}`).sort(),
    open: await notFinal(world.service.database),
  };
}

const lostAnswer: readonly Mishap[] = ['answer lost'];

test.each<[what: string, mishaps: readonly Mishap[]]>([
  ['answers', []],
  ['loses the answer to the refund', lostAnswer],
])(
  'a node that dies while a charge is refunded whose reversal is refused, at a bank that %s',
  async (_, mishaps) => {
    const tell = async (arm: () => void) => {
      const before = await world.balance();
      bank.happens('authorise', 'answer lost');
      bank.always('inquire', 'message lost');
      const paying = await world.pay(card, {}, { amount: isNotReversed });
      await pass(0);
      await pass(31 * minuteMs);
      arm();
      bank.always('inquire', undefined);
      bank.happens('refund', ...mishaps);
      for (let round = 0; round < rounds; round++) await pass(leaseMs);
      return endOf(paying, before);
    };
    const said = await atEveryDeath(node, async (arm) => {
      const end = await tell(arm);
      expect(end).toEqual({
        status: 'failed',
        earned: 0,
        booked: ['1.a authorise 1', '1.u refund -1'],
        logged: ['1.a takenBack', '1.r declined', '1.u approved'],
        open: [],
      });
      return end;
    });
    expect(said).toContain('bank refund');
  },
);

test.each([
  { flow: 'PaymentFlowInstant', undoes: 'refund' },
  { flow: 'PaymentFlowHold', undoes: 'reverse' },
])('a node that dies while a late approval is undone: $flow', async ({ flow, undoes }) => {
  const tell = async (arm: () => void) => {
    const before = await world.balance();
    const paying = await world.pay(card, { flow: { type: flow } }, { amount: isApprovedLate });
    await pass(0);
    arm();
    bank.happens(undoes as 'refund', ...lostAnswer);
    for (let round = 0; round < rounds + 2; round++) await pass(leaseMs);
    return endOf(paying, before);
  };
  const said = await atEveryDeath(node, async (arm) => {
    const end = await tell(arm);
    expect(end).toEqual({
      status: 'failed',
      earned: 0,
      booked:
        flow === 'PaymentFlowInstant'
          ? ['1.a authorise 1', '1.l refund -1']
          : ['1.a authorise 0', '1.l reverse 0'],
      logged: ['1.a declined', '1.l approved'],
      open: [],
    });
    return end;
  });
  expect(said).toContain(`bank ${undoes}`);
});

test('the report of the bank, the payments and the ledger agree afterwards', async () => {
  expect(await differencesFrom(world.service, await world.book())).toEqual([]);
  expect(await brokenInvariants(world.service.database)).toEqual([]);
});
