// A subscription: what it is, what can happen to it, and what it waits for. Its periods are rows that are written once each, and one
// wake-up time says when the next thing is due.
import { earliest, laterBy, latest as later, type Instant } from '../../clock.ts';
import type { DeclineClass } from '../../acquiring/domain/decline-class.ts';
import { defined } from '../../defined.ts';
import type { CartLine } from '../../invoices/domain/invoice.ts';
import type { Currency } from '../../money.ts';
import type { PaymentRef } from '../../recurring/domain/series.ts';
import type { Duties } from '../../recurring/domain/settings.ts';
import { localDayOf } from '../../retry-rules/domain/time-zones.ts';
import { momentOnDay } from './day-window.ts';
import type { Announcement } from './duties/terms.ts';
import {
  emailsDecline,
  isHealedByTime,
  type Case,
  type DunningPolicy,
  type HealedByTime,
} from './dunning/dunning.ts';
import {
  firstNumberOf,
  periodDates,
  periodTimes,
  type LocalDate,
  type PeriodDates,
  type PeriodTimes,
  type Schedule,
  type ScheduleTerms,
} from './schedule.ts';

/** Frozen: a new price elsewhere changes nothing that a payer agreed to. `lastPriceMinor` is that of the last instalment. */
export type Item = CartLine & { readonly lastPriceMinor?: bigint };

/** Which periods are charged that fell due while the service or the subscription stood still. */
export type CatchUp = 'current' | 'all' | 'none';

export type SubscriptionTerms = {
  readonly id: string;
  readonly partyId: string;
  readonly shopId: string;
  /** Whose saved card is charged. Without one, the card of the payer's own payment. */
  readonly customerId?: string;
  /** With which the payer starts it. */
  readonly firstInvoice?: { readonly id: string; readonly amountMinor: bigint };
  readonly createdAt: Instant;
  readonly currency: Currency;
  readonly startsWith: 'firstPayment' | 'savedCard';
  readonly items: readonly Item[];
  readonly schedule: ScheduleTerms;
  /** Of an import: nothing is created before it. */
  readonly firstPeriod?: { readonly number: number; readonly startsOn: LocalDate };
  readonly catchUp: CatchUp;
  readonly dunning: DunningPolicy;
  /** The policy of the shop that was asked for. Absent: the built-in one, which has no other version. */
  readonly dunningPolicy?: string;
  /** If no card is there for the first charge after the trial. */
  readonly trialWithoutCard: DunningPolicy['finally'];
  readonly externalId?: string;
  /** A second one with it is refused until this one has ended. */
  readonly uniqueKey?: string;
  readonly metadata?: object;
};

/** What the merchant has changed of the terms. `version` counts the changes, from 1 before the first. */
type Details = Pick<SubscriptionTerms, 'metadata'> & {
  readonly version: number;
  readonly catchUp?: CatchUp;
};

export type PeriodOutcome = 'open' | 'paid' | 'unpaid' | 'forgiven' | 'skipped' | 'missed';

/** Its amount is that of its invoice. `creditMinor` is what earlier changes paid of the lines. */
export type Period = PeriodDates &
  PeriodTimes & {
    readonly lines: readonly CartLine[];
    readonly amountMinor: bigint;
    readonly creditMinor: bigint;
    readonly invoiceId?: string;
    readonly outcome: PeriodOutcome;
  };

/** A period whose invoice is not paid, and its retries. */
export type OpenPeriod = Period & {
  readonly charging?: string;
  /** The saved card that was charged last. */
  readonly bindingId?: string;
  readonly firstFailedAt?: Instant;
  /** The last time. What the payer agrees to later is new. */
  readonly failedAt?: Instant;
  readonly retries: number;
  /** How many declines of each class are counted so far. */
  readonly declines?: { readonly [Class in HealedByTime]?: number };
  /** The version of its first failure. Absent: that of the subscription. */
  readonly dunning?: DunningPolicy;
  readonly declineClass?: DeclineClass;
  readonly nextTryAt?: Instant;
  readonly givesUpAt?: Instant;
  /** A person or a new card asked for the next try. */
  readonly isWished?: true;
  /** The first charge was held for its announcement, and has not been made since then. */
  readonly isUnannounced?: true;
  /** How many emails about its failure were written. */
  readonly emailsWritten?: number;
};

/** `credit…` is for the unused time of the old items, `charge…` for the same time of the new ones. */
export type Change = {
  readonly period: number;
  readonly items: readonly Item[];
  readonly creditMinor: bigint;
  readonly chargeMinor: bigint;
  /** What earlier credit pays of the difference. */
  readonly fromBalanceMinor: bigint;
  readonly invoiceId?: string;
  /** When its invoice is due. Then it is dropped. */
  readonly payableUntil?: Instant;
  /** It ends the period there, and starts the next one. `chargeMinor` is for the whole of that. */
  readonly newPeriod?: { readonly startsOn: LocalDate; readonly startsAt: Instant };
};

/** It takes effect when its invoice is paid: by a charge of the saved card, and if that fails, by the payer. */
export type PendingChange = Change & {
  readonly tryAt?: Instant;
  readonly charging?: string;
  /** The class of a decline, or the code of a refusal. */
  readonly failedFor?: string;
  readonly failedAt?: Instant;
  /** What a bank has taken back meanwhile of the credit that it uses. Its invoice stays as it is. */
  readonly lostMinor?: bigint;
};

export type EndReason =
  | 'payer'
  | 'merchant'
  | 'consentEnded'
  | 'stopped'
  | 'unpaid'
  | 'finished'
  | 'firstPaymentMissing'
  | 'disputed';

/** What is given back of the payments when it ends: the unused time, or the last paid period. */
export type RefundShare = 'unused' | 'last';

/** A refund that was started, or the reason for which there is none. `failedFor`: its money is the shop's again. */
export type RefundOfEnd = {
  readonly invoiceId?: string;
  readonly paymentId?: string;
  readonly amountMinor: bigint;
  readonly refundId?: string;
  readonly refusedFor?: string;
  readonly failedFor?: string;
};

type StartedRefund = Required<Omit<RefundOfEnd, 'refusedFor' | 'failedFor'>>;

export type EndRefund = {
  readonly share: RefundShare;
  /** The end. Time before it is used. */
  readonly at: Instant;
  /** What is at the bank is finished first. */
  readonly isDue?: true;
  readonly refunds: readonly RefundOfEnd[];
};

/** Why a payer has ended it, in their own words as far as the page has some. */
export const payerReasons = ['tooExpensive', 'notUsed', 'notAsExpected', 'otherProvider', 'other'] as const;
export type PayerReason = (typeof payerReasons)[number];

export type Phase = 'incomplete' | 'running' | 'paused' | 'unpaid' | 'ended';
export const statuses = ['incomplete', 'trialing', 'active', 'pastDue', 'paused', 'unpaid', 'ended'] as const;
export type Status = (typeof statuses)[number];

export type Subscription = {
  readonly terms: SubscriptionTerms;
  readonly phase: Phase;
  readonly items: readonly Item[];
  readonly startedAt?: Instant;
  readonly details?: Details;
  /** The payer's own payment that later charges follow. */
  readonly parent?: PaymentRef;
  readonly schedule?: Schedule;
  readonly latest?: Period;
  /** What was collected for the latest period, less what was credited. */
  readonly paidMinor: bigint;
  /** Oldest first. */
  readonly open: readonly OpenPeriod[];
  readonly missed: readonly Period[];
  readonly creditMinor: bigint;
  readonly paidThrough?: Instant;
  /** A period that has a price was paid, or its charge was declined. Until then, a trial has not ended for the payer. */
  readonly hasCharged?: true;
  /** Kept while a period is unpaid: the payment of it does not end the pause. */
  readonly pause?: Pause;
  readonly endsAfter?: { readonly number: number; readonly reason: EndReason };
  readonly scheduledItems?: readonly Item[];
  readonly change?: PendingChange;
  readonly changedOn?: number;
  /** Other than that of the terms. `name` is the policy of the shop that it follows. */
  readonly dunning?: { readonly name?: string; readonly policy: DunningPolicy };
  /** The last two. */
  readonly charges: readonly Charge[];
  /** The last that the payer paid of their own accord. */
  readonly paidByPayer?: Collection;
  readonly parkedFor?: ParkReason;
  readonly endedFor?: EndReason;
  readonly payerReason?: PayerReason;
  readonly endRefund?: EndRefund;
  /** The invoices of the last paid period and of its changes. */
  readonly lastPaid?: LastPaid;
  /** Some others that were paid, also if a bank has taken the money back. By number: after a loss, the last paid one is here. */
  readonly otherPaid?: readonly OtherPaid[];
  /** What is left of the money of earlier periods: cut short by a new one, paid by credit in part, or not paid whole. */
  readonly cutShort?: readonly CutShort[];
  /** It goes back when they are paid again. */
  readonly taken?: readonly Taken[];
  /** Of the charges to come that need one: of open periods, and of the next. The latest comes last. */
  readonly announcements?: readonly Announcement[];
  /** What a full period costs, as the payer knows it. Absent: as at the start. */
  readonly knownPriceMinor?: bigint;
  /** When the payer last had an email about a declined charge. */
  readonly declinedAt?: Instant;
  /** As the shop had them at the latest charge. */
  readonly duties?: Duties;
};

/** Of money for a period. */
type Collection = { readonly number: number; readonly at: Instant };

export type Charge = Collection & {
  readonly paymentId: string;
  readonly isWished?: true;
};

export type CutShort = { readonly number: number; readonly paidMinor: bigint };

/** What a loss took beyond the money of its period: of a later period, of a change, of nothing, or of credit. */
export type Taken = {
  readonly number: number;
  readonly minor: bigint;
  readonly ofPeriod?: number;
  readonly ofChange?: true;
  /** Nothing was left of it, so a payment gives nothing back. */
  readonly ofNothing?: true;
};

export type LastPaid = { readonly number: number; readonly invoiceIds: readonly string[] };

export type OtherPaid = LastPaid & { readonly isLost?: true };

/** Without a time, a person ends it. */
type Pause = { readonly by: 'payer' | 'merchant' | 'dunning'; readonly resumesAt?: Instant };

export type ParkReason = 'moreThanTwoChargesADay' | 'periodAhead';

export type SubscriptionFact =
  | { readonly type: 'subscription_created'; readonly terms: SubscriptionTerms }
  | { readonly type: 'subscription_started'; readonly schedule: Schedule; readonly parent?: PaymentRef }
  | { readonly type: 'period_created'; readonly period: Period }
  | { readonly type: 'missed_period_charged'; readonly number: number; readonly invoiceId: string }
  | {
      readonly type: 'charge_started';
      readonly number: number;
      readonly paymentId: string;
      readonly bindingId?: string;
      /** The shop charges without the announcement that is due. */
      readonly isUnannounced?: true;
    }
  | {
      readonly type: 'charge_postponed';
      readonly number: number;
      /** Absent: no try is left before Mandate gives up. */
      readonly until?: Instant;
      readonly why: string;
      /** It waits for its announcement. */
      readonly isUnannounced?: true;
    }
  | {
      readonly type: 'charge_failed';
      readonly number: number;
      readonly declineClass: DeclineClass;
      readonly nextTryAt?: Instant;
      readonly givesUpAt?: Instant;
      /** Refused before it was sent: it counts for no guard. */
      readonly isUnsent?: true;
    }
  | {
      readonly type: 'try_requested';
      readonly number: number;
      readonly by: 'newCard' | 'merchant';
      /** Not another card, but a new consent. Older nodes know no other value of `by`. */
      readonly isConsent?: true;
    }
  | {
      readonly type: 'period_paid';
      readonly number: number;
      readonly by: 'charge' | 'payer' | 'elsewhere';
      /** The payer paid with a card that is charged from now on. */
      readonly parent?: PaymentRef;
    }
  | { readonly type: 'period_closed'; readonly number: number; readonly outcome: 'unpaid' | 'forgiven' }
  /** The bank has taken back what it captured for the period. `paidThrough` is what the others have paid. */
  | { readonly type: 'payment_taken_back'; readonly period: Period; readonly paidThrough?: Instant }
  | { readonly type: 'subscription_unpaid'; readonly number: number }
  | ({ readonly type: 'subscription_paused' } & Pause)
  | { readonly type: 'subscription_resumed' }
  | { readonly type: 'anchor_shifted'; readonly schedule: Schedule }
  | { readonly type: 'end_scheduled'; readonly afterNumber: number; readonly reason: EndReason }
  | { readonly type: 'end_taken_back' }
  | { readonly type: 'payer_reason_given'; readonly reason: PayerReason }
  | { readonly type: 'subscription_ended'; readonly reason: EndReason; readonly refund?: RefundShare }
  /** With the same write as the refund of the payment. */
  | ({ readonly type: 'end_refund_started' } & StartedRefund)
  | ({ readonly type: 'end_refund_refused'; readonly refusedFor: string } & Omit<
      RefundOfEnd,
      'refundId' | 'failedFor'
    >)
  /** After it was started, also after it had succeeded. The payer has not got the money. */
  | ({ readonly type: 'end_refund_failed'; readonly failedFor: string } & StartedRefund)
  | { readonly type: 'items_scheduled'; readonly items: readonly Item[] }
  | { readonly type: 'items_unscheduled' }
  | { readonly type: 'change_started'; readonly change: Change }
  | { readonly type: 'change_charge_started'; readonly paymentId: string }
  /** It waits for the payer. */
  | {
      readonly type: 'change_charge_failed';
      readonly failedFor: string;
      readonly isUnsent?: true;
      /** When the rules allow the charge. Older nodes pass it over, and try no more. */
      readonly retryAt?: Instant;
    }
  | { readonly type: 'change_dropped'; readonly why?: 'unpaid' | 'takenBack' | 'ended' }
  /** The bank has taken back what it captured for a change of that period. The items stay. */
  | {
      readonly type: 'change_payment_taken_back';
      readonly ofPeriod: number;
      readonly invoiceId: string;
      readonly amountMinor: bigint;
    }
  | {
      readonly type: 'items_changed';
      readonly change: Change;
      /** The payer paid for it with a card that is charged from now on. */
      readonly parent?: PaymentRef;
    }
  | { readonly type: 'zone_changed'; readonly zone: string }
  /** `endsOn`: no period starts on that day or later. */
  | {
      readonly type: 'details_changed';
      readonly metadata?: object;
      readonly catchUp?: CatchUp;
      readonly endsOn?: LocalDate;
    }
  | {
      readonly type: 'dunning_policy_changed';
      readonly name?: string;
      readonly policy: DunningPolicy;
      /** By the merchant, with the periods that fail already. Otherwise only what fails from now on has the new version. */
      readonly moved?: readonly MovedPeriod[];
    }
  | { readonly type: 'subscription_parked'; readonly why: ParkReason }
  | { readonly type: 'subscription_unparked' }
  | { readonly type: 'charge_announced'; readonly announcement: Announcement }
  | { readonly type: 'announcement_ended'; readonly number: number; readonly as: 'accepted' | 'refused' }
  | { readonly type: 'payer_reminded'; readonly number: number; readonly which: number }
  | { readonly type: 'duties_changed'; readonly duties: Duties };

type MovedPeriod = { readonly number: number; readonly nextTryAt?: Instant; readonly givesUpAt?: Instant };

const whileRunning = {
  period_created: 'running',
  missed_period_charged: 'running',
  charge_started: 'running',
  charge_postponed: 'running',
  charge_failed: 'running',
  try_requested: 'running',
  period_paid: 'running',
  period_closed: 'running',
  payment_taken_back: 'running',
  subscription_unpaid: 'unpaid',
  subscription_paused: 'paused',
  anchor_shifted: 'running',
  end_scheduled: 'running',
  end_taken_back: 'running',
  payer_reason_given: 'running',
  subscription_ended: 'ended',
  items_scheduled: 'running',
  items_unscheduled: 'running',
  change_started: 'running',
  change_charge_started: 'running',
  change_charge_failed: 'running',
  change_dropped: 'running',
  change_payment_taken_back: 'running',
  items_changed: 'running',
  zone_changed: 'running',
  details_changed: 'running',
  dunning_policy_changed: 'running',
  subscription_parked: 'running',
  subscription_unparked: 'running',
  charge_announced: 'running',
  announcement_ended: 'running',
  payer_reminded: 'running',
  duties_changed: 'running',
} as const;

/** All allowed transitions. Any other is a bug. */
export const subscriptionLifecycle = {
  absent: { subscription_created: 'incomplete' },
  incomplete: { subscription_started: 'running', details_changed: 'incomplete', subscription_ended: 'ended' },
  running: whileRunning,
  // An open invoice may still be charged, and skipped periods are created at the end of the pause.
  paused: {
    period_created: 'paused',
    charge_started: 'paused',
    charge_postponed: 'paused',
    charge_failed: 'paused',
    try_requested: 'paused',
    period_paid: 'paused',
    period_closed: 'paused',
    payment_taken_back: 'paused',
    subscription_unpaid: 'unpaid',
    // It ends at another time.
    subscription_paused: 'paused',
    subscription_resumed: 'running',
    anchor_shifted: 'paused',
    end_scheduled: 'paused',
    end_taken_back: 'paused',
    payer_reason_given: 'paused',
    subscription_ended: 'ended',
    items_scheduled: 'paused',
    items_unscheduled: 'paused',
    change_charge_failed: 'paused',
    change_dropped: 'paused',
    change_payment_taken_back: 'paused',
    items_changed: 'paused',
    zone_changed: 'paused',
    details_changed: 'paused',
    dunning_policy_changed: 'paused',
    subscription_parked: 'paused',
    subscription_unparked: 'paused',
    charge_announced: 'paused',
    announcement_ended: 'paused',
    payer_reminded: 'paused',
    duties_changed: 'paused',
  },
  unpaid: {
    charge_started: 'unpaid',
    charge_postponed: 'unpaid',
    charge_failed: 'unpaid',
    try_requested: 'unpaid',
    period_paid: 'running',
    period_closed: 'running',
    payment_taken_back: 'unpaid',
    end_scheduled: 'unpaid',
    end_taken_back: 'unpaid',
    payer_reason_given: 'unpaid',
    subscription_ended: 'ended',
    items_unscheduled: 'unpaid',
    change_charge_failed: 'unpaid',
    change_dropped: 'unpaid',
    change_payment_taken_back: 'unpaid',
    items_changed: 'unpaid',
    zone_changed: 'unpaid',
    details_changed: 'unpaid',
    dunning_policy_changed: 'unpaid',
    subscription_parked: 'unpaid',
    subscription_unparked: 'unpaid',
    charge_announced: 'unpaid',
    announcement_ended: 'unpaid',
    duties_changed: 'unpaid',
  },
  // What was at the bank is finished, also if it pays for a new period.
  ended: {
    details_changed: 'ended',
    period_created: 'ended',
    payer_reason_given: 'ended',
    end_refund_started: 'ended',
    end_refund_refused: 'ended',
    end_refund_failed: 'ended',
    charge_postponed: 'ended',
    charge_failed: 'ended',
    period_paid: 'ended',
    period_closed: 'ended',
    payment_taken_back: 'ended',
    change_charge_failed: 'ended',
    change_dropped: 'ended',
    change_payment_taken_back: 'ended',
    items_changed: 'ended',
  },
} as const satisfies Record<Phase | 'absent', Partial<Record<SubscriptionFact['type'], Phase>>>;

/** Of the periods that start to fail from now on. */
export function policyOf({ terms, dunning }: Pick<Subscription, 'terms' | 'dunning'>): DunningPolicy {
  return dunning?.policy ?? terms.dunning;
}

/** The policy of the shop that it follows. */
export function policyNameOf({
  terms,
  dunning,
}: Pick<Subscription, 'terms' | 'dunning'>): string | undefined {
  return dunning ? dunning.name : terms.dunningPolicy;
}

export function catchUpOf({ terms, details }: Pick<Subscription, 'terms' | 'details'>): CatchUp {
  return details?.catchUp ?? terms.catchUp;
}

export function policyOfPeriod(subscription: Subscription, period: OpenPeriod | undefined): DunningPolicy {
  return period?.dunning ?? policyOf(subscription);
}

export function statusOf({ phase, open, latest }: Subscription): Status {
  if (phase !== 'running') return phase;
  if (open.some(({ declineClass }) => declineClass !== undefined)) return 'pastDue';
  return latest?.kind === 'trial' ? 'trialing' : 'active';
}

export type NextPeriod = PeriodDates & PeriodTimes;

/** The period after the latest one, or after another that is not stored yet. Undefined after the last one. */
export function nextPeriod(
  { terms, schedule, latest, startedAt, endsAfter }: Subscription,
  after: Pick<Period, 'number' | 'endsAt'> | undefined = latest,
): NextPeriod | undefined {
  if (!schedule) return undefined;
  const number = after ? after.number + 1 : firstNumberOf(schedule);
  const dates = endsAfter && number > endsAfter.number ? undefined : periodDates(schedule, number);
  if (!dates) return undefined;
  const { startsAt, endsAt, dueAt } = periodTimes(schedule, dates, terms.id, after?.endsAt);
  // The first charge waits for no window: the payer has just agreed.
  const isStart = !after && !terms.firstPeriod && startedAt !== undefined;
  const { kind, startsOn, endsOn } = dates;
  // Member by member, because every look at a subscription comes here.
  return { number, kind, startsOn, endsOn, startsAt, endsAt, dueAt: isStart ? startedAt : dueAt };
}

export type Action =
  | { readonly does: 'end'; readonly at: Instant; readonly reason: EndReason }
  | { readonly does: 'createPeriod' | 'resume' | 'chargeChange' | 'refund'; readonly at: Instant }
  | { readonly does: 'charge' | 'giveUp'; readonly at: Instant; readonly number: number };

const firstPaymentMs = 24 * 3_600_000;

/** The one thing the subscription waits for, and when. Undefined: only a person or a bank can continue it. */
export function nextAction(subscription: Subscription): Action | undefined {
  const { phase, parkedFor, terms, pause } = subscription;
  if (phase === 'ended') return refundActionOf(subscription);
  if (parkedFor !== undefined) return undefined;
  if (phase === 'incomplete')
    return { does: 'end', at: laterBy(terms.createdAt, firstPaymentMs), reason: 'firstPaymentMissing' };
  const resumesAt = phase === 'paused' ? pause?.resumesAt : undefined;
  const resume = resumesAt ? ({ does: 'resume', at: resumesAt } as const) : undefined;
  let first: Action | undefined;
  for (const action of [
    retryOf(subscription),
    resume,
    periodActionOf(subscription),
    changeActionOf(subscription),
  ])
    if (action && (!first || action.at < first.at)) first = action;
  return first;
}

/** A charge at the bank may still pay what is to be refunded. */
function refundActionOf({ endRefund, open, change }: Subscription): Action | undefined {
  const isAtBank = change?.charging !== undefined || open.some(({ charging }) => charging !== undefined);
  return endRefund?.isDue && !isAtBank ? { does: 'refund', at: endRefund.at } : undefined;
}

function changeActionOf(subscription: Subscription): Action | undefined {
  const { phase, change } = subscription;
  if (phase !== 'running' || change?.tryAt === undefined) return undefined;
  return { does: 'chargeChange', at: later(change.tryAt, mayChargeFrom(subscription)) };
}

const maxChargesADay = 2;
const dayMs = 86_400_000;

/** When the last guard allows one more charge. An earlier wish of a merchant waits, and parks nothing. */
export function mayChargeFrom({ charges, terms }: Pick<Subscription, 'charges' | 'terms'>): Instant {
  const first = charges.at(-maxChargesADay);
  return first ? laterBy(first.at, dayMs) : terms.createdAt;
}

/** Of the oldest open period. While it is at the bank, its outcome decides. */
function retryOf(subscription: Subscription): Action | undefined {
  const [oldest] = subscription.open;
  if (!oldest || oldest.charging !== undefined) return undefined;
  // The payer has paused it before the charge that was announced.
  if (subscription.phase === 'paused' && oldest.isUnannounced) return undefined;
  const { number, nextTryAt, givesUpAt, isWished } = oldest;
  if (nextTryAt !== undefined) {
    const isOther = lastCollection(subscription)?.number !== number;
    // A merchant may want a second one, but not of a stack.
    const waits = isOther && (!isWished || policyOf(subscription).stack);
    return { does: 'charge', number, at: waits ? afterToday(subscription, nextTryAt) : nextTryAt };
  }
  return givesUpAt === undefined ? undefined : { does: 'giveUp', number, at: givesUpAt };
}

function periodActionOf(subscription: Subscription): Action | undefined {
  const { phase, open, latest, endsAfter, change } = subscription;
  if (phase !== 'running' && !endsAfter) return undefined;
  // If the bank captures it, another next period has started.
  if (change?.newPeriod && change.charging !== undefined) return undefined;
  // During a pause no held charge is made, so it does not delay the end.
  const waits = ({ isUnannounced }: OpenPeriod) => phase === 'paused' && isUnannounced;
  const isBlocked = open.some((period) => period.outcome === 'open' && !waits(period));
  const next = nextPeriod(subscription);
  if (!next) {
    if (isBlocked || !latest) return undefined;
    return { does: 'end', at: latest.endsAt, reason: endsAfter?.reason ?? 'finished' };
  }
  if (phase !== 'running' || (isBlocked && !policyOf(subscription).stack)) return undefined;
  // A period that joins a stack is not charged yet.
  const at = isBlocked && catchUpOf(subscription) !== 'all' ? next.dueAt : renewalAt(subscription, next);
  return { does: 'createPeriod', at };
}

/** Later than that, `none` charges no period. */
export const maxLateMs = 72 * 3_600_000;
/** Jobs are late, and local days differ by an hour: a wait leaves them so much of it. */
const jobsMayTakeMs = 12 * 3_600_000;

/** It waits for the day after another charge, but for one day only if a merchant charges missed periods day after day. */
function renewalAt(subscription: Subscription, next: NextPeriod): Instant {
  const { charges, latest } = subscription;
  const { dueAt } = next;
  const planned = charges.filter(({ number, isWished }) => !isWished || number === latest?.number);
  const waits = earliest(afterToday(subscription, dueAt), dayAfter(subscription, dueAt));
  const at = later(afterToday({ ...subscription, charges: planned }, dueAt), waits);
  return at > dueAt && catchUpOf(subscription) !== 'all' && isMissedBy(subscription, next, at) ? dueAt : at;
}

/** While it waits, a later period falls due and would be charged in its place, or `none` would charge it no more. */
function isMissedBy(subscription: Subscription, next: NextPeriod, until: Instant): boolean {
  const from = later(next.dueAt, lastCollection(subscription)?.at ?? next.dueAt);
  let newest = next;
  let following = nextPeriod(subscription, newest);
  while (following && following.dueAt <= from) {
    newest = following;
    following = nextPeriod(subscription, newest);
  }
  if (following && following.dueAt <= until) return true;
  return catchUpOf(subscription) === 'none' && until > laterBy(newest.dueAt, maxLateMs - jobsMayTakeMs);
}

/** The payer's own payment counts as a charge: on that day their money has already gone for one period. */
function lastCollection({ charges, paidByPayer }: Subscription): Collection | undefined {
  const last = charges.at(-1);
  return last && (!paidByPayer || paidByPayer.at < last.at) ? last : paidByPayer;
}

/** Not on the local day of the last one: payers never pay for several periods at once. */
function afterToday(subscription: Subscription, at: Instant): Instant {
  const last = lastCollection(subscription);
  return last ? later(at, dayAfter(subscription, last.at)) : at;
}

function dayAfter({ schedule, terms }: Subscription, at: Instant): Instant {
  if (!schedule) return at;
  const { zone, chargeAt } = schedule;
  return momentOnDay(chargeAt, terms.id, localDayOf(at, zone) + 1, zone);
}

export function evolveAll(
  subscription: Subscription,
  facts: readonly SubscriptionFact[],
  now: Instant,
): Subscription {
  return facts.reduce<Subscription>((before, fact) => evolve(before, fact, now), subscription);
}

/** The subscription after a fact. Throws if the lifecycle does not allow the fact: the code or the data has a bug. */
export function evolve(before: Subscription | undefined, fact: SubscriptionFact, now: Instant): Subscription {
  const from = before?.phase ?? 'absent';
  const moves: Partial<Record<SubscriptionFact['type'], Phase>> = subscriptionLifecycle[from];
  const phase = moves[fact.type];
  if (phase === undefined) throw new Error(`A subscription that is ${from} cannot have fact ${fact.type}.`);
  if (fact.type === 'subscription_created') {
    const { terms } = fact;
    const empty = { open: [], missed: [], charges: [], paidMinor: 0n, creditMinor: 0n };
    return { terms, phase, items: terms.items, ...empty };
  }
  if (!before) throw new Error(`Fact ${fact.type} came before the subscription was created.`);
  const told = afterFact(before, fact, now);
  const after = withoutSettled(told.phase === phase ? told : { ...told, phase });
  return phase === 'running' && after.pause ? withoutPause(after) : after;
}

/** No charge follows the announcement of a period that is neither open nor still to come. */
function withoutSettled(after: Subscription): Subscription {
  const { announcements, open, latest } = after;
  if (!announcements) return after;
  const left = announcements.filter(
    ({ number }) => number > (latest?.number ?? 0) || open.some((period) => period.number === number),
  );
  if (left.length === announcements.length) return after;
  const { announcements: _, ...rest } = after;
  return left.length > 0 ? { ...rest, announcements: left } : rest;
}

function withoutPause({ pause: _, ...rest }: Subscription): Subscription {
  return rest;
}

function withoutEnd({ endsAfter: _, ...rest }: Subscription): Subscription {
  return rest;
}

type LaterFact = Exclude<SubscriptionFact, { type: 'subscription_created' }>;

function afterFact(before: Subscription, fact: LaterFact, now: Instant): Subscription {
  switch (fact.type) {
    case 'subscription_started':
      return { ...before, schedule: fact.schedule, startedAt: now, ...defined({ parent: fact.parent }) };
    case 'subscription_paused':
      return { ...before, pause: { by: fact.by, ...defined({ resumesAt: fact.resumesAt }) } };
    case 'subscription_resumed':
      return before;
    case 'subscription_unpaid':
      return withOpen(before, fact.number, unpaid);
    case 'end_scheduled':
    case 'end_taken_back':
    case 'subscription_ended':
    case 'payer_reason_given':
    case 'end_refund_started':
    case 'end_refund_refused':
    case 'end_refund_failed':
      return afterEnd(before, fact, now);
    case 'anchor_shifted':
      return { ...before, schedule: fact.schedule };
    case 'zone_changed':
    case 'details_changed':
      return afterTerms(before, fact);
    case 'dunning_policy_changed':
      return afterPolicy(before, fact);
    case 'subscription_parked':
      return { ...before, parkedFor: fact.why };
    case 'subscription_unparked':
      return unparked(before);
    case 'items_scheduled':
    case 'items_unscheduled':
      return withScheduled(before, fact.type === 'items_scheduled' ? fact.items : undefined);
    case 'change_charge_started':
    case 'change_charge_failed':
      return afterChangeCharge(before, fact, now);
    case 'change_payment_taken_back':
      return afterChangeLoss(before, fact);
    case 'change_started':
    case 'change_dropped':
    case 'items_changed':
      return afterChange(before, fact, now);
    case 'charge_announced':
    case 'announcement_ended':
    case 'payer_reminded':
    case 'duties_changed':
      return afterDuty(before, fact, now);
    default:
      return afterPeriodFact(before, fact, now);
  }
}

function afterTerms(
  before: Subscription,
  fact: SubscriptionFact & { type: 'zone_changed' | 'details_changed' },
): Subscription {
  const { details, schedule } = before;
  if (fact.type === 'zone_changed')
    return schedule ? { ...before, schedule: { ...schedule, zone: fact.zone } } : before;
  const { metadata, catchUp, endsOn } = fact;
  const version = (details?.version ?? 1) + 1;
  const after = { ...before, details: { ...details, version, ...defined({ metadata, catchUp }) } };
  return schedule && endsOn !== undefined
    ? { ...after, schedule: { ...schedule, ends: { before: endsOn } } }
    : after;
}

function unparked({ parkedFor: _, ...rest }: Subscription): Subscription {
  return { ...rest, charges: [] };
}

type EndFact = Extract<
  LaterFact,
  {
    type:
      | 'end_scheduled'
      | 'end_taken_back'
      | 'subscription_ended'
      | 'payer_reason_given'
      | 'end_refund_started'
      | 'end_refund_refused'
      | 'end_refund_failed';
  }
>;

function afterEnd(before: Subscription, fact: EndFact, now: Instant): Subscription {
  switch (fact.type) {
    case 'end_scheduled':
      return withReasonOf(fact, { ...before, endsAfter: { number: fact.afterNumber, reason: fact.reason } });
    case 'end_taken_back': {
      const { payerReason: _, ...rest } = withoutEnd(before);
      return rest;
    }
    case 'subscription_ended': {
      const { scheduledItems: _, ...rest } = withoutEnd(withoutPause(before));
      const { refund: share } = fact;
      const endRefund: EndRefund | undefined = share && { share, at: now, isDue: true, refunds: [] };
      return withReasonOf(fact, { ...rest, endedFor: fact.reason, ...defined({ endRefund }) });
    }
    case 'payer_reason_given':
      return { ...before, payerReason: fact.reason };
    case 'end_refund_started':
    case 'end_refund_refused':
    case 'end_refund_failed':
      return afterRefund(before, fact);
  }
}

function afterRefund(
  before: Subscription,
  fact: SubscriptionFact & { type: 'end_refund_started' | 'end_refund_refused' | 'end_refund_failed' },
): Subscription {
  if (!before.endRefund) throw new Error('A refund of the end came without a wish for it.');
  const { isDue: _, refunds, ...asked } = before.endRefund;
  const { type: __, ...refund } = fact;
  if (fact.type !== 'end_refund_failed')
    return { ...before, endRefund: { ...asked, refunds: [...refunds, refund] } };
  const isIt = (one: RefundOfEnd) => one.invoiceId === fact.invoiceId && one.refundId === fact.refundId;
  return { ...before, endRefund: { ...asked, refunds: refunds.map((one) => (isIt(one) ? refund : one)) } };
}

/** Of losses one after another, an end looks back over so many. */
const maxOtherPaid = 3;

function paidPeriodsOf(subscription: Subscription): readonly OtherPaid[] {
  const last = lastPaidOf(subscription);
  const others = (subscription.otherPaid ?? []).filter(({ number }) => number !== last?.number);
  return last ? [...others, last] : others;
}

function withPaidPeriods(before: Subscription, periods: readonly OtherPaid[]): Subscription {
  const { lastPaid: _, otherPaid: __, ...rest } = before;
  const byNumber = periods.toSorted((a, b) => a.number - b.number);
  const lastPaid = byNumber.findLast(({ isLost }) => !isLost);
  const others = byNumber.filter((one) => one !== lastPaid).slice(-maxOtherPaid);
  return { ...rest, ...defined({ lastPaid, otherPaid: others.length > 0 ? others : undefined }) };
}

/** An older period that is paid later is not the last one. What has paid changes of it before stays. */
function withPaid(
  before: Subscription,
  { number, invoiceId }: Pick<Period, 'number' | 'invoiceId'>,
): Subscription {
  const periods = paidPeriodsOf(before);
  const same = periods.find((one) => one.number === number);
  const invoiceIds = [...(invoiceId === undefined ? [] : [invoiceId]), ...(same?.invoiceIds ?? [])];
  return withPaidPeriods(before, [...periods.filter((one) => one !== same), { number, invoiceIds }]);
}

function withoutPaid(before: Subscription, { number, invoiceId }: Period): Subscription {
  const lose = (one: OtherPaid): OtherPaid =>
    one.number === number
      ? { number, invoiceIds: one.invoiceIds.filter((id) => id !== invoiceId), isLost: true }
      : one;
  return withPaidPeriods(before, paidPeriodsOf(before).map(lose));
}

/** Nodes of older versions know their latest period alone. */
export function lastPaidOf({ lastPaid, latest }: Subscription): LastPaid | undefined {
  if (latest?.outcome !== 'paid' || (lastPaid && lastPaid.number >= latest.number)) return lastPaid;
  return { number: latest.number, invoiceIds: latest.invoiceId === undefined ? [] : [latest.invoiceId] };
}

/** What the payer has answered is the reason of no other end than theirs. */
function withReasonOf({ reason }: { readonly reason: EndReason }, after: Subscription): Subscription {
  if (reason === 'payer') return after;
  const { payerReason: _, ...rest } = after;
  return rest;
}

function withScheduled(before: Subscription, items: readonly Item[] | undefined): Subscription {
  const { scheduledItems: _, ...rest } = before;
  return { ...rest, ...defined({ scheduledItems: items }) };
}

type ChangeFact = Extract<LaterFact, { type: 'change_started' | 'change_dropped' | 'items_changed' }>;

/** Credit that a change uses is reserved while its invoice is open. */
function afterChange(before: Subscription, fact: ChangeFact, now: Instant): Subscription {
  const { change: pending, ...rest } = before;
  const reserved = pending?.fromBalanceMinor ?? 0n;
  const lost = pending?.lostMinor ?? 0n;
  switch (fact.type) {
    case 'change_started':
      return {
        ...before,
        change: { ...fact.change, tryAt: now },
        creditMinor: before.creditMinor - fact.change.fromBalanceMinor,
      };
    case 'change_dropped':
      return { ...withTakenOfChange(rest, {}), creditMinor: before.creditMinor + reserved - lost };
    case 'items_changed':
      return afterItems({ ...rest, creditMinor: before.creditMinor + reserved }, fact, lost, now);
  }
}

/** What was taken of it is missing of the period that it pays for, or of credit. Late money is counted for no period. */
function withTakenOfChange(before: Subscription, from: Pick<Taken, 'ofPeriod' | 'ofNothing'>): Subscription {
  const { taken = [] } = before;
  return withAllTaken(
    before,
    taken.map(({ ofChange, ...one }) => (ofChange ? { ...one, ...from } : one)),
  );
}

/** Of a new period, the row says what credit has paid. */
function afterItems(
  before: Subscription,
  { change, parent }: SubscriptionFact & { type: 'items_changed' },
  lost: bigint,
  now: Instant,
): Subscription {
  const { scheduledItems: _, ...rest } = before;
  const { items, period, invoiceId, newPeriod, creditMinor, chargeMinor, fromBalanceMinor } = change;
  const after = {
    ...rest,
    items,
    ...(before.schedule ? { changedOn: localDayOf(now, before.schedule.zone) } : {}),
    ...defined({ parent }),
  };
  if (newPeriod) return afterEarlyStart(after, change, lost);
  const paid = lastPaidOf(before);
  const isOfLastPaid = paid?.number === period && invoiceId !== undefined;
  const difference = chargeMinor - creditMinor;
  const credited = difference < 0n ? -difference : 0n;
  const isLatest = before.latest?.number === period;
  return {
    ...withTakenOfChange(after, isLatest ? { ofPeriod: period } : { ofNothing: true }),
    // Late money belongs to the period it was asked for.
    paidMinor: before.paidMinor + (isLatest ? difference - lost : 0n),
    creditMinor: before.creditMinor - fromBalanceMinor + credited,
    ...(isOfLastPaid ? { lastPaid: { ...paid, invoiceIds: [...paid.invoiceIds, invoiceId] } } : {}),
  };
}

function afterEarlyStart(before: Subscription, { period, creditMinor }: Change, lost: bigint): Subscription {
  const paidMinor = before.paidMinor - creditMinor;
  const short = { number: period, minor: -paidMinor, ofPeriod: period + 1 };
  const after = withTakenOfChange(before, { ofPeriod: period + 1 });
  const cut = { number: period, paidMinor: larger(paidMinor, 0n) };
  return {
    ...withAllTaken(after, [...(after.taken ?? []), short]),
    // What its credit lacks is not paid of the new period.
    paidMinor: -larger(-paidMinor, 0n) - lost,
    creditMinor: before.creditMinor + creditMinor,
    cutShort: [...(before.cutShort ?? []), cut].slice(-maxMissed),
  };
}

/** Nothing pays a change again, so no later payment gives back what its loss has taken. */
function afterChangeLoss(
  before: Subscription,
  { ofPeriod, amountMinor }: SubscriptionFact & { type: 'change_payment_taken_back' },
): Subscription {
  return withAllTaken(withMoney(before, ofPeriod, -amountMinor), before.taken ?? []);
}

type ChangeCharge = Extract<LaterFact, { type: 'change_charge_started' | 'change_charge_failed' }>;

/** It is charged once, and once more for each new consent. */
function afterChangeCharge(before: Subscription, fact: ChangeCharge, now: Instant): Subscription {
  if (!before.change) throw new Error(`Fact ${fact.type} came without a change.`);
  const { tryAt: _, charging, ...change } = before.change;
  if (fact.type === 'change_charge_started') {
    const { paymentId } = fact;
    const charge = { number: change.period, paymentId, at: now, isWished: true } as const;
    const charges = [...before.charges, charge].slice(-maxChargesADay);
    return { ...before, change: { ...change, charging: paymentId }, charges };
  }
  const sent = before.charges.filter(({ paymentId }) => paymentId !== charging);
  const charges = fact.isUnsent ? sent : before.charges;
  const { failedFor, retryAt } = fact;
  return {
    ...before,
    change: { ...change, failedFor, failedAt: now, ...defined({ tryAt: retryAt }) },
    charges,
  };
}

function larger(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

function smaller(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

/** Undefined money stays so: nothing is given back of it or taken from it any more. */
function withMoney(before: Subscription, number: number, minor: bigint): Subscription {
  const left = leftOf(before, number);
  if (left === undefined) return before;
  if (minor > 0n) return withGivenBack(before, number, minor);
  const own = smaller(left, -minor);
  return withTaken(withLeft(before, number, left - own), number, -minor - own);
}

function withLeft(before: Subscription, number: number, paidMinor: bigint): Subscription {
  const { latest, cutShort = [] } = before;
  if (latest?.number === number) return { ...before, paidMinor };
  return {
    ...before,
    cutShort: cutShort.map((one) => (one.number === number ? { number, paidMinor } : one)),
  };
}

/** What a period lacks goes off its credit, off what a change has reserved of that, and off the next periods. */
function withTaken(before: Subscription, number: number, missing: bigint): Subscription {
  const fromCredit = smaller(before.creditMinor, missing);
  const paid = { ...before, creditMinor: before.creditMinor - fromCredit };
  const [spent, fromChange] = withoutReserved(paid, missing - fromCredit);
  const taken: Taken[] = [
    { number, minor: fromCredit },
    { number, minor: fromChange, ofChange: true },
  ];
  let [after, rest] = [spent, missing - fromCredit - fromChange];
  for (const ofPeriod of laterKnown(before, number)) {
    const left = leftOf(after, ofPeriod) ?? 0n;
    const minor = smaller(left, rest);
    taken.push({ number, minor, ofPeriod });
    [after, rest] = [withLeft(after, ofPeriod, left - minor), rest - minor];
  }
  taken.push({ number, minor: rest, ofNothing: true });
  return withAllTaken(after, [...(before.taken ?? []), ...taken]);
}

function laterKnown({ latest, cutShort = [] }: Subscription, number: number): number[] {
  const known = new Set(cutShort.map((one) => one.number));
  if (latest) known.add(latest.number);
  return [...known].filter((one) => one > number).toSorted((a, b) => a - b);
}

/** New money of a period goes first where it has taken some. */
function withGivenBack(before: Subscription, number: number, minor: bigint): Subscription {
  const { taken = [] } = before;
  const [own] = taken.filter((one) => one.number === number);
  if (!own || minor === 0n) return withLeft(before, number, (leftOf(before, number) ?? 0n) + minor);
  const back = smaller(own.minor, minor);
  const others = taken.flatMap((one) => (one === own ? { ...own, minor: own.minor - back } : one));
  return withGivenBack(returned(withAllTaken(before, others), own, back), number, minor - back);
}

function returned(
  before: Subscription,
  { ofPeriod, ofChange, ofNothing }: Taken,
  minor: bigint,
): Subscription {
  if (ofNothing) return before;
  if (ofPeriod !== undefined) return withMoney(before, ofPeriod, minor);
  const { change } = before;
  if (!ofChange || !change) return { ...before, creditMinor: before.creditMinor + minor };
  return { ...before, change: { ...change, lostMinor: (change.lostMinor ?? 0n) - minor } };
}

function withAllTaken({ taken: _, ...before }: Subscription, all: readonly Taken[]): Subscription {
  const taken = all.filter(({ minor }) => minor > 0n).slice(-maxMissed);
  return taken.length > 0 ? { ...before, taken } : before;
}

/** A period that is closed takes nothing more, and what was taken of it would be credit. */
function withTakenOfClosed(before: Subscription, number: number): Subscription {
  const left = (before.taken ?? []).filter((one) => one.number !== number);
  return withAllTaken(
    before,
    left.map(({ ofPeriod, ...one }) =>
      ofPeriod === undefined || ofPeriod === number ? one : { ...one, ofPeriod },
    ),
  );
}

/** Of the money for a period. Undefined where it is not known any more. */
function leftOf({ latest, paidMinor, cutShort }: Subscription, number: number): bigint | undefined {
  return latest?.number === number ? paidMinor : cutShort?.find((one) => one.number === number)?.paidMinor;
}

/** Of a period before the new one, unless its own invoice alone has paid it, and all of that is left. */
function withMoneyKept(before: Subscription): Subscription {
  const { latest, paidMinor, creditMinor, cutShort = [], taken = [] } = before;
  if (!latest || cutShort.some(({ number }) => number === latest.number)) return before;
  const { outcome, amountMinor } = latest;
  const mayHaveGiven = outcome !== 'skipped' && (paidMinor > 0n || creditMinor > 0n);
  const isKept = outcome === 'paid' ? paidMinor !== amountMinor : mayHaveGiven;
  const { number } = latest;
  if (!isKept && taken.every((one) => one.number !== number && one.ofPeriod !== number)) return before;
  return {
    ...before,
    cutShort: [...cutShort, { number, paidMinor: larger(paidMinor, 0n) }].slice(-maxMissed),
  };
}

/** How much of what is missing it takes. */
function withoutReserved(before: Subscription, missing: bigint): [Subscription, taken: bigint] {
  const { change } = before;
  if (!change) return [before, 0n];
  const { fromBalanceMinor, lostMinor = 0n } = change;
  const left = fromBalanceMinor - lostMinor;
  const taken = left < missing ? left : missing;
  return [taken > 0n ? { ...before, change: { ...change, lostMinor: lostMinor + taken } } : before, taken];
}

type DutyFact = Extract<
  LaterFact,
  { type: 'charge_announced' | 'announcement_ended' | 'payer_reminded' | 'duties_changed' }
>;

function afterDuty(before: Subscription, fact: DutyFact, now: Instant): Subscription {
  switch (fact.type) {
    case 'charge_announced':
      return afterAnnounced(before, { ...fact.announcement, announcedAt: now });
    case 'announcement_ended': {
      const { announcements = [] } = before;
      const announcement = announcements.find(({ number }) => number === fact.number);
      if (!announcement) return before;
      const ended = { ...announcement, [fact.as === 'accepted' ? 'acceptedAt' : 'refusedAt']: now };
      const open = before.open.map((period) => afterAccepted(period, ended));
      return {
        ...before,
        announcements: announcements.map((one) => (one === announcement ? ended : one)),
        open,
      };
    }
    case 'payer_reminded':
      return withOpen(before, fact.number, (period) => ({
        ...period,
        emailsWritten: fact.which + 1,
      }));
    case 'duties_changed':
      return { ...before, duties: fact.duties };
  }
}

/** The payer knows the price of the newest period that was announced. An older one may have had another. */
function afterAnnounced(before: Subscription, announcement: Announcement): Subscription {
  const { number, priceMinor } = announcement;
  const others = (before.announcements ?? []).filter((one) => one.number !== number);
  const isNewest = others.every((one) => one.number < number);
  return {
    ...before,
    announcements: [...others, announcement],
    ...(isNewest ? { knownPriceMinor: priceMinor } : {}),
  };
}

/** A charge that waits for its announcement follows it in time, or comes when the merchant has put it, if that is later. */
function afterAccepted(period: OpenPeriod, { number, acceptedAt, leadMs }: Announcement): OpenPeriod {
  if (period.number !== number || acceptedAt === undefined || !period.isUnannounced) return period;
  const { dueAt, nextTryAt = dueAt } = period;
  return { ...period, nextTryAt: later(later(dueAt, nextTryAt), laterBy(acceptedAt, leadMs)) };
}

type PeriodFact = Exclude<Extract<LaterFact, { number: number } | { period: Period }>, DutyFact>;

function afterPeriodFact(
  before: Subscription,
  fact: Exclude<PeriodFact, { type: 'subscription_unpaid' }>,
  now: Instant,
): Subscription {
  switch (fact.type) {
    case 'period_created':
      return afterNewPeriod(before, fact.period);
    case 'missed_period_charged':
      return afterMissed(before, fact, now);
    case 'charge_started': {
      const { number, paymentId, bindingId } = fact;
      const isWished = before.open.find((period) => period.number === number)?.isWished;
      const charge = { number, paymentId, at: now, ...defined({ isWished }) };
      const charges = [...before.charges, charge].slice(-maxChargesADay);
      const after = withOpen(before, number, (period) => ({
        ...untried(period),
        charging: paymentId,
        ...kept(period),
        ...defined({ bindingId }),
      }));
      return { ...after, charges };
    }
    case 'charge_postponed': {
      const after = withOpen(before, fact.number, (period) => ({
        ...untried(period),
        ...kept(period),
        ...defined({ nextTryAt: fact.until, isUnannounced: fact.isUnannounced ?? period.isUnannounced }),
        ...(fact.until === undefined ? { failedAt: now } : {}),
      }));
      return { ...after, charges: sentCharges(before, fact.number) };
    }
    case 'charge_failed':
      return afterFailure(before, fact, now);
    case 'try_requested':
      return withOpen(before, fact.number, (period) => ({ ...period, nextTryAt: now, isWished: true }));
    case 'period_paid':
      return {
        ...afterPayment(before, fact.number),
        ...(fact.by === 'payer' ? { paidByPayer: { number: fact.number, at: now } } : {}),
        ...defined({ parent: fact.parent }),
      };
    case 'period_closed':
      return closed(withCreditBack(before, fact.number), fact.number, fact.outcome);
    case 'payment_taken_back':
      return afterLoss(before, fact);
  }
}

function afterMissed(
  before: Subscription,
  { number, invoiceId }: SubscriptionFact & { type: 'missed_period_charged' },
  now: Instant,
): Subscription {
  const missed = before.missed.find((period) => period.number === number);
  if (!missed) throw new Error(`Period ${number} is not missed.`);
  const asked = { outcome: 'open', retries: 0, nextTryAt: now, isWished: true } as const;
  // If the bank has taken back its payment, a change may have used what credit had paid.
  const period = { ...missed, creditMinor: 0n, invoiceId, ...asked };
  const open = [...before.open, period].toSorted((a, b) => a.number - b.number);
  return { ...before, open, missed: before.missed.filter((one) => one !== missed) };
}

function withScheduledItems({ scheduledItems, ...rest }: Subscription): Subscription {
  return { ...rest, items: scheduledItems ?? rest.items };
}

/** Older ones stay in the list of periods, and can no longer be charged. */
const maxMissed = 100;

function afterNewPeriod(before: Subscription, period: Period): Subscription {
  const known = period.outcome === 'paid' ? withPaid(before, period) : before;
  const after = {
    ...withMoneyKept(known.scheduledItems ? withScheduledItems(known) : known),
    latest: period,
    paidMinor: period.creditMinor,
    creditMinor: before.creditMinor - period.creditMinor,
  };
  switch (period.outcome) {
    case 'open':
      return { ...after, open: [...before.open, { ...period, retries: 0, nextTryAt: period.dueAt }] };
    case 'missed':
      return { ...after, missed: [...before.missed, period].slice(-maxMissed) };
    case 'paid':
      return {
        ...after,
        // The bank may have taken back the money of its credit before.
        paidMinor: period.amountMinor + period.creditMinor - larger(-before.paidMinor, 0n),
        ...(period.lines.length > 0 ? { hasCharged: true } : {}),
        paidThrough: later(period.endsAt, before.paidThrough ?? period.endsAt),
      };
    default:
      return after;
  }
}

function afterPayment(before: Subscription, number: number): Subscription {
  const paid = [...before.open, ...before.missed].find((period) => period.number === number);
  if (!paid) throw new Error(`Period ${number} is neither open nor missed.`);
  const after = closed(withPaid(withMoney(before, number, paid.amountMinor), paid), number, 'paid');
  return {
    ...after,
    hasCharged: true,
    paidThrough: later(paid.endsAt, before.paidThrough ?? paid.endsAt),
  };
}

/** What credit and changes have paid of a period that is not charged any more. Rows of older versions know it of open ones alone. */
function withCreditBack(open: Subscription, number: number): Subscription {
  const before = withTakenOfClosed(open, number);
  const { creditMinor = 0n } = before.open.find((period) => period.number === number) ?? {};
  const left = larger(leftOf(before, number) ?? creditMinor, 0n);
  if (left === 0n) return before;
  return { ...withMoney(before, number, -left), creditMinor: before.creditMinor + left };
}

function afterLoss(
  before: Subscription,
  { period, paidThrough }: SubscriptionFact & { type: 'payment_taken_back' },
): Subscription {
  const { number, outcome, amountMinor } = period;
  const { paidThrough: _, ...after } = closed(
    withoutPaid(withMoney(before, number, -amountMinor), period),
    number,
    outcome,
  );
  const missed = outcome === 'missed' ? [...after.missed, period] : after.missed;
  return {
    ...after,
    ...defined({ paidThrough }),
    missed: missed.toSorted((a, b) => a.number - b.number).slice(-maxMissed),
  };
}

function closed(before: Subscription, number: number, outcome: PeriodOutcome): Subscription {
  const isOther = (period: Period) => period.number !== number;
  const { latest } = before;
  return {
    ...before,
    open: before.open.filter(isOther),
    missed: before.missed.filter(isOther),
    ...(latest?.number === number ? { latest: { ...latest, outcome } } : {}),
  };
}

function withOpen(
  before: Subscription,
  number: number,
  change: (period: OpenPeriod) => OpenPeriod,
): Subscription {
  if (!before.open.some((period) => period.number === number))
    throw new Error(`Period ${number} is not open.`);
  const open = before.open.map((period) => (period.number === number ? change(period) : period));
  return { ...before, open };
}

function afterFailure(
  before: Subscription,
  fact: SubscriptionFact & { type: 'charge_failed' },
  now: Instant,
): Subscription {
  const policy = policyNameOf(before) === undefined ? undefined : policyOf(before);
  const after = withOpen(before, fact.number, (period) => failed(period, fact, policy, now));
  const told = isDeclineToTell(before, fact, now) ? { ...after, declinedAt: now } : after;
  return fact.isUnsent
    ? { ...told, charges: sentCharges(before, fact.number) }
    : { ...told, hasCharged: true };
}

/** Without the one in progress. */
function sentCharges({ open, charges }: Subscription, number: number): Subscription['charges'] {
  const charging = open.find((period) => period.number === number)?.charging;
  return charges.filter(({ paymentId }) => paymentId !== charging);
}

function untried({
  nextTryAt: _,
  givesUpAt: __,
  charging: ___,
  isWished: ____,
  isUnannounced: _____,
  ...period
}: OpenPeriod): OpenPeriod {
  return period;
}

/** Of a former stack, it may be at the bank. */
function unpaid(period: OpenPeriod): OpenPeriod {
  return { ...untried(period), ...defined({ charging: period.charging }), outcome: 'unpaid' };
}

/** What a failure ends. */
function kept({ givesUpAt, isWished }: OpenPeriod) {
  return defined({ givesUpAt, isWished });
}

/** A failure of Mandate's or the merchant's own is no try, and starts none that could end the subscription. */
function failed(
  period: OpenPeriod,
  { declineClass, nextTryAt, givesUpAt }: SubscriptionFact & { type: 'charge_failed' },
  policy: DunningPolicy | undefined,
  now: Instant,
): OpenPeriod {
  const after = { ...untried(period), failedAt: now, declineClass, ...defined({ nextTryAt, givesUpAt }) };
  if (declineClass === 'configuration') return after;
  const { firstFailedAt, retries } = caseAfter(period, declineClass, now);
  const { declines } = period;
  const counted = isHealedByTime(declineClass)
    ? { declines: { ...declines, [declineClass]: 1 + (declines?.[declineClass] ?? 0) } }
    : {};
  const first = period.firstFailedAt === undefined ? defined({ dunning: period.dunning ?? policy }) : {};
  const { emailsWritten = 1 } = period;
  return { ...after, firstFailedAt, retries, emailsWritten, ...counted, ...first };
}

/** With one more decline. */
export function caseAfter(
  { firstFailedAt, retries, declines }: OpenPeriod,
  declineClass: DeclineClass,
  now: Instant,
): Case {
  if (firstFailedAt === undefined) return { firstFailedAt: now, retries: 0, retriesOfClass: 0 };
  const ofClass = isHealedByTime(declineClass) ? (declines?.[declineClass] ?? 0) : 0;
  return { firstFailedAt, retries: retries + 1, retriesOfClass: ofClass };
}

/** A period that is at the bank has its next try from the outcome. */
function afterPolicy(
  before: Subscription,
  { name, policy, moved = [] }: SubscriptionFact & { type: 'dunning_policy_changed' },
): Subscription {
  const after = { ...before, dunning: { policy, ...defined({ name }) } };
  return moved.reduce<Subscription>(
    (so, { number, ...times }) =>
      withOpen(so, number, ({ nextTryAt: _, givesUpAt: __, ...period }) => ({
        ...period,
        ...times,
        dunning: policy,
      })),
    after,
  );
}

/** The first one of a period. Several within a day are one email, and a mistake of the merchant's or of Mandate's is none. */
export function isDeclineToTell(
  subscription: Subscription,
  { number, declineClass }: SubscriptionFact & { type: 'charge_failed' },
  now: Instant,
): boolean {
  const { open, declinedAt } = subscription;
  const period = open.find((one) => one.number === number);
  const isEmailed =
    period?.emailsWritten === undefined && emailsDecline(policyOfPeriod(subscription, period));
  const isRecent = declinedAt !== undefined && now < laterBy(declinedAt, 24 * 3_600_000);
  return declineClass !== 'configuration' && isEmailed && !isRecent;
}
