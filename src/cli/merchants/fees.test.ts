import { expect, test } from 'vitest';
import { scheduleOf } from './fees.ts';

test.each([
  ['2.5%', { basisPoints: 250n, fixedMinor: 0n }],
  ['10', { basisPoints: 0n, fixedMinor: 10n }],
  ['0', { basisPoints: 0n, fixedMinor: 0n }],
  ['0.29%+10', { basisPoints: 29n, fixedMinor: 10n }],
  ['2.5%+10,least=30,most=5000', { basisPoints: 250n, fixedMinor: 10n, leastMinor: 30n, mostMinor: 5000n }],
  ['100%', { basisPoints: 10_000n, fixedMinor: 0n }],
])('%s is a schedule', (text, schedule) => expect(scheduleOf('--payment', text)).toEqual(schedule));

test.each([
  '',
  'free',
  '2.5',
  '2.555%',
  '101%',
  '-1',
  '1e3',
  '2%+',
  '2%,most=1,least=2',
  '2%,least=2,most=1',
  '2 %',
])('%j is refused with its value', (text) =>
  expect(() => scheduleOf('--payment', text)).toThrow(`--payment "${text}"`),
);
