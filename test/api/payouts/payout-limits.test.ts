// Limits are counted for an identity and for a card, over all wallets, and a payout needs a terminal of its currency.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PayoutTerminalTerms } from '../../../src/acquiring/domain/routing/payout-terminal.ts';
import { openPayoutRules } from '../../../src/payouts/payout-rules.ts';
import { brokenInvariants } from '../../support/database/ledger.ts';
import type { Merchant } from '../../support/service/test-service.ts';
import { setPayoutLimits } from '../../support/worlds/payout-limits.ts';
import { startPayoutWorld, type PayoutWorld } from '../../support/worlds/payout-world.ts';
import { refused, said } from '../../support/worlds/wallets-side.ts';

let world: PayoutWorld;
beforeAll(async () => void (world = await startPayoutWorld()));
afterAll(() => world.close());

const pay = (by: Merchant, wallet: string, destination: string, amount: number, currency = 'RUB') =>
  world.post('/wallet/v0/withdrawals', { wallet, destination, body: { amount, currency } }, by.apiKey);

async function walletOf(by: Merchant, identity: string, currency: string): Promise<string> {
  const made = await world.post('/wallet/v0/wallets', { name: 'W', identity, currency }, by.apiKey);
  return made.body.id;
}

/** A card counts for every party, so each test pays to cards of its own. */
async function destinationIn(
  by: Merchant,
  identity: string,
  currency: string,
  cardNumber = '4242424242424242',
): Promise<string> {
  const token = await world.storeCard(cardNumber, by);
  const resource = { type: 'BankCardDestinationResource', token };
  const body = { name: 'Card', identity, currency, resource };
  const made = await world.post('/wallet/v0/destinations', body, by.apiKey);
  await world.service.jobs.whenIdle();
  return made.body.id;
}

/** What another party is answered that pays out from the wallet with the owner's grant. */
async function payByGrant(owner: Merchant, wallet: string, amount: number): Promise<unknown> {
  const other = await world.createMerchant();
  const { identity } = await world.openWallet(other);
  const destination = await destinationIn(other, identity, 'RUB');
  const asset = { amount, currency: 'RUB' };
  const terms = { asset, validUntil: '2030-01-01T00:00:00Z' };
  const grant = await world.post(`/wallet/v0/wallets/${wallet}/grants`, terms, owner.apiKey);
  const body = { wallet, destination, body: asset, walletGrant: grant.body.token };
  return (await world.post('/wallet/v0/withdrawals', body, other.apiKey)).body;
}

const accepted = (answers: readonly { status: number }[]) =>
  answers.filter(({ status }) => status === 202).length;

describe('a limit', () => {
  test('of an identity holds over all its wallets, also for concurrent payouts', async () => {
    const merchant = await world.createMerchant();
    const { wallet, identity } = await world.openWallet(merchant);
    const wallets = [wallet, await walletOf(merchant, identity, 'RUB')];
    // Two cards, so that only the identity is the same.
    const cards = [
      (await world.destinationFor('4242424242424242', merchant, identity)).id,
      (await world.destinationFor('5555555555554444', merchant, identity)).id,
    ];
    await setPayoutLimits(world.service, merchant.partyId, { perDayMinor: 5_000n });
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, n) => pay(merchant, wallets[n % 2]!, cards[n % 2]!, 1_000)),
    );
    expect(accepted(answers)).toBe(5);
    await world.service.jobs.whenIdle();
  });

  test('of a card holds over wallets of different identities, also for concurrent payouts', async () => {
    const merchant = await world.createMerchant();
    const sides = [await world.openWallet(merchant), await world.openWallet(merchant)];
    const [one, two] = sides;
    const ends = [
      await destinationIn(merchant, one!.identity, 'RUB', '2201382000000013'),
      await destinationIn(merchant, two!.identity, 'RUB', '2201382000000013'),
    ];
    await setPayoutLimits(world.service, merchant.partyId, { card: { perDayMinor: 5_000n } });
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, n) => pay(merchant, sides[n % 2]!.wallet, ends[n % 2]!, 1_000)),
    );
    expect(accepted(answers)).toBe(5);
    const late = answers.find(({ status }) => status === 422)!;
    expect(late.body.code).toBe('payoutLimitPerDay');
    // Another card is free.
    const { id: other } = await world.destinationFor('586824160825533338', merchant, one!.identity);
    expect((await pay(merchant, one!.wallet, other, 1_000)).status).toBe(202);
    await world.service.jobs.whenIdle();
  });

  test('counts transfers to another identity, and not those between own wallets', async () => {
    const merchant = await world.createMerchant();
    const { wallet, identity } = await world.openWallet(merchant);
    const second = await walletOf(merchant, identity, 'RUB');
    const stranger = await world.openWallet(merchant);
    const to = await destinationIn(merchant, identity, 'RUB', '4300000000000777');
    await setPayoutLimits(world.service, merchant.partyId, { perDayMinor: 5_000n });
    const transfer = (receiver: string, amount: number) =>
      world.post(
        '/wallet/v0/w2w/transfers',
        { sender: wallet, receiver, body: { amount, currency: 'RUB' } },
        merchant.apiKey,
      );
    expect((await transfer(second, 100_000)).status).toBe(202);
    expect((await transfer(stranger.wallet, 4_000)).status).toBe(202);
    expect(said(await transfer(stranger.wallet, 5_001))).toEqual(
      refused('payoutLimitPerPayout', 'Invalid cash amount'),
    );
    expect((await transfer(stranger.wallet, 1_001)).body.code).toBe('payoutLimitPerDay');
    expect((await pay(merchant, second, to, 1_001)).body.code).toBe('payoutLimitPerDay');
    expect((await pay(merchant, second, to, 1_000)).status).toBe(202);
    await world.service.jobs.whenIdle();
  });

  test('of one network counts transfers to another identity', async () => {
    const merchant = await world.createMerchant();
    const { wallet } = await world.openWallet(merchant);
    const stranger = await world.openWallet(merchant);
    await setPayoutLimits(world.service, merchant.partyId, { perDayMinor: 5_000n }, { network: 'visa' });
    const transfer = (amount: number) =>
      world.post(
        '/wallet/v0/w2w/transfers',
        { sender: wallet, receiver: stranger.wallet, body: { amount, currency: 'RUB' } },
        merchant.apiKey,
      );
    expect((await transfer(5_001)).body.code).toBe('payoutLimitPerPayout');
    expect((await transfer(5_000)).status).toBe(202);
    expect((await transfer(1)).body.code).toBe('payoutLimitPerDay');
  });

  test('of a failed payout is free again, for the identity and for the card', async () => {
    const merchant = await world.createMerchant();
    const { wallet, identity } = await world.openWallet(merchant);
    const { id: bad } = await world.destinationFor('4111110000000112', merchant, identity);
    await setPayoutLimits(world.service, merchant.partyId, { perDayMinor: 5_000n });
    for (let times = 0; times < 3; times++) {
      expect((await pay(merchant, wallet, bad, 5_000)).status).toBe(202);
      await world.service.jobs.whenIdle();
    }
    const { rows } = await world.service.database.withClient((client) =>
      client.query(`select sum(amount_minor)::int as amount from payout_usage where subject = $1`, [
        `identity:${identity}`,
      ]),
    );
    expect(rows).toEqual([{ amount: 0 }]);
  });

  test.each([
    ['JPY', 1, 3_000],
    ['KWD', 1_000, 3_000_000],
  ])('is in minor units of %s', async (currency, least, most) => {
    const merchant = await world.createMerchant();
    const { identity } = await world.openWallet(merchant);
    const wallet = await walletOf(merchant, identity, currency);
    const to = await destinationIn(merchant, identity, currency);
    const limits = { minMinor: BigInt(least), perPayoutMinor: BigInt(most), perDayMinor: BigInt(2 * most) };
    await setPayoutLimits(world.service, merchant.partyId, limits, { currency });
    const codeOf = async (amount: number) => (await pay(merchant, wallet, to, amount, currency)).body.code;
    expect(await codeOf(least - 1)).toBe('invalidCashAmount');
    expect(await codeOf(most + 1)).toBe('payoutLimitPerPayout');
    expect([await codeOf(least), await codeOf(most)]).toEqual([undefined, undefined]);
    expect(await codeOf(most)).toBe('payoutLimitPerDay');
    await world.service.jobs.whenIdle();
  });

  test('that no operator has set refuses payouts in live mode only', async () => {
    const { database, merchant } = {
      database: world.service.database,
      merchant: await world.createMerchant(),
    };
    const rules = (livemode: boolean) =>
      openPayoutRules({ lookups: database, livemode, openingDepositMinor: 0n });
    const key = { level: 'identified', currency: 'JPY' } as const;
    expect((await rules(true).termsOf(merchant.partyId)).limitsOf(key)).toBeUndefined();
    expect((await rules(false).termsOf(merchant.partyId)).limitsOf(key)).toEqual({
      minMinor: 100n,
      perPayoutMinor: 60_000_000n,
    });
    await setPayoutLimits(
      world.service,
      merchant.partyId,
      { perPayoutMinor: 7n },
      { currency: 'JPY', level: '*' },
    );
    expect((await rules(true).termsOf(merchant.partyId)).limitsOf(key)).toEqual({ perPayoutMinor: 7n });
  });
});

describe('a payout terminal', () => {
  test('is chosen by currency and amount, and nothing is reserved without one', async () => {
    const merchant = await world.createMerchant();
    const { rows: own } = await world.service.database.withClient((client) =>
      client.query('delete from payout_terminal where party_id = $1 returning bank_id', [merchant.partyId]),
    );
    const bankId = own[0].bank_id as string;
    const put = (id: string, terms: PayoutTerminalTerms, priority: number) =>
      world.service.banks.putPayoutTerminal({
        id,
        partyId: merchant.partyId,
        bankId,
        merchantId: id,
        descriptor: 'PAYOUTS',
        priority,
        terms,
      });
    await put('SMALL', { currencies: { RUB: { maxMinor: 1_000n } } }, 1);
    await put('DINARS', { currencies: { KWD: {} } }, 2);
    await put('LARGE', { currencies: { RUB: { maxMinor: 5_000n }, JPY: {} } }, 3);
    const { wallet, identity } = await world.openWallet(merchant);
    const to = await destinationIn(merchant, identity, 'RUB');
    const routeOf = async (answer: { body: { id: string } }) => {
      const { rows } = await world.service.database.withClient((client) =>
        client.query(
          `select terms -> 'route' -> 'terminal' ->> 'id' as id from withdrawal where withdrawal_id = $1`,
          [answer.body.id],
        ),
      );
      return rows[0].id as string;
    };
    expect(await routeOf(await pay(merchant, wallet, to, 1_000))).toBe('SMALL');
    expect(await routeOf(await pay(merchant, wallet, to, 1_001))).toBe('LARGE');
    await world.service.jobs.whenIdle();
    const before = (await world.get(`/wallet/v0/wallets/${wallet}/account`, merchant.apiKey)).body;
    const { status, body } = await pay(merchant, wallet, to, 5_001);
    const hint = 'Pay out at most 5000 minor units at once: no payout terminal takes more.';
    expect({ status, body }).toEqual(refused('payoutTerminalLimit', 'Invalid cash amount', { hint }));
    expect(await payByGrant(merchant, wallet, 5_001)).toEqual({
      code: 'payoutTerminalLimit',
      message: 'Invalid cash amount',
    });
    expect((await world.get(`/wallet/v0/wallets/${wallet}/account`, merchant.apiKey)).body).toEqual(before);
    const dollars = await walletOf(merchant, identity, 'USD');
    const inDollars = await destinationIn(merchant, identity, 'USD');
    await world.service.database.withClient((client) =>
      client.query(`update destination set status = 'authorized', wake_at = null where destination_id = $1`, [
        inDollars,
      ]),
    );
    expect(said(await pay(merchant, dollars, inDollars, 1_000, 'USD'))).toEqual(
      refused('noPayoutTerminal', 'Forbidden currency'),
    );
  });
});

test('in the end every ledger check holds', async () => {
  await world.service.jobs.whenIdle();
  expect(await brokenInvariants(world.service.database)).toEqual([]);
});
