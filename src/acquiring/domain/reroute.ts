// Decides when a payment or a verification charge moves to another terminal of its shop.
// What may have reached one bank is never sent to another.
import type { BankResponse, Terminal } from './bank-port.ts';
import type { Instant } from '../../clock.ts';

/** The part of a payment or binding that the rule needs. */
type Charged = { readonly state: { readonly name: string }; readonly deadline: Instant };

/**
 * Only the node that created the charge may reroute it, on attempt 1: a later attempt cannot know what an earlier one
 * sent. The store checks with `isFirstAttempt` that no other node has claimed the job since.
 */
export function mayReroute(
  { state, deadline }: Charged,
  answer: BankResponse,
  attempt: number,
  now: Instant,
): boolean {
  const neverSent = answer.outcome === 'notSent' && answer.noBytesSent === true;
  return neverSent && attempt === 1 && state.name === 'authorising' && now < deadline;
}

/** The same condition in SQL. No other statement may set `attempts` to 1 while `status` is `authorising`. */
export const isFirstAttempt = `attempts = 1 and status = 'authorising'`;

/** The stored terms with `:terminal` in place of the old terminal, in the same order. */
export const reroutedTerms = `(
    select json_object_agg(key, case key when 'terminal' then :terminal else value end order by place)
    from json_each(terms) with ordinality as term (key, value, place)
  )`;

export function rerouted(
  terminal: Terminal,
  answer: BankResponse,
): { readonly terminal: Terminal; readonly why: string } {
  return { terminal, why: 'why' in answer ? answer.why : answer.outcome };
}
