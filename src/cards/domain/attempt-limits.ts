// Limits of attempts by payers who are present: how many declines a card or an address may have. They also say when so many cards are
// declined that a shop is under attack.
import { type Instant, dayMs, epochMsOf, laterBy } from '../../clock.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/**
 * Attempts that the bank has not decided may become declines, so they count for as long as `openForMs`. At an address, each card that
 * paid within the hour allows one decline more, and more than `maxPaidCards` any number.
 */
export const attemptLimits = {
  card: { declinesPerHour: 4, declinesPerDay: 9, mismatchesPerHour: 3, openForMs: hourMs },
  address: { declinesPerHour: 10, maxPaidCards: 10, openForMs: minuteMs },
  perInvoice: 10,
} as const;

/** What an attempt counts for. Absent members are not counted. */
export type Attempt = {
  readonly card: Buffer;
  readonly address?: Buffer;
  readonly bin?: string;
  readonly at: Instant;
};

/** `undecided` counts for nothing: the card was not the reason. */
export type AttemptOutcome = 'approved' | 'declined' | 'mismatched' | 'undecided';

const mismatches: readonly string[] = ['cvv_invalid', 'card_expired'];
const ours: readonly string[] = [
  'temporarily_unavailable',
  'processing_deadline_reached',
  'merchant_blocked',
  'operation_blocked',
];

/** From the path of a failure. An abandoned challenge and a fault of the bank or of the shop's set-up say nothing about the card. */
export function outcomeOfFailure(failure: readonly string[]): AttemptOutcome {
  const [first, second] = failure;
  if (mismatches.includes(failure.at(-1) ?? '')) return 'mismatched';
  if (first === 'preauthorization_failed') return second === 'three_ds_failed' ? 'declined' : 'undecided';
  return first === 'authorization_failed' && !ours.includes(second ?? '') ? 'declined' : 'undecided';
}

/** Times of attempts, the latest first. */
export type AttemptTimes = {
  readonly open: readonly Instant[];
  readonly declined: readonly Instant[];
  readonly mismatched: readonly Instant[];
  /** Of each card the first payment in an hour. */
  readonly paid: readonly Instant[];
};

const openWaitSeconds = 10;

/** The seconds until the limits of a card or an address allow another attempt; undefined if they do now. */
export function waitSecondsFor(
  kind: 'card' | 'address',
  times: AttemptTimes,
  now: Instant,
): number | undefined {
  const { card, address } = attemptLimits;
  const open = since(times.open, now, attemptLimits[kind].openForMs).length;
  if (kind === 'address') {
    const paid = since(times.paid, now, hourMs).length;
    if (paid > address.maxPaidCards) return undefined;
    return wait(times.declined, open, address.declinesPerHour + paid, hourMs, now);
  }
  const waits = [
    wait(times.declined, open, card.declinesPerHour, hourMs, now),
    wait(times.declined, open, card.declinesPerDay, dayMs, now),
    wait(times.mismatched, open, card.mismatchesPerHour, hourMs, now),
  ].filter((seconds) => seconds !== undefined);
  return waits.length === 0 ? undefined : Math.max(...waits);
}

function wait(times: readonly Instant[], open: number, max: number, withinMs: number, now: Instant) {
  const counted = since(times, now, withinMs);
  if (counted.length + open < max) return undefined;
  const oldest = counted[max - 1];
  if (oldest === undefined) return openWaitSeconds;
  return Math.max(1, Math.ceil((epochMsOf(oldest) + withinMs - epochMsOf(now)) / 1_000));
}

function since(times: readonly Instant[], now: Instant, withinMs: number): readonly Instant[] {
  const from = laterBy(now, -withinMs);
  return times.filter((at) => at > from);
}

export const guardWindowMs = 10 * minuteMs;
const guardMs = 30 * minuteMs;
export const minDeclines = 20;
/** Of the declines of a shop as a whole. So it takes many BINs, and numbers made up for one BIN close that BIN alone. */
export const maxDeclinesOfBin = 2;
const leastShare = 0.8;

export type Outcomes = { readonly approved: number; readonly declined: number };
export type GuardMode = 'challenge' | 'refuse';
export type Guard = { readonly mode: GuardMode; readonly since: Instant; readonly until: Instant };

/**
 * A BIN in a shop, or the whole shop: more than 20 declines in ten minutes, and more than 80 % of the attempts. The share must also be
 * more than halfway from the usual one to all: what is usually declined often is not under attack.
 */
export function isUnderAttack(recent: Outcomes, usual: Outcomes): boolean {
  const usualShare = usual.approved + usual.declined === 0 ? 0 : shareOf(usual);
  return recent.declined > minDeclines && shareOf(recent) > Math.max(leastShare, (1 + usualShare) / 2);
}

function shareOf({ approved, declined }: Outcomes): number {
  return declined / Math.max(1, approved + declined);
}

/** First every payer is challenged. If the attack continues, payers who enter a card are refused. */
export function guardAfter(current: Guard | undefined, now: Instant): Guard {
  const isOver = current === undefined || current.until <= now;
  return { mode: isOver ? 'challenge' : 'refuse', since: now, until: laterBy(now, guardMs) };
}
