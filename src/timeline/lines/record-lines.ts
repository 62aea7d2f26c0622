// Postings, emails and webhook deliveries in words.
import { latest, type Instant } from '../../clock.ts';
import { eventAt } from '../../platform/events/domain/topic.ts';
import type { PayerEmail } from '../../emails/domain/payer-email.ts';
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
  const { createdAt, endedAt, status, aggregateId, emailId } = email;
  const line = (at: Instant, text: string): TimelineItem => ({
    at,
    kind: 'email',
    text: `Receipt ${text}`,
    id: `${aggregateId}/${emailId}`,
  });
  return [line(createdAt, ends.waiting), ...(endedAt === undefined ? [] : [line(endedAt, ends[status])])];
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
  const [beginning] = events;
  const first = beginning?.sequence ?? 0;
  const last = events.at(-1)?.sequence ?? 0;
  const own = tried.filter(({ position }) => times.has(sequenceOf(position)));
  const [oldest] = tried;
  return [
    ...(isMore && oldest && beginning
      ? [
          {
            at: latest(oldest.attempted_at, beginning.at),
            kind: 'webhook' as const,
            text: 'Earlier attempts are not shown.',
          },
        ]
      : []),
    ...own.map((delivery) => deliveryLine(delivery, times.get(sequenceOf(delivery.position)))),
    ...waiting
      .filter((queue) => sequenceOf(queue.next_position) <= last && sequenceOf(queue.last_position) >= first)
      .flatMap((queue) => queueLines(queue, own)),
  ];
}

/** A test clock may be ahead of the clock of deliveries, and no line stands before its cause. */
function deliveryLine(delivery: Delivery, eventTime: Instant | undefined): TimelineItem {
  const { webhook_id, attempt, event_type, attempted_at, duration_ms, status, failure } = delivery;
  return {
    at: latest(attempted_at, eventTime ?? attempted_at),
    kind: 'webhook',
    text: `${event_type}, attempt ${attempt}: ${failure === null ? 'accepted.' : `failed with ${failure}.`}`,
    durationMs: duration_ms,
    id: webhook_id,
    ...(status === null ? {} : { code: String(status) }),
  };
}

/** What failed may belong to another object of the same log, such as another payment of the invoice. */
function queueLines(queue: WaitingQueue, own: readonly Delivery[]): TimelineItem[] {
  const { webhook_id: id, next_position, waiting_since, attempts, last_failure, wake_at, stuck_at } = queue;
  const isOwn = own.some(({ webhook_id, position }) => webhook_id === id && position >= next_position);
  const behind = last_failure === null || isOwn ? '' : ' An earlier webhook event comes first.';
  const failed = last_failure === null ? '' : ` Last failure: ${last_failure}.`;
  const line = (at: Instant, text: string): TimelineItem[] => [
    { at, kind: 'webhook', text: `${text}${behind}${failed}`, id },
  ];
  if (stuck_at !== null) return line(stuck_at, 'Parked until you resume the queue.');
  if (attempts > 0 && wake_at !== null) return line(wake_at, `Next attempt, after ${attempts} failed.`);
  return waiting_since === null ? [] : line(waiting_since, 'Waits to be delivered.');
}
