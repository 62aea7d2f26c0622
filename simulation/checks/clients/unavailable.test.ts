import { expect, test } from 'vitest';
import { openMarks } from './unavailable.ts';

const key = { key: 'key-1' };
const name = { partyId: 'P', externalId: 'name-1' };

test('a mark is unwritten while every request that carried it was answered 503', () => {
  const marks = openMarks();
  marks.sent([key, name]);
  expect(marks.unwritten()).toEqual([]);
  marks.answered503([key, name]);
  expect(marks.unwritten()).toEqual([key, name]);
  // Repeated, and in progress; another merchant's name is another one.
  marks.sent([key]);
  marks.sent([{ ...name, partyId: 'Q' }]);
  expect(marks.unwritten()).toEqual([name]);
  marks.answered503([key]);
  expect(marks.unwritten()).toEqual([key, name]);
});

test('a mark of a request without a response may be written for good', () => {
  const marks = openMarks();
  marks.sent([key]);
  marks.sent([key]);
  marks.answered503([key]);
  expect(marks.unwritten()).toEqual([]);
});
