// Cases about stops, holds and the last success. Each was typed from the sentence of the rules that it names, not from the code.
import { dayLong as day, minute, type Micros } from './calendar.ts';
import type { Code, Outcome, Warning } from './story.ts';

/** The first consent of a case. */
export const pageBegins = Date.parse('2026-03-01T10:00:00Z') * 1000;
/** The first period of a monthly schedule: the consent is of March. */
const month = 31 * day;

export interface PageCase {
  says: string;
  /** In minutes from the first consent: what happens before the question. */
  events: readonly PageEvent[];
  asks: { at: Micros; series?: string; invoice?: string; made?: Micros };
  schedule?: string;
  periodRule?: 'warn' | 'refuse';
  expect: 'accepted' | Code | Warning;
}

export type PageEvent =
  /** `made`: when the invoice was, if not before all else. */
  | { charge: string; invoice: string; made?: Micros; at: Micros; outcome: Outcome }
  /** A payment with the payer present, by the card of a series and without a consent. */
  | { pays: string; invoice: string; at: Micros; outcome: Outcome }
  | { renews: string; at: Micros }
  /** No charge of this series is to collect the invoice any more. */
  | { ends: string; invoice: string; at: Micros };

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

const millisecond = 1000;
/** A monthly subscription. Its invoices are made at the instant of their first try, and answered a minute later. */
const on = (text: string): Micros => Date.parse(`2026-${text}Z`) * 1000 - pageBegins;
const tried = (invoice: string, made: string, days: readonly string[], code = '51'): PageEvent[] =>
  days.map((each) => ({
    charge: 'one',
    invoice,
    made: on(made),
    at: on(each),
    outcome: declined(code, on(each) + minute),
  }));
const ends = (invoice: string, at: string): PageEvent => ({ ends: 'one', invoice, at: on(at) });
const first = '05-01T08:00';
const mayTries = [first, '05-02T08:00', '05-04T08:00', '05-07T08:00', '05-11T08:00', '05-24T08:00'];
const may = tried('May', first, mayTries);
const givenUp = ends('May', '05-27T08:01');
const june = tried('June', '06-01T08:00', ['06-01T08:00', '06-03T08:00', '06-11T08:00']);
const other = (...days: readonly string[]) => tried('other', days[0]!, days);
const asks = (invoice: string, made: string, at: string, plus = 0) => ({
  at: on(at) + plus,
  invoice,
  made: on(made),
});
const expired = 'recurrentRetryWindowExpired';
const tooEarly = 'recurrentRetryTooEarly';

const unlessEnded = 'until the obligation ends, an unpaid month shortens the next one';
const ownWindow = 'an ended obligation leaves later invoices a window of their own';
const thisOne = 'an ended obligation is never charged again';
const sameDay = 'once a day stays per series';
const others = 'an ended obligation leaves the failures of others as they are';
const counted = 'network counters stay per card';

const obligations: readonly PageCase[] = [
  {
    says: unlessEnded,
    events: [...may, ...june],
    asks: asks('June', '06-01T08:00', '06-13T08:00'),
    expect: expired,
  },
  {
    says: ownWindow,
    events: [...may, givenUp],
    asks: asks('June', '06-01T08:00', '06-01T08:00'),
    expect: 'accepted',
  },
  {
    says: `${ownWindow}: its tries are once a day`,
    events: [...may, givenUp, ...tried('June', '06-01T08:00', ['06-01T08:00'])],
    asks: asks('June', '06-01T08:00', '06-01T20:00'),
    expect: tooEarly,
  },
  {
    says: `${ownWindow}: 31 days`,
    events: [...may, givenUp, ...june],
    asks: asks('June', '06-01T08:00', '07-02T08:01'),
    expect: 'accepted',
  },
  {
    says: `${ownWindow}: not longer`,
    events: [...may, givenUp, ...june],
    asks: asks('June', '06-01T08:00', '07-02T08:01', millisecond),
    expect: expired,
  },
  {
    says: `${ownWindow}: also in the third month`,
    events: [...may, givenUp, ...june, ends('June', '06-27T08:01')],
    asks: asks('July', '07-01T08:00', '07-10T08:00'),
    expect: 'accepted',
  },
  {
    says: `${thisOne}: the next day`,
    events: [...may, givenUp],
    asks: asks('May', first, '05-28T08:00'),
    expect: expired,
  },
  {
    says: `${thisOne}: after its own 31 days`,
    events: [...may, givenUp],
    asks: asks('May', first, '07-01T08:00'),
    expect: expired,
  },
  {
    says: `${thisOne}: also after a new consent`,
    events: [...may, givenUp, { renews: 'one', at: on('05-28T08:00') }],
    asks: asks('May', first, '05-29T08:00'),
    expect: expired,
  },
  {
    says: `${sameDay}: another invoice on the day of the last try`,
    events: [...may, ends('May', '05-24T09:00')],
    asks: asks('other', '05-24T18:00', '05-24T18:00'),
    expect: tooEarly,
  },
  {
    says: `${sameDay}: not 22 h 45 min later`,
    events: [...may, ends('May', '05-24T09:00')],
    asks: asks('other', '05-24T18:00', '05-25T06:45', -millisecond),
    expect: tooEarly,
  },
  {
    says: `${sameDay}: the day after`,
    events: [...may, ends('May', '05-24T09:00')],
    asks: asks('other', '05-24T18:00', '05-25T06:45'),
    expect: 'accepted',
  },
  {
    says: `${sameDay}: after R0 too`,
    events: [...tried('May', first, [first], 'R0'), ends('May', '05-01T08:02')],
    asks: asks('other', '05-01T12:00', '05-01T12:00'),
    expect: tooEarly,
  },
  {
    says: 'after R0 the next period has its own window',
    events: [
      ...tried('May', first, [first], 'R0'),
      ends('May', '05-01T08:02'),
      ...tried('other', '05-20T08:00', ['05-20T08:00']),
    ],
    asks: asks('other', '05-20T08:00', '06-19T08:00'),
    expect: 'accepted',
  },
  {
    says: `${others}: it is still a retry`,
    events: [...may, ...other('05-10T08:00', '05-26T08:00'), givenUp],
    asks: asks('third', '05-27T08:00', '05-27T06:44'),
    expect: tooEarly,
  },
  {
    says: `${others}: 31 days from its own first failure`,
    events: [...may, ...other('05-10T08:00', '05-26T08:00'), givenUp],
    asks: asks('other', '05-10T08:00', '06-10T08:01'),
    expect: 'accepted',
  },
  {
    says: `${others}: not longer`,
    events: [...may, ...other('05-10T08:00', '05-26T08:00'), givenUp],
    asks: asks('other', '05-10T08:00', '06-10T08:01', millisecond),
    expect: expired,
  },
  {
    says: `${others}: an older failure than that of the ended one`,
    events: [...other('05-01T07:00'), ...tried('May', first, ['05-02T08:00', '05-20T08:00']), givenUp],
    asks: asks('other', '05-01T07:00', '06-01T07:01', millisecond),
    expect: expired,
  },
  {
    says: `${others}: what had died stays dead`,
    events: [...may, ...other('05-10T08:00'), ends('May', '06-03T08:00')],
    asks: asks('other', '05-10T08:00', '06-04T08:00'),
    expect: expired,
  },
  {
    says: `${others}: what is pending fails later, and has 31 days from then on`,
    events: [
      ...may,
      {
        charge: 'one',
        invoice: 'other',
        made: on('05-26T08:00'),
        at: on('05-26T08:00'),
        outcome: declined('51', on('05-28T10:00')),
      },
      givenUp,
    ],
    asks: asks('other', '05-26T08:00', '06-28T10:00', millisecond),
    expect: expired,
  },
  {
    says: `${others}: two that have ended, and a third`,
    events: [
      ...may,
      ...other('05-08T08:00', '05-12T08:00'),
      ...tried('third', '05-14T08:00', ['05-14T08:00']),
      ends('other', '05-20T08:00'),
      givenUp,
    ],
    asks: asks('third', '05-14T08:00', '06-14T08:01', millisecond),
    expect: expired,
  },
  {
    says: `${others}: a network's advice to wait`,
    events: [...tried('May', first, [first], '59'), ends('May', '05-01T08:02')],
    asks: asks('other', '05-02T08:00', '05-02T08:00'),
    expect: tooEarly,
  },
  {
    says: counted,
    events: [
      ...tried(
        'May',
        first,
        Array.from({ length: 15 }, (_, n) => `05-${String(n + 1).padStart(2, '0')}T08:00`),
      ),
      ends('May', '05-16T08:00'),
    ],
    asks: asks('other', '05-17T08:00', '05-17T08:00'),
    expect: 'recurrentRetryLimitReached',
  },
  {
    says: 'the end of an obligation that never failed changes nothing',
    events: [...other('05-10T08:00'), ends('May', '05-11T08:00')],
    asks: asks('other', '05-10T08:00', '06-10T08:01', millisecond),
    expect: expired,
  },
];

export const pageCases: readonly PageCase[] = [...stops, ...holds, ...successes, ...obligations];
