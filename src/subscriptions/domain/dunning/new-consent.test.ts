// A payer consents again after a charge was refused: what is then tried, and what is not. Written from the rules, case by case.
import { describe, expect, test } from 'vitest';
import { laterBy, type Instant } from '../../../clock.ts';
import type { Currency } from '../../../money.ts';
import { Life } from '../../../../test/models/subscriptions/lived.ts';
import { decideChange, decideChangeEnded } from '../changes/change.ts';
import type { ChargeEnding } from '../charge-outcome.ts';
import { decideCancel, decideCharge, decidePause, decideResume } from '../commands.ts';
import { wakeTimeOf } from '../wake-time.ts';
import type { OpenPeriod, Subscription, SubscriptionTerms } from '../subscription.ts';
import { usualPolicy, type DunningPolicy } from './dunning.ts';
import { decideConsentRenewed, withChangeConsented } from './try-again.ts';

const at = (text: string) => `2027-${text}:00.000000Z` as Instant;
const start = at('02-04T12:00');
const every = { count: 1, unit: 'M' } as const;
const policyThat = (does: DunningPolicy['finally']) => {
  const policy = usualPolicy(every, does);
  if (!policy) throw new Error('A month has a usual policy.');
  return policy;
};
const terms: SubscriptionTerms = {
  id: 'S',
  partyId: 'P',
  shopId: 'shop',
  customerId: 'C',
  createdAt: start,
  currency: 'RUB' as Currency,
  startsWith: 'savedCard',
  items: [{ product: 'Tea', quantity: 1n, priceMinor: 3_000n }],
  schedule: { every, zone: 'UTC', chargeAt: { from: '06:00', until: '10:00' }, anchor: 'atStart' },
  catchUp: 'current',
  dunning: policyThat('unpaid'),
  trialWithoutCard: 'end',
};

type Failure = Exclude<ChargeEnding, { outcome: 'captured' | 'unsent' }>;
const declined = (declineClass: (Failure & { outcome: 'failed' })['declineClass']): Failure => ({
  outcome: 'failed',
  declineClass,
});
const refused = (code: (Failure & { outcome: 'refused' })['code'], retryAfter?: Instant): Failure => ({
  outcome: 'refused',
  code,
  ...(retryAfter ? { retryAfter } : {}),
});

/** The first charge fails on 4 February, and the tries are over on 2 March. Later charges end in these ways, and then by capture. */
function failed(first: Failure, later: readonly Failure[] = [], more: Partial<SubscriptionTerms> = {}): Life {
  const endings = [first, ...later];
  return new Life({ ...terms, ...more }, (charge) => endings[charge - 1] ?? { outcome: 'captured' }).until(
    start,
  );
}

/** The job looks, and sees the consent that is in force. */
function hear(life: Life, consentedAt: Instant, now = consentedAt): Life {
  life.subscription = withChangeConsented(life.subscription, consentedAt, now);
  life.take(decideConsentRenewed(life.subscription, consentedAt, now), now);
  return life.wakeAt(now);
}

function changed(life: Life, change: (subscription: Subscription) => Subscription): Life {
  life.subscription = change(life.subscription);
  return life;
}

const withOldest = (change: (oldest: OpenPeriod) => OpenPeriod) => (subscription: Subscription) => ({
  ...subscription,
  open: subscription.open.map((period, index) => (index === 0 ? change(period) : period)),
});

function pause(life: Life, now: Instant): Life {
  const ids = { by: 'payer', openPeriods: 'keepTrying', invoiceId: 'paused' } as const;
  const paused = decidePause(life.subscription, ids, now);
  if (!paused.ok) throw new Error(paused.refusal.code);
  life.take(paused.value, now);
  return life;
}

const payerPresent = declined('payerPresent');
const before = at('02-03T12:00');
const after = at('02-09T15:30');
/** 26 days after the first failure. */
const end = at('03-02T12:00');
const tries = ({ charges }: Life) => charges.slice(1).map((charge) => charge.at);

describe('of a period that is unpaid', () => {
  test.each<[string, Failure, Instant, Instant[]]>([
    // Only the payer can help, and they have.
    ['a decline that needs the payer', payerPresent, after, [after]],
    ['a decline that needs another card', declined('newCard'), after, [after]],
    ['a stop by the bank', declined('stopped'), after, [after]],
    ['an amount above the consent', refused('recurrentAmountAboveConsent'), after, [after]],
    ['a series that was stopped', refused('recurrentStopped'), after, [after]],
    ['a card that has expired', refused('recurrentCardExpired'), after, [after]],
    // The charge failed with this consent.
    ['a decline that needs the payer, after the consent', payerPresent, before, []],
    ['a decline that needs another card, after the consent', declined('newCard'), before, []],
    ['a stop by the bank, after the consent', declined('stopped'), before, []],
    ['an amount above the present consent', refused('recurrentAmountAboveConsent'), before, []],
    ['a decline at the same moment', payerPresent, start, []],
    // The window.
    ['its last moment', payerPresent, laterBy(end, -1), [laterBy(end, -1)]],
    ['the moment at which the tries are over', payerPresent, end, []],
    ['a time after that', declined('stopped'), at('03-03T12:00'), []],
  ])('%s', (_, failure, consentedAt, charges) => {
    const life = failed(failure);
    const now = consentedAt < start ? after : consentedAt;
    expect(tries(hear(life, consentedAt, now))).toEqual(charges);
    expect(tries(hear(life, consentedAt, now))).toEqual(charges);
  });

  test.each(['funds', 'vague', 'issuer', 'technical', 'configuration'] as const)(
    '%s is healed by something else',
    (declineClass) => {
      const life = failed(declined(declineClass));
      expect(decideConsentRenewed(life.subscription, after, after)).toEqual([]);
      const unplanned = withOldest(({ nextTryAt: _, ...period }) => period)(life.subscription);
      expect(decideConsentRenewed(unplanned, after, after)).toEqual([]);
    },
  );

  test('is tried once for each consent, whatever the try ends in', () => {
    const life = failed(payerPresent, [payerPresent, declined('newCard')]);
    hear(hear(life, after), after, at('02-12T12:00'));
    expect(tries(life)).toEqual([after]);
    const again = at('02-15T12:00');
    expect(tries(hear(life, again))).toEqual([after, again]);
  });

  test('is written in facts that older nodes read, with a member that they pass over', () => {
    const facts = decideConsentRenewed(failed(payerPresent).subscription, after, after);
    expect(facts).toEqual([{ type: 'try_requested', number: 1, by: 'newCard', isConsent: true }]);
  });

  test('waits after two charges in 24 hours, and for a clock that is behind', () => {
    const second = at('02-04T13:00');
    const life = hear(failed(payerPresent, [payerPresent]), second);
    const third = at('02-04T14:00');
    const next = { type: 'charge_postponed', number: 1, why: 'newConsent', until: at('02-05T12:00') };
    expect(decideConsentRenewed(life.subscription, third, third)).toEqual([next]);
    expect(tries(hear(life, third))).toEqual([second]);
    expect(tries(life.until(at('02-06T00:00')))).toEqual([second, at('02-05T12:00')]);
    const ahead = failed(payerPresent, [payerPresent]);
    hear(ahead, after, laterBy(after, -2_000));
    expect(tries(hear(ahead.until(after), after))).toEqual([after]);
  });

  test('waits as long as the rules want, and has no second try if they allow none', () => {
    const tomorrow = at('02-10T12:00');
    const waits = hear(failed(payerPresent, [refused('recurrentRetryTooEarly', tomorrow)]), after);
    expect(tries(waits.until(at('02-11T00:00')))).toEqual([after, tomorrow]);
    const none = hear(failed(payerPresent, [refused('recurrentRetryLimitReached', end)]), after);
    expect(tries(hear(none, after, at('02-12T12:00')))).toEqual([after]);
  });

  test('is not tried while the bank has a charge', () => {
    const life = changed(
      failed(payerPresent),
      withOldest((period) => ({ ...period, charging: 'I.2' })),
    );
    expect(decideConsentRenewed(life.subscription, after, after)).toEqual([]);
  });

  test('keeps a time that the merchant has chosen', () => {
    const life = failed(payerPresent);
    const chosen = at('02-20T12:00');
    const wish = { number: 1, afterDays: 0, at: chosen, invoiceId: 'new' };
    const charge = decideCharge(life.subscription, wish, at('02-05T12:00'));
    life.take(charge.ok ? charge.value : [], at('02-05T12:00'));
    expect(tries(hear(life, after).until(at('02-21T00:00')))).toEqual([chosen]);
  });

  test('waits while charging is stopped, and is tried when a person continues', () => {
    const parked = changed(failed(payerPresent), (subscription) => ({
      ...subscription,
      parkedFor: 'periodAhead',
    }));
    expect(decideConsentRenewed(parked.subscription, after, after)).toEqual([]);
    const later = at('02-11T12:00');
    const resumed = decideResume(parked.subscription, { invoiceId: 'resumed' }, later);
    parked.take(resumed.ok ? resumed.value : [], later);
    expect(tries(hear(parked, after, later))).toEqual([later]);
  });

  test('is tried during a pause by the payer', () => {
    expect(tries(hear(pause(failed(payerPresent), at('02-05T12:00')), after))).toEqual([after]);
  });

  test('is not tried once it was given up, or the subscription has ended', () => {
    const unpaid = failed(payerPresent).until(at('03-02T13:00'));
    expect(unpaid.subscription.phase).toBe('unpaid');
    expect(tries(hear(unpaid, at('03-03T12:00')))).toEqual([]);
    const ended = failed(payerPresent, [], { dunning: policyThat('end') });
    const cancelled = decideCancel(ended.subscription, { when: 'now', by: 'payer' });
    ended.take(cancelled.ok ? cancelled.value : [], at('02-05T12:00'));
    expect(tries(hear(ended, after))).toEqual([]);
  });

  test('that failed under an older version is not tried: when it failed is not known', () => {
    const old = changed(
      failed(payerPresent),
      withOldest(({ failedAt: _, ...period }) => period),
    );
    expect(tries(hear(old, after))).toEqual([]);
  });
});

describe('of a change that is not paid', () => {
  const changedAt = at('02-10T12:00');
  const soon = at('02-10T12:30');
  /** Its invoice is due after three days. */
  const due = at('02-13T12:00');

  /** The first period is paid, and the charge of the change ends in this way. */
  function withChange(ending: Failure | Unsent): Life {
    const life = new Life(terms).until(start);
    life.answerToChange = ending;
    const items = [{ product: 'Tea', quantity: 1n, priceMinor: 9_000n }];
    const wanted = decideChange(life.subscription, { items, when: 'now', credit: 'unused' }, 'I', changedAt);
    if (!wanted.ok) throw new Error(wanted.refusal.code);
    life.take(wanted.value, changedAt);
    return life.wakeAt(changedAt);
  }
  type Unsent = ChargeEnding & { readonly outcome: 'unsent' };
  const tried = ({ changeCharges }: Life) => changeCharges.slice(1).map((charge) => charge.at);

  test.each<[string, Failure | Unsent, Instant, Instant[]]>([
    ['an amount above the consent', refused('recurrentAmountAboveConsent'), soon, [soon]],
    ['a series that was stopped', refused('recurrentStopped'), soon, [soon]],
    ['a card that has expired', refused('recurrentCardExpired'), soon, [soon]],
    ['a decline that needs the payer', payerPresent, soon, [soon]],
    ['a decline that needs another card', declined('newCard'), soon, [soon]],
    ['a stop by the bank', declined('stopped'), soon, [soon]],
    ['an amount above the present consent', refused('recurrentAmountAboveConsent'), before, []],
    ['a stop after the consent', declined('stopped'), before, []],
    ['a decline for want of money', declined('funds'), soon, []],
    ['a bank that was away', { outcome: 'unsent' }, soon, []],
    ['the last moment', payerPresent, laterBy(due, -1), [laterBy(due, -1)]],
    ['the moment at which its invoice is due', payerPresent, due, []],
  ])('%s', (_, ending, consentedAt, charges) => {
    const life = withChange(ending);
    const now = consentedAt < start ? soon : consentedAt;
    expect(tried(hear(life, consentedAt, now))).toEqual(charges);
    expect(tried(hear(life, consentedAt, now))).toEqual(charges);
  });

  test('is looked at each hour while the payer may consent, so that no other write forgets its try', () => {
    const waiting = withChange(payerPresent).subscription;
    expect(wakeTimeOf(waiting, soon)).toBe(laterBy(soon, 3_600_000));
    expect(wakeTimeOf(withChange(declined('funds')).subscription, soon)).not.toBe(laterBy(soon, 3_600_000));
  });

  test('takes effect when the try is captured', () => {
    const life = withChange(payerPresent);
    life.answerToChange = { outcome: 'captured' };
    hear(life, soon);
    expect(life.subscription.change).toBeUndefined();
    expect(life.subscription.items).toMatchObject([{ priceMinor: 9_000n }]);
  });

  test('waits as long as the rules want, and has no other try if that is too long', () => {
    const [tooEarly, tomorrow] = ['recurrentRetryTooEarly', at('02-11T00:00')] as const;
    const life = withChange(payerPresent);
    life.answerToChange = refused(tooEarly, tomorrow);
    hear(hear(life, soon), soon, at('02-10T15:00'));
    expect(tried(life)).toEqual([soon]);
    expect(wakeTimeOf(life.subscription, soon)).toBe(tomorrow);
    life.answerToChange = { outcome: 'captured' };
    expect(tried(life.until(tomorrow))).toEqual([soon, tomorrow]);
    expect(life.subscription.items).toMatchObject([{ priceMinor: 9_000n }]);

    for (const late of [due, undefined]) {
      const unpaid = withChange(payerPresent);
      unpaid.answerToChange = refused(tooEarly, late);
      expect(tried(hear(unpaid, soon).until(laterBy(due, -1)))).toEqual([soon]);
    }
    // Only the payer has asked for a try outside the plan.
    expect(tried(withChange(refused(tooEarly, tomorrow)).until(laterBy(due, -1)))).toEqual([]);
  });

  test('is not used up if the bank was away or held: it is made an hour later, or when the bank wants it', () => {
    const [inAnHour, afterHold] = [at('02-10T13:30'), at('02-10T14:07')];
    for (const [ending, failedFor, next] of [
      [{ outcome: 'unsent' }, 'unsent', inAnHour],
      [{ outcome: 'unsent', isHeld: true, retryAfter: afterHold }, 'held', afterHold],
    ] as const) {
      const life = withChange(payerPresent);
      life.answerToChange = ending;
      hear(life, soon);
      expect(life.facts.at(-1)).toMatchObject({ failedFor, retryAt: next });
      expect(wakeTimeOf(life.subscription, soon)).toBe(next);
      expect(tried(hear(life, soon, at('02-10T13:00')))).toEqual([soon]);
      life.answerToChange = { outcome: 'captured' };
      expect(tried(life.until(next))).toEqual([soon, next]);
      expect(life.subscription.items).toMatchObject([{ priceMinor: 9_000n }]);
    }
    const tooLate = withChange(payerPresent);
    tooLate.answerToChange = { outcome: 'unsent' };
    const last = laterBy(due, -3_600_000);
    expect(tried(hear(tooLate, last).until(laterBy(due, -1)))).toEqual([last]);
  });

  const held = (retryAfter: Instant): Unsent => ({ outcome: 'unsent', isHeld: true, retryAfter });
  const [first, second] = [at('02-10T12:07'), at('02-10T13:14')];

  test.each<[string, Unsent, (ChargeEnding | undefined)[], Instant[]]>([
    ['is made after the hold', held(first), [{ outcome: 'captured' }], [first]],
    [
      'is made after the next hold too',
      held(first),
      [held(second), { outcome: 'captured' }],
      [first, second],
    ],
    ['is declined after the hold, once', held(first), [declined('funds')], [first]],
    [
      'is not sent after the hold, and comes an hour later',
      held(first),
      [{ outcome: 'unsent' }],
      [first, laterBy(first, 3_600_000)],
    ],
    [
      'is refused by the rules after the hold, and comes when they allow it',
      held(first),
      [{ outcome: 'refused', code: 'recurrentRetryTooEarly', retryAfter: second }, { outcome: 'captured' }],
      [first, second],
    ],
    [
      'is refused for good after the hold',
      held(first),
      [{ outcome: 'refused', code: 'recurrentAmountAboveConsent' }],
      [first],
    ],
    ['is not made when its invoice is due', held(due), [], []],
    ['is not made again if the bank was away without a hold', { outcome: 'unsent' }, [], []],
  ])('a first charge under a hold %s', (_, ending, endings, charges) => {
    const life = withChange(ending);
    for (const next of charges) {
      life.answerToChange = endings.shift();
      life.until(next);
    }
    expect(tried(life.until(laterBy(due, -1)))).toEqual(charges);
  });

  test('is paid by the payer while it waits for the end of a hold, and is not charged then', () => {
    const life = withChange(held(first));
    life.take(decideChangeEnded(life.subscription, 'I', true), changedAt);
    expect(tried(life.until(laterBy(due, -1)))).toEqual([]);
    expect(life.subscription.items).toMatchObject([{ priceMinor: 9_000n }]);
  });

  test('waits for the end of a pause, and of a stop of charging', () => {
    const paused = pause(withChange(payerPresent), at('02-10T12:10'));
    expect(withChangeConsented(paused.subscription, soon, soon)).toBe(paused.subscription);
    const later = at('02-11T12:00');
    const resumed = decideResume(paused.subscription, { invoiceId: 'resumed' }, later);
    paused.take(resumed.ok ? resumed.value : [], later);
    expect(tried(hear(paused, soon, later))).toEqual([later]);
    const parked = changed(withChange(payerPresent), (subscription) => ({
      ...subscription,
      parkedFor: 'moreThanTwoChargesADay',
    }));
    expect(withChangeConsented(parked.subscription, soon, soon)).toBe(parked.subscription);
  });

  test('is not tried while its charge is at the bank, or when it is over', () => {
    const life = withChange(payerPresent);
    const charging = changed(life, ({ change, ...subscription }) => ({
      ...subscription,
      ...(change ? { change: { ...change, charging: 'I.2' } } : {}),
    }));
    expect(withChangeConsented(charging.subscription, soon, soon)).toBe(charging.subscription);
    const over = withChange(payerPresent);
    over.take(decideChangeEnded(over.subscription, 'I', false), at('02-10T12:10'));
    expect(tried(hear(over, soon))).toEqual([]);
  });
});
