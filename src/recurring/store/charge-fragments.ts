// What a charge changes of its series, as a part of the statement that changes the payment: so both are written, or neither, in
// one round trip. The statement fails as a whole when the series has moved since it was read.
import type { Instant } from '../../clock.ts';
import type { Values } from '../../platform/database/statement.ts';
import { initialClaim } from '../../platform/jobs/job-runner.ts';
import { appendEvent } from '../../platform/events/log.ts';
import type { Money } from '../../money.ts';
import type { PayerEmail } from '../../receipts/domain/payer-email.ts';
import type { Attempt, SeriesFact } from '../domain/series.ts';
import {
  payerEmailOf,
  payerEmailParameters,
  payerEmailValues,
  type NewPayerEmail,
} from '../../receipts/store/payer-emails.ts';
import { changeOf, type SeriesWithSettings, type StoredSeries } from './series.ts';
import type { RecurringSettings } from './settings.ts';

const parameters = {
  series_id: 'text',
  series_version: 'int4',
  series_chain: 'text',
  series_state: 'json',
  series_changed_at: 'timestamptz',
  series_wake_at: 'timestamptz?',
  series_facts: 'json',
} as const;

/** The row of the series is locked before all others: `held` is to be read first. */
const heldText = `
    held as (
      update series
      set version = version + 1, chain = :series_chain, state = :series_state, changed_at = :series_changed_at,
          wake_at = :series_wake_at, attempts = 0, stuck_at = null, stuck_reason = null
      where series_id = :series_id and version = :series_version
      returning series_id, party_id, version, changed_at
    ), noted as (
      ${appendEvent('series', 'series_id', { from: 'held', facts: ':series_facts' })}
    )`;

/** Beside these the statement has the `:invoice_id` and `:payment_id` of the payment, and its amount. */
export const startedCharge = {
  parameters: { ...parameters, is_retry: 'bool', packs: 'text' },
  text: `${heldText}, attempted as (
      insert into series_attempt
        (series_id, invoice_id, payment_id, created_at, amount_minor, currency, is_retry, packs, outcome)
      select series_id, :invoice_id, :payment_id, changed_at, :amount_minor, :currency, :is_retry, :packs, 'pending'
      from held
    )`,
} as const;

/** What has ended does not end again: without a row in `attempted` the statement must fail. With the receipt to be mailed, if any. */
export const succeededCharge = {
  parameters: {
    ...parameters,
    ...payerEmailParameters,
    email_claimed_until: 'timestamptz',
    series_advice: 'text?',
  },
  text: `${heldText}, attempted as (
      update series_attempt set outcome = 'approved', ended_at = held.changed_at, advice = :series_advice
      from held
      where series_attempt.series_id = :series_id and invoice_id = :invoice_id and payment_id = :payment_id
        and outcome = 'pending'
      returning invoice_id
    ), ${payerEmailOf('held', { claimedUntil: ':email_claimed_until' })}`,
} as const;

/** A series as it is charged, and what its shop wants. */
type Charged = { readonly stored: StoredSeries; readonly settings: RecurringSettings };

/** A charge that has not ended, with its series as it was then. */
export type PendingCharge = Charged & { readonly attempt: Attempt };

export type StartedCharge = Values<typeof startedCharge.parameters>;
/** A receipt as whoever took the charge has just written it, with what he knew of its series. */
export type PreloadedEmail = PayerEmail & { readonly series: SeriesWithSettings };

/** With the receipt that goes with it: the node that writes it sends it, and has claimed it until then. */
export type ApprovedCharge = {
  readonly written: Values<typeof succeededCharge.parameters>;
  readonly payerEmail: PreloadedEmail | undefined;
};

export function startedChargeOf(
  { stored, settings }: Charged,
  fact: SeriesFact & { type: 'recurring_charge_started' },
  amount: Money,
  now: Instant,
): { readonly written: StartedCharge; readonly charge: PendingCharge } {
  const { invoiceId, paymentId, isRetry, packs } = fact;
  const { after, values } = changed(stored, [fact], now);
  return {
    written: { ...values, is_retry: isRetry, packs: packs.join(' ') },
    charge: {
      stored: after,
      settings,
      attempt: { invoiceId, paymentId, createdAt: after.changedAt, amount, isRetry },
    },
  };
}

export function succeededChargeOf(
  { stored, settings }: Charged,
  facts: readonly SeriesFact[],
  {
    advice,
    payerEmail,
  }: {
    readonly advice: string | undefined;
    readonly payerEmail: (NewPayerEmail & { readonly recipient: string }) | undefined;
  },
  now: Instant,
): ApprovedCharge {
  const { series } = stored;
  const { id: seriesId, partyId } = series;
  return {
    written: {
      ...changed(stored, facts, now).values,
      ...payerEmailValues(payerEmail),
      email_claimed_until: initialClaim(now).wake_at,
      series_advice: advice ?? null,
    },
    payerEmail: payerEmail && {
      ...payerEmail,
      partyId,
      seriesId,
      createdAt: now,
      status: 'waiting',
      series: { series, settings },
    },
  };
}

function changed(
  stored: StoredSeries,
  facts: readonly SeriesFact[],
  now: Instant,
): { readonly after: StoredSeries; readonly values: Values<typeof parameters> } {
  const { series, row, wake_at } = changeOf(stored, facts, now);
  const { chain, changed_at: changedAt } = row;
  const after = { ...stored, series, chain, changedAt, version: stored.version + 1 };
  const values = {
    series_id: row.series_id,
    series_version: stored.version,
    series_chain: chain,
    series_state: row.state,
    series_changed_at: changedAt,
    series_wake_at: wake_at,
    series_facts: facts,
  };
  return { after, values };
}
