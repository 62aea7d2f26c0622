// Many payouts under lost messages, late outcomes, duplicate callbacks and killed nodes: the ledger balances, and none
// is doubled or sent on a guess. PAYOUTS sets their least number (400), PAYOUTS_SEED the seed (1, or SEED).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countUnbalancedAccounts } from '../../../src/platform/ledger/check-ledger.ts';
import { seededRandom } from '../../../src/sandbox/bank/random.ts';
import { often } from '../../support/service/campaign.ts';
import { chosenSeed } from '../../support/service/chosen-seed.ts';
import { brokenInvariants } from '../../support/database/ledger.ts';
import { openFuse, startNode, type Fuse, type Node } from '../../support/service/nodes.ts';
import { startPayoutWorld, type PayoutWorld } from '../../support/worlds/payout-world.ts';
import type { Answer } from '../../support/service/test-service.ts';

const usualPayouts = often(150, 400);
const payouts = Number(process.env['PAYOUTS'] ?? usualPayouts);
const seed = chosenSeed('PAYOUTS_SEED');
const random = seededRandom(seed);
const oneOf = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)]!;
const hourMs = 3_600_000;

const clients = 16;
/** Payouts continue until so many nodes have died, which takes about 290. Reaching the limit is a failure. */
const leastKills = 12;
const mostPayouts = payouts + 300;
/** On average. */
const momentsOfLife = 10;
const finishesLate = 199_915;
const neverFinishes = 199_916;
const isAccepted = '4242424242424242';
const isDeclined = '4111110000000112';

let world: PayoutWorld;
let lasting: Node;
let mortal: { readonly node: Node; readonly fuse: Fuse };
const burials: Promise<void>[] = [];
const played = new Map<string, number>();
/** What happened to each request for a payout, by its amount. */
const arrivals = new Map<number, string[]>();
const deaths = new Map<string, number>();
const count = (of: Map<string, number>, what: string) => of.set(what, (of.get(what) ?? 0) + 1);

beforeAll(async () => {
  world = await startPayoutWorld();
  lasting = await startListening();
  mortal = await startMortal();
});
afterAll(async () => {
  mortal.fuse.set(0);
  await Promise.all([...burials, lasting.stop(), mortal.node.stop()]);
  await world.close();
});

/** A node that receives the bank's callbacks. */
async function startListening(fuse?: Fuse): Promise<Node> {
  let address = '';
  const node = await startNode(world.service, { publicUrl: () => address, ...(fuse ? { fuse } : {}) });
  address = await node.app.listen({ port: 0 });
  return node;
}

async function startMortal(): Promise<typeof mortal> {
  const fuse = openFuse();
  const node = await startListening(fuse);
  fuse.set(1 + Math.floor(random() * 2 * momentsOfLife));
  return { node, fuse };
}

let replacing: Promise<void> | undefined;

/** Replaces a node that has died, without waiting until it has stopped. */
async function replaceTheDead(): Promise<void> {
  const { node, fuse } = mortal;
  const diedAt = fuse.blownAt();
  if (diedAt === undefined) return;
  replacing ??= (async () => {
    count(deaths, diedAt);
    mortal = await startMortal();
    burials.push(node.stop());
    replacing = undefined;
  })();
  await replacing;
}

/** Moves the clock and runs all jobs that are due, on both nodes concurrently. */
async function pass(ms: number): Promise<void> {
  world.service.clock.advance(ms);
  const nodes = [lasting, mortal.node];
  for (const node of nodes) node.jobs.wake();
  await Promise.all(nodes.map((node) => node.jobs.whenIdle()));
  await replaceTheDead();
}

async function expectBalanced(): Promise<void> {
  expect(await countUnbalancedAccounts(world.service.database)).toBe(0);
}

const read = async (id: string) => (await world.get(`/wallet/v0/withdrawals/${id}`)).body;

/** Like a merchant, repeats the request at either node until there is a response. */
async function withdraw(body: object): Promise<Answer> {
  for (;;) {
    const node = oneOf([lasting, mortal.node]);
    const url = '/wallet/v0/withdrawals';
    const answer = await node.call('POST', url, { token: world.merchant.apiKey, body });
    if (answer.status < 500) return answer;
    count(played, 'no answer from a node');
    await replaceTheDead();
  }
}

function orderFaults(): void {
  const { faults } = world.bank;
  for (const [kind, rate, operationKind] of [
    ['reset-after-booking', 0.06, 'payout'],
    ['error-after-booking', 0.04, 'payout'],
    ['garbage-after-booking', 0.03, 'payout'],
    ['reset-before-booking', 0.04, 'payout'],
    ['error-before-booking', 0.03, 'payout'],
    ['not-done', 0.03, 'payout'],
    ['reset-after-booking', 0.1, 'inquire'],
    ['error-before-booking', 0.05, 'inquire'],
    ['duplicate-callback', 1, undefined],
  ] as const) {
    expect(faults.order({ kind, rate, ...(operationKind ? { operationKind } : {}) })).toBe(true);
  }
  const { ofRequest, ofCallback } = faults;
  const counted = <Kind extends string>(kind: Kind | undefined): Kind | undefined => {
    if (kind !== undefined) count(played, kind);
    return kind;
  };
  faults.ofRequest = (concerned, message) => {
    const fault = counted(ofRequest(concerned, message));
    if (message?.kind === 'payout')
      arrivals.set(message.amount, [...(arrivals.get(message.amount) ?? []), fault ?? 'no fault']);
    return fault;
  };
  faults.ofCallback = () => counted(ofCallback());
}

type Wanted = { readonly amount: number; readonly destination: string };

/** Each story is there by its number, and each other payout has an amount of its own. A declined card would end the special amounts at once. */
function wantedOf(number: number, destinations: ReadonlyMap<string, string>): Wanted {
  const to = (card: string, amount: number) => ({ amount, destination: destinations.get(card)! });
  if (number % 50 === 7) return to(isAccepted, finishesLate);
  if (number % 97 === 11) return to(isAccepted, neverFinishes);
  const amount = 1_000 + number;
  return number % 50 === 13 ? to(isDeclined, amount) : to(oneOf([...destinations.keys()]), amount);
}

const kills = () => [...deaths.values()].reduce((sum, times) => sum + times, 0);

test(
  `${payouts} payouts or more under faults and kills are neither lost nor doubled (PAYOUTS_SEED=${seed})`,
  { timeout: 600_000 + mostPayouts * 100 },
  async () => {
    const { wallet, identity } = await world.openWallet(world.merchant);
    const cards = [isAccepted, '5555555555554444', '2201382000000013', isDeclined];
    const destinations = new Map<string, string>();
    for (const number of cards) {
      destinations.set(number, (await world.destinationFor(number, world.merchant, identity)).id);
    }
    const opening = (await world.account(wallet)).own;
    orderFaults();

    const made = new Map<string, number>();
    let next = 0;
    const client = async () => {
      while (next < payouts || (kills() < leastKills && next < mostPayouts)) {
        const number = next++;
        const { amount, destination } = wantedOf(number, destinations);
        const body = {
          wallet,
          destination,
          body: { amount, currency: 'RUB' },
          externalID: `payout-${number}`,
        };
        // A client repeats a request that got no response, and sometimes sends it twice concurrently.
        const times = random() < 0.1 ? 2 : 1;
        const answers = await Promise.all(Array.from({ length: times }, () => withdraw(body)));
        const ids = new Set(answers.map(({ body: answer }) => answer.id));
        expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
        expect(ids.size).toBe(1);
        for (const id of ids) made.set(id, amount);
        await expectBalanced();
        if (random() < 0.05) await pass(500);
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
    await pass(0);
    expect(kills(), `kills during ${next} payouts`).toBeGreaterThanOrEqual(leastKills);
    expect(made.size).toBe(next);
    expect(await brokenInvariants(world.service.database)).toEqual([]);

    for (let elapsedMs = 1_000; elapsedMs < hourMs; elapsedMs *= 2) {
      await pass(elapsedMs);
      await expectBalanced();
    }
    for (let hours = 0; hours < 26; hours++) await pass(hourMs);
    const stuck = new Set((await world.service.jobs.stuckJobs()).map(({ id }) => id));

    const booked = new Map<string, number[]>();
    for (const { operationId, amount } of await world.book()) {
      booked.set(operationId, [...(booked.get(operationId) ?? []), amount]);
    }
    const sums = { succeeded: 0, failed: 0, pending: 0 };
    const stories = new Map<string, number>();
    for (const [id, amount] of made) {
      const { status } = await read(id);
      count(stories, status);
      const isPaid = status === 'Succeeded';
      expect({ id, booked: booked.get(`${id}.p`) ?? [] }).toEqual({ id, booked: isPaid ? [amount] : [] });
      if (isPaid) sums.succeeded += amount;
      else if (status === 'Failed') sums.failed += amount;
      else {
        sums.pending += amount;
        expect({ id, isStuck: stuck.has(id) }).toEqual({ id, isStuck: true });
        // These share their amounts.
        if (amount === neverFinishes || amount === finishesLate) continue;
        // Its request was lost, or its node died: before the request left, or before it wrote the proof that it was not done.
        count(stories, 'held back');
        expect([undefined, 'not-done', 'reset-before-booking', 'error-before-booking']).toContain(
          arrivals.get(amount)?.at(-1),
        );
      }
    }
    const own = [...arrivals].filter(([amount]) => amount !== finishesLate && amount !== neverFinishes);
    const again = own.filter(([, faults]) => faults.slice(0, -1).some((fault) => fault !== 'not-done'));
    expect(again, 'sent again although it may have been done').toEqual([]);
    expect(own.filter(([, faults]) => faults.length > 1).length, 'sent again after a proof').toBeGreaterThan(
      0,
    );
    expect(await world.account(wallet)).toEqual({
      own: opening - sums.succeeded,
      available: opening - sums.succeeded - sums.pending,
    });
    if (payouts !== usualPayouts) {
      console.log(`seed ${seed}, ${next} payouts:`, Object.fromEntries(stories), Object.fromEntries(played));
      console.log('deaths:', Object.fromEntries(deaths));
    }
    expect([...stories.keys()].sort()).toEqual(['Failed', 'Pending', 'Succeeded', 'held back']);
    expect(played.get('duplicate-callback')).toBeGreaterThan(0);
    expect(await world.differences()).toEqual([]);
  },
);
