// What an operator sees of one account: its fields, its balance, its shards and its latest transfers.
import type { Database } from '../../database/database.ts';
import { columnList, statement, stored, type Values } from '../../database/statement.ts';
import { balanceOf, chart, type Balance } from '../domain/account.ts';
import { accountCode } from './codec.ts';

const accountRow = {
  account_id: 'text',
  code: stored('text', accountCode),
  forbids_overdraft: 'bool',
  shards: 'int4',
  opened_at: 'timestamptz',
} as const;

const shardRow = {
  shard: 'int4',
  debits_posted: 'int8',
  credits_posted: 'int8',
  debits_pending: 'int8',
  credits_pending: 'int8',
} as const;

const transferRow = {
  created_at: 'timestamptz',
  aggregate_id: 'text',
  operation_id: 'text',
  step: 'text',
  phase: 'text',
  other_account: 'text',
  is_debit: 'bool',
  posted_minor: 'int8',
  pending_minor: 'int8',
} as const;

const readAccountRow = statement({
  name: 'read_ledger_account',
  parameters: { account_id: 'text' },
  row: accountRow,
  text: `select ${columnList(accountRow)} from ledger_account where account_id = :account_id`,
});

const readShards = statement({
  name: 'read_ledger_lanes',
  parameters: { account_id: 'text' },
  row: shardRow,
  text: `select ${columnList(shardRow)} from ledger_balance where account_id = :account_id order by shard`,
});

/** Without an index from an account to its transfers, which every transfer would pay for, a time span bounds the search. */
const readLatestTransfers = statement({
  name: 'read_latest_ledger_transfers',
  parameters: { account_id: 'text', hours: 'int4' },
  row: transferRow,
  text: `select created_at, aggregate_id, operation_id, step, phase,
           case when debit_account = :account_id then credit_account else debit_account end as other_account,
           debit_account = :account_id as is_debit, posted_minor, pending_minor
         from ledger_transfer
         where created_at > now() - :hours * interval '1 hour'
           and (debit_account = :account_id or credit_account = :account_id)
         order by created_at desc, aggregate_id, operation_id, step limit 20`,
});

const findByPart = statement({
  name: 'find_ledger_accounts',
  parameters: { part: 'text' },
  row: { account_id: 'text' },
  text: `select account_id from ledger_account where strpos(account_id, :part) > 0 order by account_id limit 20`,
});

export type AccountView = {
  readonly account: Values<typeof accountRow>;
  readonly normalBalance: 'debit' | 'credit';
  readonly balance: Balance;
  readonly shards: readonly Values<typeof shardRow>[];
  /** The latest, at most 20. */
  readonly transfers: readonly Values<typeof transferRow>[];
};

export async function viewAccount(db: Database, id: string, hours: number): Promise<AccountView | undefined> {
  const [account] = await db.run(readAccountRow, { account_id: id });
  if (!account) return undefined;
  const { code } = account;
  const shards = await db.run(readShards, { account_id: id });
  const sumOf = (column: Exclude<keyof typeof shardRow, 'shard'>) =>
    shards.reduce((sum, shard) => sum + shard[column], 0n);
  const balance = balanceOf(code, {
    debitsPosted: sumOf('debits_posted'),
    creditsPosted: sumOf('credits_posted'),
    debitsPending: sumOf('debits_pending'),
    creditsPending: sumOf('credits_pending'),
  });
  const transfers = await db.run(readLatestTransfers, { account_id: id, hours });
  return { account, normalBalance: chart[code].normalBalance, balance, shards, transfers };
}

/** Accounts with this text in their ID, at most 20. */
export async function findAccounts(db: Database, part: string): Promise<string[]> {
  const rows = await db.run(findByPart, { part });
  return rows.map(({ account_id }) => account_id);
}
