import { expect, test } from 'vitest';
import type { Instant } from '../../clock.ts';
import { openTurns } from '../turns.ts';
import { searched, type SearchDeps } from './search-schema.ts';

test('a search is refused when as many of the party wait already, and the others are answered', async () => {
  const deps = {
    db: { run: async () => [] },
    merchants: { shop: async () => ({}) },
    searchTurns: openTurns(1),
  } as unknown as SearchDeps;
  const now = '2026-01-01T00:00:00.000000Z' as Instant;
  const query = { limit: 1, invoiceID: 'one' };
  const asked = {
    operation: 'o',
    partyId: 'p',
    shops: { shopId: 's' },
    now,
    query,
    keys: ['invoice_id'] as const,
  };
  let end = (_page: { found: string[] }) => {};
  const first = new Promise<{ found: string[] }>((resolve) => (end = resolve));
  const ask = () =>
    searched(deps, asked, () => first, {
      last: () => ({ createdAt: now, ids: [] }),
      body: (found) => found,
    });
  const nine = Array.from({ length: 9 }, ask);
  const refused = { code: 'tooManyRequests', waitSeconds: 1 };
  expect(await ask()).toEqual({ ok: false, refusal: refused });
  end({ found: ['found'] });
  for (const answer of await Promise.all(nine))
    expect(answer).toMatchObject({ value: { result: ['found'] } });
});
