// How long 31 days of daily retries take in a sandbox, by the test clock and the public API: a thousand series that fail, a day at a
// time. The clock moves, each series is asked whether it may be charged, and some of them are. Beside it the rules alone, without
// service or database: every series decided, tried and declined on each of the days.
// `npx tsx tools/bench-retries.ts [series, 1000 by default] [of them charged every day, 8 by default]`
import { laterBy, systemClock, type Instant } from '../src/clock.ts';
import { buildService, foundationOn } from '../src/app/compose.ts';
import { readConfig } from '../src/app/config.ts';
import { openDatabase } from '../src/platform/database/database.ts';
import { startEmbedded } from '../src/sandbox/postgres/server.ts';
import { allScopes } from '../src/platform/http/access.ts';
import { randomIds } from '../src/ids.ts';
import { openLog } from '../src/platform/log.ts';
import { insertParty, insertShop } from '../src/merchants/store/parties.ts';
import type { Currency } from '../src/money.ts';
import { mayCharge, type Decline } from '../src/retry-rules/domain/may-charge.ts';
import { applyOutcome, evolve, type Series, type SeriesTerms } from '../src/recurring/domain/series.ts';
import { openSimulatedBank } from '../src/sandbox/bank/simulated-bank.ts';
import { temporaryFolder } from '../test/support/test-cluster.ts';
import { readOptions, wholeNumber } from './script-options.ts';

const { words } = readOptions(
  `
npm run bench:retries -- [1000] [8]
  how long 31 days of retries take: of so many series, so many of which are charged each day`,
  {},
  { wordsMost: 2 },
);
const seriesCount = wholeNumber('the number of series', words[0] ?? '1000');
const chargedEachDay = Math.min(
  wholeNumber('how many are charged each day', words[1] ?? '8', 0),
  seriesCount,
);
/** After that of the first failure. */
const days = 30;
/** A little more than a day, for what the day before took. */
const dayMs = 24 * 3_600_000 + 40_000;
const clients = 8;
/** By its end the bank declines it for lack of funds. */
const declined = 199_051;
const secret = 'a secret of the bench that is long enough';

/** As much of any answer as is looked at here. */
type Body = {
  readonly invoice: { readonly id: string };
  readonly paymentToolToken: string;
  readonly now: string;
  readonly mayCharge: boolean;
};
type Times = { readonly clockMs: number; readonly askMs: number; readonly chargeMs: number };

const { folder, remove } = temporaryFolder();
const server = await startEmbedded({ dataFolder: folder, log: () => {}, machine: { openFolder: folder } });
const database = openDatabase({ connection: server.connection, maxConnections: clients + 4 });
const log = openLog({ level: 'error', human: false });
const ports = { clock: systemClock, ids: randomIds };
const environment = {
  DATABASE_URL: 'postgresql://opened.already',
  MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  REQUESTS_PER_SECOND: '0',
};
const config = readConfig(environment, folder);
const foundation = await foundationOn({ database, close: () => database.end() }, config, log, ports);
const service = buildService(foundation);
const bank = await openSimulatedBank({ clock: systemClock, secret, log });
const party_id = 'BENCH';
let apiKey = '';
/** What making a payment was answered, by its status: 201, or 400 where the rules forbid it. */
const statuses = new Map<number, number>();

try {
  await service.app.ready();
  const created_at = systemClock.now();
  await database.run(insertParty, { party_id, name: 'Bench', created_at });
  const shop = { party_id, shop_id: 'SHOP', livemode: false, name: 'Bench', url: 'https://shop.example' };
  await database.run(insertShop, { ...shop, category_id: 1, currency: 'RUB', created_at });
  await service.banks.putBank({ id: 'BANK', url: bank.url, secret });
  const terminal = { id: 'T1', partyId: party_id, shopId: 'SHOP', bankId: 'BANK', merchantId: 'SHOP' };
  await service.banks.putTerminal({ ...terminal, descriptor: 'BENCH', priority: 1 });
  apiKey = await foundation.apiKeys.create({ partyId: party_id, name: 'bench', scopes: [allScopes] });

  const rules = rulesAlone();
  const parents: string[] = [];
  await inParallel(range(seriesCount), async () => void parents.push(await consentingPayer()));
  await service.jobs.whenIdle();
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
  const said = (seconds: number) => seconds.toFixed(2).padStart(8);
  console.log(
    `${days + 1} days, ${seriesCount} series that fail, ${chargedEachDay} of them tried again every day`,
  );
  console.log(`${said(rules.tookMs / 1_000)} s for the rules alone: ${rules.said}`);
  console.log(`${said(sum('clockMs'))} s moving the clock`);
  console.log(`${said(tenYearsMs / 1_000)} s moving it ten years further`);
  console.log(`${said(sum('askMs'))} s asking each series every day (${days * seriesCount} answers)`);
  console.log(
    `${said(sum('chargeMs'))} s for ${days * chargedEachDay} retries; answered ${JSON.stringify([...statuses])}`,
  );
} finally {
  await service.stop();
  await foundation.close();
  await bank.stop();
  await server.stop();
  await remove();
}

/** A payer who was there. */
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
  const answers: boolean[] = [];
  await inParallel(parents, async (parent) => {
    const { body } = await call(
      'GET',
      `/v2/processing/invoices/${parent}/payments/1/recurring?amount=${declined}`,
    );
    answers.push(body.mayCharge);
  });
  const asked = performance.now();
  await chargeAll(parents.slice(0, chargedEachDay));
  return { clockMs: moved - began, askMs: asked - moved, chargeMs: performance.now() - asked };
}

/** All use one card, of which the networks would bear nine declines a day. */
async function chargeAll(parents: readonly string[]): Promise<void> {
  for (let done = 0; done < parents.length; done += clients) {
    await forgetDeclines();
    await inParallel(parents.slice(done, done + clients), charge);
    await service.jobs.whenIdle();
  }
}

async function charge(parent: string): Promise<void> {
  const recurrentParentPayment = { invoiceID: parent, paymentID: '1' };
  await pay(declined, { payerType: 'RecurrentPayer', recurrentParentPayment, contactInfo: {} });
}

/** Answers the invoice. */
async function pay(amount: number, payer: object): Promise<string> {
  const order = { shopID: 'SHOP', dueDate: '2045-01-01T00:00:00Z', amount, currency: 'RUB', product: 'x' };
  const { id } = (await call('POST', '/v2/processing/invoices', order)).body.invoice;
  const url = `/v2/processing/invoices/${id}/payments`;
  const { status } = await call('POST', url, { payer, makeRecurrent: true });
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
  return id;
}

async function call(
  method: 'GET' | 'POST',
  url: string,
  body?: object,
): Promise<{ status: number; body: Body }> {
  const answer = await service.app.inject({
    method,
    url,
    headers: {
      authorization: `Bearer ${apiKey}`,
      'x-request-id': 'bench',
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { payload: JSON.stringify(body) } : {}),
  });
  return { status: answer.statusCode, body: answer.json() };
}

function forgetDeclines(): Promise<unknown> {
  return database.withClient((client) => client.query('delete from card_decline'));
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, place) => place);
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items[Symbol.iterator]();
  const worker = async () => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(range(clients).map(worker));
}

/** Each series with a card of its own. */
function rulesAlone(): { readonly tookMs: number; readonly said: string } {
  const began = performance.now();
  const counts = new Map<string, number>();
  for (const name of range(seriesCount)) {
    const consentedAt = '2026-11-01T10:00:00.000000Z' as Instant;
    const terms: SeriesTerms = {
      id: `series${name}`,
      partyId: party_id,
      shopId: 'SHOP',
      kind: 'parent',
      root: { invoiceId: `invoice${name}`, paymentId: '1' },
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
      const standing = {
        series,
        isAttemptPending: false,
        declines,
        ...(lastAttemptAt ? { lastAttemptAt } : {}),
      };
      const verdict = mayCharge(standing, { invoiceCreatedAt: 'then' }, now);
      const what = verdict.may ? 'tried' : verdict.code;
      counts.set(what, (counts.get(what) ?? 0) + 1);
      if (!verdict.may) continue;
      const amount = { minor: BigInt(declined), currency: 'RUB' as Currency };
      const attempt = { ...terms.root, createdAt: now, amount, isRetry: verdict.isRetry };
      const ending = { outcome: 'declined', network: 'mastercard', code: '51' } as const;
      for (const fact of applyOutcome(series, attempt, ending, now).facts) series = evolve(series, fact, now);
      lastAttemptAt = now;
      declines.push({ at: now, isOfCharge: true });
    }
  }
  return { tookMs: performance.now() - began, said: JSON.stringify([...counts]) };
}
