// Postings, emails and webhook deliveries in words.
import { latest, type Instant } from '../../clock.ts';
import { eventAt } from '../../platform/events/domain/topic.ts';
import type { PayerEmail } from '../../receipts/domain/payer-email.ts';
import type { TimelineItem } from '../domain/item.ts';
import type { Deliveries, Delivery, NumberedEvent, Transfer, WaitingQueue } from '../port.ts';

const phases: Readonly<Record<string, string>> = {
  single: 'Posted',
  pending: 'Reserved',
  post: 'Posted what was reserved',
  void: 'Released what was reserved',
};

export function ledgerLines(transfers: readonly Transfer[]): TimelineItem[] {
  return transfers.map(({ happened_at, phase, step, debit, credit, minor, currency, operation_id }) => ({
    at: happened_at,
    kind: 'ledger',
    text: `${phases[phase] ?? phase}: ${step}, from ${debit} to ${credit}.`,
    amount: { minor, currency },
    id: operation_id,
  }));
}

export function emailLines(email: PayerEmail | undefined): TimelineItem[] {
  if (!email) return [];
  const ends = {
    waiting: 'queued.',
    kept: 'kept in the outbox of the sandbox.',
    sent: 'sent to the payer.',
    refused: `refused by the mail server: ${withoutAddresses(email.refusal ?? '')}`,
  };
  const { createdAt, endedAt, status } = email;
  return [
    { at: createdAt, kind: 'email', text: `Receipt ${ends.waiting}` },
    ...(endedAt === undefined
      ? []
      : [{ at: endedAt, kind: 'email' as const, text: `Receipt ${ends[status]}` }]),
  ];
}

/** Servers repeat whom they refuse. */
function withoutAddresses(text: string): string {
  return text.replace(/[^\s<>]+@[^\s<>]+/g, '…');
}

export function webhookLines(
  { tried, waiting, isMore }: Deliveries,
  events: readonly NumberedEvent[],
): TimelineItem[] {
  const sequenceOf = (position: bigint) => eventAt(Number(position)).sequence;
  const times = new Map(events.map(({ sequence, at }) => [sequence, at]));
  const last = events.at(-1)?.sequence ?? 0;
  const [first] = tried;
  return [
    ...(isMore && first
      ? [{ at: first.attempted_at, kind: 'webhook' as const, text: 'Earlier attempts are not shown.' }]
      : []),
    ...tried.flatMap((delivery) => {
      const eventTime = times.get(sequenceOf(delivery.position));
      return eventTime === undefined ? [] : [deliveryLine(delivery, eventTime)];
    }),
    ...waiting.filter(({ next_position }) => sequenceOf(next_position) <= last).flatMap(queueLines),
  ];
}

/** A test clock may be ahead of the clock of deliveries, and no line stands before its cause. */
function deliveryLine(delivery: Delivery, eventTime: Instant): TimelineItem {
  const { webhook_id, attempt, event_type, attempted_at, duration_ms, status, failure } = delivery;
  return {
    at: latest(attempted_at, eventTime),
    kind: 'webhook',
    text: `${event_type}, attempt ${attempt}: ${failure === null ? 'accepted.' : `failed with ${failure}.`}`,
    durationMs: duration_ms,
    id: webhook_id,
    ...(status === null ? {} : { code: String(status) }),
  };
}

function queueLines(queue: WaitingQueue): TimelineItem[] {
  const { webhook_id: id, waiting_since, attempts, last_failure, wake_at, stuck_at } = queue;
  const failed = last_failure === null ? '' : ` Last failure: ${last_failure}.`;
  if (stuck_at !== null)
    return [{ at: stuck_at, kind: 'webhook', text: `Parked until you resume the queue.${failed}`, id }];
  if (attempts > 0 && wake_at !== null)
    return [{ at: wake_at, kind: 'webhook', text: `Next attempt, after ${attempts} failed.${failed}`, id }];
  return waiting_since === null
    ? []
    : [{ at: waiting_since, kind: 'webhook', text: 'Waits to be delivered.', id }];
}
