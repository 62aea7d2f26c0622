// The model answers the tables as they say. The tables were typed before the model.
import { expect, test } from 'vitest';
import { agreementCases, type AgreementCase } from './agreement-cases.ts';
import { addMonths, dayLong, dayOf, hour, localDay, startOf, textOf } from './calendar.ts';
import { answerTo, periodAround } from './charge-model.ts';
import { pageCases } from './page-cases.ts';
import { retryTable } from './retry-table.ts';
import { serviceAnswer } from './service.ts';
import { agreementStory, pageStory, retryStory } from './told.ts';

test.each(retryTable)('row $name', (row) => {
  const { story, question, begins } = retryStory(row);
  const { refusals, retryAfter } = answerTo(story, question);
  if (row.expect === 'accepted') {
    expect(refusals).toEqual([]);
    return;
  }
  expect(refusals).toEqual([row.expect.code]);
  const hours = retryAfter === undefined ? undefined : (retryAfter - begins) / hour;
  expect(hours).toEqual(row.expect.retryAfter);
});

test.each(agreementCases.map((each, index) => ({ index, ...each })))('agreement $index: $because', (each) => {
  const { story, question } = agreementStory(each);
  const { refusals, warnings } = answerTo(story, question);
  expect([...refusals, ...warnings]).toEqual(each.expect === 'accepted' ? [] : [each.expect]);
});

test.each(pageCases.map((each, index) => ({ index, ...each })))('page $index: $says', (each) => {
  const { story, question } = pageStory(each);
  const { refusals, warnings } = answerTo(story, question);
  const answer = serviceAnswer(story, question);
  const service = answer.may ? answer.warnings : [answer.code];
  const expected = each.expect === 'accepted' ? [] : [each.expect];
  expect({ model: [...refusals, ...warnings], service }).toEqual({ model: expected, service: expected });
});

test('there are 30 agreements and more, and each outcome occurs', () => {
  expect(agreementCases.length).toBeGreaterThan(30);
  const outcomes = new Set(agreementCases.map(({ expect }: AgreementCase) => expect));
  expect(outcomes.size).toBe(6);
});

test('local dates have no 31st in each month, and keep it', () => {
  const months = Array.from({ length: 14 }, (_, n) => textOf(addMonths(dayOf('2027-01-31'), n)).slice(8));
  expect(months.join(' ')).toBe('31 28 31 30 31 30 31 31 30 31 30 31 31 29');
  const years = [1, 2, 3, 4].map((n) => textOf(addMonths(dayOf('2028-02-29'), n * 12)));
  expect(years).toEqual(['2029-02-28', '2030-02-28', '2031-02-28', '2032-02-29']);
  const quarters = [1, 2, 3, 4].map((n) => textOf(addMonths(dayOf('2026-11-30'), n * 3)));
  expect(quarters).toEqual(['2027-02-28', '2027-05-30', '2027-08-30', '2027-11-30']);
});

test.each([
  ['Europe/Moscow', '2026-11-23', '2026-11-22T21:00:00Z'],
  ['Asia/Kathmandu', '2026-11-23', '2026-11-22T18:15:00Z'],
  ['America/New_York', '2026-11-01', '2026-11-01T04:00:00Z'],
  ['America/New_York', '2026-11-02', '2026-11-02T05:00:00Z'],
  // A midnight that the clocks skip: the day begins at one.
  ['America/Sao_Paulo', '2018-11-04', '2018-11-04T03:00:00Z'],
  // A day that did not exist.
  ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00Z'],
  ['Pacific/Apia', '2011-12-31', '2011-12-30T10:00:00Z'],
])('%s begins %s at %s', (zone, day, at) => {
  const begins = startOf(zone, dayOf(day));
  expect(new Date(begins / 1000).toISOString().replace('.000', '')).toBe(at);
  expect(localDay(zone, begins - 1)).toBeLessThan(dayOf(day));
});

test.each(['America/New_York', 'Europe/Moscow', 'Pacific/Apia', 'Asia/Kathmandu'])(
  '%s has the date that its clocks show',
  (zone) => {
    const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' });
    const from = Date.UTC(2026, 0, 1) * 1000;
    for (let at = from; at < from + 400 * dayLong; at += 3 * hour) {
      expect(textOf(localDay(zone, at))).toBe(format.format(at / 1000));
    }
  },
);

test('periods follow each other without a hole', () => {
  const root = dayOf('2026-01-31');
  for (const length of [
    { months: 1, days: 0 },
    { months: 0, days: 7 },
    { months: 12, days: 0 },
    { months: 3, days: 0 },
  ]) {
    for (let day = root; day < root + 800; day += 1) {
      const [from, until] = periodAround(day, { first: root, length });
      expect(from <= day && day < until).toBe(true);
      expect(periodAround(until, { first: root, length })[0]).toBe(until);
    }
  }
});
