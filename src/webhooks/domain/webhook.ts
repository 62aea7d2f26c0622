// A webhook: who is told what, and where. Its keys come in generations: the next one is shown before it signs, and the one
// before goes on signing beside it for a while, so that no receiver that follows the documents ever fails to verify.
import { laterBy, type Instant } from '../../clock.ts';
import type { Owner, Topic } from '../../platform/events/domain/topic.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';

export type Webhook = {
  readonly id: string;
  readonly partyId: string;
  /** The name of one, perhaps of one that only a newer version of the program has. */
  readonly topic: string;
  readonly owner: Owner;
  readonly eventTypes: readonly string[];
  readonly url: string;
  readonly createdAt: Instant;
};

export type PublishedKey = {
  readonly keyVersion: number;
  /** For Content-Signature. */
  readonly publicKey: string;
  /** For webhook-signature, `whpk_…`. */
  readonly signingPublicKey: string;
  readonly signsFrom: Instant;
};

/** The other side are identities, whose webhooks are managed where they are. */
export const topicsOfShop = ['InvoicesTopic', 'CustomersTopic', 'RecurringTopic'] as const;
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
  if (!topic) return invalid(`scope.topic: there is no ${webhook.topic}`);
  const eventTypes = [...new Set(webhook.eventTypes)];
  if (eventTypes.length === 0) return invalid('scope.eventTypes: name one or more');
  const unknown = eventTypes.find((type) => !topic.eventTypes.includes(type));
  if (unknown !== undefined) {
    const known = topic.eventTypes.join(', ');
    return invalid(`scope.eventTypes: ${topic.name} has no ${unknown.slice(0, 60)}; it has ${known}`);
  }
  if (urlProblem !== undefined) return invalid(`url: ${urlProblem}`);
  if (existing >= maxWebhooks) return refuse('webhookLimitExceeded');
  return accept({ ...webhook, eventTypes });
}

/** Whether an aggregate with these owners is a webhook's affair. */
export function matches({ owner }: Pick<Webhook, 'owner'>, owners: readonly Owner[]): boolean {
  return owners.some(({ id, part }) => id === owner.id && (owner.part === undefined || owner.part === part));
}

/** How long a key that was replaced signs beside its successor. */
const overlapMs = 24 * 3_600_000;

/** Which keys sign what now, which are shown as the next and the one before, and which have had their day. */
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
  // The newest first: that is what a receiver is most likely to have.
  const signing = [...(next ? [next] : []), current, ...(previous ? [previous] : [])];
  return { current, next, previous, signing, retired: before.filter((key) => key !== previous) };
}

export const maxNoticeHours = 24 * 30;
/** Also when it should be at once: by then every node knows the key, and nobody signs with one that is not shown. */
const minNoticeMs = 5 * 60_000;

/** A key of its own follows the newest one, unless one is on its way already. */
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

/** A decimal number as text, as ids of webhooks are: the second it was made in and twelve digits of chance. */
export function webhookIdOf(id: string): string {
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const numberOf = (text: string) =>
    Array.from(text).reduce((number, digit) => number * 62n + BigInt(alphabet.indexOf(digit)), 0n);
  const chance = numberOf(id.slice(6)) % 1_000_000_000_000n;
  // With 22 digits it is longer than any card number, and is taken for none.
  return `${numberOf(id.slice(0, 6))}${String(chance).padStart(12, '0')}`;
}
