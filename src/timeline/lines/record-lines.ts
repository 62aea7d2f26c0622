// Postings, emails and webhook deliveries in words.
import { latest, type Instant } from '../../clock.ts';
import { eventAt } from '../../platform/events/domain/topic.ts';
import type { PayerEmail } from '../../emails/domain/payer-email.ts';
import type { TimelineItem } from '../domain/item.ts';
import type { Phrase } from '../domain/phrases.ts';
import { named, nothing, say, sentences, type Text } from '../domain/text.ts';
import type { Deliveries, Delivery, NumberedEvent, Transfer, WaitingQueue } from '../port.ts';

const phases = {
  single: 'Posted: {step}, from {debit} to {credit}.',
  pending: 'Reserved: {step}, from {debit} to {credit}.',
  post: 'Posted what was reserved: {step}, from {debit} to {credit}.',
  void: 'Released what was reserved: {step}, from {debit} to {credit}.',
} as const satisfies Readonly<Record<Transfer['phase'], Phrase>>;

export function ledgerLines(transfers: readonly Transfer[]): TimelineItem[] {
  return transfers.map(({ happened_at, phase, step, debit, credit, minor, currency, operation_id }) => ({
    at: happened_at,
    kind: 'ledger',
    text: say(phases[phase], { step: named(step), debit, credit }),
    amount: { minor, currency },
    id: operation_id,
  }));
}

export function emailLines(email: PayerEmail | undefined): TimelineItem[] {
  if (!email) return [];
  const ends = {
    waiting: say('Receipt queued.'),
    kept: say('Receipt kept in the outbox of the sandbox.'),
    sent: say('Receipt sent to the payer.'),
    refused: say('Receipt refused by the mail server: {refusal}', {
      refusal: withoutAddresses(email.refusal ?? ''),
    }),
  };
  const { createdAt, endedAt, status, aggregateId, emailId } = email;
  const line = (at: Instant, text: Text): TimelineItem => ({
    at,
    kind: 'email',
    text,
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
            text: say('Earlier attempts are not shown.'),
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
  const { webhook_id, attempt, event_type: event, attempted_at, duration_ms, status, failure } = delivery;
  return {
    at: latest(attempted_at, eventTime ?? attempted_at),
    kind: 'webhook',
    text:
      failure === null
        ? say('{event}, attempt {attempt}: accepted.', { event, attempt })
        : say('{event}, attempt {attempt}: failed with {failure}.', {
            event,
            attempt,
            failure: failureText(failure),
          }),
    durationMs: duration_ms,
    id: webhook_id,
    ...(status === null ? {} : { code: String(status) }),
  };
}

/** The HTTP status, or why there is none. */
function failureText(failure: string): Text {
  const [, status] = /^status (\d{3})$/.exec(failure) ?? [];
  return status === undefined ? named(failure) : say('status {status}', { status });
}

/** What failed may belong to another object of the same log, such as another payment of the invoice. */
function queueLines(queue: WaitingQueue, own: readonly Delivery[]): TimelineItem[] {
  const { webhook_id: id, next_position, waiting_since, attempts, last_failure, wake_at, stuck_at } = queue;
  const isOwn = own.some(({ webhook_id, position }) => webhook_id === id && position >= next_position);
  const behind = last_failure === null || isOwn ? nothing : say('An earlier webhook event comes first.');
  const failed =
    last_failure === null ? nothing : say('Last failure: {failure}.', { failure: failureText(last_failure) });
  const line = (at: Instant, text: Text): TimelineItem[] => [
    { at, kind: 'webhook', text: sentences(text, behind, failed), id },
  ];
  if (stuck_at !== null) return line(stuck_at, say('Parked until you resume the queue.'));
  if (attempts > 0 && wake_at !== null)
    return line(wake_at, say('Next attempt, after {attempts} failed.', { attempts }));
  return waiting_since === null ? [] : line(waiting_since, say('Waits to be delivered.'));
}
