// The whole flow from an identity to money on a card, over the API with the simulated bank.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { card, startPayoutWorld, type PayoutWorld } from '../../support/worlds/payout-world.ts';
import { startReceiver } from '../../support/receivers/receiver.ts';

let world: PayoutWorld;
beforeAll(async () => void (world = await startPayoutWorld()));
afterAll(() => world.close());

const opening = 100_000_000;
const declined = (...path: string[]) => nested(['authorization_failed', ...path]);
function nested([code, ...inner]: string[]): any {
  return inner.length === 0 ? { code } : { code, subError: nested(inner) };
}

test('an identity, a wallet, a card and a destination lead to a withdrawal that succeeds', async () => {
  const { service, post, get } = world;
  const identity = await post('/wallet/v0/identities', {
    name: 'Keyn Fawkes',
    provider: 'test',
    class: 'person',
  });
  expect(identity.status).toBe(201);
  expect(identity.body).toEqual({
    id: expect.stringMatching(/^\w{23}$/),
    name: 'Keyn Fawkes',
    provider: 'test',
    class: 'person',
    level: 'anonymous',
    isBlocked: false,
    createdAt: '2026-01-19T10:00:00.123000Z',
  });
  const { id: identityId } = identity.body;
  expect(identity.headers['location']).toBe(`http://127.0.0.1:8080/wallet/v0/identities/${identityId}`);
  expect((await get(`/wallet/v0/identities/${identityId}`)).body).toEqual(identity.body);

  const wallet = await post('/wallet/v0/wallets', {
    name: 'Worldwide',
    identity: identityId,
    currency: 'RUB',
  });
  expect(wallet.status).toBe(201);
  expect(wallet.body).toEqual({
    id: expect.stringMatching(/^\w{23}$/),
    name: 'Worldwide',
    identity: identityId,
    currency: 'RUB',
    isBlocked: false,
    createdAt: '2026-01-19T10:00:00.123000Z',
  });
  const { id: walletId } = wallet.body;
  expect(wallet.headers['location']).toBe(`http://127.0.0.1:8080/wallet/v0/wallets/${walletId}`);
  expect(await world.account(walletId)).toEqual({ own: opening, available: opening });

  const stored = await post('/payres/v0/bank-cards', card('4242424242424242'));
  expect(stored.status).toBe(201);
  expect(stored.body).toEqual({
    token: expect.stringMatching(/^r1\.\w{23}$/),
    authData: expect.stringMatching(/^s1\.\w{23}$/),
    bin: '424242',
    lastDigits: '4242',
    paymentSystem: 'visa',
    validUntil: '2026-01-19T11:00:00.123000Z',
  });
  const { token, authData: _, ...shown } = stored.body;
  expect((await get(`/payres/v0/bank-cards/${token}`)).body).toEqual({ token, ...shown });

  const destination = await post('/wallet/v0/destinations', {
    name: 'My card',
    identity: identityId,
    currency: 'RUB',
    resource: { type: 'BankCardDestinationResource', token },
    metadata: { display_name: 'Card of Keyn' },
  });
  expect(destination.status).toBe(201);
  expect(destination.body).toEqual({
    id: expect.stringMatching(/^\w{23}$/),
    name: 'My card',
    identity: identityId,
    currency: 'RUB',
    createdAt: '2026-01-19T10:00:00.123000Z',
    isBlocked: false,
    metadata: { display_name: 'Card of Keyn' },
    status: 'Unauthorized',
    resource: {
      type: 'BankCardDestinationResource',
      token: expect.any(String),
      bin: '424242',
      lastDigits: '4242',
      paymentSystem: 'visa',
    },
  });
  const { id: destinationId } = destination.body;
  expect(destination.headers['location']).toContain(`/wallet/v0/destinations/${destinationId}`);
  await service.jobs.whenIdle();
  expect((await get(`/wallet/v0/destinations/${destinationId}`)).body).toEqual({
    ...destination.body,
    status: 'Authorized',
  });

  const withdrawal = await post('/wallet/v0/withdrawals', {
    wallet: walletId,
    destination: destinationId,
    body: { amount: 100_000, currency: 'RUB' },
  });
  expect(withdrawal.status).toBe(202);
  expect(withdrawal.body).toEqual({
    id: expect.stringMatching(/^\w{23}$/),
    wallet: walletId,
    destination: destinationId,
    body: { amount: 100_000, currency: 'RUB' },
    createdAt: '2026-01-19T10:00:00.123000Z',
    status: 'Pending',
  });
  const { id } = withdrawal.body;
  expect(withdrawal.headers['location']).toContain(`/wallet/v0/withdrawals/${id}`);
  await service.jobs.whenIdle();
  const path = `/wallet/v0/withdrawals/${id}`;
  expect((await get(path)).body).toEqual({
    ...withdrawal.body,
    status: 'Succeeded',
    availableBy: '2026-01-19T10:30:00.123000Z',
  });
  expect(await world.account(walletId)).toEqual({ own: opening - 100_000, available: opening - 100_000 });

  const events = (await get(`${path}/events?limit=10`)).body;
  expect(events).toEqual([
    {
      eventID: 1,
      occuredAt: '2026-01-19T10:00:00.123000Z',
      changes: [{ type: 'WithdrawalStatusChanged', status: 'Pending' }],
    },
    {
      eventID: 2,
      occuredAt: '2026-01-19T10:00:00.123000Z',
      changes: [{ type: 'WithdrawalStatusChanged', status: 'Succeeded' }],
    },
  ]);
  expect((await get(`${path}/events?limit=10&eventCursor=1`)).body).toEqual([events[1]]);
  expect((await get(`${path}/events?limit=1`)).body).toEqual([events[0]]);
  expect((await get(`${path}/events/2`)).body).toEqual(events[1]);
  expect((await get(`${path}/events/3`)).status).toBe(404);
  expect((await get(`/wallet/v0/destinations/${destinationId}/events?limit=10`)).body).toMatchObject([
    { eventID: 1, changes: [{ type: 'DestinationStatusChanged', status: 'Unauthorized' }] },
    { eventID: 2, changes: [{ type: 'DestinationStatusChanged', status: 'Authorized' }] },
  ]);
});

const bankCodes: Readonly<Record<string, string>> = {
  '4000000000000002': '51',
  '5100000000000412': '51',
  '4222222222222220': '56',
  '5100000000000511': '56',
  '4000000000000069': '54',
  '5105105105105100': '54',
  '4111110000000112': 'Z9',
  '5124990000000002': 'Z9',
};

describe('the payout test card', () => {
  test.each([
    ['4242424242424242', undefined],
    ['5555555555554444', undefined],
    ['586824160825533338', undefined],
    ['2201382000000013', undefined],
    ['4111111111111111', undefined],
    ['4000000000000002', declined('insufficient_funds')],
    ['5100000000000412', declined('insufficient_funds')],
    ['4222222222222220', declined('account_not_found')],
    ['5100000000000511', declined('account_not_found')],
    ['4000000000000069', declined('payment_tool_rejected', 'bank_card_rejected', 'card_expired')],
    ['5105105105105100', declined('payment_tool_rejected', 'bank_card_rejected', 'card_expired')],
    ['4111110000000112', declined('unknown')],
    ['5124990000000002', declined('unknown')],
  ])('%s has its outcome', async (number, failure) => {
    const before = await world.account();
    const destination = await world.destinationFor(number);
    expect(destination.status).toBe('Authorized');
    const { body, status } = await world.withdraw(25_000, destination.id);
    expect({ status, body }).toMatchObject({ status: 202, body: { status: 'Pending' } });
    await world.service.jobs.whenIdle();
    const { body: after } = await world.get(`/wallet/v0/withdrawals/${body.id}`);
    expect(after.status).toBe(failure ? 'Failed' : 'Succeeded');
    const { bank, ...codes } = after.failure ?? {};
    expect(codes).toEqual(failure ?? {});
    expect(bank?.code).toBe(failure && bankCodes[number]);
    const paid = failure ? 0 : 25_000;
    expect(await world.account()).toEqual({ own: before.own - paid, available: before.available - paid });
  });
});

test('a card that takes no payouts is refused with a failure and receives no payout', async () => {
  const destination = await world.destinationFor('4000000000005704');
  expect(destination).toMatchObject({ status: 'Unauthorized', failure: declined('operation_blocked') });
  const refused = await world.withdraw(1_000, destination.id);
  expect(refused.status).toBe(422);
  expect(refused.body).toMatchObject({
    code: 'destinationUnauthorized',
    message: 'Destination unauthorized',
  });
  const { body: events } = await world.get(`/wallet/v0/destinations/${destination.id}/events?limit=5`);
  expect(events[1].changes).toEqual([
    { type: 'DestinationStatusChanged', status: 'Unauthorized', failure: declined('operation_blocked') },
  ]);
});

test('a withdrawal of more than the wallet has is accepted, and has failed', async () => {
  const before = await world.account();
  const { id: destination } = await world.destinationFor('4242424242424242');
  const { wallet } = await world.openWallet(world.merchant);
  await world.withdraw(60_000_000, destination, { wallet });
  const asked = await world.withdraw(40_000_001, destination, { wallet });
  expect(asked).toMatchObject({ status: 202, body: { status: 'Pending' } });
  await world.service.jobs.whenIdle();
  const path = `/wallet/v0/withdrawals/${asked.body.id}`;
  expect((await world.get(path)).body).toMatchObject({
    status: 'Failed',
    failure: nested(['account_limit_exceeded', 'amount']),
  });
  const { body: events } = await world.get(`${path}/events?limit=5`);
  expect(events.map((event: any) => event.changes[0].status)).toEqual(['Pending', 'Failed']);
  expect(await world.account(wallet)).toEqual({ own: 40_000_000, available: 40_000_000 });
  expect(await world.account()).toEqual(before);
  expect((await world.book()).some(({ operationId }) => operationId.startsWith(asked.body.id))).toBe(false);
});

test('the webhooks of the wallet’s and the destination’s identity each get a withdrawal’s events once', async () => {
  const { service, merchant, post } = world;
  const other = await world.openWallet(merchant);
  const receiver = await startReceiver();
  onTestFinished(() => receiver.stop());
  const eventTypes = ['WithdrawalStarted', 'WithdrawalSucceeded'];
  const subscriptions = [
    ['wallet', world.identity, {}],
    ['wallet-alone', world.identity, { walletID: world.wallet }],
    ['destination', other.identity, {}],
    ['neither', (await world.openWallet(merchant)).identity, {}],
  ] as const;
  for (const [name, identityID, more] of subscriptions) {
    const scope = { topic: 'WithdrawalsTopic', eventTypes, ...more };
    const made = await post('/wallet/v0/webhooks', { identityID, scope, url: `${receiver.url}?${name}` });
    expect(made.status).toBe(201);
    const path = `/wallet/v0/webhooks/${made.body.id}?identityID=${identityID}`;
    onTestFinished(() => void service.call('DELETE', path, { token: merchant.apiKey }));
  }
  const destination = await world.destinationFor('4242424242424242', merchant, other.identity);
  const { body: withdrawal } = await world.withdraw(1_000, destination.id);
  await service.jobs.whenIdle();
  await service.webhooks.whenIdle();
  const told = receiver.deliveries.map(({ path, body }) => [path.split('?')[1], body.eventType]).sort();
  expect(told).toEqual(
    ['destination', 'wallet', 'wallet-alone'].flatMap((name) => eventTypes.map((type) => [name, type])),
  );
  expect(receiver.deliveries[0]!.body.withdrawal.id).toBe(withdrawal.id);
  const { availableBy } = (await world.get(`/wallet/v0/withdrawals/${withdrawal.id}`)).body;
  expect(availableBy).toMatch(/Z$/);
  const succeeded = receiver.deliveries.filter(({ body }) => body.eventType === 'WithdrawalSucceeded');
  expect(succeeded.map(({ body }) => body.availableBy)).toEqual([availableBy, availableBy, availableBy]);
});
