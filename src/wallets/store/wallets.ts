// Wallets and deposits in SQL. A wallet's row never changes, so payouts never wait for it: its money is in the ledger, its
// blocking on its identity and party.
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { anything, currency, oneOf } from '../../platform/database/codec.ts';
import {
  columnList,
  parameterList,
  statement,
  stored,
  type Values,
} from '../../platform/database/statement.ts';
import { changedWith, createdWith } from '../../platform/events/log.ts';
import type { FundsCheckedJournal, Journal } from '../../platform/ledger/domain/ledger.ts';
import { journalParameters, journalValues, recording } from '../../platform/ledger/store/journals.ts';
import { levels } from '../../identities/domain/provider.ts';
import { sender } from '../../identities/store/codec.ts';
import { isBlockedSql, joinIdentity } from '../../identities/store/sql-fragments.ts';
import { listStatement, searchFilters } from '../../platform/lists/list-statement.ts';
import { readsOf } from '../../platform/lists/stored-reads.ts';
import type { Deposit, Wallet, WalletFact } from '../domain/wallet.ts';
import { defined } from '../../defined.ts';
import { depositFact, walletFact } from './codec.ts';

const columns = {
  wallet_id: 'text',
  party_id: 'text',
  identity_id: 'text',
  name: 'text',
  currency: stored('text', currency),
  created_at: 'timestamptz',
  metadata: stored('json?', anything),
  external_id: 'text?',
} as const;

/** With the columns a wallet takes from its identity and its party. */
const walletColumns = {
  ...columns,
  is_blocked: 'bool',
  provider: 'text',
  level: stored('text', oneOf(...levels)),
  owner_name: 'text',
  owner_class: 'text',
  sender: stored('json?', sender),
} as const;
const insertWallet = statement({
  name: 'insert_wallet',
  parameters: { ...columns, ...createdWith(walletFact), fingerprint: 'bytea' },
  row: { version: 'int4' },
  text: `
    with changed as (
      insert into wallet (${columnList(columns)})
      select ${parameterList(columns)}
      where claim_external_id(:party_id, 'createWallet', :external_id, :wallet_id, :fingerprint)
      returning wallet_id, party_id, 1 as version, created_at as changed_at
    )
    select append_event('wallet', wallet_id, version, party_id, changed_at, :facts) as version from changed`,
});

export const {
  find: findWallet,
  findByExternalId: findWalletByExternalId,
  list: listWallets,
} = readsOf({
  table: 'wallet',
  createdBy: 'createWallet',
  row: walletColumns,
  select: `${columnList(columns, 'wallet')}, ${isBlockedSql}, provider, level,
    identity.name as owner_name, identity.class as owner_class, sender`,
  join: joinIdentity('wallet'),
  filters: { identity_id: 'text?', currency: 'text?' },
  storedOf: walletFromRow,
  valueOf: (wallet) => wallet,
});

const depositColumns = {
  deposit_id: 'text',
  party_id: 'text',
  wallet_id: 'text',
  identity_id: 'text',
  source_id: 'text',
  created_at: 'timestamptz',
  amount_minor: 'int8',
  currency: stored('text', currency),
  description: 'text?',
  reversed_at: 'timestamptz?',
} as const;

const insertDeposit = statement({
  name: 'insert_deposit',
  parameters: { ...depositColumns, ...createdWith(depositFact), ...journalParameters },
  row: { version: 'int4', journal: 'text?' },
  text: `
    with changed as (
      insert into deposit (${columnList(depositColumns)}, changed_at) values (${parameterList(depositColumns)}, :created_at)
      on conflict do nothing returning deposit_id, party_id, 1 as version, changed_at
    )
    select append_event('deposit', deposit_id, version, party_id, changed_at, :facts) as version,
      record_journal(deposit_id, :journal_operation, changed_at, :journal_entries) as journal
    from changed`,
});

/** Its second event, once. Fails if the wallet lacks the money. */
const reverseDepositRow = statement({
  name: 'reverse_deposit',
  parameters: { ...changedWith(depositFact), deposit_id: 'text', ...journalParameters },
  row: { version: 'int4', journal: 'text?' },
  text: `
    with changed as (
      update deposit set reversed_at = :happened_at, changed_at = greatest(changed_at, :happened_at)
      where deposit_id = :deposit_id and reversed_at is null
      returning deposit_id, party_id, 2 as version, changed_at
    )
    select append_event('deposit', deposit_id, version, party_id, changed_at, :facts) as version,
      record_journal(deposit_id, :journal_operation, changed_at, :journal_entries) as journal
    from changed`,
});

const readDeposit = statement({
  name: 'read_deposit',
  parameters: { deposit_id: 'text' },
  row: { ...depositColumns, debit_account: 'text' },
  text: `select ${columnList(depositColumns, 'deposit')}, debit_account
         from deposit join ledger_transfer on aggregate_id = deposit_id and operation_id = 'deposit' and step = 'deposit'
         where deposit_id = :deposit_id`,
});

const listDepositRows = listStatement({
  name: 'list_deposits',
  table: 'deposit',
  idColumn: 'deposit_id',
  filters: {
    wallet_id: 'text?',
    identity_id: 'text?',
    deposit_id: 'text?',
    source_id: 'text?',
    currency: 'text?',
    is_reversed: 'bool?',
    ...searchFilters,
  },
  conditions: { is_reversed: '(deposit.reversed_at is not null) = :is_reversed' },
  row: depositColumns,
});

/** False if the external ID is taken. */
export async function storeNewWallet(
  db: Database,
  opened: WalletFact,
  fingerprint: Buffer,
): Promise<boolean> {
  const { terms } = opened;
  const rows = await db.run(insertWallet, {
    wallet_id: terms.id,
    party_id: terms.partyId,
    identity_id: terms.identityId,
    name: terms.name,
    currency: terms.currency,
    created_at: terms.createdAt,
    metadata: terms.metadata ?? null,
    external_id: terms.externalId ?? null,
    fingerprint,
    facts: [opened],
  });
  return rows.length > 0;
}

/** Writes the deposit with its journal. Writes nothing if the money is missing or the ID exists. */
export async function storeDeposit(
  db: Database,
  deposit: Deposit,
  journal: Journal | FundsCheckedJournal,
): Promise<'stored' | 'insufficient' | 'known'> {
  const { walletId, amount } = deposit;
  const { minor: amountMinor, currency: of } = amount;
  const written = await recording(db, journal, () =>
    db.withSavepoint((part) =>
      part.run(insertDeposit, {
        deposit_id: deposit.id,
        party_id: deposit.partyId,
        wallet_id: walletId,
        identity_id: deposit.identityId,
        source_id: deposit.sourceId,
        created_at: deposit.createdAt,
        amount_minor: amountMinor,
        currency: of,
        description: deposit.description ?? null,
        reversed_at: null,
        facts: [{ type: 'deposit_made', walletId, amountMinor, currency: of }],
        ...journalValues(journal),
      }),
    ),
  );
  if (written === 'insufficient') return written;
  return written.length > 0 ? 'stored' : 'known';
}

export async function storeReversal(
  db: Database,
  { id }: Deposit,
  { journal, reason, now }: { journal: FundsCheckedJournal; reason: string; now: Instant },
): Promise<'reversed' | 'reversedBefore' | 'insufficient'> {
  const written = await recording(db, journal, () =>
    db.withSavepoint((part) =>
      part.run(reverseDepositRow, {
        deposit_id: id,
        happened_at: now,
        facts: [{ type: 'deposit_reversed', reason }],
        ...journalValues(journal),
      }),
    ),
  );
  if (written === 'insufficient') return written;
  return written.length > 0 ? 'reversed' : 'reversedBefore';
}

/** With the debited account, because a shop and a bank account may have the same ID. */
export async function findDeposit(
  db: Database,
  id: string,
): Promise<{ deposit: Deposit; debitAccount: string } | undefined> {
  const [row] = await db.run(readDeposit, { deposit_id: id });
  return row && { deposit: depositFromRow(row), debitAccount: row.debit_account };
}

export async function listDeposits(
  db: Database,
  asked: Values<typeof listDepositRows.parameters>,
): Promise<Deposit[]> {
  const rows = await db.run(listDepositRows, asked);
  return rows.map(depositFromRow);
}

function depositFromRow(row: Values<typeof depositColumns>): Deposit {
  return {
    id: row.deposit_id,
    partyId: row.party_id,
    walletId: row.wallet_id,
    identityId: row.identity_id,
    sourceId: row.source_id,
    createdAt: row.created_at,
    amount: { minor: row.amount_minor, currency: row.currency },
    ...defined({ description: row.description, reversedAt: row.reversed_at }),
  };
}

function walletFromRow(row: Values<typeof walletColumns>): Wallet {
  return {
    id: row.wallet_id,
    partyId: row.party_id,
    identityId: row.identity_id,
    name: row.name,
    currency: row.currency,
    createdAt: row.created_at,
    ...defined({ metadata: row.metadata, externalId: row.external_id }),
    isBlocked: row.is_blocked,
    provider: row.provider,
    level: row.level,
    owner: { name: row.owner_name, class: row.owner_class, ...defined({ sender: row.sender }) },
  };
}
