// Random journals of a few shops and a wallet, concurrent, repeated or interrupted. The balances agree with a reference ledger without a
// database, and every invariant holds.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { often } from '../../../../test/support/service/campaign.ts';
import {
  bookedAt,
  brokenInvariants,
  newPayment,
  newShop,
  newWithdrawal,
  rubles,
} from '../../../../test/support/database/ledger.ts';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database/test-database.ts';
import { openDatabase, type DatabasePool } from '../../database/database.ts';
import { statement } from '../../database/statement.ts';
import { randomIds } from '../../../ids.ts';
import { balanceOf, type Account, type Sums } from '../domain/account.ts';
import { postJournal } from '../../../../test/support/database/post-journal.ts';
import { LedgerConflict, readBalance } from './journals.ts';
import type { FundsCheckedJournal, Entry, Journal } from '../domain/ledger.ts';
import {
  type LedgerBinding,
  bindingCharged,
  bindingReturned,
} from '../../../customers/domain/binding-postings.ts';
import {
  type LedgerPayment,
  type LedgerRefund,
  holdApproved,
  holdCaptured,
  holdReleased,
  refundFailed,
  refundRequested,
  refundSucceeded,
  saleApproved,
} from '../../../payments/domain/payment-postings.ts';
import {
  type LedgerWithdrawal,
  withdrawalCreated,
  withdrawalFailed,
  withdrawalSucceeded,
} from '../../../payouts/domain/withdrawal-postings.ts';
import { depositedFromBank, depositedFromShop } from '../../../wallets/domain/wallet-postings.ts';

const workers = 6;
const runs = often(5, 12);
const operationsPerRun = 200;

let testDatabase: TestDatabase;
let db: DatabasePool;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  db = openDatabase({ connection: { url: testDatabase.url }, maxConnections: workers });
});
afterAll(async () => {
  await db.end();
  await testDatabase.drop();
});

const killOwnConnection = statement({
  name: 'test_kill_own_connection',
  parameters: {},
  row: { pg_terminate_backend: 'bool' },
  text: 'select pg_terminate_backend(pg_backend_pid())',
});

const operation = fc.record({
  do: fc.constantFrom(
    ...([
      'sale',
      'hold',
      'hold',
      'capture',
      'capture',
      'release',
      'race',
      'refund',
      'refund',
      'end refund',
    ] as const),
    ...([
      'deposit',
      'deposit from shop',
      'withdraw',
      'withdraw',
      'end withdrawal',
      'bind',
      'return',
      'repeat',
    ] as const),
  ),
  pick: fc.nat(),
  shop: fc.nat({ max: 1 }),
  minor: fc.bigInt({ min: 1n, max: 10_000n }),
  feeMinor: fc.bigInt({ min: 0n, max: 300n }),
  succeeds: fc.boolean(),
  crash: fc.oneof(
    { weight: 12, arbitrary: fc.constant('none' as const) },
    { weight: 3, arbitrary: fc.constantFrom('before the journal', 'after the journal', 'answer lost') },
    { weight: 1, arbitrary: fc.constant('connection killed' as const) },
  ),
});
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

/** The same rules without shards, locks and retries: journals in any order lead to the same sums. */
function referenceLedger() {
  const accounts = new Map<Account, Sums>();
  const pending = new Map<string, Extract<Entry, { debit: Account }>>();
  const add = (account: Account, change: Partial<Sums>) => {
    const known = [...accounts.keys()].find(({ id }) => id === account.id) ?? account;
    const sums = accounts.get(known) ?? {
      debitsPosted: 0n,
      creditsPosted: 0n,
      debitsPending: 0n,
      creditsPending: 0n,
    };
    const added = Object.entries(change).map(([side, minor]) => [side, sums[side as keyof Sums] + minor]);
    accounts.set(known, { ...sums, ...Object.fromEntries(added) });
  };
  const move = (debit: Account, credit: Account, posted: bigint, reserved: bigint) => {
    add(debit, { debitsPosted: posted, debitsPending: reserved });
    add(credit, { creditsPosted: posted, creditsPending: reserved });
  };
  return {
    accounts,
    write(journal: Journal) {
      for (const entry of journal.entries) {
        const name = `${journal.aggregateId} ${journal.operationId} ${entry.step}`;
        if (entry.phase === 'single') move(entry.debit, entry.credit, entry.minor, 0n);
        else if (entry.phase === 'pending') {
          pending.set(name, entry);
          move(entry.debit, entry.credit, 0n, entry.minor);
        } else {
          const held = pending.get(name)!;
          const posted = entry.phase === 'void' ? 0n : (entry.minor ?? held.minor);
          move(held.debit, held.credit, posted, -held.minor);
        }
      }
    },
  };
}

/** What the modules around the ledger know, and so which journals are possible next. */
function world() {
  const shops = [newShop(), newShop()];
  const walletId = randomIds.next();
  const held: { payment: LedgerPayment; minor: bigint }[] = [];
  const captured: { payment: LedgerPayment; leftMinor: bigint; refunds: number }[] = [];
  const refunds: {
    refund: LedgerRefund;
    feeMinor: bigint;
    minor: bigint;
    of: (typeof captured)[number];
  }[] = [];
  const withdrawals: { withdrawal: LedgerWithdrawal; feeMinor: bigint }[] = [];
  const bindings: LedgerBinding[] = [];
  const written: (Journal | FundsCheckedJournal)[] = [];
  const reference = referenceLedger();

  const take = <T>(list: T[], pick: number): T | undefined => list.splice(pick % (list.length || 1), 1)[0];
  const smaller = (a: bigint, b: bigint) => (a < b ? a : b);

  async function write(
    journal: Journal | FundsCheckedJournal,
    crash: Operation['crash'] = 'none',
  ): Promise<boolean> {
    const attempt = (tries: typeof crash) =>
      db.transaction(async (tx) => {
        if (tries === 'before the journal') throw new Crash();
        const outcome = await postJournal(tx, journal, bookedAt);
        if (tries === 'after the journal') throw new Crash();
        if (tries === 'connection killed') await tx.run(killOwnConnection, {});
        return outcome;
      });
    // A writer that crashed, or lost the response, repeats its journal.
    if (crash === 'answer lost') await attempt('none');
    else if (crash !== 'none') await expect(attempt(crash)).rejects.toThrow();
    const isWritten = (await attempt('none')) === 'posted';
    if (isWritten && !written.includes(journal)) {
      written.push(journal);
      reference.write(journal);
    }
    return isWritten;
  }

  async function run({
    do: what,
    pick,
    shop: number,
    minor,
    feeMinor,
    succeeds,
    crash,
  }: Operation): Promise<void> {
    const shop = shops[number]!;
    switch (what) {
      case 'sale': {
        const payment = newPayment(shop);
        await write(saleApproved(payment, rubles(minor), feeMinor), crash);
        captured.push({ payment, leftMinor: minor, refunds: 0 });
        return;
      }
      case 'hold': {
        const payment = newPayment(shop);
        await write(holdApproved(payment, rubles(minor)), crash);
        held.push({ payment, minor });
        return;
      }
      case 'capture': {
        const hold = take(held, pick);
        if (!hold) return;
        const leftMinor = smaller(minor, hold.minor);
        await write(holdCaptured(hold.payment, rubles(leftMinor), feeMinor), crash);
        captured.push({ payment: hold.payment, leftMinor, refunds: 0 });
        return;
      }
      case 'release': {
        const hold = take(held, pick);
        if (hold) await write(holdReleased(hold.payment), crash);
        return;
      }
      case 'race': {
        // One captures while another releases: one of them gets a conflict.
        const hold = take(held, pick);
        if (!hold) return;
        const outcomes = await Promise.allSettled([
          write(holdCaptured(hold.payment, rubles(hold.minor), 0n)),
          write(holdReleased(hold.payment)),
        ]);
        const failed = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
        expect(failed).toEqual([expect.any(LedgerConflict)]);
        if (outcomes[0].status === 'fulfilled') {
          captured.push({ payment: hold.payment, leftMinor: hold.minor, refunds: 0 });
        }
        return;
      }
      case 'refund': {
        const of = captured[pick % (captured.length || 1)];
        if (!of || of.leftMinor === 0n) return;
        const wanted = smaller(minor, of.leftMinor);
        of.leftMinor -= wanted;
        const refund = { ...of.payment, refundId: String(100 + of.refunds++) };
        const isWritten = await write(refundRequested(refund, rubles(wanted), feeMinor), crash);
        if (isWritten) refunds.push({ refund, feeMinor, minor: wanted, of });
        else of.leftMinor += wanted;
        return;
      }
      case 'end refund': {
        const ending = take(refunds, pick);
        if (!ending) return;
        const { refund, feeMinor: held, of } = ending;
        await write(succeeds ? refundSucceeded(refund, held) : refundFailed(refund, held), crash);
        if (!succeeds) of.leftMinor += ending.minor;
        return;
      }
      case 'deposit': {
        const deposit = {
          livemode: false,
          depositId: randomIds.next(),
          walletId,
          bankAccountId: 'main',
        } as const;
        await write(depositedFromBank(deposit, rubles(minor)), crash);
        return;
      }
      case 'deposit from shop': {
        const deposit = { livemode: false, depositId: randomIds.next(), walletId } as const;
        await write(depositedFromShop({ ...deposit, ...shop }, rubles(minor)), crash);
        return;
      }
      case 'withdraw': {
        const withdrawal = newWithdrawal(walletId);
        const isWritten = await write(withdrawalCreated(withdrawal, rubles(minor), feeMinor), crash);
        if (isWritten) withdrawals.push({ withdrawal, feeMinor });
        return;
      }
      case 'end withdrawal': {
        const ending = take(withdrawals, pick);
        if (!ending) return;
        const { withdrawal, feeMinor: fee } = ending;
        await write(
          succeeds ? withdrawalSucceeded(withdrawal, fee) : withdrawalFailed(withdrawal, fee),
          crash,
        );
        return;
      }
      case 'bind': {
        const binding = {
          livemode: false,
          customerId: randomIds.next(),
          bindingId: '1',
          acquirerId: 'bank',
        } as const;
        await write(bindingCharged(binding, rubles(minor)), crash);
        bindings.push(binding);
        return;
      }
      case 'return': {
        const binding = take(bindings, pick);
        if (binding) await write(bindingReturned(binding), crash);
        return;
      }
      case 'repeat': {
        const journal = written[pick % (written.length || 1)];
        if (journal) expect(await write(journal, crash)).toBe(true);
        return;
      }
    }
  }
  return { run, reference };
}

class Crash extends Error {}

test(
  'any interleaving of journals with crashes and repetitions leaves the ledger right',
  { timeout: 120_000 },
  async () => {
    let done = 0;
    const operations = fc.array(operation, {
      minLength: operationsPerRun,
      maxLength: operationsPerRun,
      size: 'max',
    });
    await fc.assert(
      fc.asyncProperty(operations, async (planned) => {
        const { run, reference } = world();
        const queue = [...planned];
        const work = async () => {
          for (let next = queue.shift(); next; next = queue.shift()) {
            await run(next);
            done += 1;
          }
        };
        await Promise.all(Array.from({ length: workers }, work));

        expect(await brokenInvariants(db)).toEqual([]);
        for (const [account, sums] of reference.accounts) {
          if (account.code !== 'merchant.settlement' && account.code !== 'wallet.own') continue;
          const balance = await readBalance(db, account);
          expect(balance).toEqual(balanceOf(account.code, sums));
          expect(balance.available >= 0n).toBe(true);
        }
      }),
      { numRuns: runs, endOnFailure: true },
    );
    expect(done).toBeGreaterThanOrEqual(runs * operationsPerRun);
  },
);
