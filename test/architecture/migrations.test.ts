// Old and new nodes run together during an upgrade, so a migration only adds and never changes what an old node uses. Exceptions stand
// here with their reason.
import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

const folder = new URL('../../src/platform/database/migrations/', import.meta.url);

/** Changes of existing objects that would break an old node. */
const takesAway: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['drops', /\bdrop (table|column|view|function|type|domain|trigger|index|constraint|default|not null)\b/],
  ['renames', /\brename\b/],
  ['changes a type', /\balter column \w+ (set data )?type\b/],
  ['makes a column required', /\bset not null\b/],
  [
    'adds a required column without a default',
    /\badd column \w+ [^,;]*\bnot null(?![^,;]*\bdefault\b)(?<!\bdefault\b[^,;]*)/,
  ],
  [
    'adds a constraint that old rows or old nodes may break',
    /\badd (constraint|check|unique|foreign key|primary key)\b/,
  ],
  ['makes something unique', /\bcreate unique index\b/],
  ['rewrites or deletes rows', /^(update|delete from|truncate)\b/],
  ['replaces a function', /\bcreate or replace function\b/],
];

/** Files that may do so, with the reason. */
const known: Readonly<Record<string, string>> = {
  '0002_plain_words.sql': 'nothing was released before it, so no old node runs with it',
  '0004_refunds.sql': 'the ledger reads one more member of an entry, which an older node does not write',
  '0010_pending_payouts.sql': 'an older node passes over the member that it adds',
  '0011_top_up_reversal.sql': 'nothing that was released knows top-ups',
  '0015_hardened_limits.sql': 'nothing that was released counts attempts',
  '0028_one_off_receipts.sql':
    'no row lacks a series until a shop wishes such receipts, once all nodes run this version',
  '0033_batched_writes.sql': 'only record_journal calls what it drops, and does the same as before',
  '0036_search_sums.sql': 'nothing that was released has searches',
  '0038_subscriptions.sql': 'a webhook may have one more topic, which an older node passes over',
  '0039_set_based_writes.sql': 'its functions take and return the same, and do the same to the same rows',
  '0042_payout_sums.sql': 'nothing that was released has searches',
  '0044_subscription_starts.sql': 'nothing that was released has subscriptions',
  '0050_one_outbox.sql':
    'no row lacks a payment until a subscription is created, once all nodes run this version; nothing released has subscriptions',
  '0057_batches_in_line.sql':
    'its functions take and return the same, and do the same to the same rows; only they call what it drops',
  '0058_fewer_indexes.sql':
    'an older node reads the attempts of a series by their key; nothing that was released has subscriptions',
  '0059_bounded_searches.sql': 'nothing that was released has searches',
  '0060_late_exchanges.sql': 'nothing that was released counts exchanges',
  '0061_new_periods.sql': 'an older node sends none of the members that it adds',
  '0062_rows_that_stay.sql': 'what it does not claim is due within the same time as a claim',
  '0067_cancelled_exports.sql': 'nothing that was released has exports',
};

type Finding = { readonly in: string; readonly statement: string };

/** For each migration after the first; `made` is what that migration itself created, which no old node knows. */
export function findings(name: string, sql: string): Finding[] {
  const statements = statementsIn(sql);
  const made = new Set(
    statements.flatMap((one) => /^create (?:unlogged )?(?:table|function) (\w+)/.exec(one)?.[1] ?? []),
  );
  return statements.flatMap((statement) => {
    const about =
      /^(?:alter table|update|delete from|truncate|create (?:or replace )?(?:unique )?(?:index \w+ on|function)) (\w+)/.exec(
        statement,
      )?.[1];
    if (/^create (unlogged )?table\b/.test(statement) || (about !== undefined && made.has(about))) return [];
    return takesAway.flatMap(([what, pattern]) =>
      pattern.test(withoutBody(statement)) ? [{ in: `${name} ${what}`, statement }] : [],
    );
  });
}

/** In lower case and on one line, without comments. A body between $$ has its own semicolons. */
function statementsIn(sql: string): string[] {
  const bodies: string[] = [];
  const bare = sql.replace(/--.*$/gm, '').replace(/\$\$.*?\$\$/gs, (body) => `$${bodies.push(body) - 1}$`);
  return bare
    .split(';')
    .map((statement) => statement.replace(/\s+/g, ' ').trim().toLowerCase())
    .filter((statement) => statement !== '');
}

function withoutBody(statement: string): string {
  return statement.replace(/'(?:[^']|'')*'/g, "''");
}

test('every migration after the first only adds', async () => {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql') && !name.startsWith('0001'));
  const all = await Promise.all(
    names.map(async (name) => findings(name, await readFile(new URL(name, folder), 'utf8'))),
  );
  const found = all.flat();
  const fileOf = (finding: Finding) => finding.in.split(' ')[0] ?? '';
  expect(found.filter((one) => !Object.hasOwn(known, fileOf(one)))).toEqual([]);
  expect([...new Set(found.map(fileOf))]).toEqual(Object.keys(known));
});

test.each([
  ['alter table payment drop column reason', 'drops'],
  ['alter table payment rename column reason to why', 'renames'],
  ['alter table payment alter column amount_minor type numeric', 'changes a type'],
  ['alter table payment alter column external_id set not null', 'makes a column required'],
  ['alter table payment add column weight int not null', 'adds a required column without a default'],
  ['alter table payment add constraint heavy check (weight > 0)', 'adds a constraint'],
  ['create unique index one on payment (external_id)', 'makes something unique'],
  ['update payment set status = status', 'rewrites or deletes rows'],
  ['DROP TABLE payment', 'drops'],
])('a breaking change is found: %s', (sql, what) => {
  expect(findings('x.sql', `${sql};`)).toEqual([
    { in: expect.stringContaining(what), statement: expect.anything() },
  ]);
});

test.each([
  'alter table payment add column weight int',
  'alter table payment add column weight int not null default 0',
  'alter table payment add column weight int default 0 not null',
  'create table extra (extra_id id primary key, weight int not null check (weight > 0))',
  'create table extra (a int); alter table extra drop column a; create unique index one on extra (a)',
  'create index by_weight on payment (weight)',
  '-- drop table payment\nselect 1',
])('a harmless change is not reported: %s', (sql) => {
  expect(findings('x.sql', `${sql};`)).toEqual([]);
});
