// Counts of exchanges by bank and hour, with how long the answers took. The last two hours are counted each minute, older ones when
// something in them changes.
import { epochMsOf, instantAt, laterBy, type Instant } from '../../../clock.ts';
import type { Database } from '../../../platform/database/database.ts';
import { statement, type Values } from '../../../platform/database/statement.ts';

/** An answer took at most so long; a longer one has the largest integer. Without an answer it is 0. */
const answerBoundsMs = [50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000] as const;
const longerMs = 2_147_483_647;

const tookMs = `(extract(epoch from heard_at - begun_at) * 1000)::numeric`;
const withinMs = `case when state not in ('approved', 'declined') then 0
        ${answerBoundsMs.map((bound) => `when ${tookMs} <= ${bound} then ${bound}`).join(' ')} else ${longerMs} end`;

/** One node at a time counts. */
const takePosition = statement({
  name: 'take_exchange_sum_position',
  parameters: { counted_before: 'timestamptz', now: 'timestamptz' },
  row: { counted_until: 'timestamptz?' },
  text: `select counted_until from exchange_sum_position
         where counted_at is null or counted_until is null or counted_at < :counted_before or counted_at > :now
         for update skip locked`,
});

const lockPosition = statement({
  name: 'lock_exchange_sum_position',
  parameters: {},
  row: {},
  text: 'select from exchange_sum_position for update',
});

const movePosition = statement({
  name: 'move_exchange_sum_position',
  parameters: { counted_until: 'timestamptz', counted_at: 'timestamptz?' },
  row: {},
  text: 'update exchange_sum_position set counted_until = :counted_until, counted_at = :counted_at',
});

const beginAgain = statement({
  name: 'begin_exchange_sums',
  parameters: {},
  row: {},
  text: 'update exchange_sum_position set counted_until = null, counted_at = null',
});

const range = { from: 'timestamptz', until: 'timestamptz?' } as const;
const within = (column: string) =>
  `${column} >= :from and ${column} < coalesce(:until, 'infinity'::timestamptz)`;

const deleteHours = statement({
  name: 'delete_exchange_sums',
  parameters: range,
  row: {},
  text: `delete from exchange_sum where ${within('hour')}`,
});

const countHours = statement({
  name: 'count_exchanges',
  parameters: range,
  row: {},
  text: `
    insert into exchange_sum (bank_id, hour, kind, state, within_ms, n)
    select bank_id, date_trunc('hour', begun_at, 'UTC') as hour, kind, state, ${withinMs} as within_ms, count(*)
    from exchange where ${within('begun_at')}
    group by bank_id, hour, kind, state, within_ms`,
});

/** Each row is of a transaction that has committed, so the count that follows sees what it wrote. */
const deleteLate = statement({
  name: 'delete_late_exchanges',
  parameters: range,
  row: {},
  text: `delete from exchange_late where ${within('begun_at')}`,
});

const readLateHours = statement({
  name: 'read_late_exchange_hours',
  parameters: {},
  row: { hour: 'timestamptz' },
  text: `select distinct date_trunc('hour', begun_at, 'UTC') as hour from exchange_late order by hour`,
});

const readSums = statement({
  name: 'read_exchange_sums',
  parameters: range,
  row: { bank_id: 'text', hour: 'timestamptz', kind: 'text', state: 'text', within_ms: 'int4', n: 'int8' },
  text: `select bank_id, hour, kind, state, within_ms, n from exchange_sum where ${within('hour')} order by bank_id, hour`,
});

export type ExchangeSum = Values<(typeof readSums)['row']>;

const hourMs = 3_600_000;
const countedAgainMs = 50_000;
/** Sums begin here the first time, and when they are made again. */
const countedDays = 31;

export function hourOf(time: Instant): Instant {
  return instantAt(Math.floor(epochMsOf(time) / hourMs) * hourMs);
}

/** Nothing if another node counts, or did a moment ago. */
export async function countExchanges(db: Database, now: Instant): Promise<void> {
  let next: 'more' | 'late' | 'done';
  do next = await db.transaction((tx) => countNext(tx, now));
  while (next === 'more');
  // Each hour once: what becomes late meanwhile is of the next count.
  if (next === 'late') for (const { hour } of await db.run(readLateHours, {})) await countLate(db, hour);
}

/** The next day that is not counted yet, or the last two hours. */
async function countNext(tx: Database, now: Instant): Promise<'more' | 'late' | 'done'> {
  const [position] = await tx.run(takePosition, { counted_before: laterBy(now, -countedAgainMs), now });
  if (!position) return 'done';
  const oldest = laterBy(hourOf(now), -countedDays * 24 * hourMs);
  const lastHour = laterBy(hourOf(now), -hourMs);
  const from = [position.counted_until ?? oldest, lastHour].toSorted()[0] ?? lastHour;
  const nextDay = laterBy(from, 24 * hourMs);
  if (nextDay < lastHour) {
    await recount(tx, { from, until: nextDay });
    await tx.run(movePosition, { counted_until: nextDay, counted_at: null });
    return 'more';
  }
  await recount(tx, { from, until: null });
  await tx.run(movePosition, { counted_until: lastHour, counted_at: now });
  return 'late';
}

async function countLate(db: Database, hour: Instant): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.run(lockPosition, {});
    await recount(tx, { from: hour, until: laterBy(hour, hourMs) });
  });
}

async function recount(tx: Database, hours: { readonly from: Instant; readonly until: Instant | null }) {
  await tx.run(deleteLate, hours);
  await tx.run(deleteHours, hours);
  await tx.run(countHours, hours);
}

/** Makes the sums of the last month again. */
export async function recountExchanges(db: Database, now: Instant): Promise<void> {
  await db.run(beginAgain, {});
  await countExchanges(db, now);
}

export function exchangeSums(db: Database, from: Instant): Promise<ExchangeSum[]> {
  return db.run(readSums, { from, until: null });
}
