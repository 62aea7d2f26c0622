// The short way for a journal of one transfer writes what post_journal writes, and leaves every unusual journal to it.
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { book, newPayment, rubles } from '../../../../test/support/database/ledger.ts';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database/test-database.ts';
import type { Currency } from '../../../money.ts';
import { acquirerUncleared, settlementAccount } from '../domain/account.ts';
import { shardAccount } from './journals.ts';
import { saleApproved, type LedgerPayment } from '../../../payments/domain/payment-postings.ts';

let db: TestDatabase;
let payment: LedgerPayment;
beforeAll(async () => void (db = await createTestDatabase()));
afterAll(() => db.drop());
beforeEach(async () => {
  payment = newPayment();
  await book(db.database, saleApproved(payment, rubles(1n), 0n));
});

const kind = { livemode: false, currency: 'RUB' as Currency } as const;
const debitOf = () => acquirerUncleared({ ...kind, ...payment }).id;
const creditOf = () => settlementAccount({ ...kind, ...payment }).id;
const at = '2026-01-19T10:00:00Z';

type Entry = { step: string; phase: string; debit: string; credit: string; minor: string | null };
const sale = (more: Partial<Entry> = {}): Entry => ({
  step: 'sale',
  phase: 'single',
  debit: debitOf(),
  credit: creditOf(),
  minor: '6000',
  ...more,
});

/** Inside a transaction that is rolled back. */
function aside<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
  return db.database.withClient(async (client) => {
    await client.query('begin');
    try {
      return await work(client);
    } finally {
      await client.query('rollback');
    }
  });
}

async function written(by: string, aggregate: string, entries: readonly Entry[]) {
  return aside(async (client) => {
    const call = `select ${by}($1, 'payment/1', $2, $3) as outcome`;
    const { rows } = await client.query(call, [aggregate, at, JSON.stringify(entries)]);
    const transfers = await client.query(
      `select to_jsonb(ledger_transfer) - 'created_at' as row from ledger_transfer where aggregate_id = $1`,
      [aggregate],
    );
    const balances = await client.query(
      'select to_jsonb(ledger_balance) as row from ledger_balance where account_id in ($1, $2) order by account_id, shard',
      [debitOf(), creditOf()],
    );
    return { outcome: rows[0].outcome, transfers: transfers.rows, balances: balances.rows };
  });
}

test.each([16, 1, 0])(
  'the short way writes the same transfer to the same shards, of which there are %i',
  async (shards) => {
    await shardAccount(db.database, debitOf(), shards);
    await shardAccount(db.database, creditOf(), shards);
    for (let number = 0; number < 40; number++) {
      const short = await written('post_single', `invoice-${number}`, [sale()]);
      expect(short.outcome).toBe('posted');
      expect(short.transfers).toHaveLength(1);
      expect(short).toEqual(await written('post_journal', `invoice-${number}`, [sale()]));
    }
  },
);

test.each<[string, () => Entry[]]>([
  ['it has two transfers', () => [sale(), sale({ step: 'fee' })]],
  ['it has none', () => []],
  ['it is a hold', () => [sale({ phase: 'pending' })]],
  ['it moves nothing', () => [sale({ minor: '0' })]],
  ['its money is missing', () => [sale({ minor: null })]],
  ['it lowers an account that forbids an overdraft', () => [sale({ debit: creditOf(), credit: debitOf() })]],
  ['an account is not open', () => [sale({ credit: 'test:RUB:merchant.settlement:UNKNOWN:SHOP' })]],
])('the short way leaves a journal to post_journal when %s', async (_, entries) => {
  const { outcome, transfers } = await written('post_single', 'unusual', entries());
  expect({ outcome, transfers }).toEqual({ outcome: null, transfers: [] });
});

test('the short way leaves a repeated journal to post_journal', () =>
  aside(async (client) => {
    const record = (minor: string) =>
      client.query(`select record_journal('repeated', 'payment/1', $1, $2) as outcome`, [
        at,
        JSON.stringify([sale({ minor })]),
      ]);
    expect((await record('6000')).rows).toEqual([{ outcome: 'posted' }]);
    expect((await record('6000')).rows).toEqual([{ outcome: 'repeated' }]);
    await expect(record('6001')).rejects.toMatchObject({ code: 'LE001' });
  }));
