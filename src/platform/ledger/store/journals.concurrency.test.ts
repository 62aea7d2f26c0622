// Many transactions on the same accounts: the balance can be taken to the last minor unit, and never more.
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  bookedAt,
  book,
  brokenInvariants,
  moved,
  newPayment,
  newShop,
  newWithdrawal,
  rubles,
  untilWaiting,
} from '../../../../test/support/database/ledger.ts';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database/test-database.ts';
import { openDatabase, type DatabasePool } from '../../database/database.ts';
import { randomIds } from '../../../ids.ts';
import type { Currency } from '../../../money.ts';
import { bankNostro, settlementAccount, walletAccount } from '../domain/account.ts';
import { postJournal } from '../../../../test/support/database/post-journal.ts';
import { LedgerConflict, readBalance } from './journals.ts';
import type { FundsCheckedJournal, Journal } from '../domain/ledger.ts';
import {
  holdApproved,
  holdCaptured,
  holdReleased,
  refundFailed,
  refundRequested,
  refundSucceeded,
  saleApproved,
} from '../../../payments/domain/payment-postings.ts';
import { withdrawalCreated } from '../../../payouts/domain/withdrawal-postings.ts';
import { depositedFromShop } from '../../../wallets/domain/wallet-postings.ts';

const clients = 24;
const kind = { livemode: false, currency: 'RUB' as Currency } as const;
let testDatabase: TestDatabase;
let db: DatabasePool;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  db = openDatabase({ connection: { url: testDatabase.url }, maxConnections: clients });
});
afterAll(async () => {
  await db.end();
  await testDatabase.drop();
});

const inParallel = <T>(times: number, work: (number: number) => Promise<T>) =>
  Promise.all(Array.from({ length: times }, (_, number) => work(number)));

/** Takes from a shop's balance, into a wallet that no test reads. */
function takenFrom(
  { partyId, shopId }: { partyId: string; shopId: string },
  minor: bigint,
): FundsCheckedJournal {
  const ids = { livemode: false, depositId: randomIds.next(), walletId: randomIds.next() } as const;
  return depositedFromShop({ ...ids, partyId, shopId }, rubles(minor));
}

const howMany = <T>(values: readonly T[], wanted: T) => values.filter((value) => value === wanted).length;

async function walletWith(minor: bigint): Promise<string> {
  const walletId = randomIds.next();
  const nostro = bankNostro({ ...kind, bankAccountId: 'b' });
  await book(db, moved(nostro, walletAccount({ ...kind, walletId }), minor));
  return walletId;
}

test('exactly one of fifty withdrawals of the whole balance succeeds', async () => {
  const walletId = await walletWith(1_000n);
  const outcomes = await inParallel(50, () =>
    book(db, withdrawalCreated(newWithdrawal(walletId), rubles(990n), 10n)),
  );
  expect(howMany(outcomes, 'posted')).toBe(1);
  expect(howMany(outcomes, 'insufficient')).toBe(49);
});

test('a shop is drained to exactly zero, whatever shards hold its sales', async () => {
  const shop = newShop();
  await inParallel(40, () => book(db, saleApproved(newPayment(shop), rubles(100n), 0n)));
  const outcomes = await inParallel(150, () => book(db, takenFrom(shop, 37n)));
  // 108 times 37 fits into 4000, and leaves 4.
  expect(howMany(outcomes, 'posted')).toBe(108);
  const settlement = settlementAccount({ ...kind, ...shop });
  expect((await readBalance(db, settlement)).available).toBe(4n);
  expect(await book(db, takenFrom(shop, 4n))).toBe('posted');
  expect((await readBalance(db, settlement)).available).toBe(0n);
});

test('while sales arrive no more is taken than has arrived, and all of it in the end', async () => {
  const shop = newShop();
  const settlement = settlementAccount({ ...kind, ...shop });
  await book(db, saleApproved(newPayment(shop), rubles(1n), 0n));
  let taken = 0n;
  let lowest = 0n;
  const sell = async () => {
    for (let sale = 0; sale < 20; sale++) await book(db, saleApproved(newPayment(shop), rubles(40n), 1n));
  };
  const take = async () => {
    for (let refusals = 0; refusals < 25;) {
      if ((await book(db, takenFrom(shop, 13n))) === 'posted') taken += 13n;
      else refusals += 1;
      const { available } = await readBalance(db, settlement);
      if (available < lowest) lowest = available;
    }
  };
  await Promise.all([inParallel(4, sell), inParallel(8, take)]);
  const { available } = await readBalance(db, settlement);
  expect(lowest).toBe(0n);
  expect(taken + available).toBe(1n + 4n * 20n * 39n);
  expect(await book(db, takenFrom(shop, available + 1n))).toBe('insufficient');
  if (available > 0n) expect(await book(db, takenFrom(shop, available))).toBe('posted');
});

test('a journal that waited sees what the other one took and what has arrived since', async () => {
  const shop = newShop();
  const settlement = settlementAccount({ ...kind, ...shop });
  await book(db, saleApproved(newPayment(shop), rubles(100n), 0n));

  // While 60 of 100 are taken and not committed, two others wait for 60. The 20 that arrive in the meantime are enough for one.
  const waiting = await db.transaction(async (tx) => {
    expect(await postJournal(tx, takenFrom(shop, 60n), bookedAt)).toBe('posted');
    const others = [book(db, takenFrom(shop, 60n)), book(db, takenFrom(shop, 60n))];
    await untilWaiting(db, 2);
    await book(db, saleApproved(newPayment(shop), rubles(20n), 0n));
    return others;
  });
  expect((await Promise.all(waiting)).sort()).toEqual(['insufficient', 'posted']);
  expect((await readBalance(db, settlement)).available).toBe(0n);
});

test('a hold captured and released concurrently is one of the two, and the other is a conflict', async () => {
  await inParallel(12, async () => {
    const payment = newPayment();
    await book(db, holdApproved(payment, rubles(100n)));
    const outcomes = await Promise.allSettled([
      book(db, holdCaptured(payment, rubles(100n), 3n)),
      book(db, holdReleased(payment)),
    ]);
    const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(failures).toEqual([expect.any(LedgerConflict)]);
  });
});

test('a sale does not wait for a withdrawal from the same shop', async () => {
  const shop = newShop();
  await book(db, saleApproved(newPayment(shop), rubles(100n), 0n));
  await db.transaction(async (tx) => {
    await postJournal(tx, takenFrom(shop, 60n), bookedAt);
    expect(await book(db, saleApproved(newPayment(shop), rubles(5n), 0n))).toBe('posted');
  });
});

test('journals in all directions over a few accounts never deadlock', async () => {
  const shops = [newShop(), newShop()];
  let tries = 0;
  let journals = 0;
  // The server would end a deadlock, and the transaction would be retried.
  const write = async (journal: Journal | FundsCheckedJournal) => {
    journals += 1;
    return db.transaction((tx) => {
      tries += 1;
      return book(tx, journal);
    });
  };
  await inParallel(clients, async (client) => {
    for (let round = 0; round < 6; round++) {
      const payment = newPayment(shops[(client + round) % 2]);
      await write(holdApproved(payment, rubles(100n)));
      await write(holdCaptured(payment, rubles(90n), 3n));
      const refund = { ...payment, refundId: '100' };
      if ((await write(refundRequested(refund, rubles(50n), 1n))) === 'insufficient') continue;
      await write(round % 2 === 0 ? refundSucceeded(refund, 1n) : refundFailed(refund, 1n));
    }
  });
  expect(tries).toBe(journals);
});

test('after all tests the ledger is right', async () => {
  expect(await brokenInvariants(db)).toEqual([]);
});
