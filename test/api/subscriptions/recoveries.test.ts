// Which retries recovered what: the counts are those of the facts, whatever they are counted by.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Merchant } from '../../support/service/test-service.ts';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import { declinedWith, insufficientFunds } from '../../support/worlds/recurring.ts';
import {
  subscriptionsUrl,
  subscriptionWorld,
  type SubscriptionWorld,
} from '../../support/subscriptions/subscription-world.ts';

let world: CustomerWorld;
let subscriptions: SubscriptionWorld;
let by: Merchant;

const dayMs = 86_400_000;
const zone = 'Europe/Moscow';
/** Declined twice without the payer, then approved. */
const recovers = '4000000000511008';

beforeAll(async () => {
  world = await startCustomerWorld();
  subscriptions = subscriptionWorld(world);
  by = await world.createMerchant();
  await save('gentle', { tries: [2, 5], windowDays: 9 });
  await save('quick', { tries: [1, 2, 3], windowDays: 9, at: { from: '20:00', until: '21:00' } });
  const sold: { id: string; price: number }[] = [];
  for (const [dunningPolicy, card, price] of [
    ['gentle', '4242424242424242', insufficientFunds],
    ['gentle', recovers, 6_000],
    ['quick', '5555555555554444', declinedWith(5)],
    ['quick', recovers, 7_000],
    ['quick', '4242424242424242', 6_000],
  ] as const) {
    const customerId = await subscriptions.readyCustomer(by, card);
    const items = [{ product: 'Tea', price }];
    const { body } = await subscriptions.create(by, customerId, { items, dunningPolicy });
    sold.push({ id: body.id, price });
  }
  await subscriptions.settle();
  // In the middle, the first one has another policy.
  await daysLater(3);
  await world.service.call('PUT', `${subscriptionsUrl}/${sold[0]?.id}/dunning-policy`, {
    token: by.apiKey,
    body: { policy: 'quick' },
  });
  await daysLater(40);
  await world.service.search.whenIdle();
});
afterAll(() => world.close());

async function save(name: string, body: object) {
  const url = `/v2/processing/shops/TEST/dunning-policies/${name}`;
  expect((await world.service.call('PUT', url, { token: by.apiKey, body })).status).toBe(200);
}

async function daysLater(days: number): Promise<void> {
  const { body } = await subscriptions.call(by, 'GET', '/sandbox/clock');
  await subscriptions.moveTo(by, new Date(Date.parse(body.now) + days * dayMs).toISOString());
  await subscriptions.settle();
}

const query = async (text: string) =>
  (await world.service.testDatabase.database.withClient((client) => client.query(text))).rows;

async function counted(key: string, shop = 'TEST') {
  const times = 'fromTime=2020-01-01T00:00:00Z&toTime=2020-12-31T00:00:00Z'.replaceAll('2020', yearOfClock);
  const path = `/v2/analytics/payments/recoveries?shopID=${shop}&${times}&by=${key}`;
  const { status, body, text } = await subscriptions.call(by, 'GET', path);
  expect(status, text).toBe(200);
  return body.result as { value: string; count: number; recovered: number }[];
}

let yearOfClock = '2026';

type Retry = Readonly<Record<string, string>> & { readonly isRecovered: boolean };

/** From the facts of subscriptions and what the API shows of their payments. */
async function recounted(): Promise<Retry[]> {
  const events = await query(
    `select aggregate_id as id, created_at as at, facts from event where aggregate = 'subscription' order by aggregate_id, sequence`,
  );
  const retries: Retry[] = [];
  let policy = '';
  let open:
    | { firstAt?: Date; failures: number; last: string; policy: string; startedAt?: Date; payment: string }
    | undefined;
  let failedPayment = '';
  const dayOf = (at: Date) => Math.floor((at.getTime() + 3 * 3_600_000) / dayMs);
  for (const { at: text, facts } of events) {
    const at = new Date(text);
    for (const fact of facts) {
      if (fact.type === 'subscription_created') policy = versionOf(fact.terms.dunning);
      if (fact.type === 'period_created') open = { failures: 0, last: '', policy, payment: '' };
      if (fact.type === 'dunning_policy_changed') {
        policy = versionOf(fact.policy);
        if (open && fact.moved?.length > 0) open.policy = policy;
      }
      if (!open) continue;
      if (fact.type === 'charge_started') Object.assign(open, { startedAt: at, payment: fact.paymentId });
      const isFailure = fact.type === 'charge_failed' && !fact.isUnsent;
      if (!isFailure && !(fact.type === 'period_paid' && fact.by === 'charge')) continue;
      if (open.firstAt && open.startedAt) {
        const before = await shownPayment(failedPayment);
        retries.push({
          network: before.network,
          declineClass: open.last,
          code: before.code,
          retry: String(open.failures),
          days: String(dayOf(open.startedAt) - dayOf(open.firstAt)),
          localHour: String(
            Number(
              new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit' }).format(open.startedAt),
            ),
          ),
          policy: open.policy,
          isRecovered: !isFailure,
        } as unknown as Retry);
      }
      if (!isFailure) continue;
      failedPayment = open.payment;
      open.firstAt ??= at;
      open.policy = open.failures === 0 ? policy : open.policy;
      open.failures += 1;
      open.last = fact.declineClass;
    }
  }
  return retries;
}

const versionOf = ({ name, version }: { name: string; version: number }) => `${name} ${version}`;

async function shownPayment(payment: string): Promise<{ network: string; code: string }> {
  const [invoiceId, paymentId] = payment.split('.');
  const [row] = await query(
    `select terms->'payer'->'card'->>'paymentSystem' as network, state->'bank'->>'code' as code
     from payment where invoice_id = '${invoiceId}' and payment_id = '${paymentId}'`,
  );
  return { network: row.network, code: row.code ?? '' };
}

test.each(['network', 'declineClass', 'code', 'retry', 'days', 'localHour', 'policy'])(
  'by %s the counts are those of the facts',
  async (key) => {
    const { body } = await subscriptions.call(by, 'GET', '/sandbox/clock');
    yearOfClock = body.now.slice(0, 4);
    const retries = await recounted();
    const expected = new Map<string, [number, number]>();
    for (const retry of retries) {
      const [count, recovered] = expected.get(retry[key] ?? '') ?? [0, 0];
      expected.set(retry[key] ?? '', [count + 1, recovered + (retry.isRecovered ? 1 : 0)]);
    }
    const found = (await counted(key)).map((row) => [row.value, [row.count, row.recovered]]);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
    expect(retries.length).toBeGreaterThan(8);
    expect(retries.some(({ isRecovered }) => isRecovered)).toBe(true);
  },
);

test('a share has its interval, and other shops have none', async () => {
  const [gentle] = await counted('policy');
  expect(gentle).toMatchObject({
    percents: expect.any(Number),
    atLeast: expect.any(Number),
    atMost: expect.any(Number),
  });
  expect(await counted('policy', 'TEST_USD')).toEqual([]);
});

test('a rebuild gives the same', async () => {
  const before = await counted('policy');
  await query('delete from search_retry');
  expect(await counted('policy')).toEqual([]);
  await query(`update search_position set rebuild_after = '', resum_from = null, rebuilt = 0`);
  for (let turn = 0; turn < 5; turn++) await world.service.search.whenIdle();
  expect(await counted('policy')).toEqual(before);
});

test('what it is counted by has to be known', async () => {
  const path = '/v2/analytics/payments/recoveries?fromTime=2026-01-01T00:00:00Z&toTime=2026-02-01T00:00:00Z';
  for (const wrong of [path, `${path}&by=weather`])
    expect(await subscriptions.call(by, 'GET', wrong)).toMatchObject({
      status: 400,
      body: { code: 'invalidRequest' },
    });
});
