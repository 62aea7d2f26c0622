import { expect, test } from 'vitest';
import type { Seen } from '../check.ts';
import { due } from './due.ts';

const notDue = { wake_at: null, stuck_at: null };
const nothing = {
  payments: [],
  bindings: [],
  withdrawals: [],
  destinations: [],
  invoices: [],
  payerEmails: [],
  bankUpdates: [],
};
const found = (books: object) => due.find({ books: { ...nothing, ...books } } as unknown as Seen);

test('due finds objects that are neither final nor due', () => {
  const payment = { invoice_id: 'I', payment_id: '1', ...notDue };
  expect(found({ payments: [{ ...payment, status: 'held' }] })).toHaveLength(1);
  expect(found({ payments: [{ ...payment, status: 'captured' }] })).toEqual([]);
  expect(found({ bindings: [{ ...notDue, status: 'returning' }] })).toHaveLength(1);
  expect(found({ withdrawals: [{ ...notDue, status: 'sending' }] })).toHaveLength(1);
  expect(found({ destinations: [{ ...notDue, status: 'checking' }] })).toHaveLength(1);
  expect(found({ invoices: [{ ...notDue, status: 'unpaid', payment_in_progress: false }] })).toHaveLength(1);
});

test('due accepts what has a due time, is stuck, or is final, and unpaid invoices with a payment in progress', () => {
  expect(found({ payments: [{ wake_at: '2026-01-01T00:00:00Z', stuck_at: null, status: 'held' }] })).toEqual(
    [],
  );
  expect(
    found({ withdrawals: [{ wake_at: null, stuck_at: '2026-01-01T00:00:00Z', status: 'sending' }] }),
  ).toEqual([]);
  expect(found({ invoices: [{ ...notDue, status: 'unpaid', payment_in_progress: true }] })).toEqual([]);
  expect(found({ invoices: [{ ...notDue, status: 'cancelled', payment_in_progress: false }] })).toEqual([]);
});
