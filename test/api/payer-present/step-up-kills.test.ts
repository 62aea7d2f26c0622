// Kills a node before and after each message that a stepped-up payment sends to the database and the bank. Another node must bring it to the
// same end: one charge at the bank, under the second ID, and each charge in the exchange log.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exchangesOf } from '../../../src/acquiring/exchange-log/store/exchange-rows.ts';
import { waylay, type FaultyBank, type Mishap } from '../../support/bank/faulty-bank.ts';
import { mortalNode, type CrashableNode } from '../../support/service/crashable-node.ts';
import { atEveryDeath } from '../../support/service/every-death.ts';
import { startPaymentWorld, type Paying, type PaymentWorld } from '../../support/worlds/payment-world.ts';

const visa = '4242424242424242';
/** The simulated bank declines it until a challenge is demanded. */
const wantsChallenge = { amount: 199_935, cart: undefined };
const leaseMs = 61_000;
const maxRounds = 12;

let world: PaymentWorld;
let bank: FaultyBank;
let node: CrashableNode;
beforeAll(async () => {
  world = await startPaymentWorld();
  bank = waylay(world.service.banks);
  node = mortalNode(world.service, ['change_payment', 'step_up_payment']);
});
afterAll(() => world.close());

/** Until the payment is final, whichever node dies on the way. */
async function live(mishaps: readonly Mishap[]): Promise<Paying> {
  const { service } = world;
  bank.happens('authorise', ...mishaps);
  const paying = await world.pay(visa, {}, wantsChallenge);
  let isDecided = false;
  for (let round = 0; round < maxRounds; round++) {
    await service.jobs.whenIdle();
    if (node.isDead) node.revive();
    const { status } = await world.payment(paying);
    if (status !== 'pending') return paying;
    const changes = await world.changes(paying);
    if (!isDecided && changes.some(({ changeType }) => changeType === 'PaymentInteractionRequested')) {
      isDecided = true;
      await world.authenticate(paying, 'confirm');
    }
    service.clock.advance(leaseMs);
    service.jobs.wake();
  }
  throw new Error(`the payment had not ended after ${maxRounds} rounds`);
}

async function endOf(paying: Paying) {
  const { id } = paying;
  const booked = (await world.book()).filter(({ operationId }) => operationId.startsWith(`${id}.`));
  const logged = await exchangesOf(world.service.database, id);
  return {
    status: (await world.payment(paying)).status,
    booked: booked.map(({ operationId }) => operationId.slice(id.length + 1)),
    logged: logged.map(({ operationId, state }) => `${operationId.slice(id.length + 1)} ${state}`).sort(),
  };
}

const goodEnd = { status: 'captured', booked: ['1.s'], logged: ['1.a declined', '1.s approved'] };

test.each<[what: string, mishaps: readonly Mishap[]]>([
  ['answers', []],
  ['loses its first answer', ['answer lost']],
  ['loses its second answer', [{ outcome: 'declined', network: 'visa', code: '1A' }, 'answer lost']],
])(
  'a node that dies at any step, at a bank that %s, leaves a payment that is paid once',
  async (_, mishaps) => {
    const tell = async (arm: () => void) => {
      arm();
      const end = await endOf(await live(mishaps));
      expect(end).toEqual(goodEnd);
      return end;
    };
    expect(await atEveryDeath(node, tell)).toContain('database step_up_payment');
  },
);

test('the report of the bank, the payments and the ledger agree afterwards', async () => {
  expect(await world.differences()).toEqual([]);
});
