// What the statements have in common that move a payment or a binding to another terminal. Only its first attempt may do so: another
// attempt may have sent the charge.
import type { Instant } from '../../../clock.ts';
import { stored } from '../../../platform/database/statement.ts';
import { initialClaim } from '../../../platform/jobs/job-runner.ts';
import type { Terminal } from '../../domain/bank-port.ts';
import type { ExchangeWrite } from '../../exchange-log/domain/exchange.ts';
import { exchangeParameters } from '../../exchange-log/store/exchange-rows.ts';
import { terminal } from '../../store/codec.ts';

/** `mayReroute` in SQL. While `status` is `authorising`, only a step-up sets `attempts` to 1 again, with another version. */
export const isFirstAttempt = `attempts = 1 and status = 'authorising'`;

export const rerouteParameters = {
  version: 'int4',
  terminal: stored('json', terminal),
  wake_at: 'timestamptz',
  ...exchangeParameters,
} as const;

/** The stored terms keep their order. The claim is renewed and attempts stay: at the next terminal too, a later attempt is not the first. */
export const setTerminal = `wake_at = :wake_at, terms = (
    select json_object_agg(key, case key when 'terminal' then :terminal else value end order by place)
    from json_each(terms) with ordinality as term (key, value, place)
  )`;

export function rerouteValues(to: Terminal, now: Instant, exchanges: readonly ExchangeWrite[]) {
  return { terminal: to, wake_at: initialClaim(now).wake_at, exchanges };
}
