import { describe, expect, test } from 'vitest';
import type { EventRow, Fact } from '../rows.ts';
import type { Seen } from '../check.ts';
import { refundQueue } from './refund-queue.ts';

const second = (number: number) => new Date(Date.UTC(2026, 0, 19, 10, 0, number)).toISOString();

type Written = { readonly transaction: number; readonly part?: number; readonly at: number };

function event(id: string, fact: Fact, { transaction, part = transaction, at }: Written): EventRow {
  const facts = [{ ...fact, paymentId: '1' }];
  return {
    aggregate_id: id,
    aggregate: 'invoice',
    sequence: 1,
    created_at: second(at),
    facts,
    transaction,
    part,
  };
}

const asked = (id: string, written: Written, more: object = {}) =>
  event(
    id,
    { type: 'refund_started', refund: { id: '100', createdAt: second(written.at), ...more } },
    written,
  );
const queued = (id: string, written: Written) => asked(id, written, { waitsUntil: second(3_600) });
const funded = (id: string, written: Written) =>
  event(id, { type: 'refund_funded', refundId: '100' }, written);
const failed = (id: string, written: Written) =>
  event(id, { type: 'refund_failed', refundId: '100' }, written);

function found(...events: readonly EventRow[]): string[] {
  const payments = ['A', 'B'].map((invoice_id) => ({
    invoice_id,
    payment_id: '1',
    party_id: 'P',
    shop_id: 'S',
  }));
  const seen = { books: { events, payments } } as unknown as Seen;
  return refundQueue.find(seen).map(([about]) => about);
}

/** A waits from second 0 and transaction 10 on. */
const first = queued('A', { transaction: 10, at: 0 });
const overtaken = ['refund B.1.100'];

describe('refund queue', () => {
  test('finds a request that gets the money of an earlier refund, which waits or leaves later', () => {
    const next = asked('B', { transaction: 11, part: 12, at: 60 });
    expect(found(first, next)).toEqual(overtaken);
    expect(found(first, next, funded('A', { transaction: 13, at: 61 }))).toEqual(overtaken);
    expect(found(first, next, failed('A', { transaction: 13, at: 61 }))).toEqual(overtaken);
  });

  test('finds a waiting refund that is funded before an earlier one', () => {
    const next = queued('B', { transaction: 12, at: 60 });
    const isPaid = funded('B', { transaction: 13, at: 61 });
    expect(found(first, next, isPaid)).toEqual(overtaken);
    expect(found(first, next, isPaid, funded('A', { transaction: 14, at: 62 }))).toEqual(overtaken);
    expect(found(first, next, funded('A', { transaction: 13, at: 61 }))).toEqual([]);
  });

  test('accepts a request whose node stood still until the queue was empty', () => {
    const left = funded('A', { transaction: 12, at: 122 });
    expect(found(first, asked('B', { transaction: 11, part: 13, at: 60 }), left)).toEqual([]);
    expect(found(first, asked('B', { transaction: 13, part: 14, at: 60 }), left)).toEqual([]);
  });

  test('accepts a request that looked at the queue before the earlier one, which stood still, had joined it', () => {
    expect(found(first, asked('B', { transaction: 9, part: 11, at: 60 }))).toEqual([]);
    expect(found(first, asked('B', { transaction: 11, at: 60 }))).toEqual([]);
    const isPaid = funded('B', { transaction: 12, at: 122 });
    expect(found(first, queued('B', { transaction: 9, at: 60 }), isPaid)).toEqual([]);
  });

  test('accepts two requests at the same time', () => {
    expect(found(first, asked('B', { transaction: 11, part: 12, at: 14 }))).toEqual([]);
  });
});
