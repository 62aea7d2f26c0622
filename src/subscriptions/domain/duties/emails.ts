// The emails that follow from what has happened to a subscription. Each is written in the transaction of its cause.
import type { DeclineClass } from '../../../acquiring/domain/decline-class.ts';
import { laterBy, type Instant } from '../../../clock.ts';
import { defined } from '../../../defined.ts';
import { productOf } from '../../../invoices/domain/invoice.ts';
import type { Currency } from '../../../money.ts';
import type { AnnouncementReason } from './terms.ts';
import { emailsDecline } from '../dunning/dunning.ts';
import { isLastReminder } from './duties.ts';
import { nextChargeOf } from './next-charge.ts';
import { upcoming, type Upcoming } from '../period-rows.ts';
import { sumOf } from '../changes/proration.ts';
import {
  evolve,
  isDeclineToTell,
  policyOfPeriod,
  type EndReason,
  type OpenPeriod,
  type Period,
  type Subscription,
  type SubscriptionFact,
} from '../subscription.ts';

export const emailKinds = [
  'started',
  'announced',
  'declined',
  'reminder',
  'lastWarning',
  'notCollected',
  'recovered',
  'newDates',
  'ended',
] as const;
export type EmailKind = (typeof emailKinds)[number];

/** What an email says, apart from its payer and its shop. */
export type EmailTopic = {
  readonly kind: EmailKind;
  readonly product: string;
  readonly currency: Currency;
  /** An ISO 8601 period. */
  readonly every: string;
  readonly timeZone: string;
  /** Of a full period. */
  readonly priceMinor: bigint;
  /** What this email is about. */
  readonly amountMinor?: bigint;
  /** Local dates. The last one is no more in it. */
  readonly period?: { readonly startsOn: string; readonly endsOn: string };
  /** The first day after the trial. */
  readonly trialUntil?: string;
  readonly charges?: number;
  /** The next charge, or the next try. */
  readonly chargeAt?: Instant;
  readonly why?: AnnouncementReason;
  readonly declineClass?: DeclineClass;
  /** Unpaid, and can be paid by the payer. */
  readonly invoiceId?: string;
  readonly paidThrough?: Instant;
  readonly endedFor?: EndReason;
};

/** In the order of their causes. Of a step, at most one of a kind, and the last word where one follows from the other. */
export function emailsFor(
  before: Subscription,
  facts: readonly SubscriptionFact[],
  now: Instant,
): readonly EmailTopic[] {
  const emails = new Map<EmailKind, EmailTopic>();
  let last = before;
  const steps = facts.map((fact) => {
    const subscription = last;
    last = evolve(subscription, fact, now);
    return { subscription, fact, after: last };
  });
  for (const { subscription, fact, after } of steps) {
    const email = emailOf(subscription, fact, { after, last, now });
    if (email) emails.set(email.kind, email);
  }
  if (emails.has('ended')) for (const kind of ['notCollected', 'recovered'] as const) emails.delete(kind);
  if (emails.has('ended') || emails.has('notCollected')) emails.delete('declined');
  return [...emails.values()];
}

function emailOf(
  before: Subscription,
  fact: SubscriptionFact,
  { after, last, now }: { readonly after: Subscription; readonly last: Subscription; readonly now: Instant },
): EmailTopic | undefined {
  switch (fact.type) {
    case 'subscription_started':
      return after.terms.firstPeriod ? undefined : startedEmail(last);
    case 'charge_announced':
      return fact.announcement.by === 'email' ? announcedEmail(after, fact.announcement, now) : undefined;
    case 'charge_failed':
      return isDeclineToTell(before, fact, now) && after.phase !== 'ended'
        ? unpaidEmail('declined', after, openOf(after, fact.number))
        : undefined;
    case 'payer_reminded': {
      const period = openOf(after, fact.number);
      const kind = isLastReminder(policyOfPeriod(after, period), fact.which) ? 'lastWarning' : 'reminder';
      return unpaidEmail(kind, after, period);
    }
    case 'period_paid': {
      const paid = openOf(before, fact.number);
      return !wasEmailed(before, paid) || after.phase === 'ended'
        ? undefined
        : { ...aboutPeriod('recovered', after, paid), ...continuesAt(last, now) };
    }
    case 'anchor_shifted':
      return { ...about('newDates', after), ...continuesAt(last, now) };
    case 'subscription_unpaid':
      // It is that already, if another period has been settled.
      return openOf(before, fact.number)?.outcome === 'unpaid'
        ? undefined
        : unpaidEmail('notCollected', after, openOf(after, fact.number));
    case 'period_closed': {
      const closed = openOf(before, fact.number);
      const isLost =
        fact.outcome === 'unpaid' && closed?.declineClass !== undefined && after.phase !== 'ended';
      return isLost ? aboutPeriod('notCollected', after, closed) : undefined;
    }
    case 'subscription_ended':
      return before.phase === 'incomplete'
        ? undefined
        : { ...about('ended', after), endedFor: fact.reason, ...defined({ paidThrough: after.paidThrough }) };
    default:
      return undefined;
  }
}

function about(kind: EmailKind, { terms, items, scheduledItems, schedule }: Subscription): EmailTopic {
  const { every, zone } = schedule ?? terms.schedule;
  const lines = scheduledItems ?? items;
  return {
    kind,
    product: productOf(lines),
    currency: terms.currency,
    every: `P${every.count}${every.unit}`,
    timeZone: zone,
    priceMinor: sumOf(lines),
  };
}

function aboutPeriod(kind: EmailKind, subscription: Subscription, period: Period | Upcoming): EmailTopic {
  const { startsOn, endsOn, amountMinor } = period;
  return { ...about(kind, subscription), amountMinor, period: { startsOn, endsOn } };
}

/** With what is charged next, and when. The payer may have paid the first period already. */
function startedEmail(subscription: Subscription): EmailTopic {
  const coming = upcoming(subscription, 3);
  const [next] = coming;
  const first = subscription.latest ?? next;
  const trial = first?.kind === 'trial' ? first : undefined;
  const charged = coming.find(({ amountMinor }) => amountMinor > 0n) ?? next;
  const { ends } = subscription.terms.schedule;
  return {
    ...about('started', subscription),
    ...(charged ? { ...aboutPeriod('started', subscription, charged), chargeAt: charged.dueAt } : {}),
    ...defined({
      trialUntil: trial?.endsOn,
      charges: ends && 'periods' in ends ? ends.periods : undefined,
    }),
  };
}

function announcedEmail(
  subscription: Subscription,
  {
    number,
    why,
    leadMs,
  }: { readonly number: number; readonly why: AnnouncementReason; readonly leadMs: number },
  now: Instant,
): EmailTopic | undefined {
  const created = openOf(subscription, number);
  const charged = created ?? upcoming(subscription, 3).find((period) => period.number === number);
  if (!charged) return undefined;
  return {
    ...aboutPeriod('announced', subscription, charged),
    why,
    chargeAt: notBefore(charged.dueAt, now, leadMs),
  };
}

function notBefore(dueAt: Instant, now: Instant, leadMs: number): Instant {
  const earliest = laterBy(now, leadMs);
  return dueAt < earliest ? earliest : dueAt;
}

function unpaidEmail(
  kind: EmailKind,
  subscription: Subscription,
  period?: OpenPeriod,
): EmailTopic | undefined {
  if (!period) return undefined;
  const { declineClass, nextTryAt, invoiceId } = period;
  return {
    ...aboutPeriod(kind, subscription, period),
    ...defined({ declineClass, chargeAt: nextTryAt, invoiceId }),
  };
}

/** Nothing, if more is unpaid, or the subscription does not simply continue. */
function continuesAt(subscription: Subscription, now: Instant): Pick<EmailTopic, 'chargeAt'> {
  const { phase, open, endsAfter } = subscription;
  if (phase !== 'running' || open.length > 0 || endsAfter) return {};
  return defined({ chargeAt: nextChargeOf(subscription, now)?.at });
}

function wasEmailed(subscription: Subscription, period: OpenPeriod | undefined): period is OpenPeriod {
  const written = period?.emailsWritten ?? 0;
  return written > 1 || (written === 1 && emailsDecline(policyOfPeriod(subscription, period)));
}

function openOf({ open }: Subscription, number: number): OpenPeriod | undefined {
  return open.find((period) => period.number === number);
}
