// Requests that any merchant makes now and then: lists, access tokens, quotes and the test clock.
import { recent, type Action, type Knowledge, type Wish } from './knowledge.ts';

const processing = '/v2/processing';
const wallet = '/wallet/v0';
const hourMs = 3_600_000;

const everything = 'fromTime=2026-01-01T00:00:00Z&toTime=2026-12-31T00:00:00Z';
const sums = [
  'payments/amount',
  'payments/average',
  'payments/count',
  'payments/errors',
  'payments/sub-errors',
  'payments/declines',
  'payments/attempts',
  'payments-tool',
  'refunds/amount',
  'payouts',
];
const always = [
  `${processing}/me`,
  `${processing}/shops`,
  `${processing}/shops/TEST`,
  `${processing}/categories`,
  `${processing}/categories/1`,
  `${processing}/webhooks`,
  `/v2/analytics/shops/TEST/invoices?limit=20&${everything}`,
  `/v2/analytics/shops/TEST/payments?limit=20&${everything}`,
  `/v2/analytics/shops/TEST/refunds?limit=20&${everything}`,
  ...['customers', 'bindings', 'series'].map((what) => `/v2/analytics/${what}?limit=20&${everything}`),
  `/v2/analytics/invoices?limit=20&${everything}`,
  `/v2/analytics/payments?limit=20&shopIDs=TEST&${everything}`,
  `/v2/analytics/refunds?limit=20&excludeShopIDs=TEST&${everything}`,
  ...sums.map((what) => `/v2/analytics/${what}?${everything}`),
  `/v2/analytics/payments/recoveries?by=policy&${everything}`,
  `/v2/analytics/payments/split-amount?splitUnit=week&${everything}`,
  `/v2/analytics/payments/split-count?splitUnit=month&${everything}`,
  '/v2/analytics/balances/current',
  '/v2/analytics/balances/current-shop-balances',
  `${wallet}/providers`,
  `${wallet}/providers/test`,
  `${wallet}/providers/test/identity-classes`,
  `${wallet}/providers/test/identity-classes/person`,
  `${wallet}/residences/RUS`,
  `${wallet}/currencies/RUB`,
  `${wallet}/identities`,
  `${wallet}/wallets`,
  `${wallet}/destinations`,
  `${wallet}/deposits`,
  `${wallet}/withdrawals`,
  '/sandbox/outbox',
];

const clock = '/sandbox/clock';
const exportsPath = '/v2/analytics/exports';

/** The response has the merchant's time, from which they learn how far ahead it is. */
function learnTime(known: Knowledge, now: () => string) {
  return (answer: { now: string }) => {
    known.aheadMs += Date.parse(answer.now) - Date.parse(now());
    if (known.clock === 'unknown') known.clock = 'known';
  };
}

function lookAtClock(known: Knowledge, now: () => string): Wish {
  return { method: 'GET', path: clock, learn: learnTime(known, now) };
}

export function clockMove(known: Knowledge, now: () => string, hours: number): Wish {
  if (known.clock !== 'known') return lookAtClock(known, now);
  known.clock = 'moving';
  const over = (isAnswered: boolean) => void (known.clock = isAnswered ? 'known' : 'unknown');
  const fromMs = Date.parse(now());
  const toMs = fromMs + hours * hourMs;
  known.clockMoves.push({ fromMs, toMs });
  const body = { now: new Date(toMs).toISOString() };
  return { method: 'POST', path: clock, body, isUnique: true, learn: learnTime(known, now), over };
}

export const readActions: readonly Action[] = [
  {
    name: 'look around',
    weight: 1.5,
    wish: (_known, chance) => ({ method: 'GET', path: chance.oneOf(always) }),
  },
  {
    name: 'order an export',
    weight: 0.1,
    wish: (known, chance) => {
      const of = chance.oneOf(['payments', 'refunds', 'invoices', 'withdrawals']);
      const shop = of === 'withdrawals' ? {} : { shopID: 'TEST' };
      const range = { fromTime: '2026-01-01T00:00:00Z', toTime: '2026-12-31T00:00:00Z' };
      const learn = ({ id }: { id: string }) => void known.exports.push(id);
      return { method: 'POST', path: exportsPath, body: { of, ...shop, ...range }, learn };
    },
  },
  {
    name: 'look at an export',
    weight: 0.2,
    wish: (known, chance) => {
      const id = recent(known.exports, chance);
      return id === undefined ? undefined : { method: 'GET', path: `${exportsPath}/${id}` };
    },
  },
  {
    name: 'cancel an export',
    weight: 0.05,
    wish: (known, chance) => {
      const id = recent(known.exports, chance);
      return id === undefined ? undefined : { method: 'POST', path: `${exportsPath}/${id}/cancel` };
    },
  },
  {
    name: 'give an invoice a token',
    weight: 0.4,
    wish: (known, chance) => {
      const invoice = recent(known.invoices, chance);
      return invoice && { method: 'POST', path: `${processing}/invoices/${invoice.id}/access-tokens` };
    },
  },
  {
    name: 'look at what is not there',
    weight: 0.4,
    wish: (known, chance) => {
      const paid = recent(known.payments, chance);
      if (!paid) return undefined;
      const path = `${processing}/invoices/${paid.invoiceId}/payments/${paid.paymentId}`;
      return { method: 'GET', path: path + chance.oneOf(['/chargebacks', '/chargebacks/1', '/refunds/1']) };
    },
  },
  {
    name: 'move the test clock',
    weight: 0.3,
    wish: (known, chance, now) =>
      chance.isTrue(0.2)
        ? lookAtClock(known, now)
        : clockMove(known, now, chance.oneOf([1, 1, 23, 25, 25, 5 * 24, 8 * 24, 32 * 24])),
  },
  {
    name: 'begin the next day',
    weight: 0,
    wish: (known, _chance, now) => clockMove(known, now, 25),
  },
  {
    name: 'reset the limits of attempts',
    weight: 0.05,
    wish: () => ({ method: 'POST', path: '/sandbox/limits/reset' }),
  },
  {
    // The bank of a world takes the order and declines nothing: it has faults of its own.
    name: 'order a decline',
    weight: 0.05,
    wish: () => ({ method: 'POST', path: '/sandbox/faults', body: { kind: 'decline', code: '51' } }),
  },
  {
    name: 'ask for a quote',
    weight: 0.2,
    wish: (known, chance) => {
      const walletID = recent(known.wallets, chance);
      const cash = { amount: 100, currency: 'RUB' };
      return walletID === undefined
        ? undefined
        : {
            method: 'POST',
            path: `${wallet}/withdrawal-quotes`,
            body: { walletID, currencyFrom: 'RUB', currencyTo: 'USD', cash },
          };
    },
  },
];
