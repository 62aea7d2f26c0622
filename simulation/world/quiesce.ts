// The end of a world: without faults, time moves from one due job to the next until nothing is due.
// An operator retries stuck jobs, ends payouts that may not be sent and resumes queues, as the documents say.
import { whyOnlyInquired } from '../../src/acquiring/send-or-inquire.ts';
import { reverseTopUp, storeTopUp } from '../../src/merchants/store/top-ups.ts';
import type { Currency } from '../../src/money.ts';
import { whyBlocked, whyNotFound } from '../../src/payouts/domain/bank-actions.ts';
import { operationIdOf } from '../../src/payouts/domain/withdrawal.ts';
import { resolveWithdrawal } from '../../src/payouts/resolve-withdrawal.ts';
import { wakeFirstWaitingRefund } from '../../src/payments/store/waiting-refunds.ts';
import { resume } from '../../src/webhooks/inspection/inspection.store.ts';
import type { WorldBank } from './servers/bank.ts';
import type { WorldDatabase } from './postgres/database.ts';
import type { WorldNode } from './node.ts';
import { roundsFor } from './rounds.ts';
import type { Scheduler } from './scheduler.ts';
import { standingStill, stillness } from './stillness.ts';
import { quiet } from './take-over.ts';
import type { Trace } from './trace.ts';

const dueTables = [
  'invoice',
  'payment',
  'charge_undo',
  'binding',
  'series',
  'destination',
  'withdrawal',
  'payer_email',
  'webhook_queue',
];
/** Why a payout that the bank has not done is not sent any more. */
const heldBack = [whyBlocked, whyNotFound, whyOnlyInquired];
/** Rounds between runs of the operator and of periodic tasks; they also run when nothing is due. */
const checkUpEvery = 10;
/** The world ends after so many rounds with nothing due, because the last task or job may have written an event to send. */
const maxQuiet = 3;
/** How often subscriptions are woken without faults: for retries and later periods. */
const maxTurns = 12;
const secondMs = 1_000;
/** Long enough for every periodic task to run. */
const minuteMs = 61 * secondMs;

type Surroundings = { scheduler: Scheduler; database: WorldDatabase; bank: WorldBank; trace: Trace };

/** Runs the world to its end with that node alone. */
export async function quiesce(node: WorldNode, surroundings: Surroundings): Promise<void> {
  const { scheduler, database, bank, trace } = surroundings;
  const maxRounds = roundsFor(await countOpenPayouts(database));
  let quietRounds = 0;
  let turns = maxTurns;
  for (let round = 1; round <= maxRounds; round++) {
    const isCheckUp = quietRounds > 0 || round % checkUpEvery === 0;
    await runDry(scheduler, isCheckUp);
    if (isCheckUp) await attend(node, surroundings);
    let next = await nextDueMs(surroundings, false);
    if (next === undefined && turns-- > 0) next = await nextDueMs(surroundings, true);
    quietRounds = next === undefined ? quietRounds + 1 : 0;
    if (quietRounds === maxQuiet) return;
    await bank.endOverdue();
    const ms = next === undefined ? minuteMs : Math.max(secondMs, next - scheduler.nowMs() + 1);
    scheduler.pass(ms);
    trace.add(`${ms} ms pass`);
  }
  throw new Error(`after ${maxRounds} rounds this is still due: ${await whatIsDue(database)}`);
}

async function countOpenPayouts(database: WorldDatabase): Promise<number> {
  const [row] = await database.query(
    'select count(*)::int as open from withdrawal where wake_at is not null or stuck_at is not null',
  );
  return Number(row?.['open']);
}

export async function runDry(scheduler: Scheduler, withPeriodic: boolean): Promise<void> {
  for (;;) {
    const choice = scheduler.choices().find(({ isPeriodic = false }) => withPeriodic || !isPeriodic);
    if (!choice) return;
    await scheduler.letGo(choice);
  }
}

/** Lets the operator handle stuck jobs and parked queues. */
async function attend(node: WorldNode, { scheduler, database, bank }: Surroundings): Promise<void> {
  let isOver = false;
  const attending = scheduler.as(node.name, () => mend(node, database, bank)).finally(() => (isOver = true));
  attending.catch(() => undefined);
  while (!isOver) {
    await runDry(scheduler, false);
    await stillness(quiet);
    const canGoOn = scheduler.choices().some(({ isPeriodic = false }) => !isPeriodic);
    if (!isOver && !canGoOn) throw standingStill('the operator');
  }
  await attending;
}

async function mend(node: WorldNode, database: WorldDatabase, bank: WorldBank): Promise<void> {
  const { service, foundation } = node;
  const { jobs } = service;
  const { database: db, ports } = foundation;
  // Listed before the bank is asked: one that is retried in between may have been sent.
  const stuck = await jobs.stuckJobs();
  const paidOut = new Set((await bank.book()).map(({ operationId }) => operationId));
  for (const { kind, id, reason, since } of stuck) {
    if (kind === 'withdrawal' && reason.endsWith(whyNotFound) && (await isUnsent(database, id)))
      throw new Error(`payout ${id} was surely not sent, and waits for an operator instead of being sent`);
    // The bank has not done it, and it is not sent any more.
    const isHeldBack = kind === 'withdrawal' && heldBack.some((why) => reason.endsWith(why));
    if (isHeldBack && !paidOut.has(operationIdOf({ id }))) {
      const decision = { since, as: 'failed', reason: 'the bank has not received it' } as const;
      await resolveWithdrawal({ db, clock: ports.clock, livemode: false }, id, decision);
      continue;
    }
    await jobs.retry(kind, id);
  }
  await topUpShops(node, database);
  const parked = await database.query(
    'select distinct webhook_id from webhook_queue where stuck_at is not null order by 1',
  );
  for (const { webhook_id } of parked) {
    await resume(db, String(webhook_id), ports.clock.now());
  }
}

/** The service knows itself that nothing of it has reached a bank. */
async function isUnsent(database: WorldDatabase, id: string): Promise<boolean> {
  const [row] = await database.query('select is_unsent from withdrawal where withdrawal_id = $1', [id]);
  return row?.['is_unsent'] === true;
}

/** Books money for the shops whose refunds wait, as after a payment of the merchant; first with a zero too many, which is taken back. */
async function topUpShops({ foundation }: WorldNode, database: WorldDatabase): Promise<void> {
  const { database: db, ports } = foundation;
  const short = await database.query(
    `select distinct party_id, shop_id, currency from waiting_refund join shop using (party_id, shop_id) order by 1, 2`,
  );
  for (const { party_id, shop_id, currency } of short) {
    const name = { partyId: String(party_id), shopId: String(shop_id) };
    const now = ports.clock.now();
    const book = async (minor: bigint) => {
      const id = ports.ids.next();
      const amount = { minor, currency: String(currency) as Currency };
      const topUp = { id, ...name, reference: id, bankAccountId: 'NOSTRO', amount, createdAt: now };
      return (await storeTopUp(db, topUp, false)).topUp;
    };
    const mistaken = await book(50_000_000n);
    await reverseTopUp(db, mistaken, { livemode: false, reason: 'a zero too many', now });
    await book(5_000_000n);
    await wakeFirstWaitingRefund(db, name, now);
  }
}

/**
 * Rows that never come to rest: a subscription always has a next period, and each charge wakes its series. They are done when nothing
 * of them is due, and no charge is at the bank.
 */
const neverRests: Readonly<Record<string, string>> = {
  invoice: 'subscription_id is not null',
  series: `exists (select from subscription where subscription.party_id = series.party_id and phase <> 'ended')`,
  subscription: `not exists (
    select from json_array_elements(state -> 'open') as period where period ->> 'charging' is not null)`,
};

/** With the party whose clock counts. Webhooks have none. */
const waitingRows = [...dueTables, 'subscription']
  .map((table) => {
    const party = table === 'webhook_queue' ? 'null' : 'party_id';
    return `select ${party} as party_id, wake_at, stuck_at, ${neverRests[table] ?? 'false'} as never_rests,
      '${table}' = 'subscription' as is_subscription from ${table}
      where wake_at is not null or stuck_at is not null`;
  })
  .join(' union all ');

const readNextDue = `
  with waiting as (
    select wake_at - coalesce(offset_ms, 0) * interval '1 millisecond' as at, stuck_at, never_rests, is_subscription
    from (${waitingRows}) as row left join test_clock using (party_id))
  select (extract(epoch from min(at)) * 1000)::float8::text as at, count(stuck_at)::text as stuck
  from waiting where not never_rests or at <= $1::timestamptz or stuck_at is not null or is_subscription and $2`;

/** When the next job is due; undefined if none is, now or later. A subscription counts only where it is asked for. */
async function nextDueMs(
  { scheduler, database }: Surroundings,
  withSubscriptions: boolean,
): Promise<number | undefined> {
  const now = new Date(scheduler.nowMs()).toISOString();
  const [row] = await database.query(readNextDue, [now, withSubscriptions]);
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
