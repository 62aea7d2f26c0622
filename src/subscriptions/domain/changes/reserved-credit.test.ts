// Credit that a change uses, whose money a bank takes back before the change is paid. Each case is worked out by hand.
import { expect, test } from 'vitest';
import { Life } from '../../../../test/models/subscriptions/lived.ts';
import { withoutCredit } from '../../../../simulation/checks/subscriptions/changes.ts';
import { keptOf, problemsOf } from '../../../../test/models/subscriptions/logs.ts';
import { planFrom } from '../../../../test/models/subscriptions/plan.ts';
import type { Instant } from '../../../clock.ts';
import type { Currency } from '../../../money.ts';
import type { Outcome } from '../../../refusal.ts';
import { decideTakenBack } from '../commands.ts';
import { monthlyPolicy } from '../dunning/dunning.ts';
import type { SubscriptionFact, SubscriptionTerms } from '../subscription.ts';
import {
  decideChange,
  decideChangeChargeEnded,
  decideChangeEnded,
  decideTakeBackChange,
  type WantedChange,
} from './change.ts';

const at = (text: string) => `2027-${text}:00.000000Z` as Instant;
const window = { from: '06:00', until: '06:01' };
const tea = (priceMinor: bigint, product = 'Tea') => [{ product, quantity: 1n, priceMinor }];
const terms: SubscriptionTerms = {
  id: 'S',
  partyId: 'P',
  shopId: 'shop',
  customerId: 'C',
  createdAt: at('01-31T12:00'),
  currency: 'RUB' as Currency,
  startsWith: 'savedCard',
  items: tea(30_000n),
  schedule: { every: { count: 1, unit: 'M' }, zone: 'UTC', chargeAt: window, anchor: 'atStart' },
  catchUp: 'current',
  dunning: { ...monthlyPolicy, byClass: {}, tries: [3], at: window },
  trialWithoutCard: 'pause',
};
const [cheaperAt, dearerAt] = [at('02-11T12:00'), at('02-12T00:00')];

function take(life: Life, outcome: Outcome<readonly SubscriptionFact[], string>, now: Instant): void {
  if (!outcome.ok) throw new Error(outcome.refusal.code);
  life.take(outcome.value, now);
}

/** 17,679 of 30,000 are unused: a new period takes 5,000 of that, and 12,679 are credit. On the next day a change uses all of it. */
function reserving(wanted: Partial<WantedChange>): Life {
  const life = new Life(terms).until(cheaperAt);
  const cheaper = { items: tea(5_000n), when: 'anchorNow', credit: 'unused' } as const;
  take(life, decideChange(life.subscription, cheaper, 'A', cheaperAt), cheaperAt);
  expect(life.subscription).toMatchObject({ creditMinor: 12_679n, paidMinor: 5_000n });
  const dearer = { items: tea(40_000n, withoutCredit), when: 'now', credit: 'none', ...wanted } as const;
  take(life, decideChange(life.subscription, dearer, 'C', dearerAt), dearerAt);
  expect(life.subscription).toMatchObject({ creditMinor: 0n, change: { fromBalanceMinor: 12_679n } });
  return life.wakeAt(dearerAt);
}

const lose = (life: Life) =>
  life.take(decideTakenBack(life.subscription, life.rows.get(1)!, life.subscription.paidThrough), dearerAt);
const chargingOf = ({ subscription }: Life) => subscription.change?.charging ?? '';
const captured = (life: Life) =>
  life.take(
    decideChangeChargeEnded(life.subscription, chargingOf(life), { outcome: 'captured' }, dearerAt),
    dearerAt,
  );
const declined = (life: Life) =>
  life.take(
    decideChangeChargeEnded(
      life.subscription,
      chargingOf(life),
      { outcome: 'failed', declineClass: 'funds' },
      dearerAt,
    ),
    dearerAt,
  );
const paid = (life: Life) => life.take(decideChangeEnded(life.subscription, 'C', true), dearerAt);
const dropped = (life: Life) => life.take(decideChangeEnded(life.subscription, 'C', false), dearerAt);
const takenBack = (life: Life) => take(life, decideTakeBackChange(life.subscription), dearerAt);
const newPeriod = { when: 'anchorNow' } as const;

// 27 of 28 days of 40,000 are 38,571. Of the loss of 30,000, 12,321 are the period's own, 12,679 credit, and 5,000 of the new period.
test.each<[string, Partial<WantedChange>, ((life: Life) => void)[], { paid: bigint; credit: bigint }]>([
  ['stays without a loss', {}, [captured], { paid: 5_000n + 38_571n, credit: 0n }],
  [
    'stays without a loss, for a change that is dropped',
    {},
    [declined, dropped],
    { paid: 5_000n, credit: 12_679n },
  ],
  ['is not paid of a change that is captured', {}, [lose, captured], { paid: 38_571n - 12_679n, credit: 0n }],
  [
    'is not paid of a change that the payer pays',
    {},
    [lose, declined, paid],
    { paid: 38_571n - 12_679n, credit: 0n },
  ],
  [
    'is lost once, whenever the charge fails',
    {},
    [declined, lose, paid],
    { paid: 38_571n - 12_679n, credit: 0n },
  ],
  [
    'does not come back with a change that is dropped',
    {},
    [lose, declined, dropped],
    { paid: 0n, credit: 0n },
  ],
  [
    'does not come back with a change that is taken back',
    {},
    [lose, declined, takenBack],
    { paid: 0n, credit: 0n },
  ],
  [
    'is taken from the change if that is paid before',
    {},
    [captured, lose],
    { paid: 43_571n - 17_679n, credit: 0n },
  ],
  ['stays without a loss, for a new period', newPeriod, [captured], { paid: 40_000n, credit: 0n }],
  ['is not paid of a new period', newPeriod, [lose, captured], { paid: 40_000n - 12_679n, credit: 0n }],
])('credit that is reserved %s', (_, wanted, then, expected) => {
  const life = reserving(wanted);
  for (const act of then) act(life);
  const { paidMinor, creditMinor, change } = life.subscription;
  expect({ paid: paidMinor, credit: creditMinor }).toEqual(expected);
  expect(change).toBeUndefined();
  expect(problemsOf(keptOf(planFrom(1), life))).toEqual([]);
});
