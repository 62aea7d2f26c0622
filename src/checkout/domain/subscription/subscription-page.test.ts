// What the page shows and offers in each state of a subscription.
import { expect, test } from 'vitest';
import { laterBy, type Instant } from '../../../clock.ts';
import type { Currency } from '../../../money.ts';
import {
  actsOf,
  decideForPayer,
  decideReason,
  type PayerAct,
} from '../../../subscriptions/domain/payer-acts.ts';
import { nextChargeOf } from '../../../subscriptions/domain/duties/next-charge.ts';
import { outlookOf } from '../../../subscriptions/domain/payer-outlook.ts';
import { decideChargeEnded } from '../../../subscriptions/domain/charge-outcome.ts';
import {
  decideCancel,
  decideCreate,
  decidePause,
  decideTry,
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

const unstarted = created({
  startsWith: 'firstPayment',
  firstInvoice: { id: 'first', amountMinor: 30_000n },
});
const parked = (subscription: Subscription) =>
  after(subscription, [{ type: 'subscription_parked', why: 'periodAhead' }]);
const unpaid = after(pastDue, givingUp(pastDue, 1, 'unpaid'));
const month = laterBy(now, 31 * 86_400_000);
const states: Record<string, [Subscription, head: string, lead: string, acts: string, next?: string]> = {
  incomplete: [unstarted, 'Not started yet', 'The first payment is missing.', 'pay end'],
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
    unpaid,
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
  parked: [parked(active), 'On hold', 'Nothing is charged. Books & Co is looking into it.', 'newCard end'],
  ended: [
    after(active, valueOf(decideCancel(active, { when: 'now', by: 'payer' }))),
    'Ended',
    'You ended it, or took back your consent to the charges. Nothing more is charged for it.',
    'reason',
  ],
};

function shownOf(subscription: Subscription, at = now): SubscriptionShown {
  const nextCharge = nextChargeOf(subscription, at);
  const acts = actsOf(subscription, may, at);
  return {
    subscription,
    version: 1,
    periods: subscription.latest ? [subscription.latest] : [],
    receipts: [],
    schedule: 'P1M',
    may,
    acts,
    outlook: outlookOf(subscription, acts, may, at),
    now: at,
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

const endsOn = 'It then ends on April 10, 2027. Until that day you can take it back.';
const stillDue = 'What is unpaid is still due.';
const nextOnApril10 = 'The next charge is then on April 10, 2027: RUB 500.00.';
const overdue = laterBy(now, 32 * 86_400_000);
const imported = created({ firstPeriod: { number: 8, startsOn: '2027-04-01' } });
/** The second period has started, and waits for its announcement. */
const held = (() => {
  const period = decideWake(active, month, { invoiceId, paymentId }).slice(0, 1);
  const why = { why: 'announcementPending', until: laterBy(month, 86_400_000), isUnannounced: true } as const;
  return after(active, [...period, { type: 'charge_postponed', number: 2, ...why }]);
})();
const triedTwice = (() => {
  const again = after(pastDue, valueOf(decideTry(pastDue, 'merchant')));
  return ended(woken(again), 'funds');
})();

/** What a click really leads to, below each button that has such a sentence. */
const hints: Record<string, [Subscription, Partial<Record<PayerAct, string>>, at?: Instant]> = {
  'not started': [unstarted, { end: 'It then ends at once.' }],
  'moved here, before its first period': [imported, { end: 'It then ends at once.' }],
  active: [active, { end: endsOn }],
  'at the bank': [charging, { end: `${endsOn} ${stillDue}` }],
  'past due': [
    pastDue,
    {
      newCard: 'What has failed is charged to the new card at once.',
      pause: 'The next charge is then on March 13, 2027: RUB 500.00.',
      end: `${endsOn} ${stillDue}`,
    },
  ],
  'past due after two charges in a day': [
    triedTwice,
    {
      newCard: 'What has failed is charged to the new card on March 11, 2027.',
      pause: 'The next charge is then on March 13, 2027: RUB 500.00.',
      end: `${endsOn} ${stillDue}`,
    },
  ],
  'past due after its period': [
    pastDue,
    {
      newCard: 'What has failed is charged to the new card at once.',
      pause: 'The next charge is then on April 11, 2027: RUB 500.00.',
      end: 'It then ends as soon as what is unpaid is paid, or is tried no more.',
    },
    overdue,
  ],
  unpaid: [
    unpaid,
    { newCard: 'What is unpaid is not charged to it. Pay that with the button above.', end: endsOn },
  ],
  'unpaid after its period': [
    unpaid,
    {
      newCard: 'What is unpaid is not charged to it. Pay that with the button above.',
      end: 'It then ends at once.',
    },
    overdue,
  ],
  'paused in a paid period': [paused('payer'), { resume: nextOnApril10, end: endsOn }],
  'paused over a renewal': [
    paused('payer'),
    {
      resume: 'The next charge is then on April 11, 2027: RUB 479.17.',
      end: 'It then ends at once.',
    },
    laterBy(month, 18 * 3_600_000),
  ],
  'paused by dunning': [after(pastDue, givingUp(pastDue, 1, 'pause')), { end: endsOn }],
  'on hold': [
    parked(pastDue),
    {
      newCard: 'Nothing is charged to it before Books & Co has ended the hold.',
      end: 'It then ends on April 10, 2027, or later if the hold lasts longer. Until that day you can take it back.',
    },
  ],
  'on hold after its period': [
    parked(active),
    { end: 'It ends once Books & Co has ended the hold.' },
    overdue,
  ],
  'held for an announcement': [held, { end: 'It then ends at once.' }, month],
  'ending by the payer': [ending('payer'), { takeBack: nextOnApril10 }],
  'ending by the merchant': [ending('merchant'), {}],
};

test.each(Object.entries(hints))('below its buttons: %s', (_, [subscription, expected, at = now]) => {
  const { content } = subscriptionParts(shownOf(subscription, at), 'en');
  const shown = [...plain(content).matchAll(/<p id="(\w+)-hint" class="hint">([^<]*)</g)];
  expect(Object.fromEntries(shown.map(([, act, text]) => [act, text]))).toEqual(expected);
  expect(subscriptionParts(shownOf(subscription, at), 'ru').content).not.toMatch(/\.\.|\{/);
});

/** What the payer is asked to agree to covers what was refused. */
const needsPayer = { outcome: 'failed', declineClass: 'payerPresent' } as const;
const aboveConsent = { outcome: 'refused', code: 'recurrentAmountAboveConsent' } as const;
const failing = (subscription: Subscription, how: typeof needsPayer | typeof aboveConsent) =>
  after(subscription, decideChargeEnded(subscription, { number: 1, paymentId }, how, now));
const refused = failing(charging, aboveConsent);
const declinedTwice = (() => {
  const again = after(failing(charging, needsPayer), valueOf(decideTry(refused, 'merchant')));
  return failing(woken(again), needsPayer);
})();
const unpaidOnConsent = after(refused, givingUp(refused, 1, 'unpaid'));
const change = { period: 1, items: terms.items, creditMinor: 0n, chargeMinor: 500n, fromBalanceMinor: 0n };
const changing = after(active, [
  { type: 'change_started', change: { ...change, invoiceId, payableUntil: laterBy(now, 86_400_000) } },
  { type: 'change_charge_started', paymentId },
  { type: 'change_charge_failed', failedFor: 'recurrentAmountAboveConsent', isUnsent: true },
]);

test.each<[string, Subscription, string | undefined]>([
  ['nothing was refused', active, undefined],
  ['a period was refused', refused, 'If you agree, what was refused is charged at once.'],
  [
    'a period was declined twice today',
    declinedTwice,
    'If you agree, what was refused is charged on March 11, 2027.',
  ],
  ['a change was refused', changing, 'If you agree, what was refused is charged at once.'],
  ['a retry is planned', pastDue, undefined],
  [
    'the tries are over',
    unpaidOnConsent,
    'What is unpaid is not charged automatically. Pay that with the button below.',
  ],
  ['it is on hold', parked(refused), undefined],
])('below the new terms, if %s', (_, subscription, hint) => {
  const mayAgree = { ...may, agree: true };
  const acts = actsOf(subscription, mayAgree, now);
  const outlook = outlookOf(subscription, acts, mayAgree, now);
  const shown = { ...shownOf(subscription), may: mayAgree, acts, outlook };
  const { content } = subscriptionParts(shown, 'en');
  expect(/<p id="agree-hint" class="hint">([^<]*)</.exec(plain(content))?.[1]).toBe(hint);
  expect(content).toContain('value="agree"');
  expect(subscriptionParts(shown, 'ru').content).not.toMatch(/\.\.|\{/);
});

test('the first payment has its own price, and a subscription that was moved here no period yet', () => {
  expect(plain(subscriptionParts(shownOf(unstarted), 'en').content)).toContain('>Pay RUB 300.00<');
  const content = plain(subscriptionParts(shownOf(imported), 'en').content);
  expect(content).toMatch(/<h2>Active<\/h2>\s*<dl/);
  expect(content).toContain('April 1, 2027: RUB 500.00');
});

test('an end that waits says for what', () => {
  const endedBy = (subscription: Subscription) =>
    after(subscription, valueOf(decideForPayer(subscription, 'end', { may, invoiceId }, now)));
  const said = (subscription: Subscription, at = now) =>
    plain(subscriptionParts(shownOf(endedBy(subscription), at), 'en').content);
  expect(said(pastDue, overdue)).toContain(`<h2>Ending</h2><p>No other period is charged. ${stillDue}</p>`);
  expect(said(parked(active))).toContain('<h2>On hold</h2>');
  expect(said(parked(active))).toContain('It ends once Books & Co has ended the hold.');
});

test('another card is offered in words only where there is a button for it', () => {
  const shown = { ...shownOf(pastDue), acts: ['pay', 'end'] } as const;
  expect(subscriptionParts(shown, 'en').content).toContain('You can pay now.</p>');
});

const { customerId: _, ...ofPayment } = pastDue.terms;
const card = { paymentSystem: 'visa', lastDigits: '4242' } as unknown as NonNullable<
  SubscriptionShown['card']
>;

test.each<[string, Partial<SubscriptionShown>, 'payOrReplace' | 'payKeepsCard' | undefined]>([
  ['with a customer, and another card on offer', { card }, 'payOrReplace'],
  ['with a customer alone', { card, acts: ['pay', 'end'] }, 'payKeepsCard'],
  ['started with a payment', { card, subscription: { ...pastDue, terms: ofPayment } }, undefined],
  ['without a card', {}, undefined],
])('below the payment, which card is charged later: %s', (_, more, expected) => {
  const shown = { ...shownOf(pastDue), ...more };
  for (const locale of ['en', 'ru'] as const) {
    const hint = /<p id="pay-hint" class="hint">([^<]*)</.exec(subscriptionParts(shown, locale).content);
    expect(hint?.[1]).toBe(expected && subscriptionWords[locale][expected]);
  }
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
