// When a payout is refused, in the order of the contract, and limits, fees, grants and transfers.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { storePayoutFee } from '../../../src/payouts/store/payout-terms.ts';
import { setPayoutLimits } from '../../support/worlds/payout-limits.ts';
import type { PayoutWorld } from '../../support/worlds/payout-world.ts';
import { brokenInvariants } from '../../support/database/ledger.ts';
import {
  refused,
  said,
  setBlocked,
  startTwoSides,
  type TwoSides,
} from '../../support/worlds/wallets-side.ts';
import type { Merchant } from '../../support/service/test-service.ts';
import { setTradingFlag } from '../../support/worlds/block-merchant.ts';

let world: PayoutWorld;
let destination: string;
let other: Merchant;
let others: TwoSides['others'];
beforeAll(async () => {
  ({ world, destination, other, others } = await startTwoSides());
});
afterAll(() => world.close());

describe('a refused withdrawal', () => {
  test('names the first fault: wallet, destination, amount, currency, authorisation, provider', async () => {
    const blocked = await world.openWallet(world.merchant);
    const blockedDestination = (
      await world.destinationFor('4242424242424242', world.merchant, blocked.identity)
    ).id;
    await setBlocked(world, blocked.identity, true);
    const unauthorized = (await world.destinationFor('4000000000005704')).id;
    const elsewhere = await world.openWallet(world.merchant, { provider: 'dpl', class: 'company' });
    const ofElsewhere = (await world.destinationFor('4242424242424242', world.merchant, elsewhere.identity))
      .id;
    const dollars = { amount: 99, currency: 'USD' };

    // Each request also has all later faults.
    const asks: [Record<string, unknown>, string, string][] = [
      [{ wallet: others.wallet, destination: 'x', body: dollars }, 'noSuchWallet', 'No such wallet'],
      [{ wallet: 'x', destination: 'x', body: dollars }, 'noSuchWallet', 'No such wallet'],
      [
        { wallet: blocked.wallet, destination: 'x', body: dollars },
        'walletInaccessible',
        'Wallet inaccessible',
      ],
      [{ destination: 'x', body: dollars }, 'noSuchDestination', 'No such destination'],
      [{ destination: blockedDestination, body: dollars }, 'noSuchDestination', 'No such destination'],
      [{ destination: unauthorized, body: dollars }, 'invalidCashAmount', 'Invalid cash amount'],
      [
        { destination: unauthorized, body: { amount: 0, currency: 'RUB' } },
        'invalidCashAmount',
        'Invalid cash amount',
      ],
      [
        { destination: unauthorized, body: { amount: 60_000_001, currency: 'USD' } },
        'payoutLimitPerPayout',
        'Invalid cash amount',
      ],
      [
        { destination: unauthorized, body: { amount: 100, currency: 'USD' } },
        'differentCurrencies',
        'Invalid currency',
      ],
      [
        { wallet: elsewhere.wallet, destination: unauthorized },
        'destinationUnauthorized',
        'Destination unauthorized',
      ],
      [
        { destination: ofElsewhere },
        'differentProviders',
        'This wallet and destination cannot be used together',
      ],
    ];
    for (const [more, code, message] of asks) {
      expect({ more, ...said(await world.withdraw(1_000, destination, more)) }).toEqual({
        more,
        ...refused(code, message),
      });
    }
    const negative = await world.withdraw(-1, destination);
    expect(said(negative)).toMatchObject({ status: 400, body: { errorType: 'WrongSize' } });
  });

  test('of a blocked party names the party', async () => {
    const blocked = await world.createMerchant();
    await world.service.database.withClient((client) =>
      client.query('update party set is_blocked = true where party_id = $1', [blocked.partyId]),
    );
    const answer = await world.post(
      '/wallet/v0/identities',
      { name: 'A', provider: 'test', class: 'person' },
      blocked.apiKey,
    );
    expect(said(answer)).toEqual(refused('partyInaccessible', 'Party inaccessible'));
  });
});

describe('limits', () => {
  test('per day, per month and in number refuse a payout until retryAfter', async () => {
    const merchant = await world.createMerchant();
    const { wallet, identity } = await world.openWallet(merchant);
    const { id: good } = await world.destinationFor('4242424242424242', merchant, identity);
    const { id: bad } = await world.destinationFor('4111110000000112', merchant, identity);
    const { clock, jobs } = world.service;
    const limited = (limits: object) => setPayoutLimits(world.service, merchant.partyId, limits);
    const pay = async (amount: number, to = good) => {
      const body = { wallet, destination: to, body: { amount, currency: 'RUB' } };
      const answer = await world.post('/wallet/v0/withdrawals', body, merchant.apiKey);
      await jobs.whenIdle();
      return said(answer);
    };
    await limited({});
    expect(await pay(1_000_000_000_000)).toEqual(refused('invalidCashAmount', 'Invalid cash amount'));
    await limited({ perDayMinor: 5_000n });
    expect(await pay(5_001)).toEqual(refused('payoutLimitPerPayout', 'Invalid cash amount'));
    const day = clock.now().slice(0, 10);
    await limited({ perPayoutMinor: 5_000n, perDayMinor: 8_000n, perMonthMinor: 12_000n, payoutsPerDay: 3n });
    expect(await pay(5_001)).toEqual(refused('payoutLimitPerPayout', 'Invalid cash amount'));
    // A failed payout does not count.
    expect((await pay(5_000, bad)).status).toBe(202);
    expect((await pay(5_000)).status).toBe(202);
    const tomorrow = `${day.slice(0, 8)}${String(Number(day.slice(8)) + 1).padStart(2, '0')}T00:00:00.000000Z`;
    expect(await pay(3_001)).toEqual(
      refused(
        'payoutLimitPerDay',
        'The daily payout limit is reached. Wait until retryAfter, or raise the level of the identity.',
        { retryAfter: tomorrow },
      ),
    );
    const body = { wallet, destination: good, body: { amount: 3_001, currency: 'RUB' } };
    const { headers } = await world.post('/wallet/v0/withdrawals', body, merchant.apiKey);
    const untilTomorrowMs = Date.parse(tomorrow) - Date.parse(clock.now());
    expect(headers['retry-after']).toBe(String(Math.ceil(untilTomorrowMs / 1_000)));
    expect((await pay(1_000)).status).toBe(202);
    expect((await pay(1_000)).status).toBe(202);
    expect(await pay(100)).toEqual(
      refused(
        'payoutLimitNumberPerDay',
        'The daily number of payouts is reached. Wait until retryAfter, if there is one, or raise the level of the identity.',
        {
          retryAfter: tomorrow,
        },
      ),
    );
    clock.advance(24 * 3_600_000);
    expect((await pay(5_000)).status).toBe(202);
    expect(await pay(101)).toEqual(
      refused(
        'payoutLimitPerMonth',
        'The monthly payout limit is reached. Wait until retryAfter, or raise the level of the identity.',
        {
          retryAfter: '2026-02-01T00:00:00.000000Z',
        },
      ),
    );
    // A higher level has limits of its own.
    const proofs = [{ type: 'RUSDomesticPassport', token: 'any' }];
    await world.post(
      `/wallet/v0/identities/${identity}/challenges`,
      { type: 'esia', proofs },
      merchant.apiKey,
    );
    expect((await pay(5_001)).status).toBe(202);
  });

  test('accept the same request with the same Idempotency-Key once they allow it', async () => {
    const merchant = await world.createMerchant();
    const { wallet, identity } = await world.openWallet(merchant);
    const { id: to } = await world.destinationFor('5555555555554444', merchant, identity);
    const { clock, jobs } = world.service;
    await setPayoutLimits(world.service, merchant.partyId, { perDayMinor: 1_000n });
    const pay = async (key: string) => {
      const answer = await world.service.call('POST', '/wallet/v0/withdrawals', {
        token: merchant.apiKey,
        body: { wallet, destination: to, body: { amount: 1_000, currency: 'RUB' } },
        headers: { 'idempotency-key': key },
      });
      await jobs.whenIdle();
      return answer;
    };
    const [today, tomorrow] = ['today', 'tomorrow'];
    expect((await pay(today)).status).toBe(202);
    expect((await pay(tomorrow)).body.code).toBe('payoutLimitPerDay');
    clock.advance(24 * 3_600_000);
    const paid = await pay(tomorrow);
    expect(paid.status).toBe(202);
    expect(await pay(tomorrow)).toMatchObject({
      status: 202,
      text: paid.text,
      headers: { 'idempotent-replayed': 'true' },
    });
  });

  test('are never exceeded by concurrent payouts', async () => {
    const merchant = await world.createMerchant();
    const { wallet, identity } = await world.openWallet(merchant);
    const { id: to } = await world.destinationFor('2201382000000013', merchant, identity);
    await setPayoutLimits(world.service, merchant.partyId, { perDayMinor: 10_000n });
    const body = { wallet, destination: to, body: { amount: 1_000, currency: 'RUB' } };
    const answers = await Promise.all(
      Array.from({ length: 24 }, () => world.post('/wallet/v0/withdrawals', body, merchant.apiKey)),
    );
    const counts = [202, 422].map((status) => answers.filter((answer) => answer.status === status).length);
    expect(counts).toEqual([10, 14]);
    await world.service.jobs.whenIdle();
    const account = (await world.get(`/wallet/v0/wallets/${wallet}/account`, merchant.apiKey)).body;
    expect(account.own.amount).toBe(100_000_000 - 10_000);
  });
});

test('a fee is added to the amount, and returned if the payout fails', async () => {
  const merchant = await world.createMerchant();
  const { wallet, identity } = await world.openWallet(merchant);
  const { id: good } = await world.destinationFor('4242424242424242', merchant, identity);
  const { id: bad } = await world.destinationFor('4111110000000112', merchant, identity);
  const fee = { basisPoints: 100n, fixedMinor: 50n };
  await storePayoutFee(world.service.database, merchant.partyId, 'RUB', fee);
  world.service.payouts.forget(merchant.partyId);
  const pay = (to: string) =>
    world.post(
      '/wallet/v0/withdrawals',
      { wallet, destination: to, body: { amount: 10_000, currency: 'RUB' } },
      merchant.apiKey,
    );
  const paid = await pay(good);
  expect(paid.body).toMatchObject({ body: { amount: 10_000 }, fee: { amount: 150, currency: 'RUB' } });
  await pay(bad);
  await world.service.jobs.whenIdle();
  const account = (await world.get(`/wallet/v0/wallets/${wallet}/account`, merchant.apiKey)).body;
  expect(account).toEqual({
    own: { amount: 100_000_000 - 10_150, currency: 'RUB' },
    available: { amount: 100_000_000 - 10_150, currency: 'RUB' },
  });
});

test('a withdrawal of a party without a bank is refused, and reserves nothing', async () => {
  const merchant = await world.service.createMerchant();
  const { wallet, identity } = await world.openWallet(merchant);
  const token = await world.storeCard('4242424242424242', merchant);
  const made = await world.post(
    '/wallet/v0/destinations',
    { name: 'D', identity, currency: 'RUB', resource: { type: 'BankCardDestinationResource', token } },
    merchant.apiKey,
  );
  await world.service.jobs.whenIdle();
  await world.service.database.withClient((client) =>
    client.query(`update destination set status = 'authorized', wake_at = null where destination_id = $1`, [
      made.body.id,
    ]),
  );
  const body = { wallet, destination: made.body.id, body: { amount: 1_000, currency: 'RUB' } };
  const asked = await world.post('/wallet/v0/withdrawals', body, merchant.apiKey);
  expect(said(asked)).toEqual(refused('noPayoutTerminal', 'Forbidden currency'));
  const account = (await world.get(`/wallet/v0/wallets/${wallet}/account`, merchant.apiKey)).body;
  expect(account.available.amount).toBe(account.own.amount);
});

describe('grants', () => {
  const validUntil = '2027-01-01T00:00:00Z';
  const leave = (path: string, body: unknown, by = other) =>
    world.post(`/wallet/v0/${path}/grants`, body, by.apiKey);

  test('of a wallet can be used once, up to its amount, until it expires', async () => {
    const asset = { amount: 5_000, currency: 'RUB' };
    const own = async (): Promise<number> =>
      (await world.get(`/wallet/v0/wallets/${others.wallet}/account`, other.apiKey)).body.own.amount;
    const before = await own();
    const given = await leave(`wallets/${others.wallet}`, { asset, validUntil });
    expect(given).toMatchObject({ status: 201, body: { asset, validUntil: '2027-01-01T00:00:00.000000Z' } });
    const use = async (amount: number, walletGrant: string) =>
      said(await world.withdraw(amount, destination, { wallet: others.wallet, walletGrant }));
    const { token } = given.body;
    const none = refused('noSuchWallet', 'No such wallet');
    expect(await use(5_001, token)).toEqual(none);
    expect(await use(1_000, 'garbage')).toEqual(none);
    expect(await use(1_000, `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`)).toEqual(none);
    const together = await Promise.all(Array.from({ length: 5 }, () => use(5_000, token)));
    expect(together.map(({ status }) => status).sort()).toEqual([202, 422, 422, 422, 422]);
    expect(await use(1_000, token)).toEqual(none);
    await world.service.jobs.whenIdle();
    expect(before - (await own())).toBe(5_000);
    expect(
      said(await leave(`wallets/${others.wallet}`, { asset, validUntil: '2020-01-01T00:00:00Z' })),
    ).toEqual(refused('expiredGrant', 'Invalid expiration: already expired'));
    expect((await leave(`wallets/${others.wallet}`, { asset, validUntil }, world.merchant)).status).toBe(404);
  });

  test('of a wallet are used by one payout of concurrent requests with one external ID', async () => {
    const asset = { amount: 1_000, currency: 'RUB' };
    for (let round = 0; round < 5; round++) {
      const { token: walletGrant } = (await leave(`wallets/${others.wallet}`, { asset, validUntil })).body;
      const named = { wallet: others.wallet, walletGrant, externalID: `granted ${round}` };
      const made = await Promise.all([1, 2, 3].map(() => world.withdraw(1_000, destination, named)));
      expect(made.map(({ status }) => status)).toEqual([202, 202, 202]);
      expect(new Set(made.map(({ body }) => body.id)).size).toBe(1);
    }
    await world.service.jobs.whenIdle();
  });

  test.each(['is_blocked', 'is_suspended'] as const)(
    'of a wallet are refused while its owner %s',
    async (flag) => {
      const asset = { amount: 5_000, currency: 'RUB' };
      const { token: walletGrant } = (await leave(`wallets/${others.wallet}`, { asset, validUntil })).body;
      const use = () => world.withdraw(1_000, destination, { wallet: others.wallet, walletGrant });
      await setTradingFlag(world.service, other, { of: 'party', flag }, true);
      expect(said(await use())).toEqual(refused('walletInaccessible', 'Wallet inaccessible'));
      await setTradingFlag(world.service, other, { of: 'party', flag }, false);
      expect((await use()).status).toBe(202);
      await world.service.jobs.whenIdle();
    },
  );

  test.each(['is_blocked', 'is_suspended'] as const)(
    'are refused to and by a party that %s, and its wallets and destinations are blocked',
    async (flag) => {
      const asset = { amount: 5_000, currency: 'RUB' };
      const theirs = (await world.destinationFor('4242424242424242', other, others.identity)).id;
      const ways = [`wallets/${others.wallet}`, `destinations/${theirs}`];
      const { token: destinationGrant } = (await leave(ways[1]!, { validUntil })).body;
      const pay = () => world.withdraw(1_000, theirs, { destinationGrant });
      const transfer = () =>
        world.post('/wallet/v0/w2w/transfers', {
          sender: world.wallet,
          receiver: others.wallet,
          body: { amount: 7_000, currency: 'RUB' },
        });
      const areBlocked = async () => {
        const read = ways.map((way) => world.get(`/wallet/v0/${way}`, other.apiKey));
        const listed = ['wallets', 'destinations'].map((list) =>
          world.get(`/wallet/v0/${list}?limit=1&identityID=${others.identity}`, other.apiKey),
        );
        const bodies = (await Promise.all([...read, ...listed])).map(({ body }) => body.result?.[0] ?? body);
        return bodies.map(({ isBlocked }) => isBlocked);
      };
      await setTradingFlag(world.service, other, { of: 'party', flag }, true);
      expect(said(await pay())).toEqual(refused('noSuchDestination', 'No such destination'));
      expect(said(await transfer())).toEqual(refused('walletInaccessible', 'Wallet inaccessible'));
      for (const way of ways) {
        expect(said(await leave(way, { asset, validUntil }))).toEqual(
          refused('partyInaccessible', 'Party inaccessible'),
        );
      }
      expect(await areBlocked()).toEqual([true, true, true, true]);
      await setTradingFlag(world.service, other, { of: 'party', flag }, false);
      expect(await areBlocked()).toEqual([false, false, false, false]);
      expect((await pay()).status).toBe(202);
      expect((await transfer()).status).toBe(202);
      await world.service.jobs.whenIdle();
    },
  );

  test('of a destination can be used repeatedly', async () => {
    const theirs = (await world.destinationFor('4242424242424242', other, others.identity)).id;
    expect(said(await world.withdraw(1_000, theirs))).toEqual(
      refused('noSuchDestination', 'No such destination'),
    );
    const { token: destinationGrant } = (await leave(`destinations/${theirs}`, { validUntil })).body;
    for (let times = 0; times < 2; times++) {
      expect((await world.withdraw(1_000, theirs, { destinationGrant })).status).toBe(202);
    }
    expect((await world.withdraw(1_000, theirs, { walletGrant: destinationGrant })).status).toBe(422);
  });
});

describe('transfers between wallets', () => {
  const transfer = (more: Record<string, unknown> = {}) =>
    world.post('/wallet/v0/w2w/transfers', {
      sender: world.wallet,
      receiver: others.wallet,
      body: { amount: 2_000, currency: 'RUB' },
      ...more,
    });

  test('move money immediately, also to another party', async () => {
    await world.service.jobs.whenIdle();
    const before = await world.account();
    const moved = await transfer();
    expect(moved).toMatchObject({ status: 202, body: { status: { status: 'Pending' } } });
    const read = await world.get(`/wallet/v0/w2w/transfers/${moved.body.id}`);
    expect(read.body).toEqual({ ...moved.body, status: { status: 'Succeeded' } });
    expect(await world.account()).toEqual({ own: before.own - 2_000, available: before.available - 2_000 });
  });

  test('of more than the wallet has are accepted, and have failed', async () => {
    const before = await world.account();
    const moved = await transfer({ body: { amount: 999_999_999, currency: 'RUB' } });
    expect(moved.status).toBe(202);
    const read = await world.get(`/wallet/v0/w2w/transfers/${moved.body.id}`);
    expect(read.body.status).toEqual({
      status: 'Failed',
      failure: { code: 'account_limit_exceeded', subError: { code: 'amount' } },
    });
    expect(await world.account()).toEqual(before);
  });

  test('are refused with the error code of their fault', async () => {
    expect(said(await transfer({ sender: others.wallet }))).toEqual(
      refused('noSuchSender', 'No such wallet sender'),
    );
    expect(said(await transfer({ receiver: 'x' }))).toEqual(
      refused('noSuchReceiver', 'No such wallet receiver'),
    );
    expect(said(await transfer({ body: { amount: 1, currency: 'USD' } }))).toEqual(
      refused('inconsistentCurrency', 'Inconsistent currency'),
    );
    expect(said(await transfer({ body: { amount: 0, currency: 'RUB' } }))).toEqual(
      refused('badTransferAmount', 'Bad transfer amount'),
    );
    expect(said(await transfer({ receiver: world.wallet }))).toEqual(
      refused('transferNotAllowed', 'W2W transfer not allowed'),
    );
  });
});

test('in the end every ledger check holds', async () => {
  await world.service.jobs.whenIdle();
  expect(await brokenInvariants(world.service.database)).toEqual([]);
});
