// The hash chain of a bundle, apart from its seal: a changed entry is detected even if the bundle is sealed again.
import { expect, test } from 'vitest';
import type { Instant } from '../clock.ts';
import { linkOf, seal, verifyBundle, type BundleEntry } from './consent-bundle.ts';

const secret = Buffer.alloc(32, 7);
const at = '2026-01-19T10:00:00.123000Z' as Instant;

function chained(texts: readonly string[]): BundleEntry[] {
  let hash = '';
  return texts.map((text, place) => {
    const entry = { sequence: place + 1, at, facts: [text] };
    hash = linkOf(hash, entry);
    return { ...entry, hash };
  });
}

const sealed = (entries: readonly BundleEntry[]) => {
  const named = { format: 'mandate consent 1', seriesId: 'S', partyId: 'P', shopId: 'T' } as const;
  return JSON.stringify(seal(secret, { ...named, sealedAt: at, entries }));
};

test('a bundle with an intact hash chain verifies', () => {
  expect(verifyBundle(sealed(chained(['one', 'two', 'three'])))).toMatchObject({ ok: true });
});

test.each([
  ['changed', (entries: BundleEntry[]) => entries.with(1, { ...entries[1]!, facts: ['another'] }), 2],
  ['left out', (entries: BundleEntry[]) => entries.toSpliced(1, 1), 2],
  ['put in another order', ([a, b, c]: BundleEntry[]) => [a!, c!, b!], 2],
  [
    'taken from another chain',
    (entries: BundleEntry[]) => entries.with(2, chained(['x', 'y', 'three'])[2]!),
    3,
  ],
])('a bundle with an entry %s does not verify, even with a valid seal', (_, change, place) => {
  const why = `Entry ${place} breaks the hash chain.`;
  expect(verifyBundle(sealed(change(chained(['one', 'two', 'three']))))).toEqual({ ok: false, why });
});
