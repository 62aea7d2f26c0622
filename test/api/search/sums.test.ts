// Sums are what a look at every payment gives, for any range, by currency and by attempt. Corrections move them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { laterBy, type Instant } from '../../../src/clock.ts';
import { splitUnits } from '../../../src/search/domain/splits.ts';
import { paymentSums, refundSums } from '../../../src/search/sums/sums.store.ts';
import { insufficientFunds, recurringWorld } from '../../support/worlds/recurring.ts';
import { startSmallWorld, type SmallWorld } from '../../support/worlds/small-world.ts';
import { invoicesUrl, makeInvoice } from '../../support/worlds/invoices.ts';

const hourMs = 3_600_000;
const year = { from: '2026-01-01T00:00:00.000000Z', to: '2026-12-31T00:00:00.000000Z' };
const visa = '4242424242424242';

let world: SmallWorld;
/** Of all shops, as single reads return them. */
let payments: any[] = [];
let refunds: any[] = [];

const call = (path: string, token = world.merchant.apiKey) => world.service.call('GET', path, { token });
const sum = (what: string, { from, to } = year, more = '') =>
  call(`/v2/analytics/${what}?fromTime=${from}&toTime=${to}${more}`);
const result = async (...asked: Parameters<typeof sum>) => {
  const { status, body, text } = await sum(...asked);
  expect(status, text).toBe(200);
  return body.result;
};
const query = async (text: string, values?: unknown[]) =>
  (await world.service.testDatabase.database.withClient((client) => client.query(text, values))).rows;

beforeAll(async () => {
  world = await startSmallWorld();
  const { service } = world;
  const later = async (ms: number) => {
    service.clock.advance(ms);
    service.jobs.wake();
    await service.jobs.whenIdle();
  };
  const recurring = recurringWorld(world);
  const parent = await recurring.parent('5555555555554444');
  for (const amount of [insufficientFunds, insufficientFunds, 6_000]) {
    await later(26 * hourMs);
    await recurring.charged(parent, amount);
  }
  // Their average is half a cent more.
  for (const amount of [700, 701]) await pay(visa, { shopID: 'TEST_USD', currency: 'USD', amount });
  await look();
});
afterAll(() => world.close());

async function pay(card: string, what: Record<string, unknown> = {}) {
  const { service, merchant } = world;
  const { id } = await makeInvoice(service, merchant, what);
  const { token: paymentToolToken } = await world.tokenize(card, merchant.apiKey);
  await service.call('POST', `${invoicesUrl}/${id}/payments`, {
    token: merchant.apiKey,
    body: { payer: { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} } },
  });
  await service.jobs.whenIdle();
}

async function look() {
  await world.service.search.whenIdle();
  [payments, refunds] = [[], []];
  for (const { invoice_id: id } of await query('select invoice_id from invoice order by created_at')) {
    const { body } = await call(`${invoicesUrl}/${id}`);
    for (const payment of (await call(`${invoicesUrl}/${id}/payments`)).body) {
      payments.push({ ...payment, shopID: body.shopID });
      const path = `${invoicesUrl}/${id}/payments/${payment.id}/refunds`;
      for (const refund of (await call(path)).body) refunds.push({ ...refund, shopID: body.shopID });
    }
  }
}

type Range = { from: string; to: string };
const within = ({ from, to }: Range, all = payments) =>
  all.filter(({ createdAt }) => createdAt >= from && createdAt < to);
const taken = (all: any[]) => all.filter(({ status }) => ['captured', 'refunded'].includes(status));
/** By currency, in the order of the alphabet. */
function byCurrency(all: any[], value: (same: any[]) => object): object[] {
  const currencies = [...new Set(all.map(({ currency }) => currency))].toSorted();
  return currencies.map((currency) => ({
    currency,
    ...value(all.filter((one) => one.currency === currency)),
  }));
}
const total = (all: any[]) => all.reduce((minor, { amount }) => minor + amount, 0);

test('the world has what there is to sum', () => {
  const statuses = new Set(payments.map(({ status }) => status));
  expect(statuses).toEqual(new Set(['captured', 'cancelled', 'failed']));
  expect(new Set(payments.map(({ currency }) => currency))).toEqual(new Set(['RUB', 'USD']));
  expect(refunds.length).toBeGreaterThan(0);
});

test('amounts, averages and counts are those of the payments, by currency', async () => {
  expect(await result('payments/amount')).toEqual(
    byCurrency(taken(payments), (same) => ({ amount: total(same) })),
  );
  expect(await result('payments/average')).toEqual(
    byCurrency(taken(payments), (same) => ({ amount: Math.round(total(same) / same.length) })),
  );
  expect(await result('payments/count')).toEqual(byCurrency(payments, ({ length: count }) => ({ count })));
  expect(await result('refunds/amount')).toEqual(
    byCurrency(
      refunds.filter(({ status }) => status === 'succeeded'),
      (same) => ({ amount: total(same) }),
    ),
  );
});

test('a range may begin and end at any microsecond', async () => {
  const times = [...new Set(payments.map(({ createdAt }) => createdAt as Instant))].toSorted();
  const moved = (time: Instant, by: number) => {
    const micros = Number(time.slice(20, 26)) + by;
    return `${time.slice(0, 20)}${String(micros).padStart(6, '0')}Z` as Instant;
  };
  const edges = times.flatMap((time) => [moved(time, -1), time, moved(time, 1)]);
  const ranges = edges.flatMap((from) => edges.filter((to) => from <= to).map((to) => ({ from, to })));
  expect(ranges.length).toBeGreaterThan(100);
  for (const range of ranges)
    expect(await result('payments/count', range), JSON.stringify(range)).toEqual(
      byCurrency(within(range), ({ length: count }) => ({ count })),
    );
});

test('a whole quarter of an hour is read from the sums, and what is next to it from the rows', async () => {
  const [first] = payments;
  const quarter = new Date(Math.floor(Date.parse(first.createdAt) / 900_000) * 900_000).toISOString();
  const from = quarter.replace('Z', '000Z') as Instant;
  await query('update search_sum set n = n + 1000');
  const count = async (range: Range) =>
    (await result('payments/count', range)).find(({ currency }: any) => currency === 'RUB')?.count ?? 0;
  expect(await count({ from, to: laterBy(from, 900_000) })).toBeGreaterThan(1_000);
  expect(await count({ from: laterBy(from, 1), to: laterBy(from, 900_000) })).toBeLessThan(1_000);
  expect(await count({ from, to: laterBy(from, 899_999) })).toBeLessThan(1_000);
  await query('update search_sum set n = n - 1000');
});

test.each([
  ['hour', 3_600_000, 'count', 'hour_sum'],
  ['day', 86_400_000, 'attempts', 'day_sum'],
] as const)(
  'a whole %s is read from its own sums, and what is next to it is not',
  async (_, ms, what, sums) => {
    const [first] = payments;
    const from = new Date(Math.floor(Date.parse(first.createdAt) / ms) * ms)
      .toISOString()
      .replace('Z', '000Z') as Instant;
    const count = async (range: Range) =>
      (await result(`payments/${what}`, range, '&shopID=TEST')).reduce(
        (all: number, one: any) => all + one.count,
        0,
      );
    const right = await count({ from, to: laterBy(from, ms) });
    await query(`update search_${sums} set n = n + 1000`);
    expect(await count({ from, to: laterBy(from, ms) })).toBeGreaterThan(1_000);
    expect(await count({ from: laterBy(from, -1), to: laterBy(from, ms + 900_000) })).toBeGreaterThan(1_000);
    expect(await count({ from, to: laterBy(from, ms - 1) })).toBeLessThan(1_000);
    await query(`update search_${sums} set n = n - 1000`);
    expect(await count({ from, to: laterBy(from, ms) })).toBe(right);
  },
);

test('parts that begin within an hour of UTC are read from quarters of an hour', async () => {
  await query('update search_hour_sum set n = n + 1000');
  const counts = async (timeZone: string) => {
    const { result: found } = (
      await sum('payments/split-count', year, `&splitUnit=week&timeZone=${timeZone}`)
    ).body;
    return found
      .flatMap(({ statusOffsetCounts }: any) =>
        statusOffsetCounts.flatMap(({ offsetCount }: any) => offsetCount),
      )
      .reduce((all: number, { count }: any) => all + count, 0);
  };
  expect(await counts('Asia/Kolkata')).toBe(payments.length);
  expect(await counts('Europe/Moscow')).toBeGreaterThan(1_000);
  await query('update search_hour_sum set n = n - 1000');
  expect(await counts('Europe/Moscow')).toBe(payments.length);
});

test('shops are chosen and excluded, and those of another party or mode are not there', async () => {
  const usd = [{ currency: 'USD', count: 2 }];
  expect(await result('payments/count', year, '&shopID=TEST_USD')).toEqual(usd);
  expect(await result('payments/count', year, '&shopIDs=TEST_USD')).toEqual(usd);
  expect(await result('payments/count', year, '&excludeShopIDs=TEST')).toEqual(usd);
  expect(await result('payments/count', year, '&shopIDs=TEST,TEST_USD')).toHaveLength(2);
  expect(await result('payments/count', year, '&shopID=TEST&shopIDs=TEST_USD')).toEqual([]);
  expect(await result('payments/count', year, '&paymentInstitutionRealm=live')).toEqual([]);
  expect(await result('payments/count', year, '&paymentInstitutionRealm=test')).toHaveLength(2);
  const { apiKey, partyId } = await world.createMerchant();
  const path = `/v2/analytics/payments/count?fromTime=${year.from}&toTime=${year.to}`;
  expect((await call(path, apiKey)).body.result).toEqual([]);
  expect((await call(`${path}&partyID=${partyId}`)).status).toBe(401);
  expect((await call(`${path}&partyID=${world.merchant.partyId}`)).status).toBe(200);
});

test('errors, details and declines are those of failed payments', async () => {
  const failed = payments.filter(({ status }) => status === 'failed');
  expect(await result('payments/errors')).toEqual([{ error: 'authorization_failed', percents: 100 }]);
  const shares = await result('payments/sub-errors');
  expect(shares.reduce((all: number, { percents }: any) => all + percents, 0)).toBeCloseTo(100, 0);
  expect(shares[0]).toEqual({
    error: { code: 'authorization_failed', subError: { code: 'insufficient_funds' } },
    percents: expect.any(Number),
  });
  const declines = await result('payments/declines');
  expect(declines.reduce((all: number, { count }: any) => all + count, 0)).toBe(failed.length);
  for (const { declineClass, code, count, amount } of declines) {
    const same = failed.filter(
      ({ error }) => error.declineClass === declineClass && error.bank?.code === code,
    );
    expect([count, amount]).toEqual([same.length, total(same)]);
  }
  expect(await result('payments-tool')).toEqual([
    { name: 'visa', percents: expect.any(Number) },
    { name: 'mastercard', percents: expect.any(Number) },
  ]);
});

test('the code of a decline is the word of the bank, also with spaces', async () => {
  const before = await result('payments/declines');
  await query(`update search_sum set bank_code = 'NO  funds ' || bank_code where bank_code <> ''`);
  const spaced = (one: any) => (one.code === undefined ? one : { ...one, code: `NO  funds ${one.code}` });
  expect(before.some(({ code }: any) => code !== undefined)).toBe(true);
  expect(await result('payments/declines')).toEqual(before.map(spaced));
  await query(`update search_sum set bank_code = replace(bank_code, 'NO  funds ', '')`);
});

test('attempts are counted apart: the payer present, a first charge, and its retries', async () => {
  const attempts = await result('payments/attempts', year, '&shopID=TEST');
  const of = (wanted: number) => attempts.find(({ attempt }: any) => attempt === wanted);
  expect(attempts.map(({ attempt }: any) => attempt)).toEqual([0, 1, 2, 3]);
  expect(of(2)).toEqual({
    attempt: 2,
    currency: 'RUB',
    count: 1,
    approved: 0,
    declined: 1,
    amount: 0,
  });
  expect(of(3)).toEqual({
    attempt: 3,
    currency: 'RUB',
    count: 1,
    approved: 1,
    declined: 0,
    amount: 6_000,
  });
  const present = payments.filter(
    ({ payer, shopID }) => payer.payerType === 'PaymentResourcePayer' && shopID === 'TEST',
  );
  expect(of(0).count).toBe(present.length);
});

describe('a split', () => {
  const dayOf = (time: string) =>
    new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Kolkata', dateStyle: 'short' }).format(
      Date.parse(time),
    );
  const days = '&splitUnit=day&timeZone=Asia/Kolkata';
  const range = { from: '2026-01-19T05:00:00.000000Z', to: '2026-01-26T00:00:00.000000Z' };

  test('has every day of the zone with its payments, by status and currency', async () => {
    const { body } = await sum('payments/split-count', range, days);
    expect(body.timeZone).toBe('Asia/Kolkata');
    const [rubles] = body.result;
    expect(rubles).toMatchObject({ splitUnit: 'day', currency: 'RUB' });
    for (const { status, offsetCount } of rubles.statusOffsetCounts) {
      expect(offsetCount).toHaveLength(8);
      for (const { offset, count } of offsetCount) {
        const day = dayOf(new Date(offset).toISOString());
        const same = within(range).filter(
          (one) => one.status === status && one.currency === 'RUB' && dayOf(one.createdAt) === day,
        );
        expect(count).toBe(same.length);
      }
    }
    const [amounts] = await result('payments/split-amount', range, days);
    expect(total(amounts.offsetAmounts)).toBe(
      total(taken(within(range)).filter(({ currency }) => currency === 'RUB')),
    );
  });

  test('by minutes is read from the rows', async () => {
    const from = payments[0].createdAt as Instant;
    const minutes = { from, to: laterBy(from, 20 * 60_000) };
    const [rubles] = await result('payments/split-count', minutes, '&splitUnit=minute');
    const counted = rubles.statusOffsetCounts.flatMap(({ offsetCount }: any) => offsetCount);
    expect(counted.reduce((all: number, { count }: any) => all + count, 0)).toBe(within(minutes).length);
  });

  test('without a zone is in that of the shops, and in UTC if they differ', async () => {
    const zone = async (more: string) =>
      (await sum('payments/split-count', range, `&splitUnit=day${more}`)).body.timeZone;
    expect(await zone('&shopID=TEST')).toBe('Europe/Moscow');
    expect(await zone('&shopIDs=TEST,TEST_USD')).toBe('UTC');
    expect(await zone('')).toBe('UTC');
    await query(
      `insert into recurring_settings (party_id, shop_id, settings) values ($1, 'TEST_USD', '{"timeZone": "Europe/Moscow"}')`,
      [world.merchant.partyId],
    );
    expect(await zone('&shopIDs=TEST,TEST_USD')).toBe('Europe/Moscow');
  });
});

test('a later refund moves a payment, and a sum says until when it knows', async () => {
  const before = await result('payments/count');
  const [rubles] = await result('refunds/amount');
  await world.service.search.whenIdle();
  const now = world.service.clock.now();
  await world.service.call('POST', `${invoicesUrl}/${world.sold.id}/payments/1/refunds`, {
    token: world.merchant.apiKey,
    body: { reason: 'r' },
  });
  world.service.clock.advance(1_000);
  const { asOf } = (await sum('refunds/amount')).body;
  expect(asOf >= now && asOf < world.service.clock.now()).toBe(true);
  await world.service.jobs.whenIdle();
  await look();
  expect(await result('payments/count')).toEqual(before);
  const [more] = await result('refunds/amount');
  expect(more.amount).toBeGreaterThan(rubles.amount);
  expect(await result('payments/amount')).toEqual(
    byCurrency(taken(payments), (same) => ({ amount: total(same) })),
  );
});

test('a payment whose payer leaves 3-D Secure has failed, and no bank has declined it', async () => {
  const shop = '&shopID=TEST';
  const present = async () => {
    const [attempt] = await result('payments/attempts', year, shop);
    const [{ statusOffsetCounts, declinedOffsetCount }] = await result(
      'payments/split-count',
      year,
      `${shop}&splitUnit=year`,
    );
    const failed = statusOffsetCounts.find(({ status }: any) => status === 'failed').offsetCount;
    const counted = (all: any[]) => all.reduce((sum, { count }) => sum + count, 0);
    return [attempt.count, attempt.declined, counted(failed), counted(declinedOffsetCount)];
  };
  const [count, declined, failed, split] = await present();
  expect(split).toBe(payments.filter(({ error }) => error?.declineClass !== undefined).length);
  await pay('4342561111111118');
  await look();
  expect(await present()).toEqual([count + 1, declined, failed + 1, split]);
});

test('balances are those of the ledger, by currency and by shop', async () => {
  const rows = await query(
    `select owner_id as id, currency, sum(credits_posted - debits_posted)::int as amount
     from ledger_account join ledger_balance using (account_id)
     where code = 'merchant.settlement' and party_id = $1 group by 1, 2 order by 2`,
    [world.merchant.partyId],
  );
  expect(rows.length).toBe(2);
  const { body } = await call('/v2/analytics/balances/current');
  const used = rows.map(({ currency, amount }) => ({ currency, amount }));
  expect(body.result).toEqual([{ currency: 'EUR', amount: 0 }, ...used]);
  expect(body.asOf).toBe(world.service.clock.now());
  const shops = (await call('/v2/analytics/balances/current-shop-balances')).body.result;
  for (const { id, currency, amount } of rows)
    expect(shops).toContainEqual({ id, amountResults: [{ currency, amount }] });
});

describe('a sum is refused', () => {
  const day = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 24 * hourMs).toISOString();
  test.each([
    ['without its range', '', 400, 'invalidRequest'],
    ['with half a range', `fromTime=${day(0)}`, 400, 'invalidRequest'],
    ['over more than 366 days', `fromTime=${day(0)}&toTime=${day(366.001)}`, 400, 'searchTooWide'],
    ['with a range that ends before it begins', `fromTime=${day(1)}&toTime=${day(0)}`, 400, 'invalidRequest'],
    ['of a shop that is not there', `fromTime=${day(0)}&toTime=${day(1)}&shopID=NONE`, 404, undefined],
    ['of one of several', `fromTime=${day(0)}&toTime=${day(1)}&shopIDs=TEST,NONE`, 404, undefined],
    ['without one', `fromTime=${day(0)}&toTime=${day(1)}&excludeShopIDs=NONE`, 404, undefined],
    ['of no mode', `fromTime=${day(0)}&toTime=${day(1)}&paymentInstitutionRealm=x`, 400, 'invalidRequest'],
  ])('%s', async (_, asked, status, code) => {
    const body = code === undefined ? { message: 'Shop not found' } : { code };
    for (const what of ['payments/count', 'refunds/amount', 'payments/errors', 'payments/attempts'])
      expect(await call(`/v2/analytics/${what}?${asked}`)).toMatchObject({ status, body });
    const split = `/v2/analytics/payments/split-count?splitUnit=day&${asked}`;
    expect(await call(split)).toMatchObject({ status, body });
  });

  const years = 'must be from 2000-01-01 to 2200-01-01';
  test.each([
    ['fromTime', '1999-12-31T23:59:59.999Z', '2000-01-02T00:00:00Z'],
    ['fromTime', '0001-01-01T00:00:00Z', '0001-01-05T00:00:00Z'],
    ['fromTime', '9999-12-31T23:00:00Z', '9999-12-31T23:30:00Z'],
    ['toTime', '2199-12-31T00:00:00Z', '2200-01-01T00:00:00.001Z'],
  ])('with a %s before 2000 or after 2200', async (name, from, to) => {
    const body = {
      code: 'invalidRequest',
      message: `Request parameter: ${name}, error type: not_in_range, description: ${years}`,
    };
    expect(await sum('payments/count', { from, to })).toMatchObject({ status: 400, body });
    for (const unit of splitUnits)
      expect(await sum('payments/split-count', { from, to }, `&splitUnit=${unit}`)).toMatchObject({
        status: 400,
        body,
      });
  });

  test.each([
    ['a zone of no name', 'splitUnit=day&timeZone=Mars/Olympus', 'invalidRequest'],
    ['an offset', 'splitUnit=day&timeZone=%2B03:00', 'invalidRequest'],
    ['no unit', '', 'invalidRequest'],
    ['another unit', 'splitUnit=decade', 'invalidRequest'],
    ['more parts than a thousand', 'splitUnit=minute', 'searchTooWide'],
  ])('with %s', async (_, more, code) => {
    expect(await sum('payments/split-amount', year, `&${more}`)).toMatchObject({
      status: 400,
      body: { code },
    });
  });
});

describe('the plan', () => {
  test.each([...Object.values(paymentSums), refundSums].map((sums) => [sums.statement.name, sums] as const))(
    'of %s is by its indexes',
    async (_, { statement: { text, parameterNames }, coarse }) => {
      await world.service.testDatabase.database.withClient(async (client) => {
        await client.query(
          'begin; set local plan_cache_mode = force_generic_plan; set local enable_seqscan = off',
        );
        await client.query(`prepare summed as ${text}`);
        const values = parameterNames.map(() => 'null').join(', ');
        const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain execute summed (${values})`);
        await client.query('rollback; deallocate summed');
        const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
        expect(plan).toContain('search_sum_pkey');
        expect(plan).toContain(`${coarse.table}_pkey`);
        expect(plan).toMatch(/search_(payment|refund)_of_shop/);
        expect(plan).not.toContain('Seq Scan');
      });
    },
  );
});
