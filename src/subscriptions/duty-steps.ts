// What the job of a subscription does for the payer: it announces charges, and hears how each
// announcement has ended. A charge that was not announced in time is held.
import { defined } from '../defined.ts';
import { findPayerEmail } from '../emails/store/payer-emails.ts';
import type { Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { Consents } from '../recurring/port.ts';
import type { Duties } from '../recurring/domain/settings.ts';
import {
  decideDuty,
  holdUnannounced,
  pendingAnnouncements,
  unannounced,
  type Duty,
  type Reach,
} from './domain/duties/duties.ts';
import { emailIdOf } from './domain/duties/email-text.ts';
import type { Announcement } from './domain/duties/terms.ts';
import type { Subscription, SubscriptionFact } from './domain/subscription.ts';
import type { PayerEmails } from './payer-emails.ts';
import type { StoredSubscription } from './store/subscriptions.ts';

export type DutyDeps = {
  readonly db: Database;
  readonly consents: Pick<Consents, 'settings'>;
  readonly payerEmails: Pick<PayerEmails, 'reach'>;
  /** Whether a receiver of the merchant has accepted the webhook event of this announcement. */
  readonly isAcknowledged: (
    db: Database,
    subscription: Subscription,
    announcement: Announcement,
  ) => Promise<boolean>;
};

type Facts = readonly SubscriptionFact[];

export async function dutyFacts(
  tx: Database,
  stored: StoredSubscription,
  duty: Duty,
  now: Instant,
  deps: Pick<DutyDeps, 'payerEmails'>,
): Promise<Facts> {
  return decideDuty(stored.subscription, duty, now, await reachOf(tx, stored, deps));
}

export async function heldUnannounced(
  tx: Database,
  stored: StoredSubscription,
  facts: Facts,
  now: Instant,
  deps: Pick<DutyDeps, 'payerEmails'>,
): Promise<Facts> {
  if (unannounced(stored.subscription, facts, now) === undefined) return facts;
  return holdUnannounced(stored.subscription, facts, now, await reachOf(tx, stored, deps));
}

async function reachOf(
  tx: Database,
  { subscription, version }: StoredSubscription,
  { payerEmails }: Pick<DutyDeps, 'payerEmails'>,
): Promise<Reach> {
  return { by: await payerEmails.reach(tx, subscription), version };
}

/** The mail server or the merchant has accepted it, or its address accepts none. */
export async function heardOfAnnouncements(
  deps: Pick<DutyDeps, 'db' | 'isAcknowledged'>,
  subscription: Subscription,
): Promise<Facts> {
  const facts: SubscriptionFact[] = [];
  for (const pending of pendingAnnouncements(subscription)) {
    const as = await endOf(deps, subscription, pending);
    if (as) facts.push({ type: 'announcement_ended', number: pending.number, as });
  }
  return facts;
}

async function endOf(
  { db, isAcknowledged }: Pick<DutyDeps, 'db' | 'isAcknowledged'>,
  subscription: Subscription,
  announcement: Announcement,
): Promise<'accepted' | 'refused' | undefined> {
  const { by, version } = announcement;
  if (by === 'webhook')
    return (await isAcknowledged(db, subscription, announcement)) ? 'accepted' : undefined;
  const { id: aggregateId } = subscription.terms;
  const email = await findPayerEmail(db, { aggregateId, emailId: emailIdOf(version, 'announced') });
  // A payer without an address, by the time it was written.
  if (!email || email.status === 'refused') return 'refused';
  return email.status === 'waiting' ? undefined : 'accepted';
}

/** The settings of the shop, where they have changed. */
export async function dutiesOf(
  { db, consents }: Pick<DutyDeps, 'db' | 'consents'>,
  { terms, duties, phase }: Subscription,
): Promise<Facts> {
  if (phase === 'incomplete' || phase === 'ended') return [];
  const { duties: ofShop = {} } = await consents.settings(db, terms);
  return isSame(ofShop, duties ?? {}) ? [] : [{ type: 'duties_changed', duties: defined(ofShop) }];
}

function isSame(one: Duties, other: Duties): boolean {
  return (
    one.announceEachHours === other.announceEachHours &&
    one.emailsBy === other.emailsBy &&
    one.chargeUnannounced === other.chargeUnannounced
  );
}
