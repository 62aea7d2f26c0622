// Checks the ledger against its invariants: everything from the first transfer on, or what came since the last check. It can run while
// the service does: every check is one statement and sees one moment.
import type { Instant } from '../../clock.ts';
import type { Database } from '../database/database.ts';
import { statement } from '../database/statement.ts';
import { ledgerInvariants, type Invariant } from './store/invariants.ts';

export type Finding = Pick<Invariant, 'id' | 'says'> & {
  readonly checked: bigint;
  readonly violations: bigint;
  /** The first few violations. */
  readonly examples: readonly unknown[];
};

/**
 * The limit of one statement: checking a whole large ledger takes minutes. A check of what is new takes moments and repeats every
 * minute, so a silent connection must not hold it up for long.
 */
const timeoutMs = { all: 3_600_000, recent: 600_000 } as const;
/** How much sooner the server ends a statement than this program stops waiting. */
const serverIsSoonerMs = 2_000;

const takeTime = statement({
  name: 'take_time',
  parameters: { ms: 'text' },
  row: { set_config: 'text' },
  text: `select set_config('statement_timeout', :ms, true)`,
});

const readWatermark = statement({
  name: 'read_ledger_watermark',
  parameters: {},
  row: { reached_at: 'timestamptz?' },
  text: `select nullif(reached_at, '-infinity') as reached_at from ledger_watermark`,
});

/**
 * A time before which nothing more can be written: a transfer has its transaction's start time, and all running transactions began
 * later. PostgreSQL hides when other roles' transactions began, so one role must write the ledger.
 */
const findSafeTime = statement({
  name: 'find_settled_time',
  parameters: { margin_ms: 'int8' },
  row: { until: 'timestamptz' },
  text: `
    select least(
      now() - :margin_ms * interval '1 ms',
      (select min(xact_start) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()),
      (select min(prepared) - :margin_ms * interval '1 ms' from pg_prepared_xacts
       where database = current_database())) as until`,
});

/** Moves the watermark there and adds up the transfers it passes. Two nodes together pass each transfer once. */
const advanceWatermark = statement({
  name: 'advance_ledger_watermark',
  parameters: { until: 'timestamptz' },
  row: {},
  text: `
    with passed as (
      select reached_at as since, :until as until from ledger_watermark for update
    ), moved as (
      update ledger_watermark set reached_at = greatest(reached_at, until) from passed
    )
    insert into ledger_checkpoint as sums
    select account_id, shard, sum(debits_posted), sum(credits_posted), sum(debits_pending), sum(credits_pending)
    from (
      select debit_account as account_id, debit_shard as shard, posted_minor as debits_posted, 0 as credits_posted,
        pending_minor as debits_pending, 0 as credits_pending
      from ledger_transfer, passed where created_at >= since and created_at < until
      union all
      select credit_account, credit_shard, 0, posted_minor, 0, pending_minor
      from ledger_transfer, passed where created_at >= since and created_at < until
    ) as leg
    group by account_id, shard order by account_id, shard
    on conflict (account_id, shard) do update set
      debits_posted = sums.debits_posted + excluded.debits_posted,
      credits_posted = sums.credits_posted + excluded.credits_posted,
      debits_pending = sums.debits_pending + excluded.debits_pending,
      credits_pending = sums.credits_pending + excluded.credits_pending`,
});

/** Two statements: the second must see what another node added up while the first waited for its lock. */
const resetWatermark = statement({
  name: 'reset_ledger_watermark',
  parameters: {},
  row: {},
  text: `update ledger_watermark set reached_at = '-infinity'`,
});
const forgetCheckpoint = statement({
  name: 'forget_ledger_checkpoint',
  parameters: {},
  row: {},
  text: 'delete from ledger_checkpoint',
});

const countUnbalanced = statement({
  name: 'count_unbalanced',
  parameters: {},
  row: { broken: 'int8' },
  text: `
    with account as (
      select account_id, forbids_overdraft, overdraft_minor, code = 'binding.clearing' as clears,
        split_part(account_id, ':', 1) as mode, split_part(account_id, ':', 2) as currency,
        sum(debits_posted) as debits_posted, sum(credits_posted) as credits_posted,
        sum(debits_pending) as debits_pending, sum(credits_pending) as credits_pending
      from ledger_balance left join ledger_account using (account_id)
      group by account_id, forbids_overdraft, overdraft_minor, code
    ), kind as (
      select sum(debits_posted) <> sum(credits_posted) or sum(debits_pending) <> sum(credits_pending) as is_broken
      from account group by mode, currency
    )
    select (select count(*) from kind where is_broken) + count(*) as broken
    from account
    where forbids_overdraft and credits_posted + overdraft_minor < debits_posted + debits_pending
      or clears and credits_posted - debits_posted <> debits_pending`,
});

/**
 * `recent` starts from the watermark and moves it if the ledger is right, so a violation is found again until it is corrected. `all`
 * also rebuilds the checkpoint, which may be what is wrong, for instance after the database's clock went backwards.
 */
export async function checkLedger(
  db: Database,
  scope: 'all' | 'recent',
  invariants: readonly Invariant[] = ledgerInvariants,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  const [reached] = scope === 'recent' ? await db.run(readWatermark, {}) : [];
  const since = reached?.reached_at ?? ('-infinity' as Instant);
  let isRight = true;
  for (const invariant of invariants) {
    const finding = await runCheck(db, invariant, scope, since);
    findings.push(finding);
    if (finding.violations > 0n && !invariant.isAgeLimit) isRight = false;
  }
  if (isRight) await moveWatermark(db, { from: scope === 'all' ? 'start' : 'checkpoint', marginMs });
  return findings;
}

/** A transaction becomes visible as running slightly after it took its start time. */
const marginMs = 60_000;

export async function moveWatermark(
  db: Database,
  options: { from: 'start' | 'checkpoint'; marginMs: number },
): Promise<void> {
  const patient = options.from === 'start' ? timeoutMs.all : timeoutMs.recent;
  await db.transaction(async (tx) => {
    await tx.run(takeTime, { ms: String(patient - serverIsSoonerMs) });
    if (options.from === 'start') {
      await tx.run(resetWatermark, {});
      await tx.run(forgetCheckpoint, {});
    }
    // Separate from the sums, so that their statement sees everything that was committed when the time was found.
    const [settled] = await tx.run(findSafeTime, { margin_ms: BigInt(options.marginMs) });
    if (settled) await tx.run({ ...advanceWatermark, timeoutMs: patient }, settled);
  });
}

/** How many invariants and accounts are violated, from the balances alone: cheap enough for a gauge. */
export async function countUnbalancedAccounts(db: Database): Promise<number> {
  const [row] = await db.run(countUnbalanced, {});
  return Number(row?.broken ?? 0n);
}

async function runCheck(
  db: Database,
  { id, says, find }: Invariant,
  scope: 'all' | 'recent',
  since: Instant,
): Promise<Finding> {
  const [row] = await db.transaction(async (tx) => {
    await tx.run(takeTime, { ms: String(timeoutMs[scope] - serverIsSoonerMs) });
    return tx.run({ ...find, timeoutMs: timeoutMs[scope] }, { recent: scope === 'recent', since });
  });
  if (!row) throw new Error(`Ledger check ${id} returned no row.`);
  return { id, says, checked: row.checked, violations: row.broken, examples: row.examples };
}
