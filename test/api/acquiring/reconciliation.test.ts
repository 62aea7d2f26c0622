// Reconciliation of a few hundred payments and payouts in every state: an unchanged report has no difference.
// Each of hundreds of planted differences is found with the right class and amount, and nothing else is.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BookEntry } from '../../../src/acquiring/adapters/http/messages.ts';
import { laterBy, type Instant } from '../../../src/clock.ts';
import { reconciliationSources } from '../../../src/app/sources/reconciliation-sources.ts';
import { differenceClasses } from '../../../src/acquiring/reconciliation/domain/difference.ts';
import {
  reconcile,
  type TransactionReport,
  type ReconcileOptions,
} from '../../../src/acquiring/reconciliation/reconcile.ts';
import { groupedBy, livesIn, plant, textOf, type Life } from '../../support/bank/planted-differences.ts';
import { startTradedWorld, type TradedWorld } from '../../support/worlds/traded-world.ts';

const seeds = [1, 2, 3, 4, 5];
const minuteMs = 60_000;

let world: TradedWorld;
/** The report without operations recorded under another bank. */
let clean: readonly BookEntry[];
let lives: readonly Life[];

beforeAll(async () => {
  world = await startTradedWorld();
  const all = await world.readBook();
  lives = await livesIn(world.service.database, all);
  const elsewhere = lives.filter(({ bank }) => bank === 'OTHER').flatMap(({ lines }) => lines);
  clean = all.filter((entry) => !elsewhere.includes(entry));
}, 180_000);
afterAll(() => world.close());

function run(entries: readonly BookEntry[] | TransactionReport, more: Partial<ReconcileOptions> = {}) {
  return reconcile({
    db: world.service.database,
    clock: world.service.clock,
    comparison: reconciliationSources,
    book: 'grows' in entries ? entries : bookOf(entries),
    bankId: 'BANK',
    period: {},
    pendingHours: 24,
    maxList: 1_000,
    // Many pages of few aggregates, and some of one large aggregate.
    rowsOfPage: 5,
    report: () => {},
    ...more,
  });
}

function bookOf(entries: readonly BookEntry[]): TransactionReport {
  return {
    grows: true,
    async *entriesAfter(sequence) {
      yield entries.filter((entry) => entry.sequence > sequence);
    },
  };
}

async function leftLines(): Promise<number> {
  const { rows } = await world.service.database.withClient((client) =>
    client.query<{ count: bigint }>('select count(*) as count from report_line'),
  );
  return Number(rows[0]?.count);
}

/** Captures of yesterday that the bank refuses, and payouts without a response. */
const stuck = () =>
  lives
    .filter(({ status }) => status === 'capturing' || status === 'sending')
    .map(({ of, name, minor, currency }) => {
      const found =
        of === 'payout'
          ? { operationId: name, atStake: -minor }
          : { operationId: `${name}.c`, atStake: minor };
      return textOf({ class: 'pending_too_long', currency, ...found });
    });

const textsOf = ({ differences }: Awaited<ReturnType<typeof run>>) =>
  differences.map(({ atStakeMinor, ...found }) => textOf({ ...found, atStake: atStakeMinor })).sort();

test('an unchanged report has no difference, even with lost responses', async () => {
  const result = await run(clean, { pendingHours: 1_000 });
  expect(result.sums).toEqual([]);
  expect(result.lines).toBe(clean.length);
  const booked = lives.filter(({ bank }) => bank === 'BANK').flatMap(({ lines }) => lines).length;
  expect(booked).toBe(clean.length);
  // A pending refund with a line in the report is neither a difference nor equal yet.
  const pendingButBooked = 3;
  expect(result.equal).toBe(clean.length - pendingButBooked);
  expect(result.open).toBe(stuck().length + 8 + 6);
  expect(await leftLines()).toBe(0);
});

test('a pending operation is a difference only after the limit', async () => {
  expect(textsOf(await run(clean))).toEqual(stuck().sort());
});

test.each(seeds)('exactly the 200 planted differences are found: seed %i', async (seed) => {
  const { book, expected } = plant(lives, clean, seed);
  expect(expected.length).toBeGreaterThanOrEqual(200);
  const planted = new Set(expected.map((text) => text.split(' ')[0]));
  expect([...planted, 'pending_too_long'].sort()).toEqual(Object.keys(differenceClasses).sort());

  const decided = expected.filter((text) => text.startsWith('final_at_bank'));
  const stillOpen = stuck().filter(
    (text) => !decided.some((found) => found.split(' ')[1] === text.split(' ')[1]),
  );
  const result = await run(book);
  expect(textsOf(result)).toEqual([...expected, ...stillOpen].sort());
  expect(sumsOf(result.sums)).toEqual(sumsOf(result.differences.map((one) => ({ ...one, number: 1 }))));
  expect(await leftLines()).toBe(0);
});

type Counted = { class: string; currency: string; number: number; atStakeMinor: bigint };

function sumsOf(all: readonly Counted[]): Record<string, string> {
  const groups = groupedBy(all, (one) => `${one.class} ${one.currency}`);
  return Object.fromEntries(
    [...groups].map(([key, list]) => {
      const minor = list.reduce((sum, one) => sum + one.atStakeMinor, 0n);
      return [key, `${list.reduce((sum, one) => sum + one.number, 0)} with ${minor}`];
    }),
  );
}

test('each class lists at most the requested number, and all are counted', async () => {
  const { book, expected } = plant(lives, clean, 1);
  const result = await run(book, { maxList: 2 });
  const listed = groupedBy(result.differences, ({ class: name }) => name);
  expect([...listed.keys()]).toEqual(Object.keys(differenceClasses));
  for (const [name, list] of listed) expect(list.length, name).toBe(2);
  const counted = result.sums.reduce((sum, { number }) => sum + number, 0);
  expect(counted).toBeGreaterThanOrEqual(expected.length);
});

describe('a report that grows during the run', () => {
  /** Entries the bank adds after the first read to the end. */
  function growing(
    before: readonly BookEntry[],
    after: readonly BookEntry[],
  ): TransactionReport & { readings: number } {
    const book = {
      grows: true,
      readings: 0,
      async *entriesAfter(sequence: number) {
        book.readings += 1;
        yield [...before, ...(book.readings > 1 ? after : [])].filter((entry) => entry.sequence > sequence);
      },
    };
    return book;
  }

  test('is read further before anything counts as a difference', async () => {
    const book = growing(clean.slice(0, -40), clean.slice(-40));
    const result = await run(book, { pendingHours: 1_000 });
    expect(result.sums).toEqual([]);
    expect(result.lines).toBe(clean.length);
    expect(book.readings).toBeGreaterThan(1);
    // Without the second comparison each of them is missing.
    const { sums } = await run({ ...growing(clean.slice(0, -40), []), grows: true }, { pendingHours: 1_000 });
    expect(sums.reduce((sum, { number }) => sum + number, 0)).toBeGreaterThanOrEqual(37);
  });

  test('has no difference that only the second comparison shows', async () => {
    const last = clean.at(-1)?.sequence ?? 0;
    const stranger: BookEntry = { ...clean[0]!, operationId: 'stranger.1.a', sequence: last + 1 };
    // On the same page as an entry that causes the second comparison.
    const { sums } = await run(growing(clean, [stranger]), { rowsOfPage: 10_000 });
    expect(sums.map((sum) => sum.class)).toEqual(['pending_too_long']);
  });
});

describe('a clearing file of a period', () => {
  const file = (entries: readonly BookEntry[]): TransactionReport => ({ ...bookOf(entries), grows: false });

  test('proves nothing about operations after its last line', async () => {
    const half = clean.slice(0, 200);
    const { sums, edge, period } = await run(file(half), { pendingHours: 1_000 });
    expect(sums).toEqual([]);
    expect(edge).toBeGreaterThan(100);
    expect(period.to).toBe(half.at(-1)?.at);
  });

  test('of a day shows operations pending since that day, and so does each later file', async () => {
    const { clock } = world.service;
    const [open] = lives.filter(({ status }) => status === 'sending');
    const day = 24 * 60 * minuteMs;
    // The bank has paid it, and Mandate does not know yet.
    const paid: BookEntry = {
      ...clean.find(({ kind }) => kind === 'payout')!,
      sequence: clean.at(-1)!.sequence + 1,
      operationId: open!.name,
      amount: open!.minor,
      currency: open!.currency,
      at: laterBy(clock.now(), -30 * 60 * minuteMs),
    };
    const told = async (from: Instant) => {
      const period = { from, to: laterBy(from, day) };
      const { differences } = await run(file([...clean, paid]), { period });
      return differences.find(({ operationId }) => operationId === open!.name)?.class;
    };
    const its = laterBy(paid.at as Instant, -day / 2);
    expect(await told(its)).toBe('final_at_bank');
    expect(await told(laterBy(its, day))).toBe('pending_too_long');
    expect(await told(laterBy(its, 2 * day))).toBe('pending_too_long');
  });

  test('must have everything that certainly happened in its period', async () => {
    const saleOf = ({ name, lines }: Life) => lines.find(({ operationId }) => operationId === `${name}.a`);
    const sold = lives.filter(
      ({ status, is_instant, bank }) => status === 'captured' && is_instant && bank === 'BANK',
    );
    const takenBack = lives.filter(({ status, lines }) => status === 'failed' && lines.length === 2);
    // Ends between failed charges and their reversals, so that the file lacks the reversals.
    const from = laterBy(earliest(sold.map((life) => saleOf(life)?.at)), -30 * minuteMs);
    const to = laterBy(earliest(takenBack.map(({ lines }) => lines[1]?.at)), -30 * minuteMs);
    expect(takenBack.filter(({ lines }) => lines[0]!.at < to && lines[1]!.at > to).length).toBeGreaterThan(5);
    const more = { period: { from, to }, pendingHours: 1_000 };
    const honest = await run(file(clean), more);
    expect(honest.sums).toEqual([]);
    expect(honest.lines).toBe(clean.filter(({ at }) => at >= from && at < to).length);
    expect(honest.linesOutside).toBe(clean.length - honest.lines);

    const gone = sold
      .map(saleOf)
      .filter((line, place) => line && line.at < laterBy(to, -10 * minuteMs) && place % 3 === 0);
    expect(gone.length).toBeGreaterThan(20);
    const cut = await run(file(clean.filter((entry) => !gone.includes(entry))), more);
    expect(cut.sums.map((sum) => sum.class)).toEqual(
      [...new Set(gone.map((line) => line?.currency))].map(() => 'missing_at_bank'),
    );
    expect(cut.differences.map(({ operationId }) => operationId).sort()).toEqual(
      gone.map((line) => line?.operationId).sort(),
    );
  });
});

function earliest(times: readonly (string | undefined)[]): Instant {
  const [first] = times.filter((at) => at !== undefined).sort();
  return first as Instant;
}

test('rows of a crashed run are deleted a day later', async () => {
  const { database: db, clock } = world.service;
  const put = (at: Instant) =>
    db.withClient((client) =>
      client.query(
        `insert into report_line select $1, 'x', 'x.1.a', 1, 'authorise', null, 1, 'RUB', 1, now(), null`,
        [`${at}-dead`],
      ),
    );
  await put(laterBy(clock.now(), -23 * 60 * minuteMs));
  await put(laterBy(clock.now(), -25 * 60 * minuteMs));
  await run(clean);
  expect(await leftLines()).toBe(1);
  await db.withClient((client) => client.query('delete from report_line'));
});

test('a line with an invalid time stops the run and leaves no rows', async () => {
  const [first, ...others] = clean;
  await expect(run([{ ...first!, at: '2026-13-01T00:00:00Z' }, ...others])).rejects.toThrow(
    /Line 1 of the transaction report has an invalid time/,
  );
  expect(await leftLines()).toBe(0);
});

test('a report lost in a database crash, which empties an unlogged table, gives no result', async () => {
  const asOwner = world.service.testDatabase.database;
  const losing: TransactionReport = {
    grows: true,
    async *entriesAfter(sequence) {
      if (sequence === 0) yield clean;
      else await asOwner.withClient((client) => client.query('truncate report_line'));
    },
  };
  await expect(run(losing)).rejects.toThrow(
    `The database lost ${clean.length} of the ${clean.length} report lines`,
  );
  expect(await leftLines()).toBe(0);
});

test('a service that charges and refunds during the run causes no difference', async () => {
  const { service, bank, merchant } = world;
  const token = merchant.apiKey;
  let sold = 0;
  let isOver = false;
  let tellSale = () => {};
  const shopper = async (hold: boolean) => {
    while (!isOver) {
      // Some responses are lost, and their outcomes become known during the run.
      if (sold % 7 === 0) bank.faults.order({ kind: 'reset-after-booking', next: 1 });
      const flow = hold ? { flow: { type: 'PaymentFlowHold', onHoldExpiration: 'cancel' } } : {};
      const { id } = await world.pay('4242424242424242', flow, { amount: 5_000 + sold });
      const url = `/v2/processing/invoices/${id}/payments/1`;
      const body = hold ? { reason: 'r' } : { amount: 100, currency: 'RUB' };
      await service.call('POST', `${url}/${hold ? 'cancel' : 'refunds'}`, { token, body });
      service.clock.advance(2_000);
      service.jobs.wake();
      sold += 1;
      tellSale();
    }
  };
  const shoppers = [shopper(true), shopper(false), shopper(false)];
  const rounds = 6;
  const found: string[] = [];
  let lines = 0;
  for (let times = 0; times < rounds; times++) {
    // At least one sale for each run, however slow they are.
    await Promise.race([new Promise<void>((resolve) => (tellSale = resolve)), ...shoppers]);
    const reader = world.openBook();
    const result = await run({ grows: true, ...reader }, { pendingHours: 1_000, rowsOfPage: 50 });
    await reader.stop();
    expect(result.lines).toBeGreaterThanOrEqual(lines);
    ({ lines } = result);
    found.push(...result.sums.map((sum) => sum.class));
  }
  isOver = true;
  await Promise.all(shoppers);
  await service.jobs.whenIdle();
  // The operations recorded under another bank.
  expect(found).toEqual(Array.from({ length: rounds }, () => 'wrong_bank'));
  expect(sold).toBeGreaterThanOrEqual(rounds);
  expect(lines).toBeGreaterThan(clean.length);
}, 120_000);
