// What a charge changes of its series, as a part of the statement that changes the payment. The functions start_charges and
// approve_charges write both.
import type { Instant } from '../../clock.ts';
import { oneOf } from '../../platform/database/codec.ts';
import { stored, type Values } from '../../platform/database/statement.ts';
import { initialClaim } from '../../platform/jobs/job-runner.ts';
import type { Money } from '../../money.ts';
import type { NewPayerEmail, PayerEmail } from '../../emails/domain/payer-email.ts';
import type { Attempt, ChargeEnd, ChargeOutcome, SeriesFact } from '../domain/series.ts';
import { payerEmailParameters, payerEmailValues } from '../../emails/store/payer-emails.ts';
import { declineClass } from './codec.ts';
import { changeOf, seriesChange, type StoredSeries } from './series.ts';

export const startedCharge = {
  ...seriesChange,
  series_card_stops: 'int4',
  is_retry: 'bool',
  packs: 'text',
} as const;

const outcome = oneOf<ChargeOutcome['outcome']>('approved', 'declined', 'lost', 'unsent');

export const endedCharge = {
  ...seriesChange,
  invoice_id: 'text',
  payment_id: 'text',
  attempt_outcome: stored('text', outcome),
  attempt_is_captured: 'bool',
  attempt_held_until: 'timestamptz?',
  attempt_network: 'text?',
  attempt_code: 'text?',
  attempt_advice: 'text?',
  attempt_effect: 'text?',
  attempt_rule: 'text?',
  attempt_pack: 'text?',
  attempt_class: stored('text?', declineClass),
} as const;

export const approvedCharge = {
  ...endedCharge,
  ...payerEmailParameters,
  email_claimed_until: 'timestamptz',
} as const;

/** A charge that has not ended, with its series at that time. */
export type PendingCharge = { readonly stored: StoredSeries; readonly attempt: Attempt };

export type StartedCharge = Values<typeof startedCharge>;

/** The node that writes the receipt sends it and has claimed it. */
export type ApprovedCharge = {
  readonly written: Values<typeof approvedCharge>;
  readonly payerEmail: PayerEmail | undefined;
};

export function startedChargeOf(
  { stored, cardStops }: { readonly stored: StoredSeries; readonly cardStops: number },
  fact: SeriesFact & { type: 'recurring_charge_started' },
  amount: Money,
  now: Instant,
): { readonly written: StartedCharge; readonly pendingCharge: PendingCharge } {
  const { invoiceId, paymentId, isRetry, packs } = fact;
  const { after, values } = changeOf(stored, [fact], now);
  return {
    written: { series_card_stops: cardStops, is_retry: isRetry, packs: packs.join(' '), ...values },
    pendingCharge: {
      stored: after,
      attempt: { invoiceId, paymentId, createdAt: after.changedAt, amount, isRetry },
    },
  };
}

export function endedChargeOf(
  { stored, attempt }: PendingCharge,
  { ending, facts, stop, notBefore, declineClass: helper }: ChargeEnd,
  now: Instant,
): Values<typeof endedCharge> {
  const declined = ending.outcome === 'declined' ? ending : undefined;
  const by = stop ?? notBefore;
  // What is spread comes last: V8 defines members after a spread slowly.
  return {
    invoice_id: attempt.invoiceId,
    payment_id: attempt.paymentId,
    attempt_outcome: ending.outcome,
    attempt_is_captured: ending.outcome === 'approved' && ending.isCaptured === true,
    attempt_held_until: (ending.outcome === 'approved' && ending.heldUntil) || null,
    attempt_network: declined?.network ?? null,
    attempt_code: declined?.code ?? null,
    attempt_advice: 'advice' in ending ? (ending.advice ?? null) : null,
    attempt_effect: stop ? `stop ${stop.scope}` : notBefore ? `wait until ${notBefore.at}` : null,
    attempt_rule: by?.rule ?? null,
    attempt_pack: by?.pack ?? null,
    attempt_class: helper ?? null,
    ...changeOf(stored, facts, now).values,
  };
}

export function approvedChargeOf(
  charge: PendingCharge,
  end: ChargeEnd,
  email: NewPayerEmail | undefined,
  now: Instant,
): ApprovedCharge {
  return {
    written: {
      email_claimed_until: initialClaim(now).wake_at,
      ...endedChargeOf(charge, end, now),
      ...payerEmailValues(email),
    },
    payerEmail: email && { ...email, createdAt: now, status: 'waiting' },
  };
}
