// For tests of the ledger: merchants, payments and wallets that exist only in the ledger. Each has its own IDs, so that tests of one
// file share no account.
import { setTimeout as sleep } from 'node:timers/promises';
import { waitMs } from '../../../tools/tests/waits.ts';
import { instantAt } from '../../../src/clock.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { statement } from '../../../src/platform/database/statement.ts';
import { randomIds } from '../../../src/ids.ts';
import type { Account } from '../../../src/platform/ledger/domain/account.ts';
import { checkLedger } from '../../../src/platform/ledger/check-ledger.ts';
import type { FundsCheckedJournal, Journal } from '../../../src/platform/ledger/domain/ledger.ts';
import type { LedgerPayment } from '../../../src/payments/domain/payment-postings.ts';
import type { LedgerWithdrawal } from '../../../src/payouts/domain/withdrawal-postings.ts';
import type { Currency, Money } from '../../../src/money.ts';
import { postJournal } from './post-journal.ts';

export const bookedAt = instantAt(Date.UTC(2026, 0, 19, 10));

export const rubles = (minor: bigint): Money => ({ minor, currency: 'RUB' as Currency });

export function newShop(): Pick<LedgerPayment, 'livemode' | 'partyId' | 'shopId' | 'acquirerId'> {
  return { livemode: false, partyId: randomIds.next(), shopId: 'TEST', acquirerId: 'bank' };
}

export function newPayment(shop = newShop()): LedgerPayment {
  return { ...shop, invoiceId: randomIds.next(), paymentId: '1' };
}

export function newWithdrawal(walletId: string): LedgerWithdrawal {
  return { livemode: false, withdrawalId: randomIds.next(), walletId, acquirerId: 'bank' };
}

/** A single transfer outside the business events. */
export function moved(debit: Account, credit: Account, minor: bigint): Journal {
  return {
    aggregateId: randomIds.next(),
    operationId: 'adjustment',
    entries: [{ phase: 'single', step: 'move', debit, credit, minor }],
  };
}

/** Writes a journal in its own transaction, as a module does. */
export function book(
  db: Database,
  journal: Journal | FundsCheckedJournal,
): Promise<'posted' | 'insufficient'> {
  return db.transaction((tx) => postJournal(tx, journal, bookedAt));
}

/** The IDs of violated invariants; none if the ledger is right. */
export async function brokenInvariants(db: Database, scope: 'all' | 'recent' = 'all'): Promise<string[]> {
  const findings = await checkLedger(db, scope);
  return findings.filter(({ violations }) => violations > 0n).map(({ id }) => id);
}

const countWaiting = statement({
  name: 'test_count_waiting',
  parameters: {},
  row: { waiting: 'int8' },
  text: `select count(*) as waiting from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
});

/** Waits until that many sessions wait for another's lock. */
export async function untilWaiting(db: Database, sessions: number): Promise<void> {
  for (const deadline = Date.now() + waitMs; Date.now() < deadline; await sleep(5)) {
    const [row] = await db.run(countWaiting, {});
    if (Number(row?.waiting) >= sessions) return;
  }
  throw new Error(`fewer than ${sessions} sessions wait`);
}
