// The SQL of jobs, the same for every table that has them. A claim leases the earliest due rows by moving their wake_at, but for
// those that another node is claiming and those of full groups.
import { list, text } from '../database/codec.ts';
import { statement, stored, type Values } from '../database/statement.ts';

const keyColumn = stored('json', list(text));

const claimedRow = {
  key: keyColumn,
  party_id: 'text',
  due_at: 'timestamptz',
  attempts: 'int4',
  offset_ms: 'int8',
  leased_until: 'timestamptz',
  slot_group: 'text',
} as const;

export type ClaimedRow = Values<typeof claimedRow>;
type DueStatements = ReturnType<typeof statementsFor>;

export const moveTestClock = statement({
  name: 'move_test_clock',
  parameters: { party_id: 'text', offset_ms: 'int8' },
  row: { offset_ms: 'int8' },
  // Time only moves forward, also when two requests move it concurrently.
  text: `insert into test_clock (party_id, offset_ms) values (:party_id, :offset_ms)
         on conflict (party_id) do update set offset_ms = greatest(test_clock.offset_ms, excluded.offset_ms)
         returning offset_ms`,
});

/** The ordinal of each table in which something falls due for a party until then, and the first such time. */
function earliestIn(tables: readonly string[], name: string) {
  const earliest = tables.map(
    (table, ordinal) => `
      select ${ordinal} as ordinal, min(wake_at) as wake_at from ${table} where party_id = :party_id and wake_at <= :before`,
  );
  return statement({
    name,
    parameters: { party_id: 'text', before: 'timestamptz' },
    row: { ordinal: 'int4', wake_at: 'timestamptz' },
    text: `select ordinal, wake_at from (${earliest.join('\n      union all')}
    ) as due where wake_at is not null order by ordinal`,
  });
}

/** The ordinal of each table in which something is due, and null if the test clock of any party runs ahead. */
function dueWithin(tables: readonly string[], name: string) {
  // The earliest is at one end of the index of due rows. PostgreSQL may look for any that is due in the whole table.
  const due = tables.map(
    (table, ordinal) => `
      select ${ordinal} as ordinal where (select min(wake_at) from ${table}) <= :now`,
  );
  return statement({
    name,
    parameters: { now: 'timestamptz' },
    row: { ordinal: 'int4?' },
    text: `select ordinal from (${due.join('\n      union all')}
      union all
      select null where exists (select from test_clock where offset_ms > 0)
    ) as due order by ordinal`,
  });
}

/** The parties whose test clock runs ahead, with the ordinal of each table in which something is due on that clock alone. */
function dueOnClocksIn(tables: readonly string[], name: string) {
  const due = tables.map(
    (table, ordinal) => `
      select ${ordinal} as ordinal where exists (select from ${table}
        where party_id = test_clock.party_id and wake_at <= :now + test_clock.offset_ms * interval '1 ms')`,
  );
  return statement({
    name,
    parameters: { now: 'timestamptz' },
    row: { party_id: 'text', offset_ms: 'int8', ordinal: 'int4' },
    text: `select party_id, offset_ms, ordinal from test_clock cross join lateral (${due.join('\n      union all')}
    ) as due where offset_ms > 0 order by party_id, ordinal`,
  });
}

/** One query for all tables: a party's clock that moves over a year needs it at every stop, and each poll once it has moved. */
export const earliestDueIn = byTables('earliest_due_of_party', earliestIn);
/** One query for all tables: most of them wait for nothing, and a claim of nothing costs as much. */
export const dueIn = byTables('find_due', dueWithin);
/** Apart from `find_due`, so that what is due on the node's clock is claimed before parties are gone through. */
export const dueOnClocks = byTables('find_due_on_clocks', dueOnClocksIn);

function byTables<S>(name: string, make: (tables: readonly string[], name: string) => S) {
  const made = new Map<string, S>();
  return (tables: readonly string[]): S => {
    const known = made.get(tables.join(' ')) ?? make(tables, made.size > 0 ? `${name}_${made.size}` : name);
    made.set(tables.join(' '), known);
    return known;
  };
}

/** How many rows a claim takes, the largest first. Any other number is claimed in parts. */
export const claimSizes = [32, 8, 4, 3, 2, 1] as const;

const byTable = new Map<string, DueStatements>();

/** Of a table whose jobs have no groups. */
export const onlyGroup = '';

/** Created once per table, because a statement's name is also its name on the server. */
export function dueStatements(
  table: string,
  keys: readonly string[],
  group = `'${onlyGroup}'`,
): DueStatements {
  const statements = byTable.get(table) ?? statementsFor(table, keys, group);
  byTable.set(table, statements);
  return statements;
}

const leased = { now: 'timestamptz', lease_ms: 'int8', full: stored('json', list(text)) } as const;

function statementsFor(table: string, keys: readonly string[], groupOfRow: string) {
  const group = `coalesce(${groupOfRow}, '')`;
  const key = `json_build_array(${keys.join(', ')}) as key`;
  const isTheRow = keys.map((column, index) => `${column} = :key ->> ${index}`).join(' and ');
  const isClaimed = keys.map((column) => `claimed.${column} = clocked.${column}`).join(' and ');
  // PostgreSQL keeps a claim's plan, which takes longer to make than the claim. Values must not influence that plan, so the limit is
  // literal text and the time stands behind a select.
  const claim = (due: string, limit: string | number, leaseFrom: string) => `
    with due as (
      select ${[...new Set([...keys, 'party_id'])].join(', ')}, wake_at as due_at, ${group} as slot_group from ${table}
      where ${due} and (json_array_length(:full) = 0 or ${group} not in (select json_array_elements_text(:full)))
      order by wake_at limit ${limit} for update skip locked
    ), clocked as (
      select due.*, coalesce(offset_ms, 0) as offset_ms from due left join test_clock using (party_id)
    )
    update ${table} as claimed
    set wake_at = ${leaseFrom} + :lease_ms * interval '1 ms',
        attempts = attempts + 1
    from clocked where ${isClaimed}
    returning json_build_array(${keys.map((column) => `clocked.${column}`).join(', ')}) as key,
              clocked.party_id, clocked.due_at, claimed.attempts, clocked.offset_ms,
              claimed.wake_at as leased_until, clocked.slot_group`;

  return {
    claims: claimSizes.map((limit) => ({
      limit,
      claim: statement({
        name: limit === claimSizes[0] ? `claim_due_${table}` : `claim_due_${table}_${limit}`,
        parameters: leased,
        row: claimedRow,
        text: claim('wake_at <= (select :now)', limit, `:now + offset_ms * interval '1 ms'`),
      }),
    })),
    claimOfParty: statement({
      name: `claim_due_${table}_of_party`,
      parameters: { ...leased, limit: 'int4', party_id: 'text' },
      row: claimedRow,
      // The time given is already the party's own.
      text: claim('wake_at <= :now and party_id = :party_id', ':limit', ':now'),
    }),
    // Something outside may have changed, so a due job runs sooner than planned. That uses up none of the attempts after which a
    // job is stuck, and is never attempt 1.
    expedite: statement({
      name: `expedite_${table}`,
      parameters: { key: keyColumn, now: 'timestamptz' },
      row: { key: keyColumn },
      text: `update ${table} set wake_at = :now, attempts = case when attempts > 2 then attempts - 1 else attempts end
             where ${isTheRow} and wake_at > :now returning ${key}`,
    }),
    // A row that was claimed again or changed in the meantime belongs to another run. The reason is stored from the first failure on,
    // so that an operator need not wait until the job is stuck.
    postpone: statement({
      name: `postpone_${table}`,
      parameters: { key: keyColumn, attempts: 'int4', wake_at: 'timestamptz', reason: 'text' },
      row: {},
      text: `update ${table} set wake_at = :wake_at, stuck_reason = :reason
             where ${isTheRow} and attempts = :attempts and wake_at is not null`,
    }),
    // Such a run is no failure. The attempts that a claim adds are taken off again, but the next run is never attempt 1.
    putBack: statement({
      name: `put_back_${table}`,
      parameters: { key: keyColumn, attempts: 'int4', wake_at: 'timestamptz', reason: 'text' },
      row: {},
      text: `update ${table} set wake_at = :wake_at, stuck_reason = :reason, attempts = greatest(attempts - 1, 1)
             where ${isTheRow} and attempts = :attempts and wake_at is not null`,
    }),
    markStuck: statement({
      name: `mark_stuck_${table}`,
      parameters: {
        key: keyColumn,
        leased_until: 'timestamptz',
        attempts: 'int4',
        now: 'timestamptz',
        reason: 'text',
      },
      row: {},
      // Two runs may have the same number of attempts, because `expedite` lowers it, but never the same lease.
      text: `update ${table} set wake_at = null, stuck_at = :now, stuck_reason = :reason
             where ${isTheRow} and attempts = :attempts and wake_at = :leased_until`,
    }),
    stuck: statement({
      name: `stuck_${table}`,
      parameters: {},
      row: { key: keyColumn, party_id: 'text', stuck_at: 'timestamptz', stuck_reason: 'text' },
      text: `select ${key}, party_id, stuck_at, stuck_reason from ${table}
             where stuck_at is not null order by stuck_at limit 1000`,
    }),
    // A failing job is due soon, on the clock of its party. Most scheduled rows of some tables are not.
    failing: statement({
      name: `failing_${table}`,
      parameters: { soon: 'timestamptz' },
      row: {
        key: keyColumn,
        party_id: 'text',
        attempts: 'int4',
        wake_at: 'timestamptz',
        stuck_reason: 'text',
      },
      text: `select ${key}, party_id, attempts, wake_at, stuck_reason from ${table}
             where wake_at <= :soon + (select coalesce(max(offset_ms), 0) from test_clock) * interval '1 ms'
               and stuck_reason is not null
             order by wake_at limit 1000`,
    }),
    // Starts at 2: on attempt 1 a job sends without querying the bank first.
    retry: statement({
      name: `retry_stuck_${table}`,
      parameters: { key: keyColumn, now: 'timestamptz' },
      row: { key: keyColumn },
      text: `update ${table} set wake_at = :now, attempts = 2, stuck_at = null, stuck_reason = null
             where ${isTheRow} and stuck_at is not null returning ${key}`,
    }),
  };
}
