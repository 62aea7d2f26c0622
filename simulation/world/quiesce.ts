// The end of a world: nothing goes wrong any more, and everything comes to its end. Time goes from one thing that is due to the
// next; what is stuck finds an operator, who does what the documents tell him to.
import { releaseHold } from '../../src/payments/resolve-payment.ts';
import { resume } from '../../src/webhooks/inspection/inspection.store.ts';
import type { WorldBank } from './servers/bank.ts';
import type { WorldDatabase } from './postgres/database.ts';
import type { WorldNode } from './node.ts';
import type { Scheduler } from './scheduler.ts';
import { quiet } from './take-over.ts';
import type { Trace } from './trace.ts';

const dueTables = [
  'invoice',
  'payment',
  'binding',
  'series',
  'destination',
  'withdrawal',
  'payer_email',
  'webhook_queue',
];
const maxRounds = 500;
/** Operators and chores come every so many rounds, and when nothing is due. */
const checkUpEvery = 10;
/** Rounds in which nothing is due, until it is over: what the last chore or step has written may still have to be told. */
const maxQuiet = 3;
const secondMs = 1_000;
/** Long enough for every chore to have its turn. */
const minuteMs = 61 * secondMs;

type Surroundings = { scheduler: Scheduler; database: WorldDatabase; bank: WorldBank; trace: Trace };

/** With that node alone. */
export async function makePeace(node: WorldNode, surroundings: Surroundings): Promise<void> {
  const { scheduler, database, bank, trace } = surroundings;
  let quietRounds = 0;
  for (let round = 1; round <= maxRounds; round++) {
    const isCheckUp = quietRounds > 0 || round % checkUpEvery === 0;
    await runDry(scheduler, isCheckUp);
    if (isCheckUp) await attend(node, surroundings);
    const next = await nextDueMs(surroundings);
    quietRounds = next === undefined ? quietRounds + 1 : 0;
    if (quietRounds === maxQuiet) return;
    await bank.endOverdue();
    const ms = next === undefined ? minuteMs : Math.max(secondMs, next - scheduler.nowMs() + 1);
    scheduler.pass(ms);
    trace.add(`${ms} ms pass`);
  }
  throw new Error(`after ${maxRounds} rounds this is still due: ${await whatIsDue(database)}`);
}

async function runDry(scheduler: Scheduler, withChores: boolean): Promise<void> {
  for (;;) {
    const choice = scheduler.choices().find(({ isChore = false }) => withChores || !isChore);
    if (!choice) return;
    await scheduler.letGo(choice);
  }
}

/** The operator looks at what is stuck, and at queues that were given up. */
async function attend(node: WorldNode, { scheduler, database }: Surroundings): Promise<void> {
  let isOver = false;
  const attending = scheduler.as(node.name, () => mend(node, database)).finally(() => (isOver = true));
  attending.catch(() => undefined);
  while (!isOver) {
    await runDry(scheduler, false);
    await quiet();
  }
  await attending;
}

async function mend({ service, foundation }: WorldNode, database: WorldDatabase): Promise<void> {
  const { jobs, banks, recurring } = service;
  const { database: db, ports } = foundation;
  for (const { kind, id } of await jobs.stuckJobs()) {
    const [invoiceId = '', paymentId = ''] = id.split('/');
    // A hold that the bank will not capture is let go; whatever else it is, is tried again.
    const release = async () =>
      releaseHold({ db, clock: ports.clock, banks, recurring }, { invoiceId, paymentId }, 'the bank refuses');
    if (kind !== 'payment' || !(await release().catch(() => undefined))) await jobs.retry(kind, id);
  }
  const parked = await database.query(
    'select distinct webhook_id from webhook_queue where stuck_at is not null order by 1',
  );
  for (const { webhook_id } of parked) {
    await resume(db, String(webhook_id), ports.clock.now());
  }
}

/** When the next thing is due; undefined when nothing is, now or later. */
async function nextDueMs({ scheduler, database }: Surroundings): Promise<number | undefined> {
  const due = dueTables.map((table) => `select min(wake_at) as at, count(stuck_at) as stuck from ${table}`);
  const [row] = await database.query(
    `select (extract(epoch from min(at)) * 1000)::float8::text as at, sum(stuck)::text as stuck
     from (${due.join(' union all ')}) as due`,
  );
  const at = row?.['at'] ?? undefined;
  if (at !== undefined) return Math.ceil(Number(at));
  return Number(row?.['stuck']) > 0 ? scheduler.nowMs() : undefined;
}

async function whatIsDue(database: WorldDatabase): Promise<string> {
  const due = dueTables.map(
    (table) => `select '${table} ' || row_to_json(${table}) as thing from ${table}
      where wake_at is not null or stuck_at is not null`,
  );
  const rows = await database.query(`${due.join(' union all ')} limit 5`);
  return rows.map(({ thing }) => String(thing)).join('; ');
}
