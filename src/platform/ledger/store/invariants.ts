// What must be true of the ledger at any moment: queries that list their cases and whether each holds. A check covers everything, or what
// came since the watermark, with sums from the checkpoint.
import { anything, list } from '../../database/codec.ts';
import { statement, stored, type Statement } from '../../database/statement.ts';

/**
 * A recent check begins at the watermark; `since` repeats that time or an earlier one as a value. Only from a value does PostgreSQL
 * know that few rows follow; otherwise it would read millions every minute.
 */
const scope = { recent: 'bool', since: 'timestamptz' } as const;
const found = { checked: 'int8', broken: 'int8', examples: stored('json', list(anything)) } as const;

export type Invariant = {
  readonly id: string;
  readonly says: string;
  /** Late, not wrong. A recent check finds it once, when it becomes late. */
  readonly isAgeLimit: boolean;
  readonly find: Statement<typeof scope, typeof found>;
};

/** Event times come from the clocks of the nodes that wrote them, which may be slightly behind. */
const eventMargin = `interval '10 minutes'`;

/**
 * `cases` has one row per case, with a column `holds`, and may use `since` and `touched` (aggregates with transfers). With a kind it may
 * use `changed`: also the aggregates of that kind with any event, which finds missing transfers.
 */
export function invariant(id: string, says: string, cases: string, kind?: 'invoice' | 'customer'): Invariant {
  const changed = `changed as (
        select aggregate_id from touched
        union select aggregate_id from event where created_at >= :since - ${eventMargin} and aggregate = '${kind}'
      ), `;
  const find = statement({
    name: `find_broken_${id.toLowerCase()}`,
    parameters: scope,
    row: found,
    text: `
      with since as (
        select case when :recent then reached_at else '-infinity' end as instant from ledger_watermark
      ), touched as (
        select distinct aggregate_id from ledger_transfer where created_at >= :since
      ), ${kind ? changed : ''}cases as (${cases}
      )
      select count(*) as checked, count(*) filter (where holds is not true) as broken,
        coalesce((select json_agg(example) from (select * from cases where holds is not true limit 5) as example), '[]')
          as examples
      from cases`,
  });
  return { id, says, isAgeLimit: false, find };
}

/** The result of each step of the touched aggregates: open, posted, or neither, which is void. */
const theirSteps = `cross join lateral (
      select operation_id, step, sum(pending_minor) as open_minor, sum(posted_minor) as posted_minor,
        bool_or(phase = 'pending') as was_held
      from ledger_transfer as transfer where transfer.aggregate_id = touched.aggregate_id
      group by operation_id, step
    ) as done`;

/**
 * No step stays pending for longer than its age; a recent check covers what reached that age since the watermark. Each age is a
 * separate query: for an age from a table PostgreSQL cannot estimate how few rows remain, and reads every transfer.
 */
function ageLimit(id: string, says: string, ages: Readonly<Record<string, string>>): Invariant {
  const cases = Object.entries(ages).map(
    ([step, age]) => `
    select held.aggregate_id, held.operation_id, held.step, held.pending_minor, held.created_at,
      exists (
        select from ledger_transfer as done where done.completes_pending and done.aggregate_id = held.aggregate_id
          and done.operation_id = held.operation_id and done.step = held.step
      ) as holds
    from ledger_transfer as held
    where held.step = '${step}' and held.phase = 'pending' and held.created_at < now() - interval '${age}'
      and held.created_at >= :since - interval '${age}'`,
  );
  return { ...invariant(id, says, cases.join(' union all ')), isAgeLimit: true };
}

/** The ledger's own invariants. Modules that post to it have further ones. */
export const ledgerInvariants: readonly Invariant[] = [
  invariant(
    'I1',
    'debits equal credits in each mode and currency, posted and pending',
    `
    select split_part(account_id, ':', 1) as mode, split_part(account_id, ':', 2) as currency,
      sum(debits_posted)::text as debits_posted, sum(credits_posted)::text as credits_posted,
      sum(debits_pending)::text as debits_pending, sum(credits_pending)::text as credits_pending,
      sum(debits_posted) = sum(credits_posted) and sum(debits_pending) = sum(credits_pending) as holds
    from ledger_balance group by 1, 2`,
  ),
  invariant(
    'I2',
    'every balance is the sum of its transfers',
    `
    select account_id, shard, to_json(balance) as balance, to_json(summed) as transfers,
      (coalesce(balance.debits_posted, 0), coalesce(balance.credits_posted, 0),
       coalesce(balance.debits_pending, 0), coalesce(balance.credits_pending, 0))
      = (coalesce(summed.debits_posted, 0), coalesce(summed.credits_posted, 0),
         coalesce(summed.debits_pending, 0), coalesce(summed.credits_pending, 0)) as holds
    from ledger_balance as balance
    full join (
      select account_id, shard, sum(debits_posted) as debits_posted, sum(credits_posted) as credits_posted,
        sum(debits_pending) as debits_pending, sum(credits_pending) as credits_pending
      from (
        select * from ledger_checkpoint where (select instant from since) > '-infinity'
        union all
        select debit_account, debit_shard, posted_minor, 0, pending_minor, 0
        from ledger_transfer where created_at >= (select instant from since) and created_at >= :since
        union all
        select credit_account, credit_shard, 0, posted_minor, 0, pending_minor
        from ledger_transfer where created_at >= (select instant from since) and created_at >= :since
      ) as leg
      group by account_id, shard
    ) as summed using (account_id, shard)`,
  ),
  invariant(
    'I3',
    'a pending transfer is completed at most once, as a whole, between the same accounts, and posted for no more than its amount',
    `
    select done.aggregate_id, done.operation_id, done.step,
      count(held.step) = 1 and count(*) = 1
      and bool_and(held.pending_minor = -done.pending_minor and held.pending_minor >= done.posted_minor
        and (held.debit_account, held.debit_shard, held.credit_account, held.credit_shard)
          = (done.debit_account, done.debit_shard, done.credit_account, done.credit_shard)) as holds
    from touched join ledger_transfer as done using (aggregate_id)
    left join ledger_transfer as held on held.aggregate_id = done.aggregate_id
      and held.operation_id = done.operation_id and held.step = done.step and held.phase = 'pending'
    where done.completes_pending
    group by done.aggregate_id, done.operation_id, done.step`,
  ),
  invariant(
    'I4',
    'an account that forbids an overdraft has no available balance below zero, or below its overdraft limit',
    `
    select account_id, overdraft_minor, sum(credits_posted - debits_posted - debits_pending)::text as available,
      sum(credits_posted - debits_posted - debits_pending) >= -overdraft_minor as holds
    from ledger_account join ledger_balance using (account_id)
    where forbids_overdraft group by account_id, overdraft_minor`,
  ),
  invariant(
    'I5',
    'a transfer stays within one mode and one currency, between accounts that exist',
    `
    select transfer.aggregate_id, operation_id, step, debit_account, credit_account,
      debited.livemode = credited.livemode and debited.currency = credited.currency as holds
    from ledger_transfer as transfer
    left join ledger_account as debited on debited.account_id = debit_account
    left join ledger_account as credited on credited.account_id = credit_account
    where created_at >= :since`,
  ),
  invariant(
    'I6',
    'the posted and pending refunds of a payment are no more than what was captured',
    `
    select touched.aggregate_id, split_part(operation_id, '/', 2) as payment,
      coalesce(sum(posted_minor) filter (where step in ('hold', 'sale')), 0) as captured_minor,
      coalesce(sum(posted_minor + open_minor) filter (where step = 'refund'), 0) as refunded_minor,
      coalesce(sum(posted_minor) filter (where step in ('hold', 'sale')), 0)
        >= coalesce(sum(posted_minor + open_minor) filter (where step = 'refund'), 0) as holds
    from touched ${theirSteps}
    where operation_id like 'payment/%' group by 1, 2`,
  ),
  invariant(
    'I7',
    'all steps of an operation end alike, a payment is taken at most once, and its fee only then',
    `
    select touched.aggregate_id, operation_id, array_agg(step) as steps,
      count(distinct (open_minor > 0, posted_minor > 0)) filter (where was_held) <= 1
      and count(*) filter (where step in ('hold', 'sale')) <= 1
      and (count(*) filter (where step = 'fee') = 0
        or count(*) filter (where step in ('hold', 'sale') and posted_minor > 0) = 1) as holds
    from touched ${theirSteps}
    group by 1, 2`,
  ),
  ageLimit('I8', 'no hold is pending for more than 31 days, no refund or payout for more than 4 days', {
    hold: '31 days',
    refund: '4 days',
    payout: '4 days',
  }),
  invariant(
    'I9',
    'the whole balance of a clearing account of bindings is being refunded',
    `
    select account_id, sum(credits_posted - debits_posted)::text as own, sum(debits_pending)::text as returning,
      sum(credits_posted - debits_posted) = sum(debits_pending) as holds
    from ledger_account join ledger_balance using (account_id)
    where code = 'binding.clearing' group by account_id`,
  ),
  ageLimit('I9a', 'the verification charge of a binding is refunded within a day', { return: '24 hours' }),
];
