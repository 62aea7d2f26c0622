// What an operator does about a payment the engine has given up: he lets go of a hold the bank will not capture, or says how it
// ended where no bank can. The rules are in domain/resolution.ts; everything that follows is written as it always is.
import type { Banks } from '../acquiring/banks.ts';
import type { Clock, Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { storeEvents } from './store/payment-changes.ts';
import type { StoredPayment } from './store/rows.ts';
import { seriesWriteOf } from './series-writes.ts';
import { possibleOutcomes, releaseOf, resolutionFacts, type ManualOutcome } from './domain/resolution.ts';
import { seriesEffectsOf } from './domain/series-effects.ts';
import { loadPayment, reschedule } from './store/payments.ts';
import { operationIdOf, type Payment, type PaymentFact } from './domain/payment.ts';
import { claimStuckJob } from './store/stuck-payments.ts';
import type { Recurring } from '../recurring/port.ts';

export type ResolutionDeps = {
  readonly db: Database;
  readonly clock: Clock;
  readonly banks: Pick<Banks, 'bankOf'>;
  readonly recurring: Recurring;
};

type Name = { readonly invoiceId: string; readonly paymentId: string };

/** The bank is asked first what became of the capture: money that was taken is not let go. */
export function releaseHold(deps: ResolutionDeps, name: Name, reason: string): Promise<Payment> {
  return withClaim(deps, name, async ({ payment }) => {
    if (payment.state.name !== 'capturing')
      throw new Error(`the payment is ${payment.state.name}, not capturing; nothing was done`);
    const bank = await deps.banks.bankOf(payment.terminal);
    const answer = await bank.inquire(operationIdOf(payment, 'capture'), payment.terminal);
    const release = releaseOf(payment, answer, reason);
    if ('fact' in release) return [[release.fact]];
    const remedy =
      release.not === 'the bank has captured it'
        ? 'a running node learns of it within seconds'
        : 'when you know in another way, record it with mandate payments resolve';
    throw new Error(`${release.not}: nothing was done; ${remedy}`);
  });
}

/** No bank is asked. */
export function resolvePayment(
  deps: ResolutionDeps,
  name: Name,
  as: ManualOutcome,
  why: string,
): Promise<Payment> {
  return withClaim(deps, name, ({ payment }) => {
    const events = resolutionFacts(payment, as, why);
    if (events) return Promise.resolve(events);
    const possible = possibleOutcomes(payment).join(' or ') || 'no way';
    throw new Error(`a payment that is ${payment.state.name} can be resolved as ${possible}, not as ${as}`);
  });
}

/** Takes it off the operator's list, and when that leads to nothing makes it due again. */
async function withClaim(
  deps: ResolutionDeps,
  name: Name,
  decide: (stored: StoredPayment) => Promise<PaymentFact[][]>,
): Promise<Payment> {
  const { db, clock } = deps;
  const now = await claimStuckJob(db, name, clock.now());
  const stored = now && (await loadPayment(db, name));
  if (!stored) {
    const id = `${name.invoiceId}/${name.paymentId}`;
    throw new Error(`payment ${id} has no stuck job; list them with mandate jobs stuck`);
  }
  try {
    return await write(deps, stored, await decide(stored), now);
  } catch (error) {
    await reschedule(db, stored, now);
    throw error;
  }
}

async function write(
  { db, recurring }: ResolutionDeps,
  stored: StoredPayment,
  events: PaymentFact[][],
  now: Instant,
): Promise<Payment> {
  const effects = seriesEffectsOf(stored.payment, events.flat(), undefined);
  const alsoWrite = seriesWriteOf(stored.payment, effects, now, recurring);
  const written = await storeEvents(db, stored, events, now, alsoWrite);
  if (!written) throw new Error('the payment was changed by somebody else; look again');
  return written;
}
