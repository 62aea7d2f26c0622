// A series: all charges without the payer that go back to one consent of his, a payment or a bound card. It knows who may
// be charged and since when, what came of it, and what stands in the way; whether a charge may be made now is decided in
// may-charge.ts. Pure.
import type { PaymentSystem } from '../../cards/domain/card.ts';
import { laterBy, type Instant } from '../../clock.ts';
import type { Currency, Money } from '../../money.ts';
import type { Mandate } from './mandate.ts';
import { seriesAt } from '../../retry-rules/domain/failures.ts';
import {
  effectsOf,
  packsInForce,
  strictest,
  type Ruled,
  type StopScope,
} from '../../retry-rules/domain/rule-packs.ts';
import { defined } from '../../defined.ts';

/** A payment, by its invoice and its number there. */
export type PaymentRef = { readonly invoiceId: string; readonly paymentId: string };

/** A binding, by its customer and its number there. */
export type BindingRef = { readonly customerId: string; readonly bindingId: string };

/** What began a series, under the names its facts have stored since 0.1.0, whichever it was: those of a payment. */
export function rootOf(began: PaymentRef | BindingRef): PaymentRef {
  return 'bindingId' in began
    ? { invoiceId: began.customerId, paymentId: began.bindingId }
    : { invoiceId: began.invoiceId, paymentId: began.paymentId };
}

/** The series of a parent payment is named after the payment that began it. */
export function seriesIdOf({ invoiceId, paymentId }: PaymentRef): string {
  return `${invoiceId}.${paymentId}`;
}

/** That of a customer goes by his card: the same one bound twice has one series, whatever was bound between. */
export function seriesIdOfCustomer(customerId: string, cardKey: Buffer): string {
  return `${customerId.slice(0, 23)}.${cardKey.toString('hex').slice(0, 16)}`;
}

/** The card as far as a series has to know it. The vault has the number. */
export type SeriesCard = {
  readonly paymentSystem: PaymentSystem;
  readonly lastDigits: string;
  /** The first moment it is no good. */
  readonly endsAt: Instant;
};

/** What is in no fact and shown to nobody: where the card is, and what is the same for every token of its number. */
export type CardRef = { readonly token: string; readonly key: Buffer };

export type SeriesTerms = {
  readonly id: string;
  readonly partyId: string;
  readonly shopId: string;
  /** From a parent payment, or from a card bound to a customer. */
  readonly kind: 'parent' | 'customer';
  /** The payment it began with; of a customer, he and his binding. */
  readonly root: PaymentRef;
  readonly rootNetworkTransactionId?: string;
  readonly card: SeriesCard;
  readonly mandate: Mandate;
  /** When the payer was last present and authenticated. Stops from before do not concern this series. */
  readonly consentedAt: Instant;
  /** The first moment after the lifetime the payer agreed to; none: until cancelled. */
  readonly endsAt?: Instant;
};

export type Stopped = { readonly rule: string; readonly pack: string; readonly scope: StopScope | 'series' };
export type NotBefore = { readonly at: Instant; readonly rule: string; readonly pack: string };
export type Revocation = { readonly by: 'payer' | 'merchant' | 'operator'; readonly reason?: string };

export type Series = SeriesTerms & {
  readonly state:
    | { readonly name: 'active' }
    | ({ readonly name: 'stopped'; readonly at: Instant } & Stopped)
    | ({ readonly name: 'withdrawn'; readonly at: Instant } & Revocation);
  /** The last payment that can be a parent. */
  readonly latest: PaymentRef;
  /** Since when charges fail. Opened by a failure, closed by a success, or by its end after 31 days. */
  readonly failingSince?: Instant;
  /** Invoices made until then are not charged any more: their 31 days are over. */
  readonly deadUntil?: Instant;
  /** No attempt before, by what the network answered last. */
  readonly notBefore?: NotBefore;
  readonly lastSuccessAt: Instant;
  readonly chargesMade: number;
  /** Of what should be known beforehand, all until then has been said. */
  readonly noticedUntil: Instant;
};

/** How the bank answered a charge, as far as the series is concerned. */
export type ChargeOutcome =
  | { readonly outcome: 'approved'; readonly advice?: string }
  | {
      readonly outcome: 'declined';
      readonly network: string;
      readonly code: string;
      readonly advice?: string;
    }
  /** Sent, never answered, taken back: the issuer may have seen it. */
  | { readonly outcome: 'lost' }
  /** It certainly never reached the bank: as if it had not been tried. */
  | { readonly outcome: 'unsent' };

/** A charge that was tried, or is being tried. */
export type Attempt = PaymentRef & {
  readonly createdAt: Instant;
  readonly amount: Money;
  /** It was made while the series was failing. */
  readonly isRetry: boolean;
};

/** What a merchant hears of a series before it happens. */
export type AdvanceNotice = {
  readonly kind:
    'cardExpiring' | 'gapNearing' | 'rareChargeNearing' | 'trialEnding' | 'consentEnding' | 'consentEnded';
  /** When it is said, and of which moment it speaks. */
  readonly at: Instant;
  readonly about: Instant;
};

export type SeriesFact =
  | { readonly type: 'series_started'; readonly terms: SeriesTerms }
  | ({
      readonly type: 'recurring_charge_started';
      readonly isRetry: boolean;
      readonly amount?: { readonly minor: number; readonly currency: Currency };
      /** The rule packs in force when it was allowed. */
      readonly packs: readonly string[];
      readonly warnings: readonly string[];
    } & PaymentRef)
  | ({ readonly type: 'recurring_charge_succeeded'; readonly createdAt: Instant } & PaymentRef)
  | ({
      readonly type: 'recurring_charge_failed';
      readonly isRetry: boolean;
      readonly answer: { readonly network?: string; readonly code?: string; readonly advice?: string };
      readonly notBefore?: NotBefore;
    } & PaymentRef)
  | ({ readonly type: 'recurring_charge_unsent' } & PaymentRef)
  | ({ readonly type: 'series_stopped' } & Stopped)
  | ({ readonly type: 'consent_withdrawn' } & Revocation)
  | ({ readonly type: 'parent_added' } & PaymentRef)
  /** The payer was there again, with the same card: what stood in the way of his consent does not any more. */
  | {
      readonly type: 'consent_renewed';
      readonly card: SeriesCard;
      readonly endsAt?: Instant;
      readonly mandate?: Mandate;
    }
  | { readonly type: 'notice_due'; readonly notice: AdvanceNotice };

/** What follows when a charge has ended, however it is written. */
export type ChargeEnd = {
  readonly ending: ChargeOutcome;
  readonly facts: readonly SeriesFact[];
  /** The widest stop; kept beside the attempt. */
  readonly stop?: Stopped;
  /** The longest wait; kept there where there is no stop. */
  readonly notBefore?: NotBefore;
  /** What concerns the card, and so other series of it. */
  readonly isDecline: boolean;
  readonly cardStop?: Stopped;
};

export function applyOutcome(
  series: Series,
  attempt: Attempt,
  ending: ChargeOutcome,
  now: Instant,
): ChargeEnd {
  const { invoiceId, paymentId, isRetry, createdAt } = attempt;
  const member = { invoiceId, paymentId };
  const packs = packsInForce(series.card.paymentSystem, now);
  const effects = strictest(effectsOf(answerOfNetwork(ending), packs));
  const stop = effects.stop && { ...ruleOf(effects.stop), scope: effects.stop.effect.scope };
  const cardStop = stop?.scope === 'charge' ? undefined : stop;
  const end = { ending, isDecline: countsAsDecline(ending), ...defined({ stop, cardStop }) };
  const stops: SeriesFact[] =
    cardStop && series.state.name === 'active' ? [{ type: 'series_stopped', ...cardStop }] : [];
  switch (ending.outcome) {
    case 'unsent':
      return { ...end, facts: [{ type: 'recurring_charge_unsent', ...member }] };
    case 'approved':
      return { ...end, facts: [{ type: 'recurring_charge_succeeded', ...member, createdAt }, ...stops] };
    default: {
      const { outcome: _, ...answer } = ending;
      const { wait } = effects;
      const then = defined({
        notBefore: wait && { at: laterBy(now, wait.effect.forMs), ...ruleOf(wait) },
      });
      return {
        ...end,
        ...then,
        facts: [{ type: 'recurring_charge_failed', ...member, isRetry, answer, ...then }, ...stops],
      };
    }
  }
}

function ruleOf({ rule, pack }: Ruled) {
  return { rule, pack };
}

/** What the bank says by itself, without having asked the network, is no rule of a network. */
function answerOfNetwork(ending: ChargeOutcome): { code?: string; advice?: string } {
  switch (ending.outcome) {
    case 'approved':
      return defined({ advice: ending.advice });
    case 'declined':
      return ending.network === 'bank' ? {} : ending;
    default:
      return {};
  }
}

/** Whether an ending counts as a decline at the network. */
export function countsAsDecline(ending: ChargeOutcome): boolean {
  return ending.outcome === 'declined' && ending.network !== 'bank';
}

/** The series after a fact, at the moment it happened. */
export function evolve(before: Series | undefined, fact: SeriesFact, now: Instant): Series {
  if (fact.type === 'series_started') {
    if (before) throw new Error('a series starts once');
    const { terms } = fact;
    return {
      ...terms,
      state: { name: 'active' },
      latest: terms.root,
      lastSuccessAt: terms.consentedAt,
      chargesMade: 0,
      noticedUntil: now,
    };
  }
  if (!before) throw new Error(`${fact.type} without a series`);
  const series = seriesAt(before, now);
  switch (fact.type) {
    case 'recurring_charge_started':
    case 'recurring_charge_unsent':
      return series;
    case 'notice_due':
      return { ...series, noticedUntil: fact.notice.at };
    case 'recurring_charge_succeeded': {
      const { failingSince: _, notBefore: __, ...rest } = series;
      const { createdAt: lastSuccessAt } = fact;
      return { ...rest, lastSuccessAt, chargesMade: series.chargesMade + 1 };
    }
    case 'recurring_charge_failed':
      return afterFailure(series, fact, now);
    case 'series_stopped': {
      const { rule, pack, scope } = fact;
      return { ...series, state: { name: 'stopped', at: now, rule, pack, scope } };
    }
    case 'consent_withdrawn': {
      const { type: _, ...how } = fact;
      return { ...series, state: { name: 'withdrawn', at: now, ...how } };
    }
    case 'parent_added':
      return { ...series, latest: { invoiceId: fact.invoiceId, paymentId: fact.paymentId } };
    case 'consent_renewed': {
      const { endsAt: _, ...rest } = series;
      const { card, endsAt, mandate } = fact;
      return {
        ...rest,
        card,
        ...(mandate ? { mandate } : {}),
        ...defined({ endsAt }),
        consentedAt: now,
        state: { name: 'active' },
      };
    }
  }
}

function afterFailure(
  series: Series,
  { isRetry, notBefore }: SeriesFact & { type: 'recurring_charge_failed' },
  now: Instant,
): Series {
  // A retry belongs to the failures it was made in, also when it ends after their end: it opens no new ones.
  const failingSince = series.failingSince ?? (isRetry ? undefined : now);
  const later =
    notBefore && (series.notBefore === undefined || notBefore.at > series.notBefore.at) ? { notBefore } : {};
  return { ...series, ...defined({ failingSince }), ...later };
}
