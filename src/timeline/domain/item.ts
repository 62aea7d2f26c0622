// One line of a timeline, and the order of the lines.
import type { DeclineClass } from '../../acquiring/domain/decline-class.ts';
import type { Instant } from '../../clock.ts';
import type { Money } from '../../money.ts';
import type { Text } from './text.ts';

/** In the order of lines of the same time: what followed, then who was informed. */
export const itemKinds = [
  'payment',
  'withdrawal',
  'binding',
  'series',
  'rules',
  'bank',
  'threeDSecure',
  'charge',
  'status',
  'refund',
  'ledger',
  'email',
  'webhook',
  'nextAttempt',
] as const;

export type TimelineItem = {
  readonly at: Instant;
  readonly kind: (typeof itemKinds)[number];
  readonly text: Text;
  /** How long a bank or a receiver took, or has taken until now. */
  readonly durationMs?: number;
  readonly amount?: Money;
  /** Of the bank or the failure, or the HTTP status of a receiver. */
  readonly code?: string;
  readonly declineClass?: DeclineClass;
  /** Of the operation, refund, payment, series or webhook. */
  readonly id?: string;
};

/** `isRequest`: what the bank does at the same time follows from it. `isResult`: it follows from what happened at the same time. */
export type TimelineLine = TimelineItem & { readonly isRequest?: true; readonly isResult?: true };

/** Lines of the same time and kind stay as their source has them, so the same lines are always in the same order. */
export function inOrder(lines: readonly TimelineLine[]): TimelineItem[] {
  return lines
    .toSorted((one, other) => compare(one.at, other.at) || rankOf(one) - rankOf(other))
    .map(({ isRequest: _, isResult: __, ...item }) => item);
}

function rankOf({ kind, isRequest, isResult }: TimelineLine): number {
  return itemKinds.indexOf(isRequest ? 'series' : isResult ? 'refund' : kind);
}

function compare(one: Instant, other: Instant): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
