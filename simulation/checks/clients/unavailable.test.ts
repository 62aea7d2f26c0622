import { expect, test } from 'vitest';
import { openMarks, writtenAnyway } from './unavailable.ts';

const key = { key: 'key-1' };
const name = { partyId: 'P', externalId: 'name-1' };

test('a mark is unwritten while every request that carried it was answered 503', () => {
  const marks = openMarks();
  marks.sent([key, name]);
  expect(marks.unwritten()).toEqual([]);
  marks.answered([key, name], 503);
  expect(marks.unwritten()).toEqual([key, name]);
  // Repeated, and in progress; another merchant's name is another one.
  marks.sent([key]);
  marks.sent([{ ...name, partyId: 'Q' }]);
  expect(marks.unwritten()).toEqual([name]);
  marks.answered([key], 503);
  expect(marks.unwritten()).toEqual([key, name]);
});

test('a mark of a request without a response may be written for good', () => {
  const marks = openMarks();
  marks.sent([key]);
  marks.sent([key]);
  marks.answered([key], 503);
  expect(marks.unwritten()).toEqual([]);
});

test('a refusal leaves the external ID free, and is stored under the key', () => {
  const marks = openMarks();
  marks.sent([key, name]);
  marks.answered([key, name], 409);
  expect(marks.unwritten()).toEqual([name]);
  marks.sent([name]);
  marks.answered([name], 201);
  expect(marks.unwritten()).toEqual([]);
});

test('the database is not asked about a name that it cannot store', async () => {
  const asked: unknown[] = [];
  const query = (_text: string, values: readonly unknown[] = []) => {
    asked.push(...values);
    return Promise.resolve([]);
  };
  const hostile = ['zero \0', 'half \ud800'].map((externalId) => ({ partyId: 'P', externalId }));
  expect(await writtenAnyway(query, hostile)).toEqual([]);
  expect(await writtenAnyway(query, [...hostile, name])).toEqual([]);
  expect(asked).toEqual([JSON.stringify([name])]);
});
