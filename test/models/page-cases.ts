// Cases about stops, holds and the last success. Each was typed from the sentence of the rules that it names, not from the code.
import { dayLong as day, minute, type Micros } from './calendar.ts';
import type { Code, Outcome, Warning } from './story.ts';

/** The first period of a monthly schedule: the consent is of March. */
const month = 31 * day;

export interface PageCase {
  says: string;
  /** In minutes from the first consent: what happens before the question. */
  events: readonly PageEvent[];
  asks: { at: Micros; series?: string; invoice?: string };
  schedule?: string;
  periodRule?: 'warn' | 'refuse';
  expect: 'accepted' | Code | Warning;
}

export type PageEvent =
  | { charge: string; invoice: string; at: Micros; outcome: Outcome }
  /** A payment with the payer present, by the card of a series and without a consent. */
  | { pays: string; invoice: string; at: Micros; outcome: Outcome }
  | { renews: string; at: Micros };

const declined = (code: string, at: Micros): Outcome => ({ kind: 'declined', code, at });
const captured = (at: Micros): Outcome => ({ kind: 'captured', at, capturedAt: at });
const charge = (series: string, invoice: string, code: string): PageEvent => ({
  charge: series,
  invoice,
  at: day,
  outcome: declined(code, day + minute),
});
const pays = (series: string, invoice: string, code: string): PageEvent => ({
  pays: series,
  invoice,
  at: day,
  outcome: declined(code, day + minute),
});
const stopped = 'recurrentStopped';
const later = 3 * day;

const invoiceOnly = 'R0: refuse further attempts on this invoice or obligation';
const nextAllowed = 'R0: the next period is allowed';
const lifted = 'only a new payer-present 3-D Secure success lifts a stop';
const cardInShop = 'a hard decline stops all series on the card in the shop';
const everywhere = 'R3: all charges without the payer on the card are stopped, in all shops';
const present = 'a final decline with the payer present stops charges as if one had been declined';

const stops: readonly PageCase[] = [
  { says: invoiceOnly, events: [charge('one', 'A', 'R0')], asks: { at: later }, expect: stopped },
  { says: invoiceOnly, events: [charge('one', 'A', 'R0')], asks: { at: month }, expect: stopped },
  {
    says: nextAllowed,
    events: [charge('one', 'A', 'R0')],
    asks: { at: later, invoice: 'B' },
    expect: 'accepted',
  },
  ...['same card', 'other card'].map((series): PageCase => ({
    says: `${invoiceOnly}, also by a series with the ${series}`,
    events: [charge('one', 'A', 'R0')],
    asks: { at: later, series },
    expect: stopped,
  })),
  {
    says: nextAllowed,
    events: [charge('one', 'A', 'R0')],
    asks: { at: later, series: 'same card', invoice: 'B' },
    expect: 'accepted',
  },
  ...['one', 'same card', 'other card'].map((series): PageCase => ({
    says: `${present}: the invoice, for ${series}`,
    events: [pays('one', 'A', 'R0')],
    asks: { at: later, series },
    expect: stopped,
  })),
  {
    says: `${present}: of R0 only the invoice`,
    events: [pays('one', 'A', 'R0')],
    asks: { at: later, invoice: 'B' },
    expect: 'accepted',
  },
  ...(['one', 'same card', 'other card'] as const).flatMap((series) =>
    [charge('one', 'A', 'R0'), pays('one', 'A', 'R0')].map((stop): PageCase => ({
      says: `${lifted}: of the invoice, for ${series}`,
      events: [stop, { renews: series, at: 2 * day }],
      asks: { at: later, series },
      expect: 'accepted',
    })),
  ),
  {
    says: `${lifted}: not one before the stop`,
    events: [{ renews: 'one', at: minute }, charge('one', 'A', 'R0')],
    asks: { at: later },
    expect: stopped,
  },
  {
    says: `${lifted}: not one in another series`,
    events: [charge('one', 'A', 'R0'), { renews: 'same card', at: 2 * day }],
    asks: { at: later },
    expect: stopped,
  },
  {
    says: `${lifted}: a payment is no consent`,
    events: [
      charge('one', 'A', 'R0'),
      { pays: 'one', invoice: 'C', at: 2 * day, outcome: captured(2 * day) },
    ],
    asks: { at: later },
    expect: stopped,
  },
  ...['04', '07', '41', '43', 'R1'].flatMap((code): PageCase[] => [
    {
      says: `${cardInShop}: ${code}`,
      events: [charge('one', 'A', code)],
      asks: { at: later, series: 'same card', invoice: 'B' },
      expect: stopped,
    },
    {
      says: `${present}: ${code}`,
      events: [pays('one', 'A', code)],
      asks: { at: later, series: 'same card', invoice: 'B' },
      expect: stopped,
    },
    {
      says: `${cardInShop}, and not in another: ${code}`,
      events: [charge('one', 'A', code)],
      asks: { at: later, series: 'other shop', invoice: 'B' },
      expect: 'accepted',
    },
    {
      says: `${lifted}: ${code}`,
      events: [charge('one', 'A', code), { renews: 'same card', at: 2 * day }],
      asks: { at: later, series: 'same card', invoice: 'B' },
      expect: 'accepted',
    },
  ]),
  {
    says: everywhere,
    events: [charge('one', 'A', 'R3')],
    asks: { at: later, series: 'other shop', invoice: 'B' },
    expect: stopped,
  },
];

const already = 'recurrentPeriodAlreadyCharged';
const refuses = 'a charge of the same period is refused where the shop says so';
const held = (outcome: Outcome): PageEvent => ({
  charge: 'one',
  invoice: 'H',
  at: outcome.at - minute,
  outcome,
});
const heldUntil = (capturedAt: Micros, at = day) => held({ kind: 'captured', at, capturedAt });
const releasedAt = (at: Micros) => held({ kind: 'released', at: day, releasedAt: at });
const monthly = { schedule: 'P1M', periodRule: 'refuse' } as const;

const holds: readonly PageCase[] = [
  {
    says: `${refuses}: a hold can still be captured in it`,
    ...monthly,
    events: [heldUntil(5 * day)],
    asks: { at: later },
    expect: already,
  },
  {
    says: `${refuses}: a hold of the period before can be captured in this one`,
    ...monthly,
    events: [heldUntil(month + 5 * day, month - day)],
    asks: { at: month + 2 * day },
    expect: already,
  },
  {
    says: `${refuses}: a captured hold counts`,
    ...monthly,
    events: [heldUntil(2 * day)],
    asks: { at: later },
    expect: already,
  },
  {
    says: `${refuses}: a captured hold counts in the period of its capture alone`,
    ...monthly,
    events: [heldUntil(2 * day)],
    asks: { at: month + 2 * day },
    expect: 'accepted',
  },
  {
    says: `${refuses}: a released hold frees the period`,
    ...monthly,
    events: [releasedAt(2 * day)],
    asks: { at: later },
    expect: 'accepted',
  },
  {
    says: `${refuses}: a hold that is released later does not free it yet`,
    ...monthly,
    events: [releasedAt(5 * day)],
    asks: { at: later },
    expect: already,
  },
  {
    says: 'a warning says that a charge of the period was already captured, and a hold is not',
    schedule: 'P1M',
    events: [heldUntil(5 * day)],
    asks: { at: later },
    expect: 'accepted',
  },
  {
    says: 'a warning says that a charge of the period was already captured',
    schedule: 'P1M',
    events: [heldUntil(2 * day)],
    asks: { at: later },
    expect: 'periodAlreadyCharged',
  },
  {
    says: 'only an agreed schedule has periods',
    periodRule: 'refuse',
    events: [heldUntil(5 * day)],
    asks: { at: later },
    expect: 'accepted',
  },
];

const gap = 'not more than six months since the creation of the last successful payment';
const olderEndsLater: readonly PageEvent[] = [
  { charge: 'one', invoice: 'X', at: day, outcome: captured(20 * day) },
  { charge: 'one', invoice: 'Y', at: 15 * day, outcome: captured(15 * day + minute) },
];

const successes: readonly PageCase[] = [
  { says: gap, events: olderEndsLater, asks: { at: 6 * month + 10 * day }, expect: 'accepted' },
  { says: gap, events: olderEndsLater, asks: { at: 7 * month }, expect: 'recurrentGapExceeded' },
];

export const pageCases: readonly PageCase[] = [...stops, ...holds, ...successes];
