import { expect, test } from 'vitest';
import type { Seen } from '../check.ts';
import { due } from './due.ts';

const nobody = { wake_at: null, stuck_at: null };
const nothing = { payments: [], bindings: [], withdrawals: [], destinations: [], invoices: [], letters: [] };
const found = (books: object) => due.find({ books: { ...nothing, ...books } } as unknown as Seen);

test('what goes on and is looked at by nobody is found', () => {
  const payment = { invoice_id: 'I', payment_id: '1', ...nobody };
  expect(found({ payments: [{ ...payment, status: 'held' }] })).toHaveLength(1);
  expect(found({ payments: [{ ...payment, status: 'captured' }] })).toEqual([]);
  expect(found({ bindings: [{ ...nobody, status: 'returning' }] })).toHaveLength(1);
  expect(found({ withdrawals: [{ ...nobody, status: 'sending' }] })).toHaveLength(1);
  expect(found({ destinations: [{ ...nobody, status: 'checking' }] })).toHaveLength(1);
  expect(found({ invoices: [{ ...nobody, status: 'unpaid', payment_in_progress: false }] })).toHaveLength(1);
});

test('what has a time, waits for an operator, or is looked after with its payment is not', () => {
  expect(found({ payments: [{ wake_at: '2026-01-01T00:00:00Z', stuck_at: null, status: 'held' }] })).toEqual(
    [],
  );
  expect(
    found({ withdrawals: [{ wake_at: null, stuck_at: '2026-01-01T00:00:00Z', status: 'sending' }] }),
  ).toEqual([]);
  expect(found({ invoices: [{ ...nobody, status: 'unpaid', payment_in_progress: true }] })).toEqual([]);
  expect(found({ invoices: [{ ...nobody, status: 'cancelled', payment_in_progress: false }] })).toEqual([]);
});
