// Kills a node before and after each message while a payout goes to the next bank, because the first has certainly done nothing. However
// it ends, one bank at most has paid, and what a dead node may have sent is sent nowhere again.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SimulatedBank } from '../../../src/sandbox/bank/simulated-bank.ts';
import { openSimulatedBank } from '../../../src/sandbox/bank/simulated-bank.ts';
import { waylay, type FaultyBank } from '../../support/bank/faulty-bank.ts';
import { brokenInvariants } from '../../support/database/ledger.ts';
import { mortalNode, type CrashableNode } from '../../support/service/crashable-node.ts';
import { atEveryDeath } from '../../support/service/every-death.ts';
import { secret } from '../../support/worlds/payment-world.ts';
import { startPayoutWorld, type PayoutWorld } from '../../support/worlds/payout-world.ts';
import { epochMsOf } from '../../../src/clock.ts';
import { bankClientAt } from '../../support/bank/simulated-bank.ts';

const leaseMs = 61_000;
const rounds = 5;
const amount = 1_000;
const statements = [
  'claim_send_of_withdrawal',
  'move_withdrawal',
  'give_back_send_of_withdrawal',
  'end_withdrawal',
];

let world: PayoutWorld;
let second: SimulatedBank;
let bank: FaultyBank;
let node: CrashableNode;
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
  node = mortalNode(service, statements);
});
afterAll(async () => {
  await world.close();
  await second.stop();
});

const query = async (text: string, values: unknown[]): Promise<any[]> =>
  (await world.service.testDatabase.database.withClient((client) => client.query(text, values))).rows;

/** What both banks have paid out. */
async function paidOut(id: string): Promise<string[]> {
  const nowMs = () => epochMsOf(world.service.clock.now());
  const books = { first: await world.book(), second: await bankClientAt(second.url, secret, nowMs).book() };
  return Object.entries(books).flatMap(([name, book]) =>
    book.flatMap(({ operationId }) => (operationId === `${id}.p` ? [name] : [])),
  );
}

async function rowOf(id: string): Promise<{ status: string; bank: string; mayHaveBeenSent: boolean }> {
  const [row] = await query(
    `select status, terms -> 'route' ->> 'bankId' as bank, not is_unsent as "mayHaveBeenSent" from withdrawal
     where withdrawal_id = $1`,
    [id],
  );
  return row;
}

/** The first bank does nothing of the first send, and says so; then it works again. */
async function live(answersLost: boolean, arm: () => void) {
  const before = await world.account();
  const sentBefore = bank.sent.length;
  bank.happens(
    'payout',
    { outcome: 'notSent', why: 'busy', notDone: true },
    ...(answersLost ? (['answer lost'] as const) : []),
  );
  arm();
  const { id } = (await world.withdraw(amount, destination)).body;
  for (let round = 0; round < rounds; round++) {
    await world.service.jobs.whenIdle();
    if (node.isDead) node.revive();
    world.service.clock.advance(leaseMs);
    world.service.jobs.wake();
  }
  await world.service.jobs.whenIdle();
  node.revive();
  bank.happens('payout');
  const { status, bank: at, mayHaveBeenSent } = await rowOf(id);
  const { own, available } = await world.account();
  const sentTo = bank.sent.slice(sentBefore).map(({ terminal }) => terminal.bankId);
  // An operator has it: no node asks about it during the next story.
  await query(`update withdrawal set wake_at = null where withdrawal_id = $1`, [id]);
  return {
    status,
    at,
    mayHaveBeenSent,
    paidOut: await paidOut(id),
    paid: before.own - own,
    reserved: before.available - available,
    sentTo,
  };
}

type End = Awaited<ReturnType<typeof live>>;

/** A payout that was sent, but is not at the bank, waits for an operator, with its money reserved. */
function isRight({ status, at, mayHaveBeenSent, paidOut: by, paid, reserved, sentTo }: End): boolean {
  if (by.length > 1 || sentTo.length > 2 || reserved !== amount) return false;
  if (status === 'succeeded') return paid === amount && by[0] === (at === 'BANK' ? 'first' : 'second');
  return status === 'sending' && mayHaveBeenSent && paid === 0 && by.length === 0;
}

test.each([false, true])(
  'a payout is paid once or waits, wherever the node dies; the answer of the second bank is lost: %s',
  async (answersLost) => {
    const ends: Record<string, string> = {};
    let undisturbed: End | undefined;
    const tell = async (arm: () => void) => {
      const end = await live(answersLost, arm);
      undisturbed ??= end;
      return end;
    };
    await atEveryDeath(node, tell, (end, where) => {
      expect({ where, end, isRight: isRight(end) }).toEqual({ where, end, isRight: true });
      ends[where.replace(/ \d+:/, '')] ??= `${end.status} at ${end.at}`;
    });
    expect(undisturbed).toEqual({
      status: 'succeeded',
      at: 'SECOND',
      mayHaveBeenSent: true,
      paidOut: ['second'],
      paid: amount,
      reserved: amount,
      sentTo: ['BANK', 'SECOND'],
    });
    // What a dead node may have sent waits where it may have arrived.
    expect(ends).toMatchObject({
      'before database claim_send_of_withdrawal': 'succeeded at BANK',
      'after database claim_send_of_withdrawal': 'sending at BANK',
      'before database move_withdrawal': 'sending at BANK',
      'after database move_withdrawal': 'sending at SECOND',
      'after bank payout': 'sending at BANK',
    });
    expect(await brokenInvariants(world.service.database)).toEqual([]);
  },
);
