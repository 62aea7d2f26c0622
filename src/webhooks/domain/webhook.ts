// A webhook: its owner, topic, event types and URL. Its keys overlap, so that a receiver can always verify: the next key
// is published before it signs, and the previous one still signs.
import { laterBy, type Instant } from '../../clock.ts';
import type { Owner, Topic } from '../../platform/events/domain/topic.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';

export type Webhook = {
  readonly id: string;
  readonly partyId: string;
  /** May be a topic that only a newer version of the program has. */
  readonly topic: string;
  readonly owner: Owner;
  readonly eventTypes: readonly string[];
  readonly url: string;
  readonly createdAt: Instant;
};

export type PublishedKey = {
  readonly keyVersion: number;
  /** Verifies Content-Signature. */
  readonly publicKey: string;
  /** Verifies webhook-signature; starts with `whpk_`. */
  readonly signingPublicKey: string;
  readonly signsFrom: Instant;
};

/** Webhooks of identities have other topics and are managed by the wallets API. */
export const topicsOfShop = [
  'InvoicesTopic',
  'CustomersTopic',
  'RecurringTopic',
  'SubscriptionsTopic',
] as const;
export function isOfShop({ topic }: Pick<Webhook, 'topic'>): boolean {
  return (topicsOfShop as readonly string[]).includes(topic);
}

export const maxWebhooks = 10;

export function decideCreate(
  webhook: Webhook,
  options: { readonly topic: Topic | undefined; readonly existing: number; readonly urlProblem?: string },
): Outcome<Webhook, 'invalidRequest' | 'webhookLimitExceeded'> {
  const { topic, existing, urlProblem } = options;
  const invalid = (message: string) => refuse('invalidRequest', { message });
  if (!topic) return invalid(`scope.topic: unknown topic ${webhook.topic}`);
  const eventTypes = [...new Set(webhook.eventTypes)];
  if (eventTypes.length === 0) return invalid('scope.eventTypes: give at least one event type');
  const unknown = eventTypes.find((type) => !topic.eventTypes.includes(type));
  if (unknown !== undefined) {
    const known = topic.eventTypes.join(', ');
    return invalid(
      `scope.eventTypes: ${topic.name} has no event type ${unknown.slice(0, 60)}. Use ${known}.`,
    );
  }
  if (urlProblem !== undefined)
    return refuse('invalidRequest', {
      message: `url: ${urlProblem}`,
      hint: 'Send an absolute URL, such as https://shop.example/webhooks.',
    });
  if (existing >= maxWebhooks) return refuse('webhookLimitExceeded');
  return accept({ ...webhook, eventTypes });
}

/** Whether a webhook receives the events of an aggregate with these owners. */
export function matches({ owner }: Pick<Webhook, 'owner'>, owners: readonly Owner[]): boolean {
  return owners.some(({ id, part }) => id === owner.id && (owner.part === undefined || owner.part === part));
}

/** How long a replaced key continues to sign next to its successor. */
const overlapMs = 24 * 3_600_000;

/** Sorts the keys of a webhook by their role at a time. */
export function keysAt<Key extends { readonly signsFrom: Instant; readonly keyVersion: number }>(
  keys: readonly Key[],
  now: Instant,
): { current: Key; next: Key | undefined; previous: Key | undefined; signing: Key[]; retired: Key[] } {
  const ordered = keys.toSorted((a, b) => a.keyVersion - b.keyVersion);
  const current = ordered.findLast(({ signsFrom }) => signsFrom <= now) ?? ordered[0];
  if (!current) throw new Error('a webhook has no key');
  const next = ordered.find(({ keyVersion }) => keyVersion > current.keyVersion);
  const before = ordered.filter(({ keyVersion }) => keyVersion < current.keyVersion);
  const isRetired = laterBy(current.signsFrom, overlapMs) <= now;
  const previous = isRetired ? undefined : before.at(-1);
  // Newest first: receivers most likely have that key.
  const signing = [...(next ? [next] : []), current, ...(previous ? [previous] : [])];
  return { current, next, previous, signing, retired: before.filter((key) => key !== previous) };
}

export const maxNoticeHours = 24 * 30;
/** The minimum for an immediate rotation: by then every node and every reader has seen the key. */
const minNoticeMs = 5 * 60_000;

/** Refuses while another rotation is in progress. */
export function decideRotate(
  keys: readonly PublishedKey[],
  now: Instant,
  afterHours: number,
): Outcome<{ keyVersion: number; signsFrom: Instant }, 'webhookRotationInProgress'> {
  const { current, next, retired } = keysAt(keys, now);
  const stillOverlaps = keys.length - retired.length > 1;
  if (next || stillOverlaps) return refuse('webhookRotationInProgress');
  const noticeMs = Math.max(minNoticeMs, afterHours * 3_600_000);
  return accept({ keyVersion: current.keyVersion + 1, signsFrom: laterBy(now, noticeMs) });
}

/** The ID of a webhook is a decimal number: the second of its creation and twelve random digits. */
export function webhookIdOf(id: string): string {
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const numberOf = (text: string) =>
    Array.from(text).reduce((number, digit) => number * 62n + BigInt(alphabet.indexOf(digit)), 0n);
  const chance = numberOf(id.slice(6)) % 1_000_000_000_000n;
  // With 22 digits the ID is longer than any card number, so no filter mistakes it for one.
  return `${numberOf(id.slice(0, 6))}${String(chance).padStart(12, '0')}`;
}
