// Rows of the tables as stories.
import type { AgreementCase } from './agreement-cases.ts';
import { pageBegins, type PageCase, type PageEvent } from './page-cases.ts';
import { dayOf, hour, minute, type Micros, startOf } from './calendar.ts';
import { instantOf, tableBegins, type RetryEvent, type RetryRow } from './retry-table.ts';
import type { Attempt, Outcome, Question, Series, Shop, Story } from './story.ts';

const shop = 'shop';
const terms = { currency: 'RUB' };

export function retryStory(row: RetryRow): { story: Story; question: Question; begins: Micros } {
  const begins = row.begins ? Date.parse(row.begins.at) * 1000 : tableBegins;
  const agreedAt = begins - 100 * hour;
  const series = (id: string, fingerprint: string, more: Micros[] = []): Series => ({
    id,
    shop,
    fingerprint,
    consents: [{ at: agreedAt, terms }, ...more.map((at) => ({ at, terms }))],
  });
  const bindsAt = row.binds && instantOf(row.binds.at, begins);
  const another = row.binds?.card === 'another';
  const story: Story = {
    shops: [{ id: shop, zone: row.begins?.zone ?? 'UTC' }],
    cards: ['card', 'card2'].map((fingerprint) => ({
      fingerprint,
      network: row.network ?? 'visa',
      expires: '2032-12',
    })),
    series: [
      series('series', 'card', row.binds?.card === 'same' ? [bindsAt!] : []),
      series('other', 'card'),
      series('series2', 'card2'),
    ],
    attempts: row.events.map((event, index) => attemptOf(event, index, begins)),
  };
  const { at, invoice = 'A', madeAt = -1, amount = 1000, other, plus = 0 } = row.asks;
  const question: Question = {
    at: instantOf(at, begins) + plus,
    series: another ? 'series2' : other ? 'other' : 'series',
    invoice: { id: invoice, createdAt: instantOf(madeAt, begins) },
    amount,
    currency: 'RUB',
  };
  return { story, question, begins };
}

function attemptOf(event: RetryEvent, index: number, begins: Micros): Attempt {
  const at = instantOf(event.at, begins);
  return {
    id: `attempt${index}`,
    series: event.other ? 'other' : 'series',
    shop,
    fingerprint: 'card',
    invoice: { id: event.invoice ?? 'A', createdAt: instantOf(-1, begins) },
    amount: event.amount ?? 1000,
    currency: 'RUB',
    createdAt: at,
    ...(event.result !== undefined && { outcome: outcomeOf(event.result, at) }),
  };
}

function outcomeOf(result: NonNullable<RetryEvent['result']>, at: Micros): Outcome {
  if (result === 'captured') return { kind: result, at, capturedAt: at };
  return result === 'unsent' ? { kind: result, at } : { kind: 'declined', at, ...result };
}

export function agreementStory(each: AgreementCase): { story: Story; question: Question } {
  const zone = each.shop?.zone ?? 'Europe/Moscow';
  const noonOf = (day: string) => startOf(zone, dayOf(day)) + 12 * hour;
  const agreedAt = noonOf(each.root ?? '2026-01-31');
  const charge = (day: string, outcome: (at: Micros) => Outcome): Attempt => ({
    id: `charge ${day}`,
    series: 'series',
    shop,
    fingerprint: 'card',
    invoice: { id: `invoice ${day}`, createdAt: noonOf(day) - hour },
    amount: each.amount,
    currency: each.currency ?? 'RUB',
    createdAt: noonOf(day),
    outcome: outcome(noonOf(day)),
  });
  const at = noonOf(each.on ?? '2026-03-02');
  return {
    story: {
      shops: [{ id: shop, zone, ...each.shop }],
      cards: [{ fingerprint: 'card', network: 'visa', expires: '2032-12' }],
      series: [
        {
          id: 'series',
          shop,
          fingerprint: 'card',
          consents: [{ at: agreedAt, terms: { ...terms, ...each.terms } }],
          ...(each.isOld && { isOld: true }),
        },
      ],
      attempts: [
        ...(each.captured ?? []).map((day) =>
          charge(day, (at) => ({ kind: 'captured', at, capturedAt: at })),
        ),
        ...(each.declined ?? []).map((day) => charge(day, (at) => ({ kind: 'declined', at, code: '51' }))),
      ],
    },
    question: {
      at,
      series: 'series',
      invoice: { id: 'asked', createdAt: at },
      amount: each.amount,
      currency: each.currency ?? 'RUB',
    },
  };
}

/** Three in one shop, three on one card. */
const places: Readonly<Record<string, { shop: string; fingerprint: string }>> = {
  one: { shop: 'shop', fingerprint: 'card' },
  'same card': { shop: 'shop', fingerprint: 'card' },
  'other card': { shop: 'shop', fingerprint: 'card2' },
  'other shop': { shop: 'shop2', fingerprint: 'card' },
};

export function pageStory({ events, asks, schedule, periodRule }: PageCase): {
  story: Story;
  question: Question;
} {
  const terms = { currency: 'RUB', ...(schedule !== undefined && { schedule }) };
  const shopOf = (id: string): Shop => ({ id, zone: 'UTC', ...(periodRule && { periodRule }) });
  const series = Object.entries(places).map(([id, place]): Series => {
    const renewals = events.flatMap((event) => ('renews' in event && event.renews === id ? [event.at] : []));
    const consents: Series['consents'] = [
      { at: pageBegins, terms },
      ...renewals.map((at) => ({ at: pageBegins + at, terms })),
    ];
    return { id, ...place, consents };
  });
  const { at, series: asked = 'one', invoice = 'A', made = -minute } = asks;
  return {
    story: {
      shops: [shopOf('shop'), shopOf('shop2')],
      cards: ['card', 'card2'].map((fingerprint) => ({ fingerprint, network: 'visa', expires: '2032-12' })),
      series,
      attempts: events.flatMap((event, index) => ('outcome' in event ? [pageAttempt(event, index)] : [])),
      ended: events.flatMap((event) =>
        'ends' in event ? [{ series: event.ends, invoice: event.invoice, at: pageBegins + event.at }] : [],
      ),
    },
    question: {
      at: pageBegins + at,
      series: asked,
      invoice: { id: invoice, createdAt: pageBegins + made },
      amount: 1000,
      currency: 'RUB',
    },
  };
}

function pageAttempt(event: Extract<PageEvent, { outcome: Outcome }>, index: number): Attempt {
  const by = 'charge' in event ? event.charge : event.pays;
  const { at, invoice, outcome } = event;
  const made = ('made' in event ? event.made : undefined) ?? -minute;
  return {
    id: `attempt${index}`,
    ...('charge' in event ? { series: by } : { payerPresent: true }),
    ...places[by]!,
    invoice: { id: invoice, createdAt: pageBegins + made },
    amount: 1000,
    currency: 'RUB',
    createdAt: pageBegins + at,
    outcome: {
      ...outcome,
      at: pageBegins + outcome.at,
      ...('capturedAt' in outcome && { capturedAt: pageBegins + outcome.capturedAt }),
      ...('releasedAt' in outcome && { releasedAt: pageBegins + outcome.releasedAt }),
    },
  };
}
