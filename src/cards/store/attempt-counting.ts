// The parts of statements that count attempts of payers who are present. The statement that creates a payment or binding begins one,
// and the statement that records the outcome decides it.
import { isUndecided } from '../../acquiring/authorisation/domain/challenge.ts';
import type { Instant } from '../../clock.ts';
import {
  attemptLimits,
  outcomeOfFailure,
  type Attempt,
  type AttemptOutcome,
} from '../domain/attempt-limits.ts';

export const attemptParameters = {
  attempted_card: 'bytea?',
  attempted_address: 'bytea?',
  attempted_bin: 'text?',
  attempted_at: 'timestamptz?',
} as const;

export const attemptColumns = Object.keys(attemptParameters).join(', ');
export const attemptValues = Object.keys(attemptParameters)
  .map((name) => `:${name}`)
  .join(', ');

export function attemptRow(attempt: Attempt | undefined) {
  return {
    attempted_card: attempt?.card ?? null,
    attempted_address: attempt?.address ?? null,
    attempted_bin: attempt?.bin ?? null,
    attempted_at: attempt?.at ?? null,
  };
}

const { card, address } = attemptLimits;
const counted = (times: string, within: string) =>
  `cardinality(times_since(${times}, :attempted_at - interval '${within}'))`;
const millisecondsOf = ({ openForMs }: { readonly openForMs: number }) => `${openForMs} milliseconds`;

const reachedByCard = (row: string) => `${counted(`${row}.open`, millisecondsOf(card))} + greatest(
          ${counted(`${row}.declined`, '1 hour')} - ${card.declinesPerHour},
          ${counted(`${row}.declined`, '1 day')} - ${card.declinesPerDay},
          ${counted(`${row}.mismatched`, '1 hour')} - ${card.mismatchesPerHour}) >= 0`;
const reachedByAddress = (row: string) => `(${counted(`${row}.paid`, '1 hour')} <= ${address.maxPaidCards}
          and ${counted(`${row}.open`, millisecondsOf(address))} + ${counted(`${row}.declined`, '1 hour')}
            >= ${address.declinesPerHour} + ${counted(`${row}.paid`, '1 hour')})`;

/** A full hour, so that most changes of a row touch no index. */
const keptUntil = (at: string) => `date_trunc('hour', ${at}) + interval '25 hours'`;

/** Adds the attempt to what is open for the subject, unless its limit is reached. The row stays locked until the transaction ends. */
function open(subject: string, from: string, openForMs: string, isReached: (row: string) => string): string {
  return `insert into payer_attempt as earlier (subject, open, kept_until)
      select ${subject}, array[:attempted_at], ${keptUntil(':attempted_at')} from ${from} where ${subject} is not null
      on conflict (subject) do update
      set open = :attempted_at || times_since(earlier.open, :attempted_at - interval '${openForMs}'), kept_until = excluded.kept_until
      where not ${isReached('earlier')}
      returning subject`;
}

/**
 * Ends in `counted`, which has a row if `from` has one and no limit is reached. The rows of the address and then of the card are locked,
 * so that attempts at the same time on any nodes count each other.
 */
export function beginAttempt(from: string): string {
  return `admitted as (
      select from ${from} where not exists (
        select from payer_attempt where subject = :attempted_address and ${reachedByAddress('payer_attempt')}
          or subject = :attempted_card and ${reachedByCard('payer_attempt')}
      )
    ), opened_address as (
      ${open(':attempted_address', 'admitted', millisecondsOf(address), reachedByAddress)}
    ), placed as (
      select from admitted where :attempted_address is null or exists (select from opened_address)
    ), opened_card as (
      ${open(':attempted_card', 'placed', millisecondsOf(card), reachedByCard)}
    ), counted as (
      select from placed where :attempted_card is null or exists (select from opened_card)
    )`;
}

/** What the statement has opened. */
export const openedColumns = { address_opened: 'bool', card_opened: 'bool' } as const;
export const openedValues = Object.keys(openedColumns)
  .map((name) => `exists (select from opened_${name.replace('_opened', '')}) as ${name}`)
  .join(', ');

/** An attempt that came to nothing: a limit is reached, or the card is gone. What it has opened has to be closed. */
export type Unmade = {
  readonly why: 'limited' | 'cardGone';
  readonly attempt: Attempt | undefined;
  readonly opened: { readonly address: boolean; readonly card: boolean };
};

export function unmade(
  attempt: Attempt | undefined,
  row: { readonly is_counted: boolean; readonly address_opened: boolean; readonly card_opened: boolean },
): Unmade {
  const opened = { address: row.address_opened, card: row.card_opened };
  return { why: row.is_counted ? 'cardGone' : 'limited', attempt, opened };
}

export const decisionParameters = {
  attempt_outcome: 'text?',
  is_attempt_over: 'bool',
  decided_at: 'timestamptz',
} as const;

/** The part of a state of a payment or binding that decides an attempt. */
type Charged = { readonly name: string; readonly failure?: readonly string[] };

/** The outcome comes with one change alone; the attempt is over from then on. */
export function decisionRow(before: Charged, after: Charged, decidedAt: Instant) {
  return {
    attempt_outcome: outcomeOf(before, after) ?? null,
    is_attempt_over: !isUndecided(after),
    decided_at: decidedAt,
  };
}

/** Undefined while the bank has not decided, and for every later change. */
function outcomeOf(before: Charged, { name, failure = [] }: Charged): AttemptOutcome | undefined {
  if (!isUndecided(before) || isUndecided({ name })) return undefined;
  if (name === 'failed') return outcomeOfFailure(failure);
  return name === 'reversing' ? 'undecided' : 'approved';
}

const isDeclined = `:attempt_outcome in ('declined', 'mismatched')`;
/** A card counts once an hour, or one good card would allow any number of others. An `exists` might be planned as a scan of all rows. */
const isFirstPaid = `:attempt_outcome = 'approved' and attempted_address is not null and coalesce((
          select cardinality(times_since(paid, :decided_at - interval '1 hour')) from payer_attempt where subject = attempted_card), 0) = 0`;
const shards = 8;

/** For the row of a payment or binding: once the bank has decided, nothing needs what was counted. */
export const forgetAttempt = Object.keys(attemptParameters)
  .map((name) => `${name} = case when not :is_attempt_over then ${name} end`)
  .join(', ');

/** What `decideAttempt` needs of the row, as it was before the change. */
export function attemptIn(table: string, where: string): string {
  return `begun as (
      select ${table}.party_id as attempted_party, ${table}.shop_id as attempted_shop, ${attemptColumns} from ${table}
      where :attempt_outcome is not null and ${where}
    )`;
}

/** Follows `begun`. `change` has a row if the row was changed; `owner` names the aggregate, which picks the shard. */
export function decideAttempt(change: string, owner: string): string {
  return `attempt as (
      select begun.* from begun, ${change}
    ), decided as (
      insert into payer_attempt as earlier (subject, declined, mismatched, paid, kept_until)
      select subject, case when ${isDeclined} then array[:decided_at] else '{}' end,
        case when :attempt_outcome = 'mismatched' then array[:decided_at] else '{}' end,
        case when ${isFirstPaid} then array[:decided_at] else '{}' end, ${keptUntil(':decided_at')}
      from attempt, unnest(array[attempted_card, attempted_address]) as subject
      where subject is not null
      order by subject
      on conflict (subject) do update
      set open = times_without(earlier.open, (select attempted_at from attempt)),
          declined = excluded.declined || times_since(earlier.declined, :decided_at - interval '1 day'),
          mismatched = excluded.mismatched || times_since(earlier.mismatched, :decided_at - interval '1 day'),
          paid = excluded.paid || times_since(earlier.paid, :decided_at - interval '1 hour'),
          kept_until = excluded.kept_until
    ), rated as (
      insert into shop_outcome as earlier (party_id, shop_id, bin, minute, shard, approved, declined)
      select attempted_party, attempted_shop, attempted_bin, date_trunc('minute', :decided_at), (hashtext(${owner}) & 2147483647) % ${shards},
        case when ${isDeclined} then 0 else 1 end, case when ${isDeclined} then 1 else 0 end
      from attempt where attempted_bin is not null and (${isDeclined} or :attempt_outcome = 'approved')
      on conflict (party_id, shop_id, bin, minute, shard) do update
      set approved = earlier.approved + excluded.approved, declined = earlier.declined + excluded.declined
    )`;
}
