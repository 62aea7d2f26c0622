// What an operator does about a stuck payment: release a hold that the bank does not capture, or record the outcome. The
// rules are in domain/resolution.ts.
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
import { findStuckUndo, storeUndoEnd } from './store/charge-undos.ts';
import { claimStuckJob } from './store/stuck-payments.ts';
import type { Receipts } from '../receipts/receipts.ts';
import type { Charging, Consents } from '../recurring/port.ts';

export type ResolutionDeps = {
  readonly db: Database;
  readonly clock: Clock;
  readonly banks: Pick<Banks, 'bankOf' | 'pauseTerminal'>;
  readonly charging: Charging;
  readonly consents: Consents;
  readonly receipts: Receipts;
};

type Name = { readonly invoiceId: string; readonly paymentId: string };

/** Queries the status of the capture first, because captured money must not be released. */
export function releaseHold(deps: ResolutionDeps, name: Name, reason: string): Promise<Payment> {
  return withClaim(deps, name, async ({ payment }) => {
    if (payment.state.name !== 'capturing')
      throw new Error(`The payment is ${payment.state.name}, not capturing. Nothing was changed.`);
    const bank = await deps.banks.bankOf(payment.terminal);
    const answer = await bank.inquire({
      operationId: operationIdOf(payment, 'capture'),
      terminal: payment.terminal,
    });
    const release = releaseOf(payment, answer, reason);
    if ('fact' in release) return [[release.fact]];
    throw new Error(
      release.refusal === 'capturedAtBank'
        ? 'The bank has captured the payment. Nothing was changed; a running node records the capture within seconds.'
        : 'The bank does not report the outcome. Nothing was changed. If you know the outcome from another source, record it with "mandate payments resolve".',
    );
  });
}

/** No bank is contacted. */
export function resolvePayment(
  deps: ResolutionDeps,
  name: Name,
  as: ManualOutcome,
  why: string,
): Promise<Payment> {
  if (as === 'undone') return resolveUndo(deps, name, why);
  return withClaim(deps, name, ({ payment }) => {
    const events = resolutionFacts(payment, as, why);
    if (events) return Promise.resolve(events);
    const possible = possibleOutcomes(payment).join(' or ');
    const remedy = possible ? `Use ${possible}.` : 'Nothing is open.';
    throw new Error(`A payment in state ${payment.state.name} cannot be resolved as ${as}. ${remedy}`);
  });
}

/** Without an amount, as the bank has not said that it moved any. */
async function resolveUndo({ db, clock }: ResolutionDeps, name: Name, why: string): Promise<Payment> {
  const payment = (await loadPayment(db, name))?.payment;
  const undo = payment && (await findStuckUndo(db, payment));
  if (payment && undo) {
    const { operation } = undo;
    const fact = { type: 'payment_undone', operation, settledBecause: why } as const;
    if (await storeUndoEnd(db, payment, undo, fact, clock.now())) return payment;
  }
  const id = `${name.invoiceId}/${name.paymentId}`;
  throw new Error(
    `Payment ${id} has no charge whose undoing is stuck. List stuck jobs with "mandate jobs stuck".`,
  );
}

/** Claims the stuck job. After an error the job is due again. */
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
    throw new Error(`Payment ${id} has no stuck job. List stuck jobs with "mandate jobs stuck".`);
  }
  try {
    return await write(deps, stored, await decide(stored), now);
  } catch (error) {
    await reschedule(db, stored, now);
    throw error;
  }
}

async function write(
  { db, charging, consents, receipts, banks: { pauseTerminal } }: ResolutionDeps,
  stored: StoredPayment,
  events: PaymentFact[][],
  now: Instant,
): Promise<Payment> {
  const effects = seriesEffectsOf(stored.payment, events.flat(), undefined);
  const alsoWrite = await seriesWriteOf(stored.payment, effects, now, {
    charging,
    consents,
    receipts,
    pauseTerminal,
  });
  const written = await storeEvents(db, stored, events, now, { alsoWrite });
  if (!written) throw new Error('The payment was changed meanwhile. Check it and run the command again.');
  return written;
}
