// A payout that the card's bank sends back: the bank calls, is asked, and the money is on the wallet again, once.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { brokenInvariants } from '../../support/database/ledger.ts';
import { startPayoutWorld, type PayoutWorld } from '../../support/worlds/payout-world.ts';

let world: PayoutWorld;
beforeAll(async () => void (world = await startPayoutWorld()));
afterAll(() => world.close());

const comesBack = 99_928;
const read = async (id: string) => (await world.get(`/wallet/v0/withdrawals/${id}`)).body;
const eventsOf = async (id: string) => (await world.get(`/wallet/v0/withdrawals/${id}/events?limit=9`)).body;

test('a return that the bank reports is recorded once, with an event and its money', async () => {
  const { service } = world;
  const { id: destination } = await world.destinationFor('4242424242424242');
  const before = await world.account();
  const { id } = (await world.withdraw(comesBack, destination)).body;
  await service.jobs.whenIdle();
  expect(await read(id)).toMatchObject({ status: 'Succeeded' });
  expect((await world.account()).own).toBe(before.own - comesBack);

  // A call before the money is back changes nothing.
  await world.callback(`${id}.p`);
  await service.jobs.whenIdle();
  expect(await read(id)).not.toHaveProperty('returned');

  service.clock.advance(2 * 60_000);
  const statuses = await Promise.all([world.callback(`${id}.p`), world.callback(`${id}.p`)]);
  expect(statuses.sort()).toEqual([204, 429]);
  await service.jobs.whenIdle();
  const returned = {
    at: expect.any(String),
    code: 'account_closed',
    amount: { amount: comesBack, currency: 'RUB' },
  };
  expect(await read(id)).toMatchObject({ status: 'Succeeded', returned });
  expect((await eventsOf(id)).map(({ changes }: any) => changes)).toEqual([
    [{ type: 'WithdrawalStatusChanged', status: 'Pending' }],
    [{ type: 'WithdrawalStatusChanged', status: 'Succeeded' }],
    [{ type: 'WithdrawalReturned', status: 'Succeeded', returned }],
  ]);
  expect(await world.account()).toEqual(before);
  service.clock.advance(60_000);
  expect(await world.callback(`${id}.p`)).toBe(204);
  await service.jobs.whenIdle();
  expect(await world.account()).toEqual(before);
  expect((await world.book()).filter(({ operationId }) => operationId.startsWith(id))).toMatchObject([
    { kind: 'payout', sign: -1 },
    { kind: 'return', sign: 1, operationId: `${id}.p.returned`, originalOperationId: `${id}.p` },
  ]);
  expect(await brokenInvariants(service.database)).toEqual([]);
});

test('a bank that does not answer about a return is asked again', async () => {
  const { service } = world;
  const { id: destination } = await world.destinationFor('5555555555554444');
  const { id } = (await world.withdraw(comesBack, destination)).body;
  await service.jobs.whenIdle();
  service.clock.advance(2 * 60_000);
  world.bank.faults.order({ kind: 'error-before-booking', next: 1, operationKind: 'inquire' });
  await world.callback(`${id}.p`);
  await service.jobs.whenIdle();
  expect(await read(id)).not.toHaveProperty('returned');
  service.clock.advance(60 * 60_000);
  service.jobs.wake();
  await service.jobs.whenIdle();
  expect(await read(id)).toHaveProperty('returned');
});

test('a return that comes with a late outcome is not lost when the node stops between the two writes', async () => {
  const { service } = world;
  const { id: destination } = await world.destinationFor('2201382000000013');
  world.bank.faults.order({ kind: 'error-after-booking', next: 1, operationKind: 'payout' });
  const { id } = (await world.withdraw(comesBack, destination)).body;
  await service.jobs.whenIdle();
  expect(await read(id)).toMatchObject({ status: 'Pending' });
  const sql = (text: string) => service.testDatabase.database.withClient((client) => client.query(text));
  await sql(`create function no_returns() returns trigger language plpgsql as $$ begin
    if new.result -> 'returned' is not null then raise exception 'the node stops'; end if; return new; end $$;
    create trigger no_returns before update on withdrawal for each row execute function no_returns()`);
  service.clock.advance(2 * 60_000);
  service.jobs.wake();
  await service.jobs.whenIdle();
  expect(await read(id)).toMatchObject({ status: 'Succeeded' });
  await sql('drop trigger no_returns on withdrawal; drop function no_returns');
  service.clock.advance(60 * 60_000);
  service.jobs.wake();
  await service.jobs.whenIdle();
  expect(await read(id)).toHaveProperty('returned');
  expect(await brokenInvariants(service.database)).toEqual([]);
});
