// The values of the statements that move a payment or a binding to another terminal. Only a first attempt may do so, as `mayReroute`
// says; while `status` is `authorising`, only a step-up sets `attempts` to 1 again.
import type { Instant } from '../../../clock.ts';
import { stored } from '../../../platform/database/statement.ts';
import { initialClaim } from '../../../platform/jobs/job-runner.ts';
import type { Terminal } from '../../domain/bank-port.ts';
import type { ExchangeWrite } from '../../exchange-log/domain/exchange.ts';
import { exchangeParameters } from '../../exchange-log/store/exchange-rows.ts';
import { terminal } from '../../store/codec.ts';

export const rerouteParameters = {
  version: 'int4',
  terminal: stored('json', terminal),
  wake_at: 'timestamptz',
  ...exchangeParameters,
} as const;

/** The claim is renewed and attempts stay: at the next terminal too, a later attempt is not the first. */
export function rerouteValues(to: Terminal, now: Instant, exchanges: readonly ExchangeWrite[]) {
  return { terminal: to, wake_at: initialClaim(now).wake_at, exchanges };
}
