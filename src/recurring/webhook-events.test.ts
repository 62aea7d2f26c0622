import { expect, test } from 'vitest';
import { parseInstant, type Instant } from '../clock.ts';
import { recurringTopic, seriesChangeOf } from './webhook-events.ts';
import type { SeriesFact, SeriesTerms } from './domain/series.ts';
import type { Currency } from '../money.ts';

const at = parseInstant('2026-01-19T10:00:00.123456Z') as Instant;
const later = parseInstant('2026-02-19T10:00:00Z') as Instant;
const root = { invoiceId: 'I', paymentId: '1' };
const charge = { invoiceId: 'J', paymentId: '1' };
const terms: SeriesTerms = {
  id: 'I.1',
  partyId: 'P',
  shopId: 'SHOP',
  kind: 'parent',
  root,
  rootNetworkTransactionId: 'secret-of-the-network',
  card: {
    paymentSystem: 'visa',
    lastDigits: '4242',
    endsAt: parseInstant('2031-01-01T12:00:00Z') as Instant,
  },
  mandate: {
    schedule: 'P1M',
    evidence: 'missing',
    payer: { ip: '192.0.2.1', contactInfo: { email: 'payer@example.com' } },
    payment: { createdAt: at, amountMinor: 100, currency: 'RUB' as Currency, reference: '1' },
  },
  consentedAt: at,
};
const facts: SeriesFact[][] = [
  [{ type: 'series_started', terms }],
  [
    {
      type: 'recurring_charge_started',
      ...charge,
      isRetry: false,
      packs: ['house@2026-11-23'],
      warnings: ['w'],
    },
  ],
  [
    {
      type: 'recurring_charge_failed',
      ...charge,
      isRetry: false,
      answer: { network: 'visa', code: '41' },
      notBefore: { at: later, rule: 'advice 02', pack: 'advice@2025-01-01.2' },
    },
    { type: 'series_stopped', rule: 'code 41', pack: 'visa@2025-05-01.2', scope: 'cardInShop' },
  ],
  [{ type: 'consent_withdrawn', by: 'payer' }],
];
const log = facts.map((group, place) => ({
  sequence: place + 1,
  createdAt: place < 2 ? at : later,
  facts: group,
}));

const series = (more: object) => ({
  id: 'I.1',
  shopID: 'SHOP',
  status: 'active',
  rootPayment: { invoiceID: 'I', paymentID: '1' },
  latestParent: { invoiceID: 'I', paymentID: '1' },
  card: { paymentSystem: 'visa', lastDigits: '4242', goodUntil: '2031-01-01T12:00:00.000000Z' },
  consentedAt: at,
  lastSuccessAt: at,
  chargesMade: 0,
  ...more,
});
const payment = { invoiceID: 'J', paymentID: '1' };
const wait = { notBefore: later, rule: 'advice 02', rulePack: 'advice@2025-01-01.2' };

test('each change is sent with the series right after it, without card data but the last digits', () => {
  const webhookEvents = recurringTopic.webhookEventsOf(log);
  expect(
    webhookEvents.map(({ sequence, index, eventType, members }) => [sequence, index, eventType, members]),
  ).toEqual([
    [1, 0, 'SeriesStarted', { series: series({}) }],
    [2, 0, 'RecurringChargeStarted', { series: series({}), payment, warnings: ['w'] }],
    [3, 0, 'RecurringChargeFailed', { series: series({ failingSince: later }), payment, ...wait }],
    [
      3,
      1,
      'SeriesStopped',
      {
        series: series({ status: 'stopped', failingSince: later }),
        rule: 'code 41',
        rulePack: 'visa@2025-05-01.2',
      },
    ],
    [4, 0, 'ConsentWithdrawn', { series: series({ status: 'withdrawn', failingSince: later }), by: 'payer' }],
  ]);
  expect(JSON.stringify(webhookEvents)).not.toMatch(/secret|192\.0\.2\.1|payer@example/);
});

test('webhook events have the same types as the event feed', () => {
  for (const { facts: group, sequence } of log) {
    const told = recurringTopic.webhookEventsOf(log).filter((notice) => notice.sequence === sequence);
    expect(recurringTopic.typesOf(group)).toEqual(told.map(({ registeredType }) => registeredType));
    expect(group.map((fact) => seriesChangeOf(fact).changeType)).toEqual(recurringTopic.typesOf(group));
  }
  expect(recurringTopic.ownersOf(facts[0]!)).toEqual([{ id: 'SHOP' }]);
  expect(recurringTopic.eventTypes).toHaveLength(11);
});

test('the series of a saved card names its customer and binding', () => {
  const [started] = recurringTopic.webhookEventsOf([
    {
      sequence: 1,
      createdAt: at,
      facts: [{ type: 'series_started', terms: { ...terms, kind: 'customer' } }],
    },
  ]);
  expect(started?.members['series']).toMatchObject({
    rootBinding: { customerID: 'I', customerBindingID: '1' },
  });
  expect(started?.members['series']).not.toHaveProperty('rootPayment');
});

test('facts of an unknown kind are skipped', () => {
  expect(recurringTopic.typesOf([{ type: 'fact_of_tomorrow' }])).toEqual([]);
});
