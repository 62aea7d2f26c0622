import { expect, test } from 'vitest';
import { openMarks } from './unavailable.ts';

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
