// Each invariant is violated on purpose, past every guard of the database, and the violation is found.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  book,
  brokenInvariants,
  newPayment,
  newWithdrawal,
  rubles,
  untilWaiting,
} from '../../../test/support/database/ledger.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database/test-database.ts';
import type { Database } from '../database/database.ts';
import { statement } from '../database/statement.ts';
import { randomIds } from '../../ids.ts';
import { checkLedger, countUnbalancedAccounts, moveWatermark } from './check-ledger.ts';
import { bindingCharged } from '../../customers/domain/binding-postings.ts';
import {
  holdApproved,
  holdCaptured,
  refundRequested,
  saleApproved,
} from '../../payments/domain/payment-postings.ts';
import { withdrawalCreated } from '../../payouts/domain/withdrawal-postings.ts';
import { depositedFromBank } from '../../wallets/domain/wallet-postings.ts';

const runCommand = statement({
  name: 'test_run_command',
  parameters: { command: 'text' },
  row: { run_command: 'text' },
  text: 'select run_command(:command)',
});

type Sums = { debits_posted: number };

/** A ledger with something of everything: twelve transfers, of which one completes another. */
async function fillLedger(): Promise<TestDatabase> {
  const made = await createTestDatabase();
  await made.database.withClient((client) =>
    client.query(`create function run_command(command text) returns text language plpgsql as
      $$ begin execute command; return ''; end $$`),
  );
  const payment = newPayment();
  const walletId = randomIds.next();
  const deposit = { livemode: false, depositId: randomIds.next(), walletId, bankAccountId: 'main' } as const;
  const binding = {
    livemode: false,
    customerId: randomIds.next(),
    bindingId: '1',
    acquirerId: 'bank',
  } as const;
  for (const journal of [
    holdApproved(payment, rubles(1_000n)),
    holdCaptured(payment, rubles(900n), 9n),
    holdApproved(newPayment(), rubles(500n)),
    refundRequested({ ...payment, refundId: '100' }, rubles(800n), 5n),
    saleApproved(newPayment(), rubles(50n), 0n),
    depositedFromBank(deposit, rubles(500n)),
    withdrawalCreated(newWithdrawal(walletId), rubles(100n), 3n),
    bindingCharged(binding, rubles(1_000n)),
  ]) {
    await book(made.database, journal);
  }
  return made;
}

/** As with full access to the database. */
async function tamper(db: Database, ...commands: string[]): Promise<void> {
  const disabled = ['ledger_transfer', 'ledger_account'].map(
    (table) => `alter table ${table} disable trigger user`,
  );
  await db.transaction(async (tx) => {
    for (const command of [...disabled, ...commands]) await tx.run(runCommand, { command });
  });
}

/** What is done to the ledger in it is rolled back in the end. */
async function inVain(db: Database, work: (tx: Database) => Promise<void>): Promise<void> {
  const undone = new Error('undone');
  const outcome = await db
    .transaction(async (tx) => {
      await work(tx);
      throw undone;
    })
    .catch((error: unknown) => error);
  if (outcome !== undone) throw outcome;
}

const drop = (table: string, constraint: string) => `alter table ${table} drop constraint ${constraint}`;
const balanceOf = (code: string) => `where account_id like 'test:RUB:${code}%'`;

const cases: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  [
    'money that appeared on an account',
    [
      `update ledger_balance set credits_posted = credits_posted + 7 ${balanceOf('merchant.settlement')} and shard = 0`,
    ],
    ['I1', 'I2'],
  ],
  [
    'a reservation that appeared on an account',
    [`update ledger_balance set debits_pending = debits_pending + 7 ${balanceOf('bank.nostro')}`],
    ['I1', 'I2'],
  ],
  [
    'two accounts that both have too much, so that the sums agree',
    [
      `update ledger_balance set credits_posted = credits_posted + 7 ${balanceOf('wallet.own')}`,
      `update ledger_balance set debits_posted = debits_posted + 7 ${balanceOf('bank.nostro')}`,
    ],
    ['I2'],
  ],
  ['a balance row that vanished', [`delete from ledger_balance ${balanceOf('bank.nostro')}`], ['I1', 'I2']],
  ['a transfer that vanished', [`delete from ledger_transfer where step = 'deposit'`], ['I2']],
  [
    'a transfer that was changed',
    [`update ledger_transfer set posted_minor = posted_minor + 1 where step = 'sale'`],
    ['I2'],
  ],
  [
    'a hold completed twice',
    [
      drop('ledger_transfer', 'ledger_transfer_pkey'),
      `insert into ledger_transfer select * from ledger_transfer where phase = 'post'`,
    ],
    ['I2', 'I3'],
  ],
  [
    'a hold of which only a part was released',
    [`update ledger_transfer set pending_minor = -950 where phase = 'post'`],
    ['I2', 'I3'],
  ],
  [
    'a posting without a pending transfer',
    [`update ledger_transfer set step = 'other' where phase = 'post'`],
    ['I3', 'I6', 'I7'],
  ],
  [
    'a posting between other accounts',
    [`update ledger_transfer set debit_shard = debit_shard + 1 where phase = 'post'`],
    ['I2', 'I3'],
  ],
  [
    'a shop with a negative balance',
    [`update ledger_balance set debits_posted = 2000 ${balanceOf('merchant.settlement')} and shard = 0`],
    ['I1', 'I2', 'I4'],
  ],
  [
    'a transfer from a test account to a live one',
    [
      drop('ledger_transfer', 'ledger_transfer_stays_in_mode_and_currency'),
      `update ledger_transfer set credit_account = 'live' || substr(credit_account, 5) where step = 'sale'`,
    ],
    ['I2', 'I5'],
  ],
  [
    'an account whose currency was changed',
    [
      drop('ledger_account', 'ledger_account_is_named_by_its_parts'),
      `update ledger_account set currency = 'USD' ${balanceOf('bank.nostro')}`,
    ],
    ['I5'],
  ],
  [
    'a refund of more than was captured',
    [`update ledger_transfer set pending_minor = 901 where step = 'refund'`],
    ['I2', 'I6'],
  ],
  [
    'a withdrawal that is posted while its fee is not',
    [
      `insert into ledger_transfer (aggregate_id, operation_id, step, phase, completes_pending, debit_account, debit_shard, credit_account,
         credit_shard, posted_minor, pending_minor, happened_at)
       select aggregate_id, operation_id, step, 'post', true, debit_account, debit_shard, credit_account, credit_shard,
         pending_minor, -pending_minor, happened_at from ledger_transfer where step = 'payout'`,
    ],
    ['I2', 'I7'],
  ],
  [
    'a payment captured twice, by a hold and by a sale',
    [`update ledger_transfer set step = 'sale' where step = 'fee'`],
    ['I7'],
  ],
  [
    'a fee of a payment that was not captured',
    [`update ledger_transfer set step = 'fee' where step = 'sale'`],
    ['I7'],
  ],
  [
    'a hold that is pending too long',
    [`update ledger_transfer set created_at = now() - interval '32 days' where step = 'hold'`],
    ['I8'],
  ],
  [
    'a payout whose outcome is unknown for days',
    [`update ledger_transfer set created_at = now() - interval '5 days' where step = 'payout'`],
    ['I8'],
  ],
  [
    'a verification charge that is not being refunded',
    [`update ledger_balance set debits_pending = 0 ${balanceOf('binding.clearing')}`],
    ['I1', 'I2', 'I9'],
  ],
  [
    'a verification charge that was not refunded within a day',
    [`update ledger_transfer set created_at = now() - interval '25 hours' where step = 'return'`],
    ['I9a'],
  ],
];

describe('a check of everything', () => {
  let made: TestDatabase;
  let db: Database;
  beforeAll(async () => {
    made = await fillLedger();
    db = made.database;
  });
  afterAll(() => made.drop());

  test('finds a right ledger right, and reports how much it checked', async () => {
    const findings = await checkLedger(db, 'all');
    expect(findings.map(({ id, violations }) => [id, violations])).toEqual(
      findings.map(({ id }) => [id, 0n]),
    );
    const checked = Object.fromEntries(findings.map(({ id, checked }) => [id, checked]));
    expect(checked).toMatchObject({ I1: 1n, I3: 1n, I4: 4n, I5: 12n, I6: 3n, I9: 1n });
    expect(checked['I2']).toBeGreaterThan(50n);
    expect(await countUnbalancedAccounts(db)).toBe(0);
  });

  test.each(cases)('finds %s', async (_, commands, expected) => {
    await inVain(db, async (tx) => {
      await tamper(tx, ...commands);
      expect(await brokenInvariants(tx)).toEqual(expected);
      // Some violations show in the balances alone.
      const shown = expected.some((id) => ['I1', 'I4', 'I9'].includes(id));
      expect((await countUnbalancedAccounts(tx)) > 0).toBe(shown);
    });
    expect(await brokenInvariants(db)).toEqual([]);
  });

  test('shows examples of a violation', async () => {
    await inVain(db, async (tx) => {
      await tamper(tx, `update ledger_transfer set posted_minor = 51 where step = 'sale'`);
      const finding = (await checkLedger(tx, 'all')).find(({ id }) => id === 'I2');
      expect(finding).toMatchObject({ violations: 2n });
      const examples = finding?.examples as { account_id: string; balance: Sums; transfers: Sums }[];
      const uncleared = examples.find(({ account_id }) => account_id === 'test:RUB:acq.uncleared:bank');
      expect(uncleared?.transfers.debits_posted).toBe(uncleared!.balance.debits_posted + 1);
    });
  });
});

describe('a check of recent transfers', () => {
  let made: TestDatabase;
  let db: Database;
  beforeEach(async () => {
    made = await fillLedger();
    db = made.database;
  });
  afterEach(() => made.drop());

  const olderBy = (interval: string) =>
    tamper(db, `update ledger_transfer set created_at = created_at - interval '${interval}'`);

  async function transfersChecked(): Promise<bigint | undefined> {
    const findings = await checkLedger(db, 'recent');
    expect(findings.filter(({ violations }) => violations > 0n)).toEqual([]);
    return findings.find(({ id }) => id === 'I5')?.checked;
  }

  test('finds the same as a check of everything, repeatedly', async () => {
    await tamper(
      db,
      `update ledger_balance set credits_posted = credits_posted + 7 ${balanceOf('wallet.own')}`,
    );
    expect(await brokenInvariants(db, 'recent')).toEqual(['I1', 'I2']);
    expect(await brokenInvariants(db, 'recent')).toEqual(['I1', 'I2']);
  });

  test('reads no transfer twice, and still knows every balance', async () => {
    await olderBy('2 hours');
    expect(await transfersChecked()).toBe(12n);
    expect(await transfersChecked()).toBe(0n);
    await book(db, saleApproved(newPayment(), rubles(50n), 1n));
    expect(await transfersChecked()).toBe(2n);
    await tamper(
      db,
      `update ledger_balance set debits_posted = debits_posted + 1 ${balanceOf('bank.nostro')}`,
    );
    expect(await brokenInvariants(db, 'recent')).toEqual(['I1', 'I2']);
  });

  test('leaves transfers younger than a minute to the next check', async () => {
    expect(await transfersChecked()).toBe(12n);
    expect(await transfersChecked()).toBe(12n);
  });

  test('is corrected by a check of everything after the clock went backwards', async () => {
    await transfersChecked();
    await olderBy('2 hours');
    expect(await brokenInvariants(db, 'recent')).toEqual(['I2']);
    expect(await brokenInvariants(db, 'all')).toEqual([]);
    expect(await transfersChecked()).toBe(0n);
  });

  test('does not miss what a running transaction is about to write', async () => {
    await db.transaction(async (tx) => {
      await book(tx, saleApproved(newPayment(), rubles(50n), 0n));
      await moveWatermark(db, { from: 'checkpoint', marginMs: 0 });
    });
    expect(await transfersChecked()).toBe(1n);
    expect(await brokenInvariants(db, 'recent')).toEqual([]);
  });

  test('by two nodes concurrently counts nothing twice', async () => {
    await olderBy('2 hours');
    let other = Promise.resolve();
    await db.transaction(async (tx) => {
      await moveWatermark(tx, { from: 'checkpoint', marginMs: 0 });
      other = moveWatermark(db, { from: 'checkpoint', marginMs: 0 });
      await untilWaiting(db, 1);
    });
    await other;
    expect(await transfersChecked()).toBe(0n);
    expect(await brokenInvariants(db, 'all')).toEqual([]);
  });

  test('finds a hold once, when it becomes too old', async () => {
    await olderBy('2 hours');
    await transfersChecked();
    await tamper(
      db,
      `update ledger_transfer set created_at = now() - interval '31 days 10 seconds' where step = 'hold'`,
      `update ledger_watermark set reached_at = now() - interval '2 minutes'`,
    );
    expect(await brokenInvariants(db, 'recent')).toEqual(['I8']);
    await tamper(
      db,
      `update ledger_transfer set created_at = created_at - interval '1 hour' where step = 'hold'`,
    );
    expect(await brokenInvariants(db, 'recent')).toEqual([]);
    expect(await brokenInvariants(db, 'all')).toEqual(['I8']);
  });
});
