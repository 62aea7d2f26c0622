// What an operator sees of banks is what a look at every row of the exchange log gives, also after an operation ends days later.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bankAnswers } from '../../../src/acquiring/bank-answers.ts';
import { countExchanges, recountExchanges } from '../../../src/acquiring/exchange-log/store/exchange-sums.ts';
import type { Instant } from '../../../src/clock.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { startSmallWorld, type SmallWorld } from '../../support/worlds/small-world.ts';

const hourMs = 3_600_000;
let world: SmallWorld;
beforeAll(async () => void (world = await startSmallWorld()));
afterAll(() => world.close());

const query = async (text: string) =>
  (await world.service.testDatabase.database.withClient((client) => client.query(text))).rows;
const now = () => world.service.clock.now();
const count = () => countExchanges(world.service.database, now());

/** Without the sums: an independent look at the times themselves. */
const looked = () =>
  query(`select bank_id, kind, state, count(*)::int as n,
           count(*) filter (where state in ('approved', 'declined') and heard_at - begun_at <= interval '1 second')::int as quick
         from exchange group by 1, 2, 3 order by 1, 2, 3`);
const summed = () =>
  query(`select bank_id, kind, state, sum(n)::int as n, coalesce(sum(n) filter (where within_ms between 1 and 1000), 0)::int as quick
         from exchange_sum group by 1, 2, 3 order by 1, 2, 3`);

test('the sums are those of the exchange log', async () => {
  await count();
  const all = await looked();
  expect(all.length).toBeGreaterThan(2);
  expect(await summed()).toEqual(all);
  await count();
  expect(await summed()).toEqual(all);
});

test('are counted once a minute, by one node', async () => {
  await query('update exchange_sum set n = n + 7');
  await Promise.all([count(), count()]);
  expect(await summed()).not.toEqual(await looked());
  world.service.clock.advance(61_000);
  await Promise.all([count(), count()]);
  expect(await summed()).toEqual(await looked());
});

test('have what ends days after it began, in the hour of its beginning', async () => {
  await query(`insert into exchange (aggregate_id, operation, bank_id, terminal_id, kind, digest, wire_keys, begun_at, state)
    select 'LATE', 'a', bank_id, terminal_id, 'authorise', digest, wire_keys, '${now()}', 'begun' from exchange limit 1`);
  const open = async () =>
    (await bankAnswers(world.service.database, now())).map(({ days }) => days.at(-4)?.open);
  world.service.clock.advance(61_000);
  await count();
  for (let day = 0; day < 3; day++) {
    world.service.clock.advance(24 * hourMs);
    await count();
  }
  expect(await open()).toContain(1);
  await query(
    `update exchange set state = 'approved', heard_at = '${now()}', answer = '{}' where aggregate_id = 'LATE'`,
  );
  world.service.clock.advance(61_000);
  await count();
  expect(await open()).not.toContain(1);
  expect(await summed()).toEqual(await looked());
});

test('have a charge that was given up and found days later, and count no other hour for it', async () => {
  const { clock, database } = world.service;
  await query(`insert into exchange (aggregate_id, operation, bank_id, terminal_id, kind, digest, wire_keys, begun_at, state, heard_at)
    select 'FOUND', made.operation, bank_id, terminal_id, 'authorise', digest, wire_keys, '${now()}', made.state, '${now()}'
    from (select * from exchange limit 1) as one cross join (values ('a', 'givenUp'), ('b', 'challenged')) as made (operation, state)`);
  clock.advance(61_000);
  await count();
  clock.advance(24 * hourMs);
  await count();
  const counted: Instant[] = [];
  const watched = watching(database, counted);
  await query(
    `update exchange set state = 'approved', heard_at = '${now()}', answer = '{}' where aggregate_id = 'FOUND' and operation = 'a'`,
  );
  expect(await summed()).not.toEqual(await looked());
  clock.advance(61_000);
  await countExchanges(watched, now());
  expect(await summed()).toEqual(await looked());
  expect(counted).toHaveLength(2);
  clock.advance(61_000);
  await countExchanges(watched, now());
  expect(counted).toHaveLength(3);
});

test('leave a change to the next count when its transaction ends after this one', async () => {
  const { clock, database, testDatabase } = world.service;
  await testDatabase.database.withClient(async (client) => {
    await client.query('begin');
    await client.query(
      `update exchange set state = 'declined', heard_at = '${now()}' where aggregate_id = 'FOUND' and operation = 'b'`,
    );
    clock.advance(61_000);
    await countExchanges(database, now());
    await client.query('commit');
  });
  expect(await summed()).not.toEqual(await looked());
  clock.advance(61_000);
  await count();
  expect(await summed()).toEqual(await looked());
});

test('have a change whose write waits until after the last count of its hour', async () => {
  const { clock, database, testDatabase } = world.service;
  clock.advance(hourMs - (Date.parse(now()) % hourMs) - 1_000);
  await query(`insert into exchange (aggregate_id, operation, bank_id, terminal_id, kind, digest, wire_keys, begun_at, state)
    select 'WAITED', 'a', bank_id, terminal_id, 'authorise', digest, wire_keys, '${now()}', 'begun' from exchange limit 1`);
  await count();
  clock.advance(hourMs - 9_000);
  await testDatabase.database.withClient(async (client) => {
    await client.query('begin');
    await client.query(
      `update exchange set state = 'declined', heard_at = '${now()}' where aggregate_id = 'WAITED'`,
    );
    clock.advance(15_000);
    await countExchanges(database, now());
    await client.query('commit');
  });
  clock.advance(61_000);
  await count();
  expect(await summed()).toEqual(await looked());
});

test('have an exchange that moved to another bank, which leaves nothing to count before it ends', async () => {
  const { clock } = world.service;
  await query(`insert into exchange (aggregate_id, operation, bank_id, terminal_id, kind, digest, wire_keys, begun_at, state)
    select 'MOVED', made.operation, bank_id, terminal_id, 'authorise', digest, wire_keys, '${now()}', 'begun'
    from (select * from exchange limit 1) as one cross join (values ('a'), ('b')) as made (operation)`);
  await count();
  const move = (operation: string) =>
    query(
      `update exchange set bank_id = 'ANOTHER', state = 'begun', heard_at = null
       where aggregate_id = 'MOVED' and operation = '${operation}'`,
    );
  const late = () => query('select operation from exchange_late');
  await move('a');
  expect(await late()).toEqual([]);
  clock.advance(61_000);
  await count();
  expect(await summed()).toEqual(await looked());
  clock.advance(3 * hourMs);
  await count();
  await move('b');
  expect(await late()).toEqual([]);
  await query(
    `update exchange set state = 'declined', heard_at = '${now()}' where aggregate_id = 'MOVED' and operation = 'b'`,
  );
  clock.advance(61_000);
  await count();
  expect(await summed()).toEqual(await looked());
});

test('count an older hour once, though more becomes late in it during the count', async () => {
  const { clock, database } = world.service;
  await query(`insert into exchange (aggregate_id, operation, bank_id, terminal_id, kind, digest, wire_keys, begun_at, state, heard_at)
    select 'AGAIN', 'a', bank_id, terminal_id, 'authorise', digest, wire_keys, timestamptz '${now()}' - interval '1 day', 'givenUp', '${now()}'
    from exchange limit 1`);
  const hearAgain = () => query(`update exchange set heard_at = '${now()}' where aggregate_id = 'AGAIN'`);
  const late = async () => (await query('select from exchange_late')).length;
  await hearAgain();
  expect(await late()).toBe(1);
  const counted: Instant[] = [];
  // A count without an end has one after the tenth.
  const watched = watching(database, counted, async () => {
    if (counted.length < 10) await hearAgain();
  });
  clock.advance(61_000);
  await countExchanges(watched, now());
  expect(counted).toHaveLength(2);
  expect(await late()).toBe(1);
  clock.advance(61_000);
  await count();
  expect(await late()).toBe(0);
  expect(await summed()).toEqual(await looked());
});

/** Notes where each counted range begins, once `before` is done. */
function watching(db: Database, counted: Instant[], before = async () => {}): Database {
  return {
    ...db,
    async run(one, parameters) {
      if (one.name === 'count_exchanges') {
        counted.push((parameters as unknown as { from: Instant }).from);
        await before();
      }
      return db.run(one, parameters);
    },
    transaction: (work) => db.transaction((tx) => work(watching(tx, counted, before))),
  };
}

test('say within what time half, and nine tenths, of the authorisations were answered', async () => {
  world.service.clock.advance(24 * hourMs);
  const begun = async (kind: string, state: string, tookMs: number | null, times: number) =>
    query(`insert into exchange (aggregate_id, operation, bank_id, terminal_id, kind, digest, wire_keys, begun_at, state, heard_at)
      select 'TIMED${kind}${state}${tookMs}', n::text, bank_id, terminal_id, '${kind}', digest, wire_keys, '${now()}', '${state}',
        timestamptz '${now()}' + ${tookMs} * interval '1 ms'
      from (select * from exchange limit 1) as one cross join generate_series(1, ${times}) as n`);
  await begun('authorise', 'approved', 50, 5);
  await begun('authorise', 'declined', 51, 3);
  await begun('authorise', 'approved', 300, 1);
  await begun('authorise', 'approved', 31_000, 1);
  await begun('authorise', 'givenUp', 40_000, 2);
  await begun('authorise', 'challenged', 20, 1);
  await begun('payout', 'approved', 3 * 24 * hourMs, 1);
  await count();
  const hours = (await bankAnswers(world.service.database, now())).map(({ hours: all }) => all.at(-1));
  expect(hours.find((hour) => hour && hour.operations > 0)).toMatchObject({
    operations: 14,
    unanswered: 2,
    open: 1,
    answered: 10,
    halfWithinMs: 50,
    mostWithinMs: 500,
  });
  expect(await summed()).toEqual(await looked());
});

test('are made again when they are wrong', async () => {
  await query('update exchange_sum set n = n + 7, hour = hour');
  await recountExchanges(world.service.database, now());
  expect(await summed()).toEqual(await looked());
});

test('end with this hour and this day, and have every operation of theirs', async () => {
  const banks = await bankAnswers(world.service.database, now());
  const countedIn = (unit: 'hours' | 'days') =>
    banks.flatMap((bank) => bank[unit]).reduce((all, { operations }) => all + operations, 0);
  const loggedSince = async (time = '') =>
    (await query(`select count(*)::int as n from exchange where begun_at >= '${time}'`))[0];
  const { hours = [], days = [] } = banks[0] ?? {};
  expect([hours.at(-1)?.at, days.at(-1)?.at]).toEqual([
    `${now().slice(0, 13)}:00:00.000000Z`,
    `${now().slice(0, 10)}T00:00:00.000000Z`,
  ]);
  expect(await loggedSince(hours[0]?.at)).toEqual({ n: countedIn('hours') });
  expect(await loggedSince(days[0]?.at)).toEqual({ n: countedIn('days') });
  expect(countedIn('days')).toBeGreaterThan(countedIn('hours'));
});
