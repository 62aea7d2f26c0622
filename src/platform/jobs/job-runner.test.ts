import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { recordStatements } from '../../../test/support/database/sent-statements.ts';
import { testClock, type TestClock } from '../../../test/support/service/test-service.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts';
import { instantAt, epochMsOf, laterBy, type Instant } from '../../clock.ts';
import type { Database } from '../database/database.ts';
import { openLog } from '../log.ts';
import { dueStatements } from './job-claims.ts';
import { initialClaim, openJobRunner, type JobRunner } from './job-runner.ts';
import { NoPlaceNow, type Job, type LeasedJob } from './job-table.ts';

const minute = 60_000;
const leaseMs = 60_000;

type TaskRunner = JobRunner<{ task: never }>;

let db: TestDatabase;
let clock: TestClock;
let engines: TaskRunner[];

beforeEach(async () => {
  db = await createTestDatabase();
  clock = testClock();
  engines = [];
  await sql(`create table task (task_id text primary key, party_id text not null, wake_at timestamptz,
    attempts int not null default 0, stuck_at timestamptz, stuck_reason text, done int not null default 0)`);
});
afterEach(async () => {
  await Promise.all(engines.map((jobs) => jobs.stop()));
  await db.drop();
});

async function sql(text: string, values: unknown[] = []): Promise<any[]> {
  return db.database.withClient(async (client) => (await client.query(text, values)).rows);
}

async function addTask(id: string, wakeAt: Instant | null, partyId = 'P'): Promise<void> {
  await sql('insert into task (task_id, party_id, wake_at) values ($1, $2, $3)', [id, partyId, wakeAt]);
}

/** Ends the task as a module does: in the write that changes its state. */
async function finish(id: string): Promise<void> {
  await sql('update task set done = done + 1, wake_at = null, attempts = 0 where task_id = $1', [id]);
}

/** Resolves in the turn in which a statement of that name is sent. */
function sends(awaited: string): Promise<void> {
  onTestFinished(() => void vi.restoreAllMocks());
  return new Promise((resolve) => {
    recordStatements((name) => {
      if (name === awaited) resolve();
      return false;
    });
  });
}

function node(
  step: (
    id: string,
    now: Instant,
    job: Pick<LeasedJob, 'leaseMoved' | 'movesClock'>,
  ) => Promise<void> = finish,
  limit: { maxConcurrency?: number; writtenTogether?: number } = {},
): TaskRunner {
  const jobs = openJobRunner({
    db: db.database,
    clock,
    log: openLog({ level: 'silent', human: false, destination: { write: () => {} } }),
    handlers: {
      task: {
        keys: ['task_id'],
        step: ({ key: [id = ''], clock: own, ...job }) => step(id, own.now(), job),
        ...limit,
      },
    },
    periodicTasks: [],
    countJobRun: () => {},
  });
  engines.push(jobs);
  return jobs;
}

/** A barrier that steps wait at until it is opened; `reached` resolves when the first one waits there. */
function gate(): { reached: Promise<void>; open: () => void; pass: () => Promise<void> } {
  let open = () => {};
  let arrive = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  const reached = new Promise<void>((resolve) => (arrive = resolve));
  const pass = () => {
    arrive();
    return opened;
  };
  return { reached, open, pass };
}

function claimOf(limit: number) {
  const found = dueStatements('task', ['task_id']).claims.find((one) => one.limit === limit);
  if (!found) throw new Error(`no claim takes ${limit}`);
  return found.claim;
}

/** What a claim returns, on a connection that fails instead of waiting long for another's lock. */
async function claimImpatiently(): Promise<string[]> {
  const { text, parameterNames } = claimOf(32);
  const values: Record<string, unknown> = { now: clock.now(), lease_ms: leaseMs, full: '[]' };
  return db.database.withClient(async (client) => {
    await client.query("set lock_timeout = '500ms'");
    const parameters = parameterNames.map((name) => values[name]);
    const { rows } = await client.query<{ key: string[] }>(text, parameters);
    return rows.map(({ key }) => key.join('/')).sort();
  });
}

/** One poll, until everything it started has ended. */
async function poll(jobs: TaskRunner): Promise<void> {
  jobs.wake();
  await jobs.whenIdle();
}

describe('a due job', () => {
  test('runs when its time has come and not before', async () => {
    await addTask('due', clock.now());
    await addTask('later', laterBy(clock.now(), 1));
    await addTask('never', null);
    await poll(node());
    expect(await sql('select task_id, done from task order by task_id')).toEqual([
      { task_id: 'due', done: 1 },
      { task_id: 'later', done: 0 },
      { task_id: 'never', done: 0 },
    ]);
  });

  test('runs in the same poll even if there are more rows than one claim takes', async () => {
    await sql(
      `insert into task (task_id, party_id, wake_at) select n, 'P', $1 from generate_series(1, 350) as n`,
      [clock.now()],
    );
    await poll(node());
    expect(await sql('select done, count(*)::int as tasks from task group by done')).toEqual([
      { done: 1, tasks: 350 },
    ]);
  });

  test('runs once when several nodes poll at the same moment', async () => {
    await sql(
      `insert into task (task_id, party_id, wake_at) select n, 'P', $1 from generate_series(1, 500) as n`,
      [clock.now()],
    );
    await Promise.all([node(), node(), node()].map(poll));
    expect(await sql('select done, count(*)::int as tasks from task group by done')).toEqual([
      { done: 1, tasks: 500 },
    ]);
  });

  test('of a dead node is run by another node when the lease has expired', async () => {
    await addTask('orphan', clock.now());
    // The step ends without a write, as if the node had died.
    await poll(node(() => Promise.resolve()));
    const survivor = node();
    clock.advance(leaseMs - 1);
    await poll(survivor);
    expect(await sql('select done from task')).toEqual([{ done: 0 }]);
    clock.advance(1);
    await poll(survivor);
    expect(await sql('select done from task')).toEqual([{ done: 1 }]);
  });

  test('that fails is retried with growing delays, then is stuck until an operator retries it', async () => {
    await addTask('broken', clock.now());
    const delaysMs: number[] = [];
    let broken = true;
    const jobs = node((id) => (broken ? Promise.reject(new Error('the bank is closed')) : finish(id)));
    for (let tries = 0; tries < 50; tries++) {
      await poll(jobs);
      const [row] = await sql('select wake_at from task');
      if (row.wake_at === null) break;
      delaysMs.push(Date.parse(row.wake_at) - epochMsOf(clock.now()));
      clock.set(Date.parse(row.wake_at));
    }
    expect(delaysMs.slice(0, 4)).toEqual([1_000, 2_000, 4_000, 8_000]);
    expect(Math.max(...delaysMs)).toBe(600_000);
    expect(delaysMs).toHaveLength(14);
    expect(await jobs.stuckJobs()).toEqual([
      { kind: 'task', id: 'broken', partyId: 'P', since: clock.now(), reason: 'Error: the bank is closed' },
    ]);

    broken = false;
    clock.advance(24 * 60 * minute);
    await poll(jobs);
    expect(await sql('select done from task')).toEqual([{ done: 0 }]);
    expect(await jobs.retry('task', 'broken')).toBe(true);
    await poll(jobs);
    expect(await sql('select done from task')).toEqual([{ done: 1 }]);
    expect(await jobs.stuckJobs()).toEqual([]);
    expect(await jobs.retry('task', 'broken')).toBe(false);
    expect(await jobs.retry('nothing', 'broken')).toBe(false);
  });

  test('that has moved its lease is stuck as well, unless another run has moved it since', async () => {
    const later = laterBy(clock.now(), 2 * minute);
    const failing = (inRow: Instant) =>
      node(async (_id, _now, { leaseMoved }) => {
        await sql('update task set wake_at = $1', [inRow]);
        leaseMoved(later);
        throw new Error('the disk is full');
      });
    const addOld = async () => {
      await sql('delete from task');
      await addTask('long', clock.now());
      await sql('update task set attempts = 14');
    };
    await addOld();
    await poll(failing(laterBy(later, 1)));
    expect(await sql('select stuck_at from task')).toEqual([{ stuck_at: null }]);
    await addOld();
    await poll(failing(later));
    expect(await sql('select wake_at, stuck_at from task')).toEqual([
      { wake_at: null, stuck_at: clock.now() },
    ]);
  });

  test('that fails is listed with the reason until a later run succeeds', async () => {
    await addTask('broken', clock.now());
    let isBroken = true;
    const jobs = node((id) => (isBroken ? Promise.reject(new Error('the bank is silent')) : finish(id)));
    expect(await jobs.failingJobs()).toEqual([]);
    await poll(jobs);
    expect(await jobs.failingJobs()).toEqual([
      {
        kind: 'task',
        id: 'broken',
        partyId: 'P',
        attempts: 1,
        nextTryAt: laterBy(clock.now(), 1_000),
        reason: 'Error: the bank is silent',
      },
    ]);
    expect(await jobs.stuckJobs()).toEqual([]);
    isBroken = false;
    clock.advance(1_000);
    await poll(jobs);
    expect(await jobs.failingJobs()).toEqual([]);
  });

  test('that an operator retries is only made due, because the command may end before the step would', async () => {
    await addTask('stuck', null);
    await sql('update task set attempts = 15, stuck_at = $1, stuck_reason = $2', [clock.now(), 'no']);
    await addTask('other', clock.now());
    const jobs = node();
    expect(await jobs.retry('task', 'stuck')).toBe(true);
    await jobs.whenIdle();
    const tasks = () => sql('select task_id, wake_at, done from task order by task_id');
    const unclaimed = { wake_at: clock.now(), done: 0 };
    expect(await tasks()).toEqual([
      { task_id: 'other', ...unclaimed },
      { task_id: 'stuck', ...unclaimed },
    ]);
    await poll(node());
    expect((await tasks()).map(({ done }) => done)).toEqual([1, 1]);
  });

  test('that fails does not delay others', async () => {
    for (const id of ['a', 'b', 'c']) await addTask(id, clock.now());
    await poll(node((id) => (id === 'b' ? Promise.reject(new Error('no')) : finish(id))));
    expect(await sql('select task_id from task where done = 1 order by task_id')).toEqual([
      { task_id: 'a' },
      { task_id: 'c' },
    ]);
  });

  test('that runs is completed before the runner stops, and the rest stays due', async () => {
    await addTask('running', clock.now());
    let letGo = () => {};
    const gate = new Promise<void>((resolve) => (letGo = resolve));
    let started = () => {};
    const running = new Promise<void>((resolve) => (started = resolve));
    const jobs = node(async (id) => {
      started();
      await gate;
      await finish(id);
    });
    jobs.wake();
    await running;
    const stopped = jobs.stop();
    await addTask('left', clock.now());
    letGo();
    await stopped;
    expect(await sql('select task_id, done from task order by task_id')).toEqual([
      { task_id: 'left', done: 0 },
      { task_id: 'running', done: 1 },
    ]);
  });

  test('that is being claimed delays the stop of the runner', async () => {
    const seen: string[] = [];
    const bank = gate();
    const jobs = node(async (id) => {
      await bank.pass();
      await finish(id);
      seen.push('the step ended');
    });
    // Its connection is warm, so that the rest of a poll is quicker than the round trips below.
    jobs.wake();
    await jobs.whenIdle();
    await addTask('just claimed', clock.now());
    const claim = sends('claim_due_task');
    jobs.wake();
    await claim;
    const stopped = jobs.stop().then(() => seen.push('the runner stopped'));
    await bank.reached;
    // Round trips, so that a stop that does not wait has enough time to end.
    for (let trip = 0; trip < 50; trip++) await sql('select 1');
    bank.open();
    await stopped;
    expect(seen).toEqual(['the step ended', 'the runner stopped']);
  });

  test('delays the stop of the runner for as long as its step runs', async () => {
    await addTask('running', clock.now());
    const { reached, open, pass } = gate();
    const seen: string[] = [];
    const jobs = node(async (id) => {
      await pass();
      await finish(id);
      seen.push('the step ended');
    });
    jobs.wake();
    await reached;
    const stopped = jobs.stop().then(() => seen.push('the runner stopped'));
    // Round trips, so that a stop that does not wait has enough time to end.
    for (let trips = 0; trips < 3; trips++) await sql('select 1');
    open();
    await stopped;
    expect(seen).toEqual(['the step ended', 'the runner stopped']);
  });

  test('that another claim is taking is skipped without waiting', async () => {
    for (const id of ['a', 'b', 'c']) await addTask(id, laterBy(clock.now(), id === 'a' ? -1 : 0));
    await db.database.transaction(async (tx) => {
      const mine = await tx.run(claimOf(1), { now: clock.now(), lease_ms: BigInt(leaseMs), full: [] });
      expect(mine.map(({ key }) => (key as string[])[0])).toEqual(['a']);
      expect(await claimImpatiently()).toEqual(['b', 'c']);
    });
    expect(await claimImpatiently()).toEqual([]);
    expect(await sql('select attempts, count(*)::int as tasks from task group by attempts')).toEqual([
      { attempts: 1, tasks: 3 },
    ]);
  });

  test('whose row is being changed is skipped without waiting', async () => {
    for (const id of ['a', 'b', 'c']) await addTask(id, clock.now());
    await db.database.withClient(async (client) => {
      await client.query('begin');
      try {
        await client.query("select from task where task_id = 'b' for update");
        expect(await claimImpatiently()).toEqual(['a', 'c']);
      } finally {
        await client.query('rollback');
      }
    });
    expect(await claimImpatiently()).toEqual(['b']);
  });

  test('that a poll has skipped runs when it is expedited, though it is due already', async () => {
    await addTask('skipped', clock.now());
    const jobs = node();
    await db.database.withClient(async (client) => {
      await client.query('begin');
      await client.query('select from task for update');
      await poll(jobs);
      await client.query('rollback');
    });
    expect(await sql('select done from task')).toEqual([{ done: 0 }]);
    await jobs.expedite('task', ['skipped']);
    await jobs.whenIdle();
    expect(await sql('select done from task')).toEqual([{ done: 1 }]);
  });
});

describe('a step that fails after its lease expired', () => {
  const elsewhere: [string, string][] = [
    ['finished', 'wake_at = null, attempts = 0, done = 1'],
    ['finished, without resetting the count,', 'wake_at = null, done = 1'],
    ['planned for later', "wake_at = wake_at + interval '1 day', attempts = 0, done = 1"],
    ['claimed', "wake_at = wake_at + interval '30 s', attempts = attempts + 1"],
  ];
  const failures: [string, number][] = [
    ['that would be retried', 0],
    ['that would be stuck', 14],
  ];
  const cases = failures.flatMap(([which, attempts]) =>
    elsewhere.map(([how, change]) => [which, how, attempts, change] as const),
  );

  test.each(cases)('and %s leaves the row as another node %s it', async (_which, _how, attempts, change) => {
    await addTask('slow', clock.now());
    await sql('update task set attempts = $1', [attempts]);
    const { reached, open, pass } = gate();
    const jobs = node(async () => {
      await pass();
      throw new Error('too late');
    });
    jobs.wake();
    await reached;
    clock.advance(leaseMs);
    await sql(`update task set ${change}`);
    const left = await sql('select * from task');
    open();
    await jobs.whenIdle();
    expect(await sql('select * from task')).toEqual(left);
  });
});

describe("moving a party's clock", () => {
  test('runs what falls due on the way in order, each job at its own time, also new jobs', async () => {
    const start = clock.now();
    await addTask('third', laterBy(start, 3 * minute));
    await addTask('first', laterBy(start, minute));
    await addTask('beyond', laterBy(start, 10 * minute));
    await addTask('another', laterBy(start, 2 * minute), 'Q');
    const seen: [string, Instant][] = [];
    const jobs = node(async (id, now) => {
      seen.push([id, now]);
      if (id === 'first') await addTask('second', laterBy(now, minute));
      await finish(id);
    });
    await jobs.advance('P', laterBy(start, 5 * minute));
    expect(seen).toEqual([
      ['first', laterBy(start, minute)],
      ['second', laterBy(start, 2 * minute)],
      ['third', laterBy(start, 3 * minute)],
    ]);
  });

  test('takes three statements per stop, however many tables there are', async () => {
    const start = clock.now();
    await sql('create table errand (like task including all)');
    for (const minutes of [1, 2, 3]) await addTask(`${minutes}`, laterBy(start, minutes * minute));
    await sql("insert into errand (task_id, party_id, wake_at) values ('errand', 'P', $1)", [
      laterBy(start, 2 * minute),
    ]);
    const seen: string[] = [];
    let statements = 0;
    const work = (table: string) => ({
      keys: ['task_id'],
      step: async ({ key: [id = ''] }: Job) => {
        seen.push(id);
        await sql(`update ${table} set wake_at = null where task_id = $1`, [id]);
      },
    });
    const jobs = openJobRunner({
      db: {
        ...db.database,
        run(...asked) {
          statements += 1;
          return db.database.run(...asked);
        },
      },
      clock,
      log: openLog({ level: 'silent', human: false, destination: { write: () => {} } }),
      handlers: { errand: work('errand'), task: work('task') },
      periodicTasks: [],
      countJobRun: () => {},
    });
    engines.push(jobs);
    await jobs.advance('P', laterBy(start, 60 * minute));
    expect(seen).toEqual(['1', 'errand', '2', '3']);
    // Per stop: find it, move there, claim what is due. The second stop claims twice, and the end takes one query and one move.
    expect(statements).toBe(3 * 3 + 1 + 2);
  });

  test('lets every later poll, on every node, use the party’s new time', async () => {
    const start = clock.now();
    await node().advance('P', laterBy(start, 60 * minute));
    await addTask('due by now', laterBy(start, 30 * minute));
    await addTask('not yet', laterBy(start, 61 * minute));
    await addTask("another party's", laterBy(start, 30 * minute), 'Q');
    const times: Instant[] = [];
    await poll(
      node(async (id, now) => {
        times.push(now);
        await finish(id);
      }),
    );
    expect(await sql('select task_id from task where done = 1')).toEqual([{ task_id: 'due by now' }]);
    expect(times).toEqual([laterBy(start, 60 * minute)]);
  });

  test('never moves back when a shorter move ends after a longer one', async () => {
    const start = clock.now();
    await addTask('on the way', laterBy(start, 10 * minute));
    const { reached, open, pass } = gate();
    const short = node(pass).advance('P', laterBy(start, 30 * minute));
    await reached;
    await node().advance('P', laterBy(start, 60 * minute));
    open();
    await short;
    expect(await sql('select offset_ms from test_clock')).toEqual([{ offset_ms: BigInt(60 * minute) }]);
  });

  test('keeps the order also during a poll', async () => {
    const start = clock.now();
    await addTask('first', laterBy(start, minute));
    const { reached, open, pass } = gate();
    const seen: string[] = [];
    const jobs = node(async (id) => {
      if (id === 'first') await pass();
      await finish(id);
      seen.push(id);
    });
    const moved = jobs.advance('P', laterBy(start, 5 * minute));
    await reached;
    await addTask('second', laterBy(start, minute));
    await poll(jobs);
    expect(seen).toEqual([]);
    open();
    await moved;
    expect(seen).toEqual(['first', 'second']);
  });

  test('says so to each step, which so need not wait for what it starts', async () => {
    const moved: boolean[] = [];
    const jobs = node((id, _now, { movesClock }) => {
      moved.push(movesClock);
      return finish(id);
    });
    await addTask('at once', clock.now());
    await poll(jobs);
    await addTask('on the way', laterBy(clock.now(), minute));
    await jobs.advance('P', laterBy(clock.now(), 5 * minute));
    expect(moved).toEqual([false, true]);
  });

  test('measures a lease on the party’s own time', async () => {
    const start = clock.now();
    const careless = node(() => Promise.resolve());
    await careless.advance('P', laterBy(start, 60 * minute));
    await addTask('taken', instantAt(epochMsOf(start)));
    await poll(careless);
    const [row] = await sql('select wake_at from task');
    expect(Date.parse(row.wake_at)).toBe(epochMsOf(start) + 60 * minute + leaseMs);
  });
});

test('a poll asks one statement of all tables, and claims only where something is due', async () => {
  const jobs = node();
  await addTask('later', laterBy(clock.now(), minute));
  const sent = recordStatements();
  onTestFinished(() => void vi.restoreAllMocks());
  await poll(jobs);
  expect(sent).toEqual([expect.stringMatching(/^find_due/)]);
  clock.advance(minute);
  await poll(jobs);
  expect(sent).toContain('claim_due_task');
});

test('a poll claims what is due before it asks about clocks that were moved', async () => {
  await addTask('due', clock.now());
  await addTask("of another party's clock", laterBy(clock.now(), minute), 'Q');
  // No such time exists.
  await sql("insert into test_clock (party_id, offset_ms) values ('Q', $1)", [2n ** 62n]);
  await poll(node());
  expect(await sql('select task_id from task where done = 1')).toEqual([{ task_id: 'due' }]);
});

test('a poll claims jobs of a party whose clock was moved only when one is due on it', async () => {
  const jobs = node();
  await addTask('later', laterBy(clock.now(), 10 * minute));
  await jobs.advance('P', laterBy(clock.now(), 5 * minute));
  const sent = recordStatements((name) => name === 'claim_due_task_of_party');
  onTestFinished(() => void vi.restoreAllMocks());
  await poll(jobs);
  expect(sent).toEqual([]);
  clock.advance(5 * minute);
  await poll(jobs);
  expect(sent).toHaveLength(1);
  expect(await sql('select done, wake_at from task')).toEqual([{ done: 1, wake_at: null }]);
});

test("a party's clock waits for jobs that a step starts", async () => {
  const start = clock.now();
  const begun: string[] = [];
  const jobs = node(async (id, now) => {
    begun.push(id);
    if (id === 'charge') {
      await addTask('email', initialClaim(now).wake_at);
      jobs.run('task', ['email'], now);
    } else {
      await sql('select pg_sleep(0.1)');
    }
    await finish(id);
  });
  await addTask('charge', laterBy(start, minute));
  await jobs.advance('P', laterBy(start, 60 * minute));
  expect(begun).toEqual(['charge', 'email']);
});

test('a step that waits for a slow bank does not delay other due jobs', async () => {
  for (let number = 0; number < 8; number++) await addTask(`slow ${number}`, clock.now());
  const bank = gate();
  const done = gate();
  const jobs = node(async (id) => {
    if (id.startsWith('slow')) await bank.pass();
    await finish(id);
    if (id === 'quick') void done.pass();
  });
  jobs.start();
  await bank.reached;
  await addTask('quick', clock.now());
  jobs.wake();
  await done.reached;
  bank.open();
  done.open();
  await jobs.whenIdle();
  const rows = await sql('select count(*)::int as left from task where done = 0');
  expect(rows).toEqual([{ left: 0 }]);
});

describe('a table with limited concurrency', () => {
  const claimed = async (ids: readonly string[]) => {
    for (const id of ids) await addTask(id, initialClaim(clock.now()).wake_at);
  };
  /** Counts the steps at the barrier, and the highest number at the same time. */
  function countingNode(maxConcurrency: number) {
    const server = gate();
    const begun: string[] = [];
    const now = { atOnce: 0, peak: 0 };
    const jobs = node(
      async (id) => {
        begun.push(id);
        now.peak = Math.max(now.peak, ++now.atOnce);
        await server.pass();
        now.atOnce--;
        await finish(id);
      },
      { maxConcurrency },
    );
    return { jobs, server, begun, now };
  }

  test('starts no more jobs than its limit, and runs the rest when slots are free', async () => {
    await claimed(['first', 'second']);
    const { jobs, server, begun } = countingNode(1);
    for (const id of ['first', 'second']) jobs.run('task', [id], clock.now());
    expect(begun).toEqual(['first']);
    server.open();
    await poll(jobs);
    await poll(jobs);
    expect(begun).toEqual(['first', 'second']);
    expect(await sql('select sum(done)::int as done from task')).toEqual([{ done: 2 }]);
  });

  test('counts claimed jobs and directly started ones together', async () => {
    for (const id of ['a', 'b', 'c', 'd']) await addTask(id, clock.now());
    await claimed(['e', 'f', 'g', 'h']);
    const { jobs, server, begun, now } = countingNode(4);
    const claim = sends('claim_due_task_4');
    jobs.wake();
    await claim;
    for (const id of ['e', 'f', 'g', 'h']) jobs.run('task', [id], clock.now());
    await expect.poll(() => begun).toContain('d');
    server.open();
    await poll(jobs);
    await poll(jobs);
    expect(now.peak).toBeLessThanOrEqual(4);
    expect(await sql('select count(*)::int as done from task where done = 1')).toEqual([{ done: 8 }]);
  });
});

test('rows that are written together are claimed again once a quarter of the slots is free', async () => {
  for (let number = 0; number < 12; number++) await addTask(`task ${number}`, clock.now());
  const begun: string[] = [];
  const gates = new Map(Array.from({ length: 12 }, (_, number) => [`task ${number}`, gate()]));
  const jobs = node(
    async (id) => {
      begun.push(id);
      await gates.get(id)?.pass();
      await finish(id);
    },
    { writtenTogether: 8 },
  );
  jobs.wake();
  await expect.poll(() => begun.length).toBe(8);
  const [first = '', second = '', ...others] = begun;
  gates.get(first)?.open();
  const done = () => sql('select count(*)::int as done from task where done = 1');
  await expect.poll(done).toEqual([{ done: 1 }]);
  // Another poll claims none.
  const claimed = () =>
    sql('select count(*)::int as claimed from task where attempts > 0 and wake_at is not null');
  jobs.wake();
  expect(await claimed()).toEqual([{ claimed: 7 }]);
  gates.get(second)?.open();
  await expect.poll(() => begun.length).toBe(10);
  for (const id of [...others, ...begun]) gates.get(id)?.open();
  for (const each of gates.values()) each.open();
  await jobs.whenIdle();
  expect(await sql('select count(*)::int as done from task where done = 1')).toEqual([{ done: 12 }]);
});

describe('a table with groups', () => {
  /** Jobs are named by their groups. */
  const group = "nullif(split_part(call_id, ' ', 1), 'none')";
  const add = (id: string, wakeAt: Instant) =>
    sql("insert into call (call_id, party_id, wake_at) values ($1, 'P', $2)", [id, wakeAt]);
  beforeEach(() =>
    sql(`create table call (call_id text primary key, party_id text not null, wake_at timestamptz,
      attempts int not null default 0, stuck_at timestamptz, stuck_reason text)`),
  );

  function startNode(wait: (id: string) => Promise<void>) {
    const begun: string[] = [];
    const ended: string[] = [];
    const asked = { claims: 0, inProgress: 0 };
    const run: Database['run'] = async (statement, values) => {
      if (statement.name.startsWith('claim_due_call')) asked.claims++;
      asked.inProgress++;
      return db.database.run(statement, values).finally(() => asked.inProgress--);
    };
    const jobs = openJobRunner({
      db: { ...db.database, run },
      clock,
      log: openLog({ level: 'silent', human: false, destination: { write: () => {} } }),
      handlers: {
        call: {
          keys: ['call_id'],
          group,
          async step({ key: [id = ''] }: Job) {
            begun.push(id);
            await wait(id);
            await sql('update call set wake_at = null, attempts = 0 where call_id = $1', [id]);
          },
        },
      },
      periodicTasks: [],
      countJobRun: () => {},
      onRun: (_, [id = '']) => void ended.push(id),
    });
    onTestFinished(() => jobs.stop());
    return { jobs, begun, ended, asked };
  }

  test('runs the jobs of other groups while one group is full, and no more of that one', async () => {
    for (let number = 0; number < 100; number++) await add(`slow ${number}`, laterBy(clock.now(), -minute));
    const bank = gate();
    const { jobs, begun } = startNode(async (id) => {
      if (id.startsWith('slow')) await bank.pass();
    });
    jobs.wake();
    await expect.poll(() => begun.length).toBe(32);
    for (const id of ['quick 1', 'none 1', 'quick 2']) await add(id, clock.now());
    jobs.wake();
    await expect.poll(() => begun.length).toBe(35);
    expect(begun.slice(32).sort()).toEqual(['none 1', 'quick 1', 'quick 2']);
    bank.open();
    await jobs.whenIdle();
    expect(begun).toHaveLength(103);
    expect(await sql('select call_id from call where wake_at is not null')).toEqual([]);
  });

  test.each([0, 31, 32, 40])('claims nothing when jobs end while another group has %i', async (slow) => {
    for (let number = 0; number < slow; number++) await add(`slow ${number}`, clock.now());
    for (let number = 0; number < 5; number++) await add(`quick ${number}`, clock.now());
    const [bank, other] = [gate(), gate()];
    const { jobs, begun, ended, asked } = startNode((id) =>
      id.startsWith('slow') ? bank.pass() : other.pass(),
    );
    onTestFinished(bank.open);
    jobs.wake();
    await expect.poll(() => [begun.length, asked.inProgress]).toEqual([Math.min(slow, 32) + 5, 0]);
    const { claims } = asked;
    other.open();
    await expect.poll(() => ended.length).toBe(5);
    expect(asked.claims - claims).toBe(0);
    bank.open();
    await jobs.whenIdle();
    expect(ended).toHaveLength(slow + 5);
  });

  test('gives every group its full number, also when their jobs alternate', async () => {
    for (let number = 0; number < 80; number++)
      await add(`${number % 2 ? 'a' : 'b'} ${number}`, laterBy(clock.now(), number - minute));
    const bank = gate();
    const { jobs, begun } = startNode(bank.pass);
    jobs.wake();
    await expect.poll(() => begun.length).toBe(64);
    expect(begun.filter((id) => id.startsWith('a'))).toHaveLength(32);
    bank.open();
    await jobs.whenIdle();
    expect(begun).toHaveLength(80);
  });
});

describe('a job that finds no place', () => {
  test('is due again at the time it is given, has not failed, and is never the first attempt again', async () => {
    await addTask('queued', clock.now());
    let isFull = true;
    const attempts: number[] = [];
    const counted: string[] = [];
    const jobs = openJobRunner({
      db: db.database,
      clock,
      log: openLog({ level: 'silent', human: false, destination: { write: () => {} } }),
      handlers: {
        task: {
          keys: ['task_id'],
          async step({ key: [id = ''], attempt }: Job) {
            attempts.push(attempt);
            if (isFull) throw new NoPlaceNow('the bank is full', 3_000);
            await finish(id);
          },
        },
      },
      periodicTasks: [],
      countJobRun: (_, outcome) => void counted.push(outcome),
    });
    engines.push(jobs);
    for (let time = 0; time < 20; time++) {
      await poll(jobs);
      expect(await sql('select wake_at, stuck_at from task')).toEqual([
        { wake_at: laterBy(clock.now(), 3_000), stuck_at: null },
      ]);
      // Not before.
      clock.advance(2_999);
      await poll(jobs);
      clock.advance(1);
    }
    expect(attempts).toEqual([1, ...Array.from({ length: 19 }, () => 2)]);
    expect(await jobs.failingJobs()).toMatchObject([
      { id: 'queued', attempts: 1, reason: 'the bank is full' },
    ]);
    isFull = false;
    await poll(jobs);
    expect(await sql('select done from task')).toEqual([{ done: 1 }]);
    expect(counted).toEqual([...Array.from({ length: 20 }, () => 'put back'), 'done']);
  });

  test('does not touch a row that another node has claimed meanwhile', async () => {
    await addTask('queued', clock.now());
    const { reached, open, pass } = gate();
    const jobs = node(async () => {
      await pass();
      throw new NoPlaceNow('the bank is full', 1_000);
    });
    jobs.wake();
    await reached;
    await sql("update task set attempts = attempts + 1, wake_at = wake_at + interval '1 minute'");
    const left = await sql('select * from task');
    open();
    await jobs.whenIdle();
    expect(await sql('select * from task')).toEqual(left);
  });
});

test('a requested poll runs, also when another poll is just ending', async () => {
  for (let turns = 0; turns < 20; turns++) {
    let polls = 0;
    const jobs = openJobRunner({
      db: { ...db.database, run: () => Promise.resolve((polls++, [])) },
      clock,
      log: openLog({ level: 'silent', human: false, destination: { write: () => {} } }),
      handlers: { task: { keys: ['task_id'], step: () => Promise.resolve() } },
      periodicTasks: [],
      countJobRun: () => {},
    });
    jobs.wake();
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    const before = polls;
    jobs.wake();
    await jobs.whenIdle();
    expect(polls, `${turns} turns later`).toBeGreaterThan(before);
  }
});

test('a periodic task that still runs is not started again', async () => {
  const slow = gate();
  const often = gate();
  let begun = 0;
  let turns = 0;
  const jobs = openJobRunner({
    db: db.database,
    clock,
    log: openLog({ level: 'silent', human: false, destination: { write: () => {} } }),
    handlers: { task: { keys: ['task_id'], step: () => Promise.resolve() } },
    periodicTasks: [
      {
        name: 'slow',
        everyMs: 1,
        run: () => {
          begun += 1;
          return slow.pass();
        },
      },
      {
        name: 'often',
        everyMs: 1,
        run: () => {
          turns += 1;
          return Promise.resolve(turns < 20 ? undefined : often.pass());
        },
      },
    ],
    countJobRun: () => {},
  });
  jobs.start();
  await often.reached;
  expect(begun).toBe(1);
  slow.open();
  often.open();
  await jobs.stop();
});
