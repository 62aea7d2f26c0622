// In random lives a receiver of webhook events knows at every moment what the API shows.
import { expect, test } from 'vitest';
import { periodBody, subscriptionBody } from '../../../src/subscriptions/api/schema.ts';
import {
  evolve,
  type Period,
  type Subscription,
  type SubscriptionFact,
} from '../../../src/subscriptions/domain/subscription.ts';
import { subscriptionFact } from '../../../src/subscriptions/store/codec.ts';
import { subscriptionsTopic } from '../../../src/subscriptions/webhook-events.ts';
import { written } from '../../../src/platform/database/codec.ts';
import { chosenSeed } from '../../support/service/chosen-seed.ts';
import { often } from '../../support/service/campaign.ts';
import type { Instant } from '../../../src/clock.ts';
import { planFrom } from './plan.ts';
import { exampleLogs } from '../../../tools/documents/example-logs.ts';
import { Receiver, type Received } from './received.ts';
import { lifeOf } from './service.ts';

const lives = often(300, 20_000);
const seed = chosenSeed('SUBSCRIPTION_SEED');

const sent = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** The rows of the periods after a fact, as the store writes them. */
function keep(rows: Map<number, Period>, fact: SubscriptionFact): void {
  const set = (number: number, change: Partial<Period>) => {
    const row = rows.get(number);
    if (row) rows.set(number, { ...row, ...change });
  };
  if (fact.type === 'period_created' || fact.type === 'payment_taken_back')
    rows.set(fact.period.number, fact.period);
  if (fact.type === 'period_paid') set(fact.number, { outcome: 'paid' });
  if (fact.type === 'period_closed') set(fact.number, { outcome: fact.outcome });
  if (fact.type === 'subscription_unpaid') set(fact.number, { outcome: 'unpaid' });
  if (fact.type === 'missed_period_charged') set(fact.number, { outcome: 'open', invoiceId: fact.invoiceId });
}

type Step = { readonly at: Instant; readonly facts: readonly SubscriptionFact[] };

/** Throws where the receiver knows something else. Returns what it has heard. */
function receive(log: readonly Step[], story: string): string[] {
  const logged = log.map(({ at, facts }, index) => ({
    sequence: index + 1,
    createdAt: at,
    facts: facts.map((fact) => sent(written(subscriptionFact, fact))),
  }));
  const events = subscriptionsTopic.webhookEventsOf(logged);
  const receiver = new Receiver();
  const rows = new Map<number, Period>();
  let subscription: Subscription | undefined;
  for (const [index, { at, facts }] of log.entries()) {
    for (const fact of facts) {
      subscription = evolve(subscription, fact, at);
      keep(rows, fact);
    }
    for (const { sequence, eventType, members } of events)
      if (sequence === index + 1) receiver.take(sent({ eventType, ...members }) as Received);
    const after = `${JSON.stringify(facts.map(({ type }) => type))} of ${story}`;
    expect(receiver.subscription, after).toEqual(sent(subscriptionBody(subscription!)));
    const listed = [...rows.values()].toSorted((one, other) => other.number - one.number).map(periodBody);
    expect(receiver.periods, after).toEqual(sent(listed));
  }
  return events.map(({ eventType }) => eventType);
}

test(`a receiver knows what the API shows, in ${lives} lives (SUBSCRIPTION_SEED=${seed})`, () => {
  const heard = new Set<string>();
  for (let life = 0; life < lives; life++) {
    const plan = planFrom(1_000_003 * seed + life);
    for (const type of receive(lifeOf(plan).log, JSON.stringify(plan))) heard.add(type);
  }
  expect(heard.size).toBeGreaterThan(20);
});

test('and after each kind of event', () => {
  const heard = (exampleLogs['SubscriptionsTopic'] ?? []).flatMap((log) =>
    receive(
      log.map(({ createdAt: at, facts }) => ({
        at,
        facts: facts.map((fact) => subscriptionFact.read(fact)),
      })),
      'the examples',
    ),
  );
  expect([...new Set(heard)].toSorted()).toEqual([...subscriptionsTopic.eventTypes].toSorted());
});
