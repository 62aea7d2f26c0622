// The ledger in SQL: a module writes its journal inside the statement that changes its own row. The balances of busy accounts are locked
// only for that statement, and one journal per statement means that no two transactions wait for each other.
import { codeOf } from '../../../error-code.ts';
import type { Database } from '../../database/database.ts';
import { list, text } from '../../database/codec.ts';
import { statement, stored, type Values } from '../../database/statement.ts';
import { balanceOf, chart, type Account, type AccountCode, type Balance } from '../domain/account.ts';
import { accountsIn, type Entry, type Journal } from '../domain/ledger.ts';

/** A journal that contradicts what is written, as a hold completed twice or another amount under the same name. It is a bug. */
export class LedgerConflict extends Error {}

/** A transaction that opens the same account concurrently waits here for the other one. */
const openAccounts = statement({
  name: 'open_ledger_accounts',
  parameters: { accounts: 'json' },
  row: {},
  text: `
    with opened as (
      insert into ledger_account (account_id, livemode, currency, code, party_id, owner_id, forbids_overdraft, shards)
      select account_id, livemode, currency, code, party_id, owner_id, forbids_overdraft, shards
      from json_to_recordset(:accounts) as asked (account_id text, livemode bool, currency text, code text, party_id text,
        owner_id text, forbids_overdraft bool, shards int)
      order by account_id
      on conflict do nothing
      returning account_id, forbids_overdraft, shards
    )
    insert into ledger_balance (account_id, shard, is_unsharded)
    select account_id, shard, forbids_overdraft and shards = 0
    from opened, generate_series(case when forbids_overdraft or shards = 0 then 0 else 1 end, shards) as shard`,
});

const changeShards = statement({
  name: 'spread_ledger_account',
  parameters: { account_id: 'text', shards: 'int4' },
  row: { account_id: 'text' },
  text: `
    with spread as (
      update ledger_account set shards = :shards where account_id = :account_id returning account_id
    ), freed as (
      update ledger_balance set is_unsharded = false where account_id = :account_id and is_unsharded and :shards > 0
    ), added as (
      insert into ledger_balance (account_id, shard, is_unsharded)
      select account_id, shard, false from spread, generate_series(0, :shards) as shard
      on conflict do nothing
    )
    select account_id from spread`,
});

const sumsRow = {
  debits_posted: 'int8',
  credits_posted: 'int8',
  debits_pending: 'int8',
  credits_pending: 'int8',
} as const;
const sumsOfShards = `coalesce(sum(debits_posted), 0)::int8 as debits_posted,
           coalesce(sum(credits_posted), 0)::int8 as credits_posted,
           coalesce(sum(debits_pending), 0)::int8 as debits_pending,
           coalesce(sum(credits_pending), 0)::int8 as credits_pending`;

const readSums = statement({
  name: 'read_ledger_balance',
  parameters: { account_id: 'text' },
  row: sumsRow,
  text: `select ${sumsOfShards}
         from ledger_balance where account_id = :account_id`,
});

const readSumsOfMany = statement({
  name: 'read_ledger_balances',
  parameters: { account_ids: stored('json', list(text)) },
  row: { account_id: 'text', ...sumsRow },
  text: `select account_id, ${sumsOfShards}
         from ledger_balance where account_id = any(array(select json_array_elements_text(:account_ids)))
         group by account_id`,
});

/**
 * The part of a statement's last select that writes a journal for the row in `changed`, at its event's time; no row, no journal. A
 * journal that cannot be written fails the whole statement; run it through `recording`.
 */
export function recordJournal(idColumn: string): string {
  return `record_journal(changed.${idColumn}, :journal_operation, changed.changed_at, :journal_entries)`;
}

export const journalParameters = { journal_operation: 'text?', journal_entries: 'json?' } as const;

export function journalValues(journal: Journal | undefined): Values<typeof journalParameters> {
  return {
    journal_operation: journal?.operationId ?? null,
    journal_entries: journal ? entriesToJson(journal) : null,
  };
}

/**
 * Runs a statement with a journal in it. The first use of an account opens it and runs the statement again, so within a transaction
 * `write` must use a savepoint.
 */
export async function recording<T>(
  db: Database,
  journal: (Journal & { readonly checksFunds?: true }) | undefined,
  write: () => Promise<T>,
): Promise<T | 'insufficient'> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      const code = codeOf(error);
      if (code === 'LE003' && journal?.checksFunds) return 'insufficient';
      if (code !== 'LE002' || !journal) throw conflictOr(error);
      await openAccountsOf(db, journal);
    }
  }
}

/** Zero for an account that has not been used yet. */
export async function readBalance(db: Database, { id, code }: Account): Promise<Balance> {
  const [row] = await db.run(readSums, { account_id: id });
  return balanceOfSums(code, row);
}

/** In the order of the accounts. */
export async function readBalances(db: Database, accounts: readonly Account[]): Promise<Balance[]> {
  const rows = await db.run(readSumsOfMany, { account_ids: accounts.map(({ id }) => id) });
  const sums = new Map(rows.map((row) => [row.account_id, row]));
  return accounts.map(({ id, code }) => balanceOfSums(code, sums.get(id)));
}

function balanceOfSums(code: AccountCode, row: Values<typeof sumsRow> | undefined): Balance {
  return balanceOf(code, {
    debitsPosted: row?.debits_posted ?? 0n,
    creditsPosted: row?.credits_posted ?? 0n,
    debitsPending: row?.debits_pending ?? 0n,
    creditsPending: row?.credits_pending ?? 0n,
  });
}

/** Spreads an account over more or fewer balance shards while it is used. False if the account does not exist. */
export async function shardAccount(db: Database, accountId: string, shards: number): Promise<boolean> {
  const rows = await db.run(changeShards, { account_id: accountId, shards });
  return rows.length > 0;
}

export async function openAccountsOf(db: Database, journal: Journal): Promise<void> {
  await openEach(db, accountsIn(journal));
}

async function openEach(db: Database, accounts: readonly Account[]): Promise<void> {
  await db.run(openAccounts, { accounts: accounts.map(accountToJson) });
}

/** The main row, which each journal locks that lowers the account. */
const lockMainRow = statement({
  name: 'lock_ledger_main_row',
  parameters: { account_id: 'text' },
  row: {},
  text: 'select from ledger_balance where account_id = :account_id and shard = 0 for no key update',
});

const changeOverdraft = statement({
  name: 'change_overdraft',
  parameters: { account_id: 'text', overdraft_minor: 'int8' },
  row: { account_id: 'text' },
  text: `
    update ledger_account set overdraft_minor = :overdraft_minor
    where account_id = :account_id and :overdraft_minor + (
      select sum(credits_posted - debits_posted - debits_pending) from ledger_balance
      where ledger_balance.account_id = :account_id) >= 0
    returning account_id`,
});

const readOverdraft = statement({
  name: 'read_overdraft',
  parameters: { account_id: 'text' },
  row: { overdraft_minor: 'int8' },
  text: 'select overdraft_minor from ledger_account where account_id = :account_id',
});

/** False if the account is already further below zero. Run it in a transaction, because it holds a lock. */
export async function setOverdraft(db: Database, account: Account, minor: bigint): Promise<boolean> {
  await openEach(db, [account]);
  await db.run(lockMainRow, { account_id: account.id });
  const rows = await db.run(changeOverdraft, { account_id: account.id, overdraft_minor: minor });
  return rows.length > 0;
}

/** Zero for an account that has not been used yet. */
export async function overdraftOf(db: Database, account: Account): Promise<bigint> {
  const [row] = await db.run(readOverdraft, { account_id: account.id });
  return row?.overdraft_minor ?? 0n;
}

export function entriesToJson({ entries }: Journal) {
  return entries.map(entryToJson);
}

function entryToJson(entry: Entry) {
  if (entry.phase === 'void') return entry;
  const minor = entry.minor?.toString();
  if (entry.phase === 'post') return { ...entry, minor };
  return { ...entry, debit: entry.debit.id, credit: entry.credit.id, minor };
}

function accountToJson(account: Account) {
  const { forbidsOverdraft, shards } = chart[account.code];
  return {
    account_id: account.id,
    livemode: account.livemode,
    currency: account.currency,
    code: account.code,
    party_id: account.partyId,
    owner_id: account.ownerId,
    forbids_overdraft: forbidsOverdraft,
    shards,
  };
}

export function conflictOr(error: unknown): unknown {
  return error instanceof Error && codeOf(error) === 'LE001'
    ? new LedgerConflict(error.message, { cause: error })
    : error;
}
