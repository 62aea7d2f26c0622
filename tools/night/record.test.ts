import { describe, expect, test } from 'vitest';
import { nightFault, type NightRecord } from './record.ts';

const good: NightRecord = {
  commit: 'abc',
  isClean: true,
  node: 'v20.19.0',
  began: '2026-01-01T00:00:00.000Z',
  seed: 7,
  seconds: 1_200,
  parts: [{ name: 'faults', command: 'SEED=7 npm run prove:faults', seed: 7, seconds: 60, result: 'passed' }],
  notReached: ['timings'],
  leftOut: [],
};
const failed = good.parts.map((part) => ({ ...part, result: 'failed' as const }));

describe('a release', () => {
  test('may follow a night of 20 minutes without a failure', () =>
    expect(nightFault('abc', JSON.stringify(good))).toBeUndefined());

  test.each([
    ['is missing', undefined, 'prove-night/abc.json is missing. Run "npm run prove:night" on this commit'],
    ['is no JSON', '{', 'cannot be read'],
    ['is another JSON', 'null', 'cannot be read'],
    ['is about another commit', { ...good, commit: 'abd' }, 'is about abd'],
    ['ran with changes', { ...good, isClean: false }, 'had changes'],
    ['failed', { ...good, parts: [...good.parts, ...failed] }, '1 parts failed'],
    ['names the command', { ...good, parts: failed }, 'SEED=7 npm run prove:faults'],
    ['was too short', { ...good, seconds: 1_199 }, '1199 s are too short'],
    ['has no length', { ...good, seconds: undefined }, 'too short'],
    ['ran nothing', { ...good, parts: [] }, 'too short'],
  ])('is refused after a night whose record %s', (_, record, fault) => {
    const text = typeof record === 'object' ? JSON.stringify(record) : record;
    expect(nightFault('abc', text)).toContain(fault);
  });
});
