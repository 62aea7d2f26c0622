// A series: all recurring charges that rest on one consent, with their retry state. may-charge.ts decides whether a charge
// is allowed.
import type { PaymentSystem } from '../../cards/domain/card.ts';
import { epochMsOf, laterBy, type Instant } from '../../clock.ts';
import type { Currency, Money } from '../../money.ts';
import type { Mandate } from './mandate.ts';
import { failingEndsAt, nextRetryAfter, seriesAt } from '../../retry-rules/domain/failures.ts';
import type { DeclineClass } from '../../acquiring/domain/decline-class.ts';
import type { StopScope } from '../../retry-rules/domain/response-codes.ts';
import {
  declineClassOf,
  effectsOf,
  finalStop,
  packIdOf,
  packsInForce,
  strictest,
  type Answer,
  type RulePack,
  type Ruled,
} from '../../retry-rules/domain/rule-packs.ts';
import { defined } from '../../defined.ts';

/** A payment, by its invoice and its number there. */
export type PaymentRef = { readonly invoiceId: string; readonly paymentId: string };

/** A binding, by its customer and its number there. */
export type BindingRef = { readonly customerId: string; readonly bindingId: string };

/** Rows and facts have stored a binding under the members of a payment since 0.1.0. */
export function storedRef(ref: PaymentRef | BindingRef): PaymentRef {
  return 'bindingId' in ref
    ? { invoiceId: ref.customerId, paymentId: ref.bindingId }
    : { invoiceId: ref.invoiceId, paymentId: ref.paymentId };
}

/** A series from a parent payment is named after that payment. */
export function seriesIdOf({ invoiceId, paymentId }: PaymentRef): string {
  return `${invoiceId}.${paymentId}`;
}

/** A customer has one series for each card, however often the card was bound. */
export function seriesIdOfCustomer(customerId: string, cardKey: Buffer): string {
  return `${customerId.slice(0, 23)}.${cardKey.toString('hex').slice(0, 16)}`;
}

/** What a series needs to know of the card. The number is in the vault. */
export type SeriesCard = {
  readonly paymentSystem: PaymentSystem;
  readonly lastDigits: string;
  /** The first instant after the card's expiry. */
  readonly endsAt: Instant;
};

/** In no fact and never shown: the card's token, and a key that is equal for all tokens of the number. */
export type CardRef = { readonly token: string; readonly key: Buffer };

export type SeriesTerms = {
  readonly id: string;
  readonly partyId: string;
  readonly shopId: string;
  /** Started by a parent payment, or by a card bound to a customer. */
  readonly kind: 'parent' | 'customer';
  readonly root: PaymentRef | BindingRef;
  readonly rootNetworkTransactionId?: string;
  readonly card: SeriesCard;
  readonly mandate: Mandate;
  /** When the payer was last present and authenticated. Earlier stops do not affect this series. */
  readonly consentedAt: Instant;
  /** The first instant after the agreed lifetime. Absent: until cancelled. */
  readonly endsAt?: Instant;
  /** The first instant after the trial. */
  readonly trialEndsAt?: Instant;
  /** The agreed amount binds. Absent in series of before 0.3.0: there it does only if the shop says so. */
  readonly bindsAmount?: true;
  /** The payer agreed elsewhere, and the consent came with a file. */
  readonly imported?: Imported;
};

/** `lastChargedAt`: elsewhere, for the same consent. */
export type Imported = { readonly lastChargedAt?: Instant };

/** Facts of older releases have no class. */
export type Stopped = {
  readonly rule: string;
  readonly pack: string;
  readonly scope: StopScope;
  readonly declineClass?: DeclineClass;
};
export type NotBefore = { readonly at: Instant; readonly rule: string; readonly pack: string };
export type Revocation = { readonly by: 'payer' | 'merchant' | 'operator'; readonly reason?: string };

export type Series = SeriesTerms & {
  readonly state:
    | { readonly name: 'active' }
    | ({ readonly name: 'stopped'; readonly at: Instant } & Stopped)
    | ({ readonly name: 'withdrawn'; readonly at: Instant } & Revocation);
  /** The latest payment that can be a parent. A series of a customer has none. */
  readonly latest?: PaymentRef;
  /** Since when charges fail. A failure sets it; a success, or the end of the 31 days, clears it. */
  readonly failingSince?: Instant;
  /** Who can help, by the latest charge if it failed. */
  readonly declineClass?: DeclineClass;
  /** Invoices created until then can no longer be charged, because their 31 days have ended. */
  readonly deadUntil?: Instant;
  /** The earliest time of the next attempt, by the network's last response. */
  readonly notBefore?: NotBefore;
  readonly lastSuccessAt: Instant;
  readonly chargesMade: number;
  /** All advance notices until then have been sent. */
  readonly noticedUntil: Instant;
};

export type NetworkDecline = Answer & {
  readonly network: string;
  readonly code: string;
  /** Another attempt before then is pointless, in the bank's opinion. */
  readonly notBefore?: Instant;
};

/** The outcome of a charge, as far as it concerns the series. */
export type ChargeOutcome =
  /** `isCaptured`: the money is taken. `heldUntil`: it is held, and can be captured until then. */
  | {
      readonly outcome: 'approved';
      readonly isCaptured?: true;
      readonly heldUntil?: Instant;
      readonly advice?: string;
    }
  | ({ readonly outcome: 'declined' } & NetworkDecline)
  /** Sent, not answered, reversed. The issuer may have seen it. */
  | { readonly outcome: 'lost' }
  /** Certainly never reached the bank. Does not count as an attempt. */
  | { readonly outcome: 'unsent' };

/** A charge that was sent, or is being sent. */
export type Attempt = PaymentRef & {
  readonly createdAt: Instant;
  readonly amount: Money;
  /** Created while the series was failing. */
  readonly isRetry: boolean;
};

/** What a merchant is notified of before it happens. */
export type AdvanceNotice = {
  readonly kind:
    | 'cardExpiring'
    | 'gapNearing'
    | 'rareChargeNearing'
    | 'trialEnding'
    | 'consentEnding'
    | 'consentEnded';
  /** When the advance notice is sent, and the time of what it announces. */
  readonly at: Instant;
  readonly about: Instant;
};

export type SeriesFact =
  | { readonly type: 'series_started'; readonly terms: SeriesTerms }
  | ({
      readonly type: 'recurring_charge_started';
      readonly isRetry: boolean;
      readonly amount?: { readonly minor: number; readonly currency: Currency };
      /** The rule packs in force when the charge was allowed. */
      readonly packs: readonly string[];
      readonly warnings: readonly string[];
    } & PaymentRef)
  | ({
      readonly type: 'recurring_charge_succeeded';
      readonly createdAt: Instant;
      /** Only if a newer charge succeeded before. Facts of older releases lack it, and set the time back. */
      readonly lastSuccessAt?: Instant;
    } & PaymentRef)
  | ({
      readonly type: 'recurring_charge_failed';
      readonly isRetry: boolean;
      readonly answer: { readonly network?: string; readonly code?: string; readonly advice?: string };
      /** Facts of older releases have none. */
      readonly declineClass?: DeclineClass;
      readonly notBefore?: NotBefore;
      /** A retry whose window was closed by the end of another obligation. Its failure opens one. */
      readonly opens?: true;
    } & PaymentRef)
  | ({ readonly type: 'recurring_charge_unsent' } & PaymentRef)
  /** No charge is to collect the invoice any more. Its failures no longer count for other invoices. */
  | {
      readonly type: 'obligation_ended';
      readonly invoiceId: string;
      /** The first failure of the other invoices. Absent: there is none. */
      readonly failingSince?: Instant;
      readonly notBefore?: NotBefore;
    }
  | ({ readonly type: 'series_stopped' } & Stopped)
  | ({ readonly type: 'consent_withdrawn' } & Revocation)
  | ({ readonly type: 'parent_added' } & PaymentRef)
  /** The payer was present again with the same card. Earlier stops and revocations no longer apply. */
  | {
      readonly type: 'consent_renewed';
      readonly card: SeriesCard;
      readonly endsAt?: Instant;
      readonly trialEndsAt?: Instant;
      readonly mandate?: Mandate;
      readonly bindsAmount?: true;
    }
  | { readonly type: 'notice_due'; readonly notice: AdvanceNotice };

/** What follows when a charge has ended, however it is written. */
export type ChargeEnd = {
  readonly ending: ChargeOutcome;
  readonly facts: readonly SeriesFact[];
  /** The widest stop. Stored with the attempt. */
  readonly stop?: Stopped;
  /** Who can help, if the charge failed. Stored with the attempt. */
  readonly declineClass?: DeclineClass;
  /** The longest wait. Stored with the attempt if there is no stop. */
  readonly notBefore?: NotBefore;
  /** Concerns the card, and so its other series. */
  readonly isDecline: boolean;
  readonly cardStop?: Stopped;
  /** Concerns the invoice, and so other series that may charge it. */
  readonly invoiceStop?: Stopped;
};

export function applyOutcome(
  series: Series,
  attempt: Attempt,
  ending: ChargeOutcome,
  now: Instant,
): ChargeEnd {
  const { invoiceId, paymentId, createdAt } = attempt;
  const member = { invoiceId, paymentId };
  const declineClass = classOf(ending, now);
  const effects = strictest(effectsOfOutcome(series, ending, now));
  const stop = effects.stop && {
    ...ruleOf(effects.stop),
    scope: effects.stop.effect.scope,
    // An approval with such an advice is no decline.
    declineClass: declineClass ?? 'stopped',
  };
  const cardStop = stop?.scope === 'cardInShop' || stop?.scope === 'card' ? stop : undefined;
  const invoiceStop = stop?.scope === 'charge' ? stop : undefined;
  const isDecline = countsAsDecline(ending);
  const end = { ending, isDecline, ...defined({ stop, cardStop, invoiceStop, declineClass }) };
  const stops: SeriesFact[] =
    stop && stop.scope !== 'charge' && series.state.name === 'active'
      ? [{ type: 'series_stopped', ...stop }]
      : [];
  switch (ending.outcome) {
    case 'unsent':
      return { ...end, facts: [{ type: 'recurring_charge_unsent', ...member }] };
    case 'approved':
      return {
        ...end,
        facts: [
          { type: 'recurring_charge_succeeded', ...member, createdAt, ...newerSuccess(series, createdAt) },
          ...stops,
        ],
      };
    default: {
      const { wait } = effects;
      const then = defined({
        notBefore: wait && { at: laterBy(now, wait.effect.forMs), ...ruleOf(wait) },
      });
      const failed = { ...failureOf(series, attempt, ending), ...defined({ declineClass }), ...then };
      return { ...end, ...then, facts: [failed, ...stops] };
    }
  }
}

function failureOf(series: Series, attempt: Attempt, ending: ChargeOutcome) {
  const { invoiceId, paymentId, isRetry, createdAt } = attempt;
  return {
    type: 'recurring_charge_failed',
    invoiceId,
    paymentId,
    isRetry,
    answer: answerOf(ending),
    ...(isRetry && outlivesItsWindow(series, createdAt) ? ({ opens: true } as const) : {}),
  } as const;
}

/** Neither a success nor the end of the 31 days has closed the window of this retry. */
function outlivesItsWindow(series: Series, createdAt: Instant): boolean {
  const { failingSince, deadUntil } = seriesAt(series, createdAt);
  return failingSince === undefined && (deadUntil === undefined || deadUntil < createdAt);
}

/** The facts are sealed and kept, so a bank's own words are not among them. */
function answerOf(ending: ChargeOutcome) {
  if (ending.outcome !== 'declined') return {};
  const { network, code, advice } = ending;
  return { network, code, ...defined({ advice }) };
}

function newerSuccess({ lastSuccessAt }: Series, createdAt: Instant) {
  return lastSuccessAt > createdAt ? { lastSuccessAt } : {};
}

/** What a decline with the payer present stops: as much as that of a charge, if the network calls it final. */
export function stopOfDecline(answer: NetworkDecline, now: Instant): Stopped | undefined {
  const stop = finalStop(answer, packsInForce(answer.network, now));
  return stop && { ...ruleOf(stop), scope: stop.effect.scope, declineClass: declineClassOf(answer, now) };
}

function ruleOf({ rule, pack }: Ruled) {
  return { rule, pack };
}

function classOf(ending: ChargeOutcome, now: Instant): DeclineClass | undefined {
  if (ending.outcome === 'declined') return declineClassOf(ending, now);
  return ending.outcome === 'lost' ? 'technical' : undefined;
}

/** A code means what the network that sent it says. An approval can carry advice. */
function effectsOfOutcome({ card }: Series, ending: ChargeOutcome, now: Instant): Ruled[] {
  switch (ending.outcome) {
    case 'declined': {
      const packs = packsInForce(ending.network, now);
      return [...effectsOf(ending, packs), ...waitOfBank(ending, packs, now)];
    }
    case 'approved':
      // An approved charge needs neither another card nor the payer.
      return effectsOf(defined({ advice: ending.advice }), packsInForce(card.paymentSystem, now)).filter(
        ({ effect }) => effect.does === 'stop' && effect.scope !== 'series',
      );
    default:
      return [];
  }
}

/** At most as long as retries are allowed: a bank's mistake would otherwise hold a series for years. */
function waitOfBank({ notBefore }: NetworkDecline, packs: readonly RulePack[], now: Instant): Ruled[] {
  if (notBefore === undefined || notBefore <= now) return [];
  const last = failingEndsAt(now, packs);
  const until = notBefore < last ? notBefore : last;
  const forMs = epochMsOf(until) - epochMsOf(now);
  return [{ effect: { does: 'wait', forMs }, rule: 'notBefore', pack: packIdOf(packs[0] as RulePack) }];
}

export function countsAsDecline(ending: ChargeOutcome): boolean {
  return ending.outcome === 'declined' && ending.network !== 'bank';
}

/** The series after a fact, at the time of the fact. */
export function evolve(before: Series | undefined, fact: SeriesFact, now: Instant): Series {
  if (fact.type === 'series_started') {
    if (before) throw new Error('A series can start only once.');
    const { terms } = fact;
    return {
      ...terms,
      state: { name: 'active' },
      ...('invoiceId' in terms.root ? { latest: terms.root } : {}),
      lastSuccessAt: terms.imported?.lastChargedAt ?? terms.consentedAt,
      chargesMade: 0,
      noticedUntil: now,
    };
  }
  if (!before) throw new Error(`Fact ${fact.type} came before the series was started.`);
  const series = seriesAt(before, now);
  switch (fact.type) {
    case 'recurring_charge_started':
    case 'recurring_charge_unsent':
      return series;
    case 'notice_due':
      return { ...series, noticedUntil: fact.notice.at };
    case 'recurring_charge_succeeded': {
      const { failingSince: _, notBefore: __, declineClass: ___, ...rest } = series;
      const { createdAt, lastSuccessAt = createdAt } = fact;
      return { ...rest, lastSuccessAt, chargesMade: series.chargesMade + 1 };
    }
    case 'recurring_charge_failed':
      return afterFailure(series, fact, now);
    case 'obligation_ended':
      return afterObligation(series, fact);
    case 'series_stopped': {
      const { type: _, ...stopped } = fact;
      return { ...series, state: { name: 'stopped', at: now, ...stopped } };
    }
    case 'consent_withdrawn': {
      const { type: _, ...how } = fact;
      return { ...series, state: { name: 'withdrawn', at: now, ...how } };
    }
    case 'parent_added':
      return { ...series, latest: { invoiceId: fact.invoiceId, paymentId: fact.paymentId } };
    case 'consent_renewed':
      return afterRenewal(series, fact, now);
  }
}

function afterRenewal(
  series: Series,
  { card, endsAt, mandate, ...fact }: SeriesFact & { type: 'consent_renewed' },
  now: Instant,
): Series {
  const { endsAt: _, trialEndsAt: __, declineClass: ___, ...rest } = series;
  const trialEndsAt = mandate ? fact.trialEndsAt : series.trialEndsAt;
  const bindsAmount = fact.bindsAmount ?? series.bindsAmount;
  return {
    ...rest,
    card,
    ...defined({ mandate, endsAt, trialEndsAt, bindsAmount }),
    consentedAt: now,
    state: { name: 'active' },
  };
}

function afterFailure(
  { declineClass: _, ...series }: Series,
  { isRetry, notBefore, declineClass, opens }: SeriesFact & { type: 'recurring_charge_failed' },
  now: Instant,
): Series {
  // A retry belongs to the failures in which it was created. If it ends after their 31 days, it starts no new ones.
  const opensNone = (isRetry && !opens) || declineClass === 'configuration';
  const failingSince = series.failingSince ?? (opensNone ? undefined : now);
  return { ...series, ...defined({ failingSince, declineClass }), ...laterOf(series, notBefore) };
}

function afterObligation(
  { failingSince: before, ...series }: Series,
  { failingSince, notBefore }: SeriesFact & { type: 'obligation_ended' },
): Series {
  const open = before === undefined ? {} : defined({ failingSince });
  return { ...series, ...open, ...laterOf(series, notBefore) };
}

function laterOf({ notBefore: before }: Pick<Series, 'notBefore'>, notBefore: NotBefore | undefined) {
  return notBefore && (before === undefined || notBefore.at > before.at) ? { notBefore } : {};
}

/** What is known of the attempts of a series when the obligation of an invoice ends. */
export type AttemptsAtEnd = {
  /** The first failure of an invoice that has not ended, since the charges fail. */
  readonly othersFailedAt?: Instant;
  readonly lastAttemptAt?: Instant;
  readonly timeZone: string;
};

/** Given up, forgiven or paid otherwise. The day of its last attempt stays used. */
export function endObligation(
  before: Series,
  invoiceId: string,
  { othersFailedAt, lastAttemptAt, timeZone }: AttemptsAtEnd,
  now: Instant,
): SeriesFact {
  const series = seriesAt(before, now);
  const wait =
    series.failingSince === undefined || lastAttemptAt === undefined
      ? undefined
      : nextRetryAfter(lastAttemptAt, packsInForce(series.card.paymentSystem, now), timeZone);
  return {
    type: 'obligation_ended',
    invoiceId,
    ...defined({ failingSince: series.failingSince && othersFailedAt, notBefore: wait }),
  };
}
