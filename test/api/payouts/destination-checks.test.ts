// Card checks at a bank that has no result yet. A result never changes, so a new check needs a new ID; a pending check is
// queried until it has one.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { secret } from '../../support/worlds/payment-world.ts';
import { startPayoutWorld, type PayoutWorld } from '../../support/worlds/payout-world.ts';

const approved = { outcome: 'approved', reference: '900000000017' };
const issuerAway = { outcome: 'declined', network: 'visa', code: '91' };
const pending = { outcome: 'pending' };

/** The bank's response to a new check. */
let mood: object = approved;
const answers = new Map<string, object>();
/** How long the bank takes, on the clock of the service. */
let takesMs = 0;
/** The requests in order, each with its ID. */
let asked: string[] = [];
const bank = createServer((request, response) => {
  const id = request.url?.split('/').at(-1) ?? '';
  request.resume().on('end', () => {
    world.service.clock.advance(takesMs);
    asked.push(`${request.method} ${id}`);
    if (request.method === 'PUT' && !answers.has(id)) answers.set(id, mood);
    const known = answers.get(id);
    response.writeHead(known ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ operationId: id, ...(known ?? { outcome: 'notFound' }) }));
  });
});

let world: PayoutWorld;
beforeAll(async () => {
  world = await startPayoutWorld();
  await new Promise<void>((resolve) => bank.listen(0, '127.0.0.1', resolve));
  const { port } = bank.address() as AddressInfo;
  await world.service.banks.putBank({ id: 'BANK', url: `http://127.0.0.1:${port}`, secret });
});
afterAll(async () => {
  await world.close();
  bank.close();
});
beforeEach(() => {
  asked = [];
  takesMs = 0;
});

const destination = async (id: string) => (await world.get(`/wallet/v0/destinations/${id}`)).body;
async function pass(ms: number): Promise<void> {
  world.service.clock.advance(ms);
  world.service.jobs.wake();
  await world.service.jobs.whenIdle();
}
const stuck = async () => (await world.service.jobs.stuckJobs()).map(({ id, reason }) => ({ id, reason }));

test('after an outage of the issuer, an operator’s retry of the stuck job sends a new check', async () => {
  mood = issuerAway;
  const { id, status } = await world.destinationFor('4242424242424242');
  expect(status).toBe('Unauthorized');
  for (let turn = 0; turn < 20; turn++) await pass(600_000);
  expect(await stuck()).toEqual([{ id, reason: 'CardCheckPending: the check was inconclusive, code 91' }]);
  const sent = asked.filter((line) => line.startsWith('PUT'));
  expect(sent).toHaveLength(15);
  expect(new Set(sent).size).toBe(15);

  mood = approved;
  expect(await world.service.jobs.retry('destination', id)).toBe(true);
  world.service.jobs.wake();
  await world.service.jobs.whenIdle();
  expect(await destination(id)).toMatchObject({ status: 'Authorized' });
  expect(await stuck()).toEqual([]);
  const { body: events } = await world.get(`/wallet/v0/destinations/${id}/events?limit=100`);
  expect(events.map(({ changes }: any) => changes)).toEqual([
    [{ type: 'DestinationStatusChanged', status: 'Unauthorized' }],
    ...Array.from({ length: 15 }, () => []),
    [{ type: 'DestinationStatusChanged', status: 'Authorized' }],
  ]);
});

test('a pending check is queried and not sent again until the bank has a result', async () => {
  mood = pending;
  const { id } = await world.destinationFor('4242424242424242');
  await pass(1_000);
  await pass(2_000);
  expect(await destination(id)).toMatchObject({ status: 'Unauthorized' });
  const [first = ''] = asked;
  const checkId = first.split(' ')[1] ?? '';
  expect(asked).toEqual([`PUT ${checkId}`, `GET ${checkId}`, `GET ${checkId}`]);

  // The callback comes before the next query is due.
  answers.set(checkId, approved);
  await world.callback(checkId);
  expect(await destination(id)).toMatchObject({ status: 'Authorized' });
});

test('a check that ends inconclusive is followed by another one', async () => {
  mood = pending;
  const { id } = await world.destinationFor('4242424242424242');
  const checkId = asked[0]?.split(' ')[1] ?? '';
  answers.set(checkId, issuerAway);
  mood = approved;
  await pass(1_000);
  expect(await destination(id)).toMatchObject({ status: 'Unauthorized' });
  await pass(2_000);
  expect(await destination(id)).toMatchObject({ status: 'Authorized' });
});

test('the result of a slow check has the time at which it arrived', async () => {
  mood = approved;
  takesMs = 3_000;
  const { id, createdAt } = await world.destinationFor('4242424242424242');
  const { body: events } = await world.get(`/wallet/v0/destinations/${id}/events?limit=100`);
  expect(Date.parse(events.at(-1).occuredAt) - Date.parse(createdAt)).toBe(3_000);
});
