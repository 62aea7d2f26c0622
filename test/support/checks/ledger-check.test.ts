// Tests the comparison of ledger, database and bank: whatever is planted in one of them is found.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BookEntry } from '../../../src/acquiring/adapters/http/messages.ts';
import { differences, notFinal } from './ledger-check.ts';
import { invoicesUrl } from '../worlds/invoices.ts';
import { startPaymentWorld, type Paying, type PaymentWorld } from '../worlds/payment-world.ts';

const card = '4242424242424242';
const hold = { flow: { type: 'PaymentFlowHold' } };

let world: PaymentWorld;
let book: BookEntry[];
let sold: Paying;
let shipped: Paying;
let released: Paying;
let declined: Paying;

/** One payment with each kind of end, and a refund. */
beforeAll(async () => {
  world = await startPaymentWorld();
  const { service, merchant } = world;
  const post = async (paying: Paying, path: string, body: object) => {
    const url = `${invoicesUrl}/${paying.id}/payments/1/${path}`;
    const { status, text } = await service.call('POST', url, { token: merchant.apiKey, body });
    if (status >= 300) throw new Error(text);
    await service.jobs.whenIdle();
  };
  sold = await world.paid(card);
  await post(sold, 'refunds', { amount: 1_000 });
  shipped = await world.paid(card, hold);
  await post(shipped, 'capture', { amount: 2_500, currency: 'RUB', reason: 'sent' });
  released = await world.paid(card, hold);
  await post(released, 'cancel', { reason: 'gone' });
  declined = await world.paid('4000000000000002');
  book = await world.book();
});
afterAll(() => world.close());

function compare(changed: readonly BookEntry[] = book): Promise<string[]> {
  return differences(world.service.database, changed);
}

/** The bank's report without an operation, or with it changed. */
function bookWith(operationId: string, change?: Partial<BookEntry>): BookEntry[] {
  const isThere = book.some((entry) => entry.operationId === operationId);
  expect(isThere, operationId).toBe(true);
  return book.flatMap((entry) => {
    if (entry.operationId !== operationId) return [entry];
    return change ? [{ ...entry, ...change }] : [];
  });
}

/** The findings while the database is changed in a way the program never does. */
async function compareWith(change: string): Promise<string[]> {
  const asOwner = world.service.testDatabase.database;
  const [, table = ''] = /^(?:update|delete from|insert into) (\w+)/.exec(change) ?? [];
  const forced = (sql: string) =>
    asOwner.withClient(async (client) => {
      await client.query(`alter table ${table} disable trigger user`);
      const { rowCount } = await client.query(sql);
      await client.query(`alter table ${table} enable trigger user`);
      expect(rowCount, sql).toBeGreaterThan(0);
    });
  await asOwner.withClient((client) => client.query(`create table kept_aside as select * from ${table}`));
  try {
    await forced(change);
    return await compare();
  } finally {
    await forced(`delete from ${table}`);
    await forced(`insert into ${table} select * from kept_aside`);
    await asOwner.withClient((client) => client.query('drop table kept_aside'));
  }
}

test('correct records have no differences, and everything is final', async () => {
  expect(await compare()).toEqual([]);
  expect(await notFinal(world.service.database)).toEqual([]);
});

test('a kopeck more in any entry of the bank’s report is found', async () => {
  expect(book).toHaveLength(6);
  for (const { operationId, amount } of book) {
    expect(await compare(bookWith(operationId, { amount: amount + 1 })), operationId).not.toEqual([]);
  }
});

test('a missing entry of the bank is found, a reversal as well as a refund', async () => {
  for (const { operationId } of book) {
    expect((await compare(bookWith(operationId))).join(), operationId).toContain(
      operationId.split('.').slice(0, 2).join('.'),
    );
  }
  expect((await compare(bookWith(`${released.id}.1.r`))).join()).toMatch(
    /is cancelled: at the bank authorise a/,
  );
});

test('an entry that is duplicate, unknown, or has another currency or direction is found', async () => {
  for (const entry of book) {
    expect((await compare([...book, entry])).join()).toContain('more than once');
    expect(await compare(bookWith(entry.operationId, { currency: 'USD' }))).not.toEqual([]);
    expect(await compare(bookWith(entry.operationId, { sign: entry.sign === 1 ? 0 : 1 }))).not.toEqual([]);
  }
  const foreign = { ...book[0]!, operationId: 'unknown.1.a' };
  expect((await compare([...book, foreign])).join()).toContain('the service does not know unknown.1');
});

test('a charge by the bank for a failed payment is found', async () => {
  const taken = { ...book[0]!, operationId: `${declined.id}.1.a` };
  expect((await compare([...book, taken])).join()).toContain(`${declined.id}.1 is failed`);
  const returned = { ...taken, operationId: `${declined.id}.1.r`, kind: 'reverse', sign: -1 } as const;
  // The bank may have taken back what it never reported. The exchange log says that it declined it.
  expect(await compare([...book, taken, returned])).toEqual([
    `${declined.id}.1.a is declined in the exchange log, and in the bank's report`,
    `${declined.id}.1.r is in the bank's report, and not in the exchange log`,
  ]);
});

test.each([
  [
    'a kopeck more captured',
    () => `update payment set captured_minor = captured_minor + 1 where invoice_id = '${shipped.id}'`,
  ],
  [
    'a kopeck less refunded',
    () => `update payment set refunded_minor = refunded_minor - 1 where invoice_id = '${sold.id}'`,
  ],
  [
    'another kopeck on a refund',
    () => `update refund set amount_minor = amount_minor + 1 where invoice_id = '${sold.id}'`,
  ],
  [
    'a refund stored as failed',
    () => `update refund set status = 'failed', failure = '["x"]' where invoice_id = '${sold.id}'`,
  ],
  [
    'a sale stored as failed',
    () =>
      `update payment set status = 'failed', captured_minor = null, refunded_minor = 0 where invoice_id = '${sold.id}'`,
  ],
  ['a missing payment', () => `delete from payment where invoice_id = '${shipped.id}'`],
  [
    'an invoice that is unpaid in spite of its payment',
    () => `update invoice set status = 'unpaid' where invoice_id = '${sold.id}'`,
  ],
  [
    'an invoice that stays busy',
    () => `update invoice set payment_in_progress = true where invoice_id = '${declined.id}'`,
  ],
  ['a missing event', () => `delete from event where aggregate_id = '${sold.id}' and sequence = 3`],
  [
    'a kopeck more in a transfer',
    () =>
      `update ledger_transfer set posted_minor = posted_minor + 1 where aggregate_id = '${sold.id}' and step = 'sale'`,
  ],
  [
    'a kopeck more in a balance',
    () =>
      `update ledger_balance set debits_posted = debits_posted + 1 where (account_id, shard) = (select account_id, shard from ledger_balance where debits_posted > 0 limit 1)`,
  ],
  [
    'a missing transfer',
    () => `delete from ledger_transfer where aggregate_id = '${released.id}' and phase = 'void'`,
  ],
  [
    'a duplicate transfer',
    () =>
      `insert into ledger_transfer select aggregate_id, 'payment/2', step, phase, completes_pending, debit_account, debit_shard, credit_account, credit_shard, posted_minor, pending_minor, happened_at, created_at from ledger_transfer where aggregate_id = '${sold.id}' and step = 'sale'`,
  ],
])('%s in the service’s own tables is found', async (_what, change) => {
  expect(await compareWith(change())).not.toEqual([]);
  expect(await compare()).toEqual([]);
});
