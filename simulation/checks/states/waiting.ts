// Operators see a payment whose outcome only its bank knows, from the first silence until an answer, and none that has ended.
import type { Problem } from '../check.ts';
import type { CheckWorld } from '../world.ts';

/** A node that dies in front of a bank leaves its claim for a minute, and clocks differ by seconds. */
const claimMs = 65_000;

/**
 * A payment that has changed since its bank was silent may have been answered in another way. A refund that waits for money has not been
 * asked for: what its bank left without an answer was about an earlier operation.
 */
const readWrong = `
  with named as (select *, invoice_id || '.' || payment_id as name from payment)
  select name, 'its bank says nothing for ' || for_ms || ' ms, and no operator sees it' as problem
  from named join json_to_recordset($1) as silence(payment text, as_of int, for_ms bigint)
    on silence.payment = name and as_of = version
  where status in ('authorising', 'reversing', 'capturing', 'cancelling', 'refunding') and name <> all($2)
    and state->'refund'->>'waitsUntil' is null
  union all
  select name, 'it is ' || status || ', and operators see it as waiting' from named
  where wake_at is null and stuck_at is null and name = any($2)`;

export async function shownWrongly({
  query,
  silences,
  shownAsWaiting,
}: Pick<CheckWorld, 'query' | 'silences' | 'shownAsWaiting'>): Promise<Problem[]> {
  const long = (silences?.() ?? []).filter(({ for_ms }) => for_ms >= claimMs);
  if (long.length === 0 || !shownAsWaiting) return [];
  const rows = await query(readWrong, [JSON.stringify(long), await shownAsWaiting()]);
  return rows.map(({ name, problem }) => [String(name), String(problem)]);
}
