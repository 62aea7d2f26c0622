// The limits of invoices that payers make: an address loses nothing while its template is at its limit.
import { expect, test } from 'vitest';
import { rateLimit } from '../platform/http/request/rate-limit.ts';
import { templateLimits } from './template-limits.ts';

test('an address that waits for its template keeps its own invoice', () => {
  let nowMs = 0;
  const limits = templateLimits({
    ofEach: rateLimit({ calls: 1, everyMs: 3_600_000 }, 1, () => nowMs),
    ofAll: rateLimit({ calls: 1, everyMs: 60_000 }, 1, () => nowMs),
  });
  expect(limits.take('T', '203.0.113.7')).toBeUndefined();
  expect(limits.take('T', '203.0.113.8')).toBe(60);
  nowMs = 60_000;
  expect(limits.take('T', '203.0.113.8')).toBeUndefined();
  expect(limits.take('T', '203.0.113.8')).toBe(3_600);
});
