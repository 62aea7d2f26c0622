// Fail-over: when a payment, or the test charge of a binding, that was never sent goes to another terminal of its shop. Pure, and
// the strictest rule of the house: what may have reached one bank is never sent to another, whatever became of it.
import type { BankResponse, Terminal } from './bank-port.ts';
import type { Instant } from '../../clock.ts';

/** What is charged, as far as the rule has to know it. */
type Charged = { readonly state: { readonly name: string }; readonly deadline: Instant };

/**
 * Whether it may be sent elsewhere now. Only the node that made it knows, and only while it is at its very first
 * attempt: whoever comes later cannot tell what the one before him has sent. That nobody has come meanwhile is for the
 * store to see, by `isFirstAttempt`.
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

/** The same in the statement that moves it. No other statement may set the attempts of what is being authorised to 1. */
export const isFirstAttempt = `attempts = 1 and status = 'authorising'`;

/** The terms of a row, with the terminal in the parameter :terminal, everything else as it was and in the same order. */
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
