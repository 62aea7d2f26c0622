// What each button of the payer's page would lead to, by the decisions that the button makes and those that follow.
import { latest, laterBy, type Instant } from '../../clock.ts';
import { decideNewCard, tryOnConsent } from './dunning/try-again.ts';
import { nextChargeOf, type NextCharge } from './duties/next-charge.ts';
import { decideForPayer, type PayerAct, type PayerMay } from './payer-acts.ts';
import { evolveAll, nextAction, type Subscription } from './subscription.ts';

/** `settled`: what is unpaid is paid or given up first. `hold`: a person ends the hold first, and `at` is not before that. */
export type EndOutlook = { readonly waitsFor?: 'settled' | 'hold'; readonly at?: Instant };
/** `payer`: it is not tried, only the payer can pay. */
export type TryOutlook = { readonly waitsFor?: 'payer' | 'hold'; readonly at?: Instant };

export type Outlook = {
  readonly end?: EndOutlook;
  /** What has failed, with another card. */
  readonly newCard?: TryOutlook;
  /** What was refused, after the consent. */
  readonly agree?: TryOutlook;
} & { readonly [Act in 'pause' | 'resume' | 'takeBack']?: NextCharge };

export function outlookOf(
  subscription: Subscription,
  acts: readonly PayerAct[],
  may: PayerMay,
  now: Instant,
): Outlook {
  const after = (act: 'pause' | 'resume' | 'end' | 'takeBack') => {
    const decided = decideForPayer(subscription, act, { may, invoiceId: '' }, now);
    return evolveAll(subscription, decided.ok ? decided.value : [], now);
  };
  const charges = (['pause', 'resume', 'takeBack'] as const).flatMap((act) => {
    const charge = acts.includes(act) ? nextChargeOf(after(act), now) : undefined;
    return charge ? [[act, { ...charge, at: latest(charge.at, now) }] as const] : [];
  });
  const newCard = acts.includes('newCard') ? newCardOutlook(subscription, now) : undefined;
  const agree = acts.includes('agree') ? agreeOutlook(subscription, now) : undefined;
  return {
    ...Object.fromEntries(charges),
    ...(acts.includes('end') ? { end: endOutlook(after('end'), now) } : {}),
    ...(newCard ? { newCard } : {}),
    ...(agree ? { agree } : {}),
  };
}

/** Nothing waits, and no date: at once. */
function endOutlook({ phase, parkedFor, latest: last, open }: Subscription, now: Instant): EndOutlook {
  if (phase === 'ended' || !last) return {};
  const on = last.endsAt > now ? { at: last.endsAt } : {};
  if (parkedFor !== undefined) return { ...on, waitsFor: 'hold' };
  const isTried = open.some(({ outcome }) => outcome === 'open');
  return isTried ? { ...on, waitsFor: 'settled' } : on;
}

/** Undefined if nothing has failed, or a charge is at the bank. */
function newCardOutlook(subscription: Subscription, now: Instant): TryOutlook | undefined {
  const { phase, parkedFor, open } = subscription;
  const [oldest] = open;
  if (oldest?.declineClass === undefined || oldest.charging !== undefined) return undefined;
  if (phase === 'unpaid') return { waitsFor: 'payer' };
  if (parkedFor !== undefined) return { waitsFor: 'hold' };
  const next = nextAction(evolveAll(subscription, decideNewCard(subscription, '', now), now));
  if (next?.does !== 'charge' || next.number !== oldest.number) return undefined;
  return next.at > now ? { at: next.at } : {};
}

/** Undefined if nothing waits for the consent, or a person has to end a hold first. */
function agreeOutlook(subscription: Subscription, now: Instant): TryOutlook | undefined {
  const { phase, parkedFor, open } = subscription;
  if (phase === 'unpaid' && parkedFor === undefined && open[0]?.charging === undefined)
    return { waitsFor: 'payer' };
  // They agree later.
  const tried = tryOnConsent(subscription, laterBy(now, 1), now);
  if (!tried) return undefined;
  return tried.at > laterBy(now, 1) ? { at: tried.at } : {};
}
