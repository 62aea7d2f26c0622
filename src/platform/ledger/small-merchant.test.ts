// The ledger of a small merchant from the first hold to the bank statement, with every balance on the way.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  book,
  brokenInvariants,
  moved,
  newPayment,
  newShop,
  newWithdrawal,
  rubles,
} from '../../../test/support/database/ledger.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts';
import type { Database } from '../database/database.ts';
import { randomIds } from '../../ids.ts';
import type { Currency } from '../../money.ts';
import {
  acquirerFees,
  acquirerPayable,
  acquirerReceivable,
  acquirerUncleared,
  bankNostro,
  bindingClearing,
  feeIncome,
  payoutInTransit,
  settlementAccount,
  walletAccount,
  type FeeKind,
} from './domain/account.ts';
import { feeOf } from './domain/fee.ts';
import { readBalance } from './store/journals.ts';
import type { Journal } from './domain/ledger.ts';
import { bindingCharged, bindingReturned } from '../../customers/domain/binding-postings.ts';
import {
  holdApproved,
  holdCaptured,
  refundFailed,
  refundRequested,
  refundSucceeded,
  saleApproved,
} from '../../payments/domain/payment-postings.ts';
import {
  withdrawalCreated,
  withdrawalFailed,
  withdrawalSucceeded,
} from '../../payouts/domain/withdrawal-postings.ts';
import { depositedFromBank, depositedFromShop } from '../../wallets/domain/wallet-postings.ts';

let testDatabase: TestDatabase;
let db: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  db = testDatabase.database;
});
afterAll(() => testDatabase.drop());

const kind = { livemode: false, currency: 'RUB' as Currency } as const;
const acquirer = { ...kind, acquirerId: 'bank' };
const [uncleared, receivable] = [acquirerUncleared(acquirer), acquirerReceivable(acquirer)];
const [payable, fees] = [acquirerPayable(acquirer), acquirerFees(acquirer)];
const transit = payoutInTransit(acquirer);
const nostro = bankNostro({ ...kind, bankAccountId: 'main' });
const ownOf = async (account: Parameters<typeof readBalance>[1]) => (await readBalance(db, account)).own;
const income = async () => {
  const kinds: FeeKind[] = ['processing', 'refund', 'payout'];
  const owns = await Promise.all(kinds.map((fee) => ownOf(feeIncome({ ...kind, fee }))));
  return owns.reduce((sum, own) => sum + own);
};

test('from a hold to the bank statement every balance is as in the example, and the ledger balances', async () => {
  const payment = newPayment();
  const settlement = settlementAccount({ ...kind, ...payment });
  const walletId = randomIds.next();
  const wallet = walletAccount({ ...kind, walletId });

  await book(db, holdApproved(payment, rubles(100_000n)));
  expect(await readBalance(db, settlement)).toEqual({ own: 0n, available: 0n, most: 100_000n });

  const fee = feeOf(90_000n, { basisPoints: 250n, fixedMinor: 0n });
  await book(db, holdCaptured(payment, rubles(90_000n), fee));
  expect(await ownOf(uncleared)).toBe(90_000n);
  expect(await income()).toBe(2_250n);
  expect(await ownOf(settlement)).toBe(87_750n);

  const refund = { ...payment, refundId: '100' };
  expect(await book(db, refundRequested(refund, rubles(20_000n), 0n))).toBe('posted');
  await book(db, refundSucceeded(refund, 0n));
  expect(await ownOf(settlement)).toBe(67_750n);
  expect(await ownOf(uncleared)).toBe(70_000n);

  // The acquirer's clearing file.
  await book(db, moved(receivable, uncleared, 90_000n));
  await book(db, moved(uncleared, receivable, 20_000n));
  await book(db, moved(fees, receivable, 1_620n));
  expect(await ownOf(uncleared)).toBe(0n);
  expect(await ownOf(receivable)).toBe(68_380n);

  // The bank statement.
  await book(db, moved(nostro, receivable, 68_380n));
  expect(await ownOf(receivable)).toBe(0n);
  expect(await ownOf(nostro)).toBe(68_380n);

  const deposit = { livemode: false, depositId: randomIds.next(), walletId } as const;
  expect(await book(db, depositedFromShop({ ...deposit, ...payment }, rubles(50_000n)))).toBe('posted');
  expect(await ownOf(settlement)).toBe(17_750n);
  expect(await ownOf(wallet)).toBe(50_000n);

  const withdrawal = newWithdrawal(walletId);
  expect(await book(db, withdrawalCreated(withdrawal, rubles(30_000n), 150n))).toBe('posted');
  expect(await readBalance(db, wallet)).toEqual({ own: 50_000n, available: 19_850n, most: 50_000n });
  await book(db, withdrawalSucceeded(withdrawal, 150n));
  expect(await readBalance(db, wallet)).toEqual({ own: 19_850n, available: 19_850n, most: 19_850n });
  expect(await ownOf(transit)).toBe(30_000n);
  expect(await income()).toBe(2_400n);

  // The payout in the acquirer's clearing file and on the bank statement.
  await book(db, moved(transit, payable, 30_000n));
  await book(db, moved(fees, payable, 90n));
  expect(await ownOf(transit)).toBe(0n);
  expect(await ownOf(payable)).toBe(30_090n);
  expect(await ownOf(fees)).toBe(1_710n);
  await book(db, moved(payable, nostro, 30_090n));
  expect(await ownOf(nostro)).toBe(38_290n);

  const liabilities = (await ownOf(settlement)) + (await ownOf(wallet));
  const result = (await income()) - (await ownOf(fees));
  expect([liabilities, result]).toEqual([17_750n + 19_850n, 690n]);
  expect(await ownOf(nostro)).toBe(liabilities + result);
  expect(await brokenInvariants(db)).toEqual([]);
});

test('an instant payment leads to the same balances as a hold captured in full', async () => {
  const [instant, held] = [newPayment(), newPayment()];
  await book(db, saleApproved(instant, rubles(1_000n), 25n));
  await book(db, holdApproved(held, rubles(1_000n)));
  await book(db, holdCaptured(held, rubles(1_000n), 25n));
  const balances = [instant, held].map((payment) =>
    readBalance(db, settlementAccount({ ...kind, ...payment })),
  );
  const [one, other] = await Promise.all(balances);
  expect(one).toEqual({ own: 975n, available: 975n, most: 975n });
  expect(other).toEqual(one);
});

test('a declined refund releases the reserved amount and fee to the shop', async () => {
  const payment = newPayment();
  await book(db, saleApproved(payment, rubles(1_000n), 0n));
  const refund = { ...payment, refundId: '100' };
  await book(db, refundRequested(refund, rubles(900n), 50n));
  expect((await readBalance(db, settlementAccount({ ...kind, ...payment }))).available).toBe(50n);
  await book(db, refundFailed(refund, 50n));
  const balance = await readBalance(db, settlementAccount({ ...kind, ...payment }));
  expect(balance).toEqual({ own: 1_000n, available: 1_000n, most: 1_000n });
});

test('the verification charge of a binding is pending to the payer until the bank confirms its refund', async () => {
  const binding = {
    livemode: false,
    customerId: randomIds.next(),
    bindingId: '1',
    acquirerId: 'other',
  } as const;
  const clearing = bindingClearing(kind);
  await book(db, bindingCharged(binding, rubles(1_000n)));
  expect(await readBalance(db, clearing)).toEqual({ own: 1_000n, available: 0n, most: 1_000n });
  await book(db, bindingReturned(binding));
  expect(await readBalance(db, clearing)).toEqual({ own: 0n, available: 0n, most: 0n });
  expect(await ownOf(acquirerUncleared({ ...kind, acquirerId: 'other' }))).toBe(0n);
});

test('a withdrawal the bank declines leaves the wallet as it was', async () => {
  const walletId = randomIds.next();
  const deposit = { livemode: false, depositId: randomIds.next(), walletId, bankAccountId: 'main' } as const;
  await book(db, depositedFromBank(deposit, rubles(1_000n)));
  const withdrawal = newWithdrawal(walletId);
  await book(db, withdrawalCreated(withdrawal, rubles(900n), 100n));
  await book(db, withdrawalFailed(withdrawal, 100n));
  const balance = await readBalance(db, walletAccount({ ...kind, walletId }));
  expect(balance).toEqual({ own: 1_000n, available: 1_000n, most: 1_000n });
});

describe('a posting', () => {
  const payment = newPayment();
  const stepsOf = (journal: Journal) => journal.entries.map(({ phase, step }) => `${phase} ${step}`);

  test('has no transfer for a fee of zero', () => {
    expect(stepsOf(saleApproved(payment, rubles(10n), 0n))).toEqual(['single sale']);
    expect(stepsOf(withdrawalCreated(newWithdrawal('w'), rubles(10n), 0n))).toEqual(['pending payout']);
    expect(stepsOf(withdrawalFailed(newWithdrawal('w'), 0n))).toEqual(['void payout']);
    expect(stepsOf(refundSucceeded({ ...payment, refundId: '100' }, 7n))).toEqual([
      'post refund',
      'post refund_fee',
    ]);
  });

  test('is identified by its aggregate and its operation', () => {
    const named = ({ aggregateId, operationId }: Journal) => [aggregateId, operationId];
    expect(named(holdApproved(payment, rubles(10n)))).toEqual([payment.invoiceId, 'payment/1']);
    expect(named(refundFailed({ ...payment, refundId: '100' }, 0n))).toEqual([
      payment.invoiceId,
      'payment/1/refund/100',
    ]);
  });

  test('in live mode touches only live accounts', () => {
    const journal = saleApproved(
      { ...newShop(), livemode: true, invoiceId: 'i', paymentId: '1' },
      rubles(10n),
      1n,
    );
    const ids = journal.entries.flatMap((entry) =>
      'debit' in entry ? [entry.debit.id, entry.credit.id] : [],
    );
    expect(ids.every((id) => id.startsWith('live:RUB:'))).toBe(true);
  });
});
