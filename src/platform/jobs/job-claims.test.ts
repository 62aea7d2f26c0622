// The plan of a claim: PostgreSQL keeps it, and it uses the index of due rows, however many other rows there are.
import { afterEach, beforeEach, expect, test } from 'vitest';
import type pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts';
import { claimSizes, dueIn, dueStatements } from './job-claims.ts';

const rows = Number(process.env['DUE_ROWS'] ?? 5_000);
/** PostgreSQL makes so many plans before it considers keeping one. */
const plansBeforeKept = 5;

let db: TestDatabase;
beforeEach(async () => void (db = await createTestDatabase()));
afterEach(() => db.drop());

const { claims } = dueStatements('planned', ['planned_id'], "terms ->> 'bankId'");
const now = '2026-01-01T00:00:00Z';

async function plansOf(client: pg.ClientBase, name: string): Promise<{ made: number; kept: number }> {
  const { rows: found } = await client.query<{ made: number; kept: number }>(
    'select custom_plans::int as made, generic_plans::int as kept from pg_prepared_statements where name = $1',
    [name],
  );
  return found[0] ?? { made: 0, kept: 0 };
}

test.each([
  ['without statistics', 'select'],
  ['with statistics', 'vacuum analyze planned'],
])('the plan of a claim is kept and uses the index on a table %s', async (_, prepare) => {
  await db.database.withClient(async (client) => {
    await client.query(`
      create table planned (planned_id text primary key, party_id text not null, wake_at timestamptz, attempts int not null default 0,
        note text, terms json not null default '{"bankId":"B"}');
      create index planned_due on planned (wake_at) where wake_at is not null;
      insert into planned select n, 'P', timestamptz '${now}' + (n + 60) * interval '1 minute', 0, repeat('x', 200)
        from generate_series(1, ${rows}) as n;
      insert into planned select 'ended ' || n, 'P', null, 0, repeat('x', 200) from generate_series(1, ${rows}) as n`);
    // The default setting: the tests' server keeps every plan immediately.
    await client.query('set plan_cache_mode = auto');
    await client.query(prepare);
    for (const { limit, claim } of claims) {
      for (let time = 1; time <= plansBeforeKept + 2; time++)
        await client.query({ name: claim.name, text: claim.text, values: [now, '["A"]', 60_000] });
      expect([limit, await plansOf(client, claim.name)]).toEqual([limit, { made: plansBeforeKept, kept: 2 }]);
      const { rows: plan } = await client.query<{ 'QUERY PLAN': string }>(
        `explain execute ${claim.name} ('${now}', '["A"]', 60000)`,
      );
      const text = plan.map((line) => line['QUERY PLAN']).join('\n');
      expect(text).toContain('Index Scan using planned_due');
      expect(text).not.toContain('Seq Scan on planned');
    }
    await client.query('set plan_cache_mode = force_generic_plan');
    await client.query(`prepare due as ${dueIn(['planned']).text}`);
    const { rows: plan } = await client.query<{ 'QUERY PLAN': string }>(`explain execute due ('${now}')`);
    const text = plan.map((line) => line['QUERY PLAN']).join('\n');
    expect(text).toMatch(/Limit.*\n *-> +Index (Only )?Scan using planned_due/);
  });
});

test('any number of rows can be claimed by several claims', () => {
  expect(claims.map(({ limit }) => limit)).toEqual(claimSizes);
  expect(claimSizes.at(-1)).toBe(1);
});
