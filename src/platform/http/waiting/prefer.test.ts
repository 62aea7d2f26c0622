import { expect, test } from 'vitest';
import { wishedSeconds } from './prefer.ts';

test.each([
  ['wait=5', 5],
  ['wait=10', 10],
  ['wait=60', 10],
  ['Wait = "7"', 7],
  ['respond-async, wait=3', 3],
  [', ,wait=3', 3],
  ['foo="a, wait=9", wait=3', 3],
  ['foo="\\", wait=9"; bar="x"; ; baz, wait=3; qux=1', 3],
  // Only the first instance counts, also if it cannot be read.
  ['wait=3, wait=5', 3],
  ['wait=soon, wait=5', undefined],
  ['wait=0', undefined],
  ['wait', undefined],
  ['wait=', undefined],
  ['wait=-1', undefined],
  ['wait=1.5', undefined],
  ['wait=5s', undefined],
  ['await=5', undefined],
  ['wait 5', undefined],
  ['(wait=5)', undefined],
  ['', undefined],
  [undefined, undefined],
  ['"wait=5', undefined],
  ['wait="5', undefined],
  ['a;b="x", wait=5', 5],
])('%s', (header, seconds) => {
  expect(wishedSeconds(header)).toBe(seconds);
});

test('no header is too long to read', () => {
  expect(wishedSeconds(`wait=${'9'.repeat(400)}`)).toBe(10);
  expect(wishedSeconds(`a${' ; '.repeat(300)}, wait=5`)).toBe(5);
  expect(wishedSeconds(`a=${'\\"'.repeat(8_000)}, wait=5`)).toBe(undefined);
});
