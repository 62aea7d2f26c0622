// npm run bench:retries: measures 31 days of retries of failing series in a sandbox, one day of the test clock at a time.
// It also measures the retry rules alone, without service and database.
import { laterBy, type Instant } from '../src/clock.ts';
import type { Currency } from '../src/money.ts';
import { mayCharge, type Decline } from '../src/retry-rules/domain/may-charge.ts';
import { applyOutcome, evolve, type Series, type SeriesTerms } from '../src/recurring/domain/series.ts';
import { readOptions, wholeNumber } from '../tools/script-options.ts';
import { openPrivateService, partyId } from './harness/private-service.ts';

const { words } = readOptions(
  `npm run bench:retries -- [SERIES] [CHARGED]
Measures how long 31 days of retries take, through the public API and the test clock.
  SERIES   failing series, each previewed every day; 1000 by default
  CHARGED  how many of them are charged every day; 8 by default
Example: npm run bench:retries -- 1000 8`,
  {},
  { maxWords: 2 },
);
const seriesCount = wholeNumber('the number of series', words[0] ?? '1000');
const chargedEachDay = Math.min(wholeNumber('the number charged each day', words[1] ?? '8', 0), seriesCount);
/** After the day of the first failure. */
const days = 30;
/** A little more than a day, because the charges of the day before took time. */
const dayMs = 24 * 3_600_000 + 40_000;
const clients = 8;
/** The simulated bank declines an amount with these last digits for insufficient funds. */
const declined = 199_051;

type Times = { readonly clockMs: number; readonly previewMs: number; readonly chargeMs: number };

const { db, jobs, openShop, call, close } = await openPrivateService({ connections: clients + 4 });
/** Responses to payments by HTTP status: 201, or 400 where the rules forbid the charge. */
const statuses = new Map<number, number>();

try {
  await openShop({ shopId: 'SHOP', currency: 'RUB' });

  const rules = rulesAlone();
  const parents: string[] = [];
  await inParallel(range(seriesCount), async () => void parents.push(await consentingPayer()));
  await jobs.whenIdle();
  await chargeAll(parents);
  statuses.clear();
  const start = Date.parse((await call('GET', '/sandbox/clock')).body.now);
  const times: Times[] = [];
  for (let day = 1; day <= days; day++) times.push(await passDay(parents, start + day * dayMs));
  const tenYearsLater = new Date(start + days * dayMs + 3_650 * 24 * 3_600_000).toISOString();
  const beganYears = performance.now();
  await call('POST', '/sandbox/clock', { now: tenYearsLater });
  const tenYearsMs = performance.now() - beganYears;
  const sum = (of: keyof Times) => times.reduce((total, each) => total + each[of], 0) / 1_000;
  const column = (seconds: number) => seconds.toFixed(2).padStart(8);
  console.log(`${days + 1} days, ${seriesCount} failing series, ${chargedEachDay} of them retried every day`);
  console.log(`${column(rules.tookMs / 1_000)} s for the rules alone: ${rules.counts}`);
  console.log(`${column(sum('clockMs'))} s moving the clock`);
  console.log(`${column(tenYearsMs / 1_000)} s moving it ten years further`);
  console.log(
    `${column(sum('previewMs'))} s previewing each series every day (${days * seriesCount} previews)`,
  );
  console.log(
    `${column(sum('chargeMs'))} s for ${days * chargedEachDay} retries; HTTP statuses ${JSON.stringify([...statuses])}`,
  );
} finally {
  await close();
}

/** A payment with the payer present, which starts a series. */
async function consentingPayer(): Promise<string> {
  const paymentTool = {
    paymentToolType: 'CardData',
    cardNumber: '5555555555554444',
    expDate: '12/40',
    cvv: '123',
  };
  const clientInfo = { fingerprint: 'bench' };
  const card = await call('POST', '/v2/processing/payment-resources', { paymentTool, clientInfo });
  const payer = {
    payerType: 'PaymentResourcePayer',
    paymentToolToken: card.body.paymentToolToken,
    contactInfo: {},
  };
  return pay(100, payer);
}

async function passDay(parents: readonly string[], until: number): Promise<Times> {
  const began = performance.now();
  await call('POST', '/sandbox/clock', { now: new Date(until).toISOString() });
  const moved = performance.now();
  await inParallel(parents, async (parent) => {
    await call('GET', `/v2/processing/invoices/${parent}/payments/1/recurring?amount=${declined}`);
  });
  const previewed = performance.now();
  await chargeAll(parents.slice(0, chargedEachDay));
  return { clockMs: moved - began, previewMs: previewed - moved, chargeMs: performance.now() - previewed };
}

/** All series use one card, and the networks allow it nine declines a day. */
async function chargeAll(parents: readonly string[]): Promise<void> {
  for (let done = 0; done < parents.length; done += clients) {
    await forgetDeclines();
    await inParallel(parents.slice(done, done + clients), charge);
    await jobs.whenIdle();
  }
}

async function charge(parent: string): Promise<void> {
  const recurrentParentPayment = { invoiceID: parent, paymentID: '1' };
  await pay(declined, { payerType: 'RecurrentPayer', recurrentParentPayment, contactInfo: {} });
}

/** Returns the invoice ID. */
async function pay(amount: number, payer: object): Promise<string> {
  const order = { shopID: 'SHOP', dueDate: '2045-01-01T00:00:00Z', amount, currency: 'RUB', product: 'x' };
  const { id } = (await call('POST', '/v2/processing/invoices', order)).body.invoice;
  const url = `/v2/processing/invoices/${id}/payments`;
  const { status } = await call('POST', url, { payer, makeRecurrent: true });
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
  return id;
}

function forgetDeclines(): Promise<unknown> {
  return db.withClient((client) => client.query('delete from card_decline'));
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items[Symbol.iterator]();
  const worker = async () => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(range(clients).map(worker));
}

/** Here each series has its own card. */
function rulesAlone(): { readonly tookMs: number; readonly counts: string } {
  const began = performance.now();
  const counts = new Map<string, number>();
  for (const name of range(seriesCount)) {
    const consentedAt = '2026-11-01T10:00:00.000000Z' as Instant;
    const root = { invoiceId: `invoice${name}`, paymentId: '1' };
    const terms: SeriesTerms = {
      id: `series${name}`,
      partyId,
      shopId: 'SHOP',
      kind: 'parent',
      root,
      card: {
        paymentSystem: 'mastercard',
        lastDigits: '4444',
        endsAt: '2041-01-01T12:00:00.000000Z' as Instant,
      },
      mandate: {
        schedule: 'P1M',
        payer: { contactInfo: {} },
        payment: {},
      } as unknown as SeriesTerms['mandate'],
      consentedAt,
    };
    let series: Series = evolve(undefined, { type: 'series_started', terms }, consentedAt);
    let lastAttemptAt: Instant | undefined;
    const declines: Decline[] = [];
    for (let day = 0; day <= days; day++) {
      const now = laterBy(consentedAt, (day + 1) * dayMs);
      const history = {
        series,
        isAttemptPending: false,
        timeZone: 'Europe/Moscow',
        declines,
        ...(lastAttemptAt ? { lastAttemptAt } : {}),
      };
      const decision = mayCharge(history, { invoiceCreatedAt: 'then' }, now);
      const what = decision.may ? 'tried' : decision.code;
      counts.set(what, (counts.get(what) ?? 0) + 1);
      if (!decision.may) continue;
      const amount = { minor: BigInt(declined), currency: 'RUB' as Currency };
      const attempt = { ...root, createdAt: now, amount, isRetry: decision.isRetry };
      const outcome = { outcome: 'declined', network: 'mastercard', code: '51' } as const;
      for (const fact of applyOutcome(series, attempt, outcome, now).facts)
        series = evolve(series, fact, now);
      lastAttemptAt = now;
      declines.push({ at: now, isOfCharge: true });
    }
  }
  return { tookMs: performance.now() - began, counts: JSON.stringify([...counts]) };
}
