// What the bank learns of the recipient of a payout, and when the money is on the card, as the bank says it.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { waylay, type FaultyBank } from '../../support/bank/faulty-bank.ts';
import { listeningBank } from '../../support/bank/heard-messages.ts';
import { startPayoutWorld, type PayoutWorld } from '../../support/worlds/payout-world.ts';

const visa = '4242424242424242';
const bank = listeningBank();
let world: PayoutWorld;
let wayward: FaultyBank;
beforeAll(async () => {
  world = await startPayoutWorld({}, undefined, { employ: bank.employ });
  wayward = waylay(world.service.banks);
});
afterAll(() => world.close());
beforeEach(() => void (bank.heard.length = 0));

async function destinationOf(sender?: object, more: Record<string, unknown> = {}): Promise<string> {
  const { identity } = await world.openWallet(world.merchant, { ...(sender ? { sender } : {}), ...more });
  return (await world.destinationFor(visa, world.merchant, identity)).id;
}

const query = (text: string) => world.service.database.withClient((client) => client.query(text));

async function paidOut(destination: string, meanwhile = () => Promise.resolve()) {
  const { body } = await world.withdraw(1_000, destination);
  await world.service.jobs.whenIdle();
  await meanwhile();
  for (let turn = 0; turn < 3; turn++) {
    world.service.clock.advance(61_000);
    world.service.jobs.wake();
    await world.service.jobs.whenIdle();
  }
  return (await world.get(`/wallet/v0/withdrawals/${body.id}`)).body;
}

test('the bank learns who receives a payout, and the same in a repeat after their identity has another name', async () => {
  const destination = await destinationOf({
    firstName: 'Пётр',
    lastName: 'Щукин',
    country: 'RUS',
    city: 'Тверь',
  });
  wayward.sent.length = 0;
  wayward.happens('payout', { outcome: 'notSent', why: 'busy', notDone: true });
  const renamed = async () =>
    void (await query(`update identity set sender = '{"firstName":"A","lastName":"B"}'`));
  expect(await paidOut(destination, renamed)).toMatchObject({ status: 'Succeeded' });
  const [first, repeat, ...others] = wayward.sent;
  expect(repeat).toEqual(first);
  expect(others).toEqual([]);
  expect(bank.ofKind('payout')).toMatchObject([
    { recipient: { firstName: 'Petr', lastName: 'Shchukin', country: 'RUS' } },
  ]);
  const { rows } = await query('select facts from event');
  for (const text of [JSON.stringify(rows), world.service.logged.join('')]) {
    expect(text).not.toContain('Shchukin');
    expect(text).not.toContain('Щукин');
  }
});

test.each([
  ['an identity that does not say who it is', undefined, {}],
  ['a company', { name: 'Tea Ltd' }, { class: 'company' }],
] as const)('the bank learns nothing of %s', async (_who, sender, more) => {
  const destination = await destinationOf(sender, more);
  bank.heard.length = 0;
  await paidOut(destination);
  const [payout] = bank.ofKind('payout');
  expect(payout).toBeDefined();
  expect(payout).not.toHaveProperty('recipient');
});

test('the merchant reads when the money is on the card', async () => {
  const destination = await destinationOf();
  const at = Date.parse(world.service.clock.now());
  const paid = await paidOut(destination);
  const by = Date.parse(paid.availableBy);
  expect(by).toBeGreaterThanOrEqual(at + 30 * 60_000);
  expect(by).toBeLessThan(at + 31 * 60_000);
  const { body } = await world.get(`/wallet/v0/withdrawals/${paid.id}/timeline`);
  expect(JSON.stringify(body)).toContain(`On the card by ${new Date(by).toISOString().slice(0, 19)}Z.`);
});
