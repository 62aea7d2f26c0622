// The service's side of a life: the plan as commands, and its facts as a story.
import { earliest, epochMsOf, instantAt, latest, type Instant } from '../../../src/clock.ts';
import type { Currency } from '../../../src/money.ts';
import type { Outcome } from '../../../src/refusal.ts';
import {
  decideChange,
  decideChangeChargeEnded,
  decideChangeEnded,
  decideTakeBackChange,
} from '../../../src/subscriptions/domain/changes/change.ts';
import type { ChargeEnding } from '../../../src/subscriptions/domain/charge-outcome.ts';
import {
  decideCancel,
  decideChargeMissed,
  decideFirstPaymentCaptured,
  decideForgive,
  decidePaid,
  decidePause,
  decideResume,
  decideTakenBack,
  decideTry,
  decideUncancel,
  decideZone,
} from '../../../src/subscriptions/domain/commands.ts';
import {
  decideConsentRenewed,
  withChangeConsented,
} from '../../../src/subscriptions/domain/dunning/try-again.ts';
import type { LocalDate } from '../../../src/subscriptions/domain/schedule.ts';
import type {
  Subscription,
  SubscriptionFact,
  SubscriptionTerms,
} from '../../../src/subscriptions/domain/subscription.ts';
import { withoutCredit } from '../../../simulation/checks/subscriptions/changes.ts';
import { dayOf, dayLong, textOf, type Micros } from '../calendar.ts';
import { Life } from './lived.ts';
import type { Act, Answer, Plan, Story } from './plan.ts';

const instant = (at: Micros): Instant => instantAt(at / 1_000);
const micros = (at: Instant): Micros => epochMsOf(at) * 1_000;
const item = (price: number, product = 'Tea') => ({ product, quantity: 1n, priceMinor: BigInt(price) });

function termsOf(plan: Plan): SubscriptionTerms {
  const { interval, anchorDay, trialDays, periods, endsOn } = plan;
  const window = { from: '06:00', until: '10:00' };
  return {
    id: `subscription ${plan.seed}`,
    partyId: 'P',
    shopId: 'S',
    customerId: 'C',
    createdAt: instant(plan.startsAt - (plan.firstPayment?.createdBefore ?? 0)),
    currency: 'RUB' as Currency,
    startsWith: plan.firstPayment ? 'firstPayment' : 'savedCard',
    ...(plan.firstPayment
      ? { firstInvoice: { id: 'first', amountMinor: BigInt(plan.firstPayment.amount) } }
      : {}),
    items: [item(plan.price)],
    schedule: {
      every: 'days' in interval ? { count: interval.days, unit: 'D' } : { count: interval.months, unit: 'M' },
      zone: plan.zone,
      chargeAt: window,
      anchor:
        anchorDay === undefined ? 'atStart' : { day: anchorDay, firstPeriod: plan.firstPeriod ?? 'free' },
      ...(trialDays > 0 ? { trialDays } : {}),
      ...(periods === undefined ? {} : { ends: { periods } }),
      ...(endsOn === undefined ? {} : { ends: { before: textOf(endsOn) } }),
    },
    ...(plan.continuesWith
      ? {
          firstPeriod: {
            number: plan.continuesWith.number,
            startsOn: textOf(plan.continuesWith.startsOn) as LocalDate,
          },
        }
      : {}),
    catchUp: plan.catchUp,
    dunning: {
      name: 'plan',
      version: 1,
      tries: plan.tries,
      at: window,
      byClass: Object.fromEntries(
        Object.entries(plan.classes).map(([name, { tries, most, paydays, within = 1 }]) => [
          name,
          {
            ...(tries ? { tries } : {}),
            ...(most === undefined ? {} : { maxTries: most }),
            ...(paydays ? { onDays: { days: paydays, within } } : {}),
          },
        ]),
      ),
      windowDays: plan.windowDays,
      finally: plan.finally,
      ...(plan.stack ? { stack: true } : {}),
    },
    trialWithoutCard: 'end',
  };
}

function endingOf(answer: Answer, at: Instant): ChargeEnding {
  switch (answer) {
    case 'captured':
    case 'unsent':
      return { outcome: answer };
    case 'stopCharge':
      return { outcome: 'failed', declineClass: 'stopped', stop: 'charge' };
    case 'limitReached':
    case 'periodCharged': {
      const code = answer === 'limitReached' ? 'recurrentRetryLimitReached' : 'recurrentPeriodAlreadyCharged';
      return { outcome: 'refused', code, retryAfter: instant(micros(at) + 12 * dayLong) };
    }
    case 'issuer':
      return { outcome: 'failed', declineClass: answer, retryAfter: instant(micros(at) + 7 * dayLong) };
    default:
      return { outcome: 'failed', declineClass: answer };
  }
}

/** The story of a plan, as the service lives it. */
export function livedStory(plan: Plan): Story {
  return storyOf(lifeOf(plan));
}

export function lifeOf(plan: Plan): Life {
  const life = new Life(termsOf(plan), (charge, _, at) =>
    endingOf(plan.answers[charge - 1] ?? 'captured', at),
  );
  const { firstPayment, startsAt } = plan;
  if (firstPayment?.isPaid) {
    const paid = { invoiceId: 'first', amountMinor: BigInt(firstPayment.amount) };
    const now = instant(startsAt);
    life.take(factsIn(decideFirstPaymentCaptured(life.subscription, paid, now)), now);
  }
  for (const act of plan.acts) {
    runUntil(life, plan, act.at);
    perform(life, act);
  }
  runUntil(life, plan, plan.endsAt);
  return life;
}

function runUntil(life: Life, plan: Plan, end: Micros): void {
  for (;;) {
    const due = life.next?.at;
    const dropped = dropsChangeAt(life.subscription);
    const next = due !== undefined && dropped !== undefined ? earliest(due, dropped) : (due ?? dropped);
    if (next === undefined) return;
    const looks = instant(micros(next) + plan.lateBy);
    const outage = plan.outages.find(({ from, until }) => instant(from) <= looks && looks < instant(until));
    const at = latest(life.now, outage ? instant(outage.until) : looks);
    if (at > instant(end)) return;
    wakeAt(life, at);
  }
}

/** When the invoice of a change is due, and no payment of it is at the bank. */
function dropsChangeAt({ change, parkedFor }: Subscription): Instant | undefined {
  return change?.charging === undefined && parkedFor === undefined ? change?.payableUntil : undefined;
}

/** What others have done comes first. */
function wakeAt(life: Life, at: Instant): void {
  const { subscription } = life;
  const dropped = dropsChangeAt(subscription);
  if (dropped !== undefined && dropped <= at)
    life.take(decideChangeEnded(subscription, subscription.change?.invoiceId ?? '', false), at);
  life.wakeAt(at);
}

function perform(life: Life, act: Act): void {
  const { subscription } = life;
  const now = instant(act.at);
  if (subscription.parkedFor !== undefined) return;
  if (subscription.phase === 'ended' && act.does !== 'bankAnswers') return;
  const facts = factsOf(life, act, now);
  if (act.does === 'priceNow' && facts.some(({ type }) => type === 'change_started'))
    life.answerToChange = act.answer === 'atBank' ? undefined : endingOf(act.answer, now);
  if (act.does === 'consent') {
    life.subscription = withChangeConsented(subscription, now, now);
    if (life.subscription !== subscription) life.answerToChange = { outcome: 'captured' };
  }
  life.take(facts, now);
  if (act.does === 'cancelNow') life.failsRefund = act.failsRefund;
  const isOver = life.subscription.phase === 'ended';
  if (isOver || ['newCard', 'consent', 'priceNow', 'chargeMissed'].includes(act.does)) wakeAt(life, now);
}

/** Of the latest period, if it is paid by its own invoice alone. */
function lossOf({ subscription, rows, facts }: Life): readonly SubscriptionFact[] {
  const latest = [...rows.values()].at(-1);
  const since = facts.findLastIndex(({ type }) => type === 'period_created');
  const isChanged = facts
    .slice(since)
    .some(({ type }) => type === 'items_changed' || type === 'change_started');
  if (latest?.outcome !== 'paid' || latest.amountMinor === 0n || isChanged) return [];
  const others = [...rows.values()].filter((row) => row.outcome === 'paid' && row !== latest);
  return decideTakenBack(
    subscription,
    latest,
    others
      .map(({ endsAt }) => endsAt)
      .toSorted()
      .at(-1),
  );
}

function factsOf(life: Life, act: Act, now: Instant): readonly SubscriptionFact[] {
  const { subscription } = life;
  const oldest = subscription.open[0]?.number ?? 0;
  switch (act.does) {
    case 'pause': {
      const resumes = act.resumesAt === undefined ? {} : { resumesAt: instant(act.resumesAt) };
      const openPeriods = act.forgives ? 'forgive' : 'keepTrying';
      return factsIn(
        decidePause(subscription, { by: 'payer', openPeriods, invoiceId: 'paused', ...resumes }, now),
      );
    }
    case 'resume':
      return factsIn(decideResume(subscription, { invoiceId: 'resumed' }, now));
    case 'cancelNow': {
      const refund = act.refund === 'none' ? {} : { refund: act.refund };
      return factsIn(decideCancel(subscription, { when: 'now', by: 'payer', ...refund }));
    }
    case 'cancelAtEnd':
      return factsIn(decideCancel(subscription, { when: 'periodEnd', by: 'payer' }));
    case 'uncancel':
      return factsIn(decideUncancel(subscription, now));
    case 'payerPays':
      return decidePaid(subscription, oldest, 'payer', now);
    case 'newCard':
      return factsIn(decideTry(subscription, 'newCard'));
    case 'consent':
      return decideConsentRenewed(subscription, now, now);
    case 'chargeMissed': {
      const [missed] = subscription.missed;
      return missed
        ? factsIn(decideChargeMissed(subscription, missed.number, { invoiceId: `missed ${now}` }))
        : [];
    }
    case 'bankTakesBack':
      return lossOf(life);
    case 'forgiveMissed': {
      const [missed] = subscription.missed;
      return missed ? factsIn(decideForgive(subscription, missed.number, now)) : [];
    }
    case 'forgive':
      return oldest === 0 ? [] : factsIn(decideForgive(subscription, oldest, now));
    case 'zone':
      return factsIn(decideZone(subscription, act.zone));
    case 'priceNext':
      return changing(subscription, { price: act.price, when: 'nextPeriod', credit: 'unused' }, now);
    case 'priceNow':
      return changing(subscription, act, now);
    case 'bankAnswers': {
      const ending = endingOf(act.isCaptured ? 'captured' : 'funds', now);
      return decideChangeChargeEnded(subscription, subscription.change?.charging ?? '', ending, now);
    }
    case 'payerPaysChange': {
      const dropped = dropsChangeAt(subscription);
      if (dropped === undefined || dropped <= now) return [];
      return decideChangeEnded(subscription, subscription.change?.invoiceId ?? '', true);
    }
    case 'takeBack':
      return factsIn(decideTakeBackChange(subscription));
  }
}

function changing(
  subscription: Subscription,
  {
    price,
    when,
    credit,
  }: { price: number; when: 'nextPeriod' | 'now' | 'auto' | 'anchorNow'; credit: 'unused' | 'none' },
  now: Instant,
) {
  const items = [item(price, credit === 'none' ? withoutCredit : undefined)];
  const wanted = { items, when, credit };
  return factsIn(decideChange(subscription, wanted, `change ${now}`, now));
}

function factsIn(outcome: Outcome<readonly SubscriptionFact[], string>): readonly SubscriptionFact[] {
  return outcome.ok ? outcome.value : [];
}

function storyOf({ subscription, rows, charges, changeCharges, log }: Life): Story {
  const ended = log.find(({ facts }) => facts.some(({ type }) => type === 'subscription_ended'));
  const { phase, parkedFor, endedFor, creditMinor, endRefund } = subscription;
  return {
    rows: [...rows.values()].map((row) => ({
      number: row.number,
      startsOn: dayOf(row.startsOn),
      endsOn: dayOf(row.endsOn),
      startsAt: micros(row.startsAt),
      endsAt: micros(row.endsAt),
      outcome: row.outcome,
      amount: Number(row.amountMinor),
      credit: Number(row.creditMinor),
    })),
    charges: charges.map(({ number, at }) => ({ number, at: micros(at) })),
    changes: changeCharges.map(({ amountMinor, at }) => ({ amount: Number(amountMinor), at: micros(at) })),
    losses: log.flatMap(({ facts }) =>
      facts.flatMap((fact) => (fact.type === 'payment_taken_back' ? [fact.period.number] : [])),
    ),
    refunds: (endRefund?.refunds ?? []).map(({ amountMinor, failedFor }) => ({
      amount: Number(amountMinor),
      hasFailed: failedFor !== undefined,
    })),
    end: parkedFor === undefined ? (endedFor === undefined ? phase : `${phase} ${endedFor}`) : 'parked',
    ...(ended ? { endedAt: micros(ended.at) } : {}),
    balance: Number(creditMinor),
  };
}
