// What the page shows and offers in each state of a subscription.
import { expect, test } from 'vitest';
import { laterBy, type Instant } from '../../../clock.ts';
import type { Currency } from '../../../money.ts';
import {
  actsOf,
  decideForPayer,
  decideReason,
  nextChargeOf,
} from '../../../subscriptions/domain/payer-acts.ts';
import { decideChargeEnded } from '../../../subscriptions/domain/charge-outcome.ts';
import {
  decideCancel,
  decideCreate,
  decidePause,
  decideWake,
  givingUp,
} from '../../../subscriptions/domain/commands.ts';
import { monthlyPolicy } from '../../../subscriptions/domain/dunning/dunning.ts';
import {
  evolve,
  evolveAll,
  type Subscription,
  type SubscriptionFact,
  type SubscriptionTerms,
} from '../../../subscriptions/domain/subscription.ts';
import { subscriptionParts, type SubscriptionShown } from './subscription-page.ts';
import { subscriptionWords } from './subscription-words.ts';

const now = '2027-03-10T12:00:00.000000Z' as Instant;
const may = { pause: true, changeCard: true };
const window = { from: '06:00', until: '06:01' };
const terms: SubscriptionTerms = {
  id: 'S',
  partyId: 'P',
  shopId: 'shop',
  customerId: 'C',
  createdAt: now,
  currency: 'RUB' as Currency,
  startsWith: 'savedCard',
  items: [{ product: 'Tea & <b>', quantity: 2n, priceMinor: 25_000n }],
  schedule: { every: { count: 1, unit: 'M' }, zone: 'UTC', chargeAt: window, anchor: 'atStart' },
  catchUp: 'current',
  dunning: { ...monthlyPolicy, byClass: {}, tries: [3], at: window },
  trialWithoutCard: 'pause',
};
const invoiceId = 'I';
const paymentId = 'I.1';

function created(more: Partial<SubscriptionTerms> = {}): Subscription {
  const facts = valueOf(decideCreate({ ...terms, ...more }, now));
  const [first, ...others] = facts;
  if (!first) throw new Error('A subscription is created by a fact.');
  return evolveAll(evolve(undefined, first, now), others, now);
}
function valueOf<Value>(outcome: { ok: true; value: Value } | { ok: false }): Value {
  if (!outcome.ok) throw new Error(`refused: ${JSON.stringify(outcome)}`);
  return outcome.value;
}
const after = (subscription: Subscription, facts: readonly SubscriptionFact[]) =>
  evolveAll(subscription, facts, now);
const woken = (subscription: Subscription, at = now) =>
  after(subscription, decideWake(subscription, at, { invoiceId, paymentId }));
function ended(subscription: Subscription, outcome: 'captured' | 'funds'): Subscription {
  const ending =
    outcome === 'captured' ? { outcome } : ({ outcome: 'failed', declineClass: 'funds' } as const);
  return after(subscription, decideChargeEnded(subscription, { number: 1, paymentId }, ending, now));
}

const charging = woken(created());
const active = ended(charging, 'captured');
const pastDue = ended(charging, 'funds');
const paused = (by: 'payer' | 'merchant', resumesAt?: Instant) =>
  after(
    active,
    valueOf(
      decidePause(
        active,
        { by, invoiceId, openPeriods: 'keepTrying', ...(resumesAt ? { resumesAt } : {}) },
        now,
      ),
    ),
  );
const ending = (by: 'payer' | 'merchant') =>
  after(active, valueOf(decideCancel(active, { when: 'periodEnd', by })));

const month = laterBy(now, 31 * 86_400_000);
const states: Record<string, [Subscription, head: string, lead: string, acts: string, next?: string]> = {
  incomplete: [
    created({ startsWith: 'firstPayment' }),
    'Not started yet',
    'The first payment is missing.',
    'end',
  ],
  trialing: [
    woken(created({ schedule: { ...terms.schedule, trialDays: 7 } })),
    'Trial period',
    'You pay nothing until March 17, 2027.',
    'newCard pause end',
    'March 17, 2027: RUB 500.00',
  ],
  charging: [
    charging,
    'Active',
    'A charge is at your bank. The result follows in a moment.',
    'newCard pause end',
  ],
  active: [
    active,
    'Active',
    'You have paid until April 10, 2027.',
    'newCard pause end',
    'April 10, 2027: RUB 500.00',
  ],
  'pastDue with a try to come': [
    pastDue,
    'A charge failed',
    'Your card was not charged. You can pay now, or use another card.',
    'pay newCard pause end',
    'We try again on March 13, 2027: RUB 500.00',
  ],
  'paused by the payer': [
    paused('payer'),
    'Paused',
    'You have paused it, and no new period is charged. Resume it whenever you like.',
    'resume newCard end',
  ],
  'paused by the payer with a period that is unpaid': [
    after(pastDue, valueOf(decideForPayer(pastDue, 'pause', { may, invoiceId }, now))),
    'Paused',
    'You have paused it, and no new period is charged. Resume it whenever you like. What is unpaid is still due.',
    'pay resume newCard end',
    'We try again on March 13, 2027: RUB 500.00',
  ],
  'paused by the merchant until a day': [
    paused('merchant', month),
    'Paused',
    'Books & Co has paused it, and no new period is charged. Only Books & Co can resume it. It continues on April 10, 2027.',
    'newCard end',
    'April 10, 2027: RUB 491.67',
  ],
  'paused by dunning': [
    after(pastDue, givingUp(pastDue, 1, 'pause')),
    'Paused',
    'It was paused because charges failed. Nothing is charged. Ask Books & Co if you want to continue.',
    'newCard end',
  ],
  unpaid: [
    after(pastDue, givingUp(pastDue, 1, 'unpaid')),
    'A payment is missing',
    'Nothing is charged until you have paid what is open.',
    'pay newCard end',
  ],
  'ending by the payer': [
    ending('payer'),
    'Ends on April 10, 2027',
    'No other period is charged.',
    'newCard takeBack reason',
  ],
  'ending by the merchant': [
    ending('merchant'),
    'Ends on April 10, 2027',
    'No other period is charged.',
    'newCard',
  ],
  parked: [
    after(active, [{ type: 'subscription_parked', why: 'periodAhead' }]),
    'On hold',
    'Nothing is charged. Books & Co is looking into it.',
    'newCard end',
  ],
  ended: [
    after(active, valueOf(decideCancel(active, { when: 'now', by: 'payer' }))),
    'Ended',
    'Nothing is charged any more.',
    'reason',
  ],
};

function shownOf(subscription: Subscription): SubscriptionShown {
  const nextCharge = nextChargeOf(subscription);
  return {
    subscription,
    version: 1,
    periods: subscription.latest ? [subscription.latest] : [],
    schedule: 'P1M',
    may,
    acts: actsOf(subscription, may, now),
    now,
    shop: 'Books & Co',
    isTest: false,
    brand: {},
    token: '1.1.a',
    ...(nextCharge ? { nextCharge } : {}),
  };
}
const plain = (html = '') =>
  html.replaceAll('&#38;', '&').replaceAll('&#60;', '<').replaceAll('&#62;', '>').replaceAll('\u00a0', ' ');

test.each(Object.entries(states))('%s', (_, [subscription, head, lead, acts, next]) => {
  const { summary, content } = subscriptionParts(shownOf(subscription), 'en');
  expect(summary).toContain('Tea &#38; &#60;b&#62; × 2');
  expect(plain(content)).toContain(`<h2>${head}</h2><p>${lead}</p>`);
  expect([...content.matchAll(/name="act" value="(\w+)"/g)].map(([, act]) => act).sort()).toEqual(
    acts.split(' ').filter(Boolean).sort(),
  );
  const printed = /Next charge<\/dt><dd>([^<]*)/.exec(plain(content))?.[1];
  expect(printed).toBe(head === 'Ended' ? undefined : (next ?? 'none planned'));
  expect(subscriptionParts(shownOf(subscription), 'ru').content).not.toMatch(/\.\.|\{/);
});

test('a shop that switches both off leaves the payer the end', () => {
  expect(actsOf(active, { pause: false, changeCard: false }, now)).toEqual(['end']);
  expect(actsOf(paused('payer'), { pause: false, changeCard: false }, now)).toEqual(['resume', 'end']);
});

test('what is not offered changes nothing', () => {
  for (const [subscription] of Object.values(states)) {
    const offered = actsOf(subscription, may, now);
    for (const act of ['pause', 'resume', 'end', 'takeBack'] as const) {
      const facts = valueOf(decideForPayer(subscription, act, { may, invoiceId }, now));
      expect(facts.length > 0, `${subscription.phase} ${act}`).toBe(offered.includes(act));
    }
  }
});

test('the reason of an end is asked for once, and only of the payer', () => {
  const asked = ending('payer');
  const given = decideReason(asked, 'notUsed');
  expect(given).toEqual([{ type: 'payer_reason_given', reason: 'notUsed' }]);
  expect(decideReason(after(asked, given), 'other')).toEqual([]);
  expect(decideReason(ending('merchant'), 'other')).toEqual([]);
  expect(decideReason(active, 'other')).toEqual([]);
  const { content } = subscriptionParts(shownOf(after(asked, given)), 'en');
  expect(content).toContain('Thank you for your answer.');
});

test('in Russian, amounts are charged, and periods are not', () => {
  const { next, pausedByPayer, pausedByMerchant, missed } = subscriptionWords.ru;
  expect([next, missed]).toEqual(['Следующее списание', 'без списания']);
  for (const lead of [pausedByPayer, pausedByMerchant])
    expect(lead).toContain('за новые периоды ничего не списывается');
});
