// The check of periods finds each way in which a subscription can be charged wrongly.
import { expect, test } from 'vitest';
import type { Seen } from '../check.ts';
import type { PeriodRow } from '../rows.ts';
import { periods } from './periods.ts';

const row = (number: number, more: Partial<PeriodRow> = {}): PeriodRow => ({
  subscription_id: 'S',
  number,
  outcome: 'paid',
  amount_minor: 100,
  invoice_id: `I${number}`,
  of_subscription: 'S',
  of_number: number,
  asked_minor: 100,
  started: false,
  captured: 1,
  elsewhere: false,
  stacks: false,
  ...more,
});
const found = (...rows: PeriodRow[]) => periods.find({ books: { periods: rows } } as unknown as Seen);

test('nothing is found in what is right', () => {
  const free = { outcome: 'paid', amount_minor: 0, invoice_id: null, captured: 0 };
  const open = { outcome: 'open', captured: 0 };
  const missed = { outcome: 'missed', invoice_id: null, captured: 0 };
  expect(found(row(1, free), row(2), row(3, missed), row(4, open))).toEqual([]);
  expect(found(row(1, { started: true, asked_minor: 150 }))).toEqual([]);
  expect(found(row(1, { elsewhere: true, captured: 0 }))).toEqual([]);
  expect(found(row(1, { ...open, stacks: true }), row(2, { ...open, stacks: true }))).toEqual([]);
  expect(found(row(7), row(8, { subscription_id: 'T', of_subscription: 'T' }))).toEqual([]);
});

test.each<[string, PeriodRow[]]>([
  ['a period that is paid twice', [row(1, { captured: 2 })]],
  ['a period that is paid by no payment', [row(1, { captured: 0 })]],
  ['a period that is paid elsewhere and here', [row(1, { elsewhere: true })]],
  ['a skipped period that is charged', [row(1, { outcome: 'skipped' })]],
  ['an invoice of another period', [row(1), row(2, { of_number: 1 })]],
  ['an invoice of another subscription', [row(1, { of_subscription: 'T' })]],
  ['an invoice of another amount', [row(1, { asked_minor: 200 })]],
  ['a first payment of more than its invoice', [row(1, { started: true, asked_minor: 90 })]],
  ['an open period without an invoice', [row(1, { outcome: 'open', invoice_id: null, captured: 0 })]],
  ['a lost number', [row(1), row(3)]],
  ['two open periods', [row(1, { outcome: 'open', captured: 0 }), row(2, { outcome: 'open', captured: 0 })]],
])('%s is found', (_, rows) => {
  expect(found(...rows)).toHaveLength(1);
});
