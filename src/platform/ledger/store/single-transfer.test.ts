// The short way for journals without pending transfers writes what post_journal writes, and leaves every unusual journal to it.
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { book, newPayment, rubles } from '../../../../test/support/database/ledger.ts';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database/test-database.ts';
import type { Currency } from '../../../money.ts';
import { acquirerUncleared, feeIncome, settlementAccount } from '../domain/account.ts';
import { shardAccount } from './journals.ts';
import { saleApproved, type LedgerPayment } from '../../../payments/domain/payment-postings.ts';

let db: TestDatabase;
let payment: LedgerPayment;
beforeAll(async () => void (db = await createTestDatabase()));
afterAll(() => db.drop());
beforeEach(async () => {
  payment = newPayment();
  await book(db.database, saleApproved(payment, rubles(2n), 1n));
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

/** Taken from the sale. */
const fee = (minor = '60'): Entry =>
  sale({ step: 'fee', debit: creditOf(), credit: feeIncome({ ...kind, fee: 'processing' }).id, minor });

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

const calls = {
  post_singles: `select post_singles(array[$1], array['payment/1'], array[$2::timestamptz], array[$3::json]) as outcome`,
  post_journal: `select post_journal($1, 'payment/1', $2, $3) as outcome`,
} as const;

async function written(by: keyof typeof calls, aggregate: string, entries: readonly Entry[]) {
  return aside(async (client) => {
    const { rows } = await client.query(calls[by], [aggregate, at, JSON.stringify(entries)]);
    const transfers = await client.query(
      `select to_jsonb(ledger_transfer) - 'created_at' as row from ledger_transfer where aggregate_id = $1 order by step`,
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
      for (const entries of [[sale()], [sale(), fee()]]) {
        const { outcome, ...short } = await written('post_singles', `invoice-${number}`, entries);
        expect(outcome).toBe(true);
        expect(short.transfers).toHaveLength(entries.length);
        expect({ outcome: 'posted', ...short }).toEqual(
          await written('post_journal', `invoice-${number}`, entries),
        );
      }
    }
  },
);

test.each<[string, () => Entry[]]>([
  ['its fee is higher than the sale', () => [sale(), fee('6001')]],
  ['two of its transfers have one name', () => [sale(), sale()]],
  ['it has none', () => []],
  ['it is a hold', () => [sale({ phase: 'pending' })]],
  ['it moves nothing', () => [sale({ minor: '0' })]],
  ['its money is missing', () => [sale({ minor: null })]],
  ['it lowers an account that forbids an overdraft', () => [sale({ debit: creditOf(), credit: debitOf() })]],
  ['an account is not open', () => [sale({ credit: 'test:RUB:merchant.settlement:UNKNOWN:SHOP' })]],
])('the short way leaves a journal to post_journal when %s', async (_, entries) => {
  const { outcome, transfers } = await written('post_singles', 'unusual', entries());
  expect({ outcome, transfers }).toEqual({ outcome: false, transfers: [] });
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

describe('journals of one statement', () => {
  const others = (count: number) => Array.from({ length: count }, (_, number) => `together-${number}`);
  const record = (
    client: pg.ClientBase,
    aggregates: readonly string[],
    entriesOf: (aggregate: string) => Entry[],
  ) =>
    client.query(
      `select record_journals($1, array_fill('payment/1'::text, array[$2::int]), array_fill($3::timestamptz, array[$2]), $4::json[])
         as outcome`,
      [aggregates, aggregates.length, at, aggregates.map((one) => JSON.stringify(entriesOf(one)))],
    );
  const sums = (client: pg.ClientBase) =>
    client.query(
      `select account_id, sum(debits_posted)::int as debits, sum(credits_posted)::int as credits, count(*) filter (
         where debits_posted + credits_posted > 0)::int as shards
       from ledger_balance where account_id in ($1, $2) group by account_id order by account_id`,
      [debitOf(), creditOf()],
    );

  test('are transfers of their own, whose sums change one shard of each account', () =>
    aside(async (client) => {
      await client.query('update ledger_balance set debits_posted = 0, credits_posted = 0');
      const minorOf = (aggregate: string) => String(1 + Number(aggregate.split('-')[1]));
      const entriesOf = (aggregate: string) => [sale({ minor: minorOf(aggregate) })];
      expect((await record(client, others(200), entriesOf)).rows).toEqual([{ outcome: 'posted' }]);
      expect((await sums(client)).rows).toEqual([
        { account_id: debitOf(), debits: 20_100, credits: 0, shards: 1 },
        { account_id: creditOf(), debits: 0, credits: 20_100, shards: 1 },
      ]);
      const { rows } = await client.query(
        `select count(*)::int, sum(posted_minor)::int from ledger_transfer where aggregate_id like 'together-%'`,
      );
      expect(rows).toEqual([{ count: 200, sum: 20_100 }]);
    }));

  test.each<[string, (aggregate: string) => Entry[]]>([
    ['one is a hold', (one) => [sale({ phase: one.endsWith('-3') ? 'pending' : 'single' })]],
    ['one lowers the shop', (one) => [sale(), fee(one.endsWith('-3') ? '6001' : '60')]],
    [
      'one lacks an account',
      (one) => [sale(one.endsWith('-3') ? { credit: 'test:RUB:merchant.settlement:U:S' } : {})],
    ],
  ])('fail together if %s', (_, entriesOf) =>
    aside(async (client) => {
      await expect(record(client, others(7), entriesOf)).rejects.toMatchObject({ code: 'LE004' });
    }),
  );

  test('fail together if one is written already, so that each can find its own', () =>
    aside(async (client) => {
      await record(client, ['together-3'], () => [sale()]);
      await expect(record(client, others(7), () => [sale()])).rejects.toMatchObject({ code: 'LE004' });
    }));
});
