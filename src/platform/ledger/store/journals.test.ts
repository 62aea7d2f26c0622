import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  bookedAt,
  book,
  brokenInvariants,
  moved,
  newPayment,
  newShop,
  rubles,
} from '../../../../test/support/database/ledger.ts';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database/test-database.ts';
import type { Database } from '../../database/database.ts';
import { randomIds } from '../../../ids.ts';
import type { Currency } from '../../../money.ts';
import { acquirerUncleared, bankNostro, settlementAccount, walletAccount } from '../domain/account.ts';
import { postJournal } from '../../../../test/support/database/post-journal.ts';
import { LedgerConflict, readBalance, shardAccount } from './journals.ts';
import type { Journal } from '../domain/ledger.ts';
import {
  holdApproved,
  holdCaptured,
  holdReleased,
  refundFailed,
  refundRequested,
  refundSucceeded,
  saleApproved,
  type LedgerPayment,
} from '../../../payments/domain/payment-postings.ts';

let testDatabase: TestDatabase;
let db: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  db = testDatabase.database;
});
afterAll(() => testDatabase.drop());

const kind = { livemode: false, currency: 'RUB' as Currency } as const;
const wallet = (walletId: string) => walletAccount({ ...kind, walletId });
const settlementOf = (payment: LedgerPayment) => settlementAccount({ ...kind, ...payment });
const balanceOfShop = (payment: LedgerPayment) => readBalance(db, settlementOf(payment));

async function count(query: string): Promise<number> {
  return testDatabase.database.withClient(async (client) => {
    const { rows } = await client.query<{ count: bigint }>(`select count(*) from ${query}`);
    return Number(rows[0]!.count);
  });
}
const transfersOf = (payment: LedgerPayment) =>
  count(`ledger_transfer where aggregate_id = '${payment.invoiceId}'`);

describe('a hold', () => {
  test('is pending on both sides until it is captured, and the rest is released', async () => {
    const payment = newPayment();
    await book(db, holdApproved(payment, rubles(100_000n)));
    expect(await balanceOfShop(payment)).toEqual({ own: 0n, available: 0n, most: 100_000n });
    await book(db, holdCaptured(payment, rubles(90_000n), 2_250n));
    expect(await balanceOfShop(payment)).toEqual({ own: 87_750n, available: 87_750n, most: 87_750n });
  });

  test('leaves no trace on balances when it is released', async () => {
    const payment = newPayment();
    await book(db, holdApproved(payment, rubles(100n)));
    await book(db, holdReleased(payment));
    expect(await balanceOfShop(payment)).toEqual({ own: 0n, available: 0n, most: 0n });
  });

  test('cannot be captured for more than its amount', async () => {
    const payment = newPayment();
    await book(db, holdApproved(payment, rubles(100n)));
    await expect(book(db, holdCaptured(payment, rubles(101n), 0n))).rejects.toThrow(/pending with 100.*101/);
    expect(await transfersOf(payment)).toBe(1);
  });

  test('is completed once: a repeat changes nothing, another completion is a conflict', async () => {
    const captured = newPayment();
    await book(db, holdApproved(captured, rubles(100n)));
    await book(db, holdCaptured(captured, rubles(80n), 2n));
    await book(db, holdCaptured(captured, rubles(80n), 2n));
    expect((await balanceOfShop(captured)).own).toBe(78n);
    for (const other of [
      holdReleased(captured),
      holdCaptured(captured, rubles(81n), 2n),
      holdCaptured(captured, rubles(80n), 3n),
    ]) {
      await expect(book(db, other)).rejects.toThrow(LedgerConflict);
    }

    const released = newPayment();
    await book(db, holdApproved(released, rubles(100n)));
    await book(db, holdReleased(released));
    await book(db, holdReleased(released));
    await expect(book(db, holdCaptured(released, rubles(100n), 0n))).rejects.toThrow(LedgerConflict);
    expect(await transfersOf(released)).toBe(2);
  });

  test('that was never written cannot be completed', async () => {
    await expect(book(db, holdReleased(newPayment()))).rejects.toThrow(/nothing is pending as hold/);
  });
});

describe('a journal', () => {
  test('written again changes nothing', async () => {
    const payment = newPayment();
    for (let time = 0; time < 3; time++) await book(db, saleApproved(payment, rubles(1_000n), 25n));
    expect(await balanceOfShop(payment)).toEqual({ own: 975n, available: 975n, most: 975n });
    expect(await transfersOf(payment)).toBe(2);
  });

  test('with other content than the written one is an error that says so', async () => {
    const payment = newPayment();
    await book(db, saleApproved(payment, rubles(1_000n), 25n));
    await expect(book(db, saleApproved(payment, rubles(999n), 25n))).rejects.toThrow(
      /sale is written already, with other content/,
    );
    const elsewhere = saleApproved({ ...payment, shopId: 'OTHER' }, rubles(1_000n), 25n);
    await expect(book(db, elsewhere)).rejects.toThrow(LedgerConflict);
  });

  test('of which only a part is written is an error', async () => {
    const payment = newPayment();
    await book(db, saleApproved(payment, rubles(1_000n), 0n));
    await expect(book(db, saleApproved(payment, rubles(1_000n), 25n))).rejects.toThrow(/without the rest/);
    expect((await balanceOfShop(payment)).own).toBe(1_000n);
  });

  test('is rolled back with its transaction', async () => {
    const payment = newPayment();
    const aborted = db.transaction(async (tx) => {
      await postJournal(tx, saleApproved(payment, rubles(1_000n), 25n), bookedAt);
      throw new Error('changed its mind');
    });
    await expect(aborted).rejects.toThrow('changed its mind');
    expect(await transfersOf(payment)).toBe(0);
    expect((await balanceOfShop(payment)).most).toBe(0n);
  });

  test('written twice concurrently is written once, and both writers succeed', async () => {
    const payment = newPayment();
    const sale = saleApproved(payment, rubles(1_000n), 25n);
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => book(db, sale)));
    expect(new Set(outcomes)).toEqual(new Set(['posted']));
    expect((await balanceOfShop(payment)).own).toBe(975n);

    // The second writer must not be refused because the first one has taken the money.
    const refund = refundRequested({ ...payment, refundId: '100' }, rubles(975n), 0n);
    const refunds = await Promise.all(Array.from({ length: 8 }, () => book(db, refund)));
    expect(new Set(refunds)).toEqual(new Set(['posted']));
  });

  test('with a zero or negative amount is an error', async () => {
    for (const minor of [0n, -5n]) {
      const journal = moved(wallet('a'), wallet('b'), minor);
      await expect(book(db, journal)).rejects.toThrow(/move moves nothing/);
    }
  });

  test('with two steps of one name is an error', async () => {
    const journal = moved(wallet('a'), bankNostro({ ...kind, bankAccountId: 'b' }), 5n);
    const twice = { ...journal, entries: [...journal.entries, ...journal.entries] };
    await expect(book(db, twice)).rejects.toThrow(/two of its steps have the same name/);
  });

  test.each([
    ['modes', { livemode: true, currency: 'RUB' as Currency } as const],
    ['currencies', { livemode: false, currency: 'USD' as Currency } as const],
  ])('between two %s is refused by the database', async (_, other) => {
    const journal = moved(
      bankNostro({ ...kind, bankAccountId: 'b' }),
      walletAccount({ ...other, walletId: 'w' }),
      5n,
    );
    await expect(book(db, journal)).rejects.toThrow(/ledger_transfer_stays_in_mode_and_currency/);
  });

  test('that lowers two accounts that forbid an overdraft is an error', async () => {
    const nostro = bankNostro({ ...kind, bankAccountId: 'b' });
    const both: Journal = {
      aggregateId: randomIds.next(),
      operationId: 'adjustment',
      entries: [
        { phase: 'single', step: 'one', debit: wallet('a'), credit: nostro, minor: 1n },
        { phase: 'single', step: 'two', debit: wallet('b'), credit: nostro, minor: 1n },
      ],
    };
    await expect(book(db, both)).rejects.toThrow(/more than one account that forbids an overdraft/);
  });
});

describe('an account that forbids an overdraft', () => {
  test('can be emptied but not overdrawn, and a refusal leaves the transaction usable', async () => {
    const payment = newPayment();
    await book(db, saleApproved(payment, rubles(1_000n), 0n));
    const refund = (refundId: string, minor: bigint) =>
      refundRequested({ ...payment, refundId }, rubles(minor), 0n);

    await db.transaction(async (tx) => {
      expect(await postJournal(tx, refund('100', 1_001n), bookedAt)).toBe('insufficient');
      expect(await postJournal(tx, refund('101', 1_000n), bookedAt)).toBe('posted');
    });
    expect(await balanceOfShop(payment)).toEqual({ own: 1_000n, available: 0n, most: 1_000n });
    expect(await book(db, refund('102', 1n))).toBe('insufficient');
    expect(await transfersOf(payment)).toBe(2);
  });

  test('counts reserved amounts and their fees', async () => {
    const payment = newPayment();
    await book(db, saleApproved(payment, rubles(1_000n), 0n));
    const refund = { ...payment, refundId: '100' };
    expect(await book(db, refundRequested(refund, rubles(1_000n), 1n))).toBe('insufficient');
    expect(await book(db, refundRequested(refund, rubles(999n), 1n))).toBe('posted');
    await book(db, refundFailed(refund, 1n));
    expect((await balanceOfShop(payment)).available).toBe(1_000n);

    const again = { ...payment, refundId: '101' };
    await book(db, refundRequested(again, rubles(600n), 10n));
    await book(db, refundSucceeded(again, 10n));
    expect(await balanceOfShop(payment)).toEqual({ own: 390n, available: 390n, most: 390n });
  });

  test('does not count pending credits', async () => {
    const payment = newPayment();
    await book(db, holdApproved(payment, rubles(1_000n)));
    expect(await book(db, refundRequested({ ...payment, refundId: '100' }, rubles(1n), 0n))).toBe(
      'insufficient',
    );
  });

  test('is separate for each shop of a merchant', async () => {
    const shop = newShop();
    await book(db, saleApproved(newPayment(shop), rubles(1_000n), 0n));
    const other = { ...newPayment({ ...shop, shopId: 'OTHER' }), refundId: '100' };
    expect(await book(db, refundRequested(other, rubles(1n), 0n))).toBe('insufficient');
  });

  test('is protected by its row if the account has one row', async () => {
    const walletId = randomIds.next();
    await book(db, moved(bankNostro({ ...kind, bankAccountId: 'b' }), wallet(walletId), 100n));
    const overdraw = testDatabase.database.withClient((client) =>
      client.query('update ledger_balance set debits_posted = 101 where account_id = $1', [
        wallet(walletId).id,
      ]),
    );
    await expect(overdraw).rejects.toThrow(/ledger_balance_no_overdraft/);
  });

  test('throws for a journal without a funds check that would overdraw it', async () => {
    const walletId = randomIds.next();
    const journal = moved(wallet(walletId), bankNostro({ ...kind, bankAccountId: 'b' }), 5n);
    await expect(book(db, journal)).rejects.toThrow(LedgerConflict);
  });
});

test('a fee larger than the captured amount takes exactly that amount, so that no capture is refused', async () => {
  const payment = newPayment();
  await book(db, holdApproved(payment, rubles(5n)));
  await book(db, holdCaptured(payment, rubles(5n), 30n));
  expect((await balanceOfShop(payment)).own).toBe(0n);
});

test('accounts are opened on first use, also by many transactions concurrently', async () => {
  const shop = newShop();
  const sales = Array.from({ length: 10 }, () => saleApproved(newPayment(shop), rubles(10n), 1n));
  await Promise.all(sales.map((sale) => book(db, sale)));
  expect((await readBalance(db, settlementAccount({ ...kind, ...shop }))).own).toBe(90n);
});

test('a change of shards while holds are pending keeps every kopeck', async () => {
  const shop = newShop();
  const settlement = settlementAccount({ ...kind, ...shop });
  const holds = Array.from({ length: 12 }, () => newPayment(shop));
  for (const hold of holds) await book(db, holdApproved(hold, rubles(100n)));
  for (const [part, shards] of [
    [holds.slice(0, 4), 32],
    [holds.slice(4, 8), 1],
    [holds.slice(8), 0],
  ] as const) {
    expect(await shardAccount(db, settlement.id, shards)).toBe(true);
    for (const hold of part) await book(db, holdCaptured(hold, rubles(100n), 3n));
    await book(db, saleApproved(newPayment(shop), rubles(100n), 3n));
  }
  expect(await readBalance(db, settlement)).toEqual({ own: 1_455n, available: 1_455n, most: 1_455n });
  const refund = { ...newPayment(shop), refundId: '100' };
  expect(await book(db, refundRequested(refund, rubles(1_456n), 0n))).toBe('insufficient');
  expect(await book(db, refundRequested(refund, rubles(1_455n), 0n))).toBe('posted');
  await book(db, refundFailed(refund, 0n));
});

test('a wallet with several shards cannot be overdrawn', async () => {
  const walletId = randomIds.next();
  await book(db, moved(bankNostro({ ...kind, bankAccountId: 'b' }), wallet(walletId), 100n));
  await shardAccount(db, wallet(walletId).id, 4);
  await book(db, moved(bankNostro({ ...kind, bankAccountId: 'b' }), wallet(walletId), 50n));
  const take = (minor: bigint) =>
    book(db, {
      ...moved(wallet(walletId), bankNostro({ ...kind, bankAccountId: 'b' }), minor),
      checksFunds: true,
    });
  expect(await take(151n)).toBe('insufficient');
  expect(await take(150n)).toBe('posted');
});

describe('the database', () => {
  test('builds the ID of an account as the program does, and refuses another one', async () => {
    const odd = { ...newPayment(), partyId: 'a:b%3A', shopId: '%25:' };
    await book(db, saleApproved(odd, rubles(10n), 0n));
    await expect(
      testDatabase.database.withClient((client) =>
        client.query(`insert into ledger_account (account_id, livemode, currency, code, party_id, owner_id, forbids_overdraft, shards)
          values ('test:RUB:merchant.settlement:a', true, 'RUB', 'merchant.settlement', 'a', null, true, 0)`),
      ),
    ).rejects.toThrow(/check constraint/);
  });

  test.each([
    ["update ledger_transfer set posted_minor = posted_minor + 1 where phase = 'single'"],
    ['delete from ledger_transfer'],
    ['truncate ledger_transfer'],
    ["update ledger_account set currency = 'USD'"],
    ['delete from ledger_account'],
  ])('refuses to %s', async (command) => {
    await book(db, saleApproved(newPayment(), rubles(10n), 0n));
    await expect(testDatabase.database.withClient((client) => client.query(command))).rejects.toThrow(
      /never changed or deleted/,
    );
  });

  test('reports zero for an account that was never used', async () => {
    const unused = acquirerUncleared({ ...kind, acquirerId: 'unused' });
    expect(await readBalance(db, unused)).toEqual({ own: 0n, available: 0n, most: 0n });
  });
});

test('after all tests the ledger is right', async () => {
  expect(await brokenInvariants(db)).toEqual([]);
});
