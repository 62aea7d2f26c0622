import { expect, test } from 'vitest';
import type { MandateTerms } from '../../receipts/domain/terms.ts';
import { storedFor } from './stored-for.ts';

test.each<[MandateTerms | undefined, object]>([
  [undefined, { for: 'recurring' }],
  [{ schedule: 'each visit' }, { for: 'recurring' }],
  [
    { schedule: 'P1M', amountRule: { kind: 'fixed', amountMinor: 29_900 }, validUntil: '2030-12-31' },
    { for: 'recurring', amount: 'fixed', everyDays: 28, until: '2030-12-31T23:59:59.000000Z' },
  ],
  [
    { chargeReason: 'unscheduled', amountRule: { kind: 'upTo', amountMinor: 100_000 } },
    { for: 'unscheduled', amount: 'variable' },
  ],
  [
    { chargeReason: 'instalment', schedule: 'P2W' },
    { for: 'instalment', everyDays: 14 },
  ],
  [{ schedule: 'P2M' }, { for: 'recurring', everyDays: 59 }],
  [{ schedule: 'P3M' }, { for: 'recurring', everyDays: 89 }],
  [{ schedule: 'P6M' }, { for: 'recurring', everyDays: 181 }],
  [{ schedule: 'P12M' }, { for: 'recurring', everyDays: 365 }],
  [{ schedule: 'P18M' }, { for: 'recurring', everyDays: 546 }],
  // More than a field of the protocol takes.
  [{ schedule: 'P999Y' }, { for: 'recurring' }],
  [{ schedule: 'P0D' }, { for: 'recurring' }],
])('of the terms %j the bank receives %j', (terms, received) => {
  expect(storedFor(terms, 'UTC')).toEqual(received);
});

test.each([
  ['UTC', '2030-12-31T23:59:59.000000Z'],
  ['Europe/Moscow', '2030-12-31T20:59:59.000000Z'],
  ['America/New_York', '2031-01-01T04:59:59.000000Z'],
  ['Asia/Vladivostok', '2030-12-31T13:59:59.000000Z'],
])('the last day of the consent ends at midnight in %s', (timeZone, until) => {
  expect(storedFor({ validUntil: '2030-12-31' }, timeZone)).toMatchObject({ until });
});
