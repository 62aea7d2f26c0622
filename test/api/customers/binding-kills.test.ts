// Kills a node before and after each call a binding makes to the database and the bank, under every kind of response. Another
// node must reach the same end: the payer has the money back, and the customer is ready only with a card.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { often } from '../../support/service/campaign.ts';
import {
  customersUrl,
  startCustomerWorld,
  type CustomerWorld,
  type MadeBinding,
  type MadeCustomer,
} from '../../support/worlds/customer-world.ts';
import { mortalNode, type CrashableNode } from '../../support/service/crashable-node.ts';
import { waylay, type Mishap, type FaultyBank } from '../../support/bank/faulty-bank.ts';

const good = '4242424242424242';
const challenging = '4012888888881881';
const leaseMs = 61_000;
const maxRounds = 60;
const maxPlaces = 16;

const statements = [
  'read_binding',
  'change_binding',
  'reschedule_binding',
  'take_card_and_security_code',
] as const;
type Kind = 'authorise' | 'inquire' | 'reverse' | 'refund';

type Story = {
  readonly card: string;
  readonly mishaps?: Partial<Record<Kind, readonly Mishap[]>>;
  /** What the payer does in the challenge. Without it, nothing. */
  readonly payer?: 'confirm' | 'refuse' | 'cancel';
  /** The merchant deletes the customer once the binding is requested. */
  readonly deleted?: true;
  readonly ends: 'succeeded' | 'failed';
};
const no: Mishap = { outcome: 'declined', network: 'bank', code: '12' };
const notYet: Mishap = { outcome: 'pending' };

const stories: Record<string, Story> = {
  'an approval': { card: good, ends: 'succeeded' },
  'a decline': { card: '4000000000000002', ends: 'failed' },
  'a failed authentication': { card: '4987654321098769', ends: 'failed' },
  'a lost approval': { card: good, mishaps: { authorise: ['answer lost'] }, ends: 'succeeded' },
  'a lost charge': { card: good, mishaps: { authorise: ['message lost'] }, ends: 'succeeded' },
  'a charge that was not sent': { card: good, mishaps: { authorise: ['not sent'] }, ends: 'succeeded' },
  'a slow charge': {
    card: good,
    mishaps: { authorise: ['answer lost', 'answer lost'], inquire: [notYet] },
    ends: 'succeeded',
  },
  'a charge of unknown outcome for an hour': {
    card: good,
    mishaps: { authorise: ['answer lost'], inquire: Array<Mishap>(60).fill('message lost') },
    ends: 'failed',
  },
  'a challenge that is passed': { card: challenging, payer: 'confirm', ends: 'succeeded' },
  'a challenge that is failed': { card: challenging, payer: 'refuse', ends: 'failed' },
  'a challenge that is cancelled': { card: challenging, payer: 'cancel', ends: 'failed' },
  'a challenge the payer ignores': { card: challenging, ends: 'failed' },
  'a lost reversal': { card: good, mishaps: { reverse: ['message lost'] }, ends: 'succeeded' },
  'a reversal whose response is lost': {
    card: good,
    mishaps: { reverse: ['answer lost'] },
    ends: 'succeeded',
  },
  'a reversal that is declined': { card: good, mishaps: { reverse: [no, no] }, ends: 'succeeded' },
  'a refund whose response is lost': {
    card: good,
    mishaps: { reverse: [no, no], refund: ['answer lost', notYet] },
    ends: 'succeeded',
  },
  'a refund that is declined at first': {
    card: good,
    mishaps: { reverse: [no, no], refund: [no] },
    ends: 'succeeded',
  },
  'a customer who is deleted': { card: challenging, payer: 'confirm', deleted: true, ends: 'failed' },
};

let world: CustomerWorld;
let bank: FaultyBank;
let node: CrashableNode;
beforeAll(async () => {
  world = await startCustomerWorld();
  bank = waylay(world.service.banks);
  node = mortalNode(world.service, statements);
});
afterAll(() => world.close());

/** Runs a story until the binding has ended, whichever node dies on the way. Returns its final status. */
async function live({ card, mishaps = {}, payer, deleted }: Story, customer: MadeCustomer): Promise<string> {
  for (const kind of ['authorise', 'inquire', 'reverse', 'refund'] as const)
    bank.happens(kind, ...(mishaps[kind] ?? []));
  const made = await world.bind(customer, card);
  let decided = payer === undefined;
  let isDeleted = !deleted;
  for (let round = 0; round < maxRounds; round++) {
    await world.service.jobs.whenIdle();
    if (!isDeleted && !node.isDead) {
      const url = `${customersUrl}/${customer.id}`;
      isDeleted = (await world.service.call('DELETE', url, { token: world.merchant.apiKey })).status === 204;
      await world.service.jobs.whenIdle();
    }
    if (node.isDead) node.revive();
    const row = (await world.row(customer, made.bindingId)) as { binding: string };
    if (['succeeded', 'failed'].includes(row.binding)) return row.binding;
    const asked = decided || deleted ? undefined : await requestOf(made);
    if (asked && payer) {
      decided = true;
      await world.decideAtIssuer(asked.userInteraction.request, payer);
      await world.callback(`${made.id}.${made.bindingId}.charge`);
    }
    await world.later(leaseMs);
  }
  throw new Error(`the binding had not ended after ${maxRounds} rounds`);
}

async function requestOf(made: MadeBinding): Promise<any> {
  const changes = await world.customerChanges(made);
  return changes.find(({ changeType }) => changeType === 'CustomerBindingInteractionRequested');
}

/** How the binding ended, whether the customer has a card, and which refunds are still pending. */
async function endOf(story: Story, customer: MadeCustomer) {
  const ended = await live(story, customer).catch((error: unknown) => String(error));
  node.revive();
  const status = story.deleted ? 'deleted' : (await world.customer(customer)).status;
  return { ended, status, ...(await world.bindingClearing('RUB')) };
}

const goodEnd = ({ ends, deleted }: Story) => ({
  ended: ends,
  status: deleted ? 'deleted' : ends === 'succeeded' ? 'ready' : 'unready',
  own: 0,
  returning: 0,
});

/** Death after one call is nearly death before the next, so short runs take one of the two in turn. */
function moments(index: number): readonly ('before' | 'after')[] {
  const turns = ['before', 'after'] as const;
  return turns.slice(0, often(1, 2)).map((_, n) => turns[(index + n) % 2]!);
}

test.each(Object.entries(stories))(
  'a node that dies at any step of %s leaves a binding that another node brings to the same end',
  { timeout: 180_000 },
  async (_, story) => {
    node.said.length = 0;
    expect(await endOf(story, await world.createCustomer())).toEqual(goodEnd(story));
    // During hours without a response, all calls are alike.
    const said = node.said.slice(0, maxPlaces);
    expect(said.length).toBeGreaterThanOrEqual(3);
    for (const [index, what] of said.entries()) {
      for (const when of moments(index)) {
        const customer = await world.createCustomer();
        node.dieAt(index + 1, when);
        const end = await endOf(story, customer);
        const where = `${when} ${index + 1}: ${what}`;
        expect({ where, ...end }).toEqual({ where, ...goodEnd(story) });
      }
    }
    expect(await world.differences()).toEqual([]);
    expect(await world.metric('mandate_verification_refunds_pending')).toBe(0);
  },
);

test('a killed node changes nothing more, and its lease expires', async () => {
  const customer = await world.createCustomer();
  bank.asked.length = 0;
  node.dieAt(2, 'after');
  const made = await world.bind(customer, good);
  await world.service.jobs.whenIdle();
  expect(node.isDead).toBe(true);
  expect(node.said.slice(-2)).toEqual(['bank authorise', 'database take_card_and_security_code']);
  expect(bank.asked).toEqual(['authorise']);
  node.revive();
  expect(await world.row(customer, made.bindingId)).toMatchObject({ binding: 'authorising' });
  await world.later(1_000);
  expect(await world.row(customer, made.bindingId)).toMatchObject({ binding: 'authorising' });
  await world.later(leaseMs);
  expect(await world.row(customer, made.bindingId)).toMatchObject({ binding: 'succeeded' });
});

test('no other node can claim a binding while its charge is refunded', async () => {
  const due: unknown[] = [];
  const lookAround = async () => {
    const { database, clock } = world.service;
    const { rows } = await database.withClient((client) =>
      client.query('select status from binding where wake_at <= $1', [clock.now()]),
    );
    due.push(...rows);
  };
  bank.happens('reverse', no);
  bank.meanwhile('reverse', lookAround);
  bank.meanwhile('refund', lookAround);
  bank.asked.length = 0;
  const customer = await world.createCustomer();
  const made = await world.bind(customer, good);
  await world.service.jobs.whenIdle();
  expect(await world.row(customer, made.bindingId)).toMatchObject({ binding: 'succeeded' });
  expect(bank.asked).toEqual(['authorise', 'reverse', 'refund']);
  expect(due).toEqual([]);
});
