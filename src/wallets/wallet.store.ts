// Wallets and the deposits into them in SQL. A wallet's row never changes: its money is in the ledger, its blocking on its
// identity, so that payouts have nothing here to wait for.
import type { Instant } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { statement, type Values } from '../database/statement.ts';
import { appendEvent, appendParameters } from '../events/log.ts';
import type { DrawingJournal, Journal } from '../ledger/ledger.ts';
import { journalParameters, journalValues, recording, recordJournal } from '../ledger/ledger.store.ts';
import type { Currency } from '../money.ts';
import type { Named } from './made-once.ts';
import type { Page } from './page.ts';
import type { Level } from './provider.ts';
import { claimName, listOf, onPage, pageParameters, placesOf } from './store-parts.ts';
import type { Deposit, Wallet, WalletFact } from './wallet.ts';

const columns = {
  wallet_id: 'text',
  party_id: 'text',
  identity_id: 'text',
  name: 'text',
  currency: 'text',
  created_at: 'timestamptz',
  metadata: 'json?',
  external_id: 'text?',
} as const;

/** With what a wallet has of its identity. */
const walletColumns = { ...columns, is_blocked: 'bool', provider: 'text', level: 'text' } as const;
const walletList = `${listOf(columns, 'wallet')}, is_blocked, provider, level`;
const walletSource = 'wallet join identity using (identity_id)';

const insertWallet = statement({
  name: 'insert_wallet',
  parameters: { ...columns, ...appendParameters, fingerprint: 'bytea' },
  row: { wallet_id: 'text' },
  text: `
    with ${claimName('createWallet', 'wallet_id')}, changed as (
      insert into wallet (${listOf(columns)}) select ${placesOf(columns)} from named
      returning wallet_id, party_id, 1 as version
    ), logged as (${appendEvent('wallet', 'wallet_id')})
    select wallet_id from changed`,
});

const readWallet = statement({
  name: 'read_wallet',
  parameters: { wallet_id: 'text', party_id: 'text?' },
  row: walletColumns,
  text: `select ${walletList} from ${walletSource}
         where wallet_id = :wallet_id and (:party_id is null or wallet.party_id = :party_id)`,
});

const readWalletNamed = statement({
  name: 'read_wallet_named',
  parameters: { party_id: 'text', external_id: 'text' },
  row: { ...walletColumns, fingerprint: 'bytea' },
  text: `select ${walletList}, claimed.fingerprint
         from external_id as claimed join wallet on wallet_id = entity_id join identity using (identity_id)
         where claimed.party_id = :party_id and operation = 'createWallet' and claimed.external_id = :external_id`,
});

const listWalletRows = statement({
  name: 'list_wallets',
  parameters: { party_id: 'text', identity_id: 'text?', currency: 'text?', ...pageParameters },
  row: walletColumns,
  text: `select ${walletList} from ${walletSource}
         where wallet.party_id = :party_id and (:identity_id is null or wallet.identity_id = :identity_id)
           and (:currency is null or currency = :currency) ${onPage('wallet', 'wallet_id')}`,
});

const depositColumns = {
  deposit_id: 'text',
  party_id: 'text',
  wallet_id: 'text',
  identity_id: 'text',
  source_id: 'text',
  created_at: 'timestamptz',
  amount_minor: 'int8',
  currency: 'text',
  description: 'text?',
} as const;

const insertDeposit = statement({
  name: 'insert_deposit',
  parameters: { ...depositColumns, ...appendParameters, ...journalParameters },
  row: { journal: 'text?' },
  text: `
    with changed as (
      insert into deposit (${listOf(depositColumns)}) values (${placesOf(depositColumns)})
      returning deposit_id, party_id, 1 as version
    ), logged as (${appendEvent('deposit', 'deposit_id')})
    select ${recordJournal('deposit_id')} as journal from changed`,
});

const listDepositRows = statement({
  name: 'list_deposits',
  parameters: {
    party_id: 'text',
    wallet_id: 'text?',
    identity_id: 'text?',
    deposit_id: 'text?',
    source_id: 'text?',
    currency: 'text?',
    created_from: 'timestamptz?',
    created_to: 'timestamptz?',
    amount_from: 'int8?',
    amount_to: 'int8?',
    ...pageParameters,
  },
  row: depositColumns,
  text: `select ${listOf(depositColumns)} from deposit
         where party_id = :party_id and (:wallet_id is null or wallet_id = :wallet_id)
           and (:identity_id is null or identity_id = :identity_id)
           and (:deposit_id is null or deposit_id = :deposit_id)
           and (:source_id is null or source_id = :source_id) and (:currency is null or currency = :currency)
           and (:created_from is null or created_at >= :created_from)
           and (:created_to is null or created_at < :created_to)
           and (:amount_from is null or amount_minor >= :amount_from)
           and (:amount_to is null or amount_minor <= :amount_to) ${onPage('deposit', 'deposit_id')}`,
});

/** False when the merchant's name for it is taken already. */
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
    happened_at: terms.createdAt,
    facts: [opened],
  });
  return rows.length > 0;
}

/** Of that party; of any where none is named. */
export async function findWallet(
  db: Database,
  partyId: string | null,
  id: string,
): Promise<Wallet | undefined> {
  const [row] = await db.run(readWallet, { wallet_id: id, party_id: partyId });
  return row && walletFromRow(row);
}

export async function findWalletNamed(
  db: Database,
  partyId: string,
  externalId: string,
): Promise<Named<Wallet> | undefined> {
  const [row] = await db.run(readWalletNamed, { party_id: partyId, external_id: externalId });
  return row && { value: walletFromRow(row), fingerprint: row.fingerprint };
}

export async function listWallets(
  db: Database,
  filter: { partyId: string; identityId?: string; currency?: string },
  page: Page,
): Promise<Wallet[]> {
  const rows = await db.run(listWalletRows, {
    party_id: filter.partyId,
    identity_id: filter.identityId ?? null,
    currency: filter.currency ?? null,
    ...page,
  });
  return rows.map(walletFromRow);
}

/** With its journal; without the money it takes, nothing is written and the answer is false. */
export async function storeDeposit(
  db: Database,
  deposit: Deposit,
  journal: Journal | DrawingJournal,
): Promise<boolean> {
  const { minor, currency } = deposit.amount;
  const stored = await recording(db, journal, () =>
    db.contained((part) =>
      part.run(insertDeposit, {
        deposit_id: deposit.id,
        party_id: deposit.partyId,
        wallet_id: deposit.walletId,
        identity_id: deposit.identityId,
        source_id: deposit.sourceId,
        created_at: deposit.createdAt,
        amount_minor: minor,
        currency,
        description: deposit.description ?? null,
        happened_at: deposit.createdAt,
        facts: [{ type: 'deposit_made', walletId: deposit.walletId, amountMinor: Number(minor), currency }],
        ...journalValues(journal),
      }),
    ),
  );
  return stored !== 'insufficient';
}

export type DepositFilter = {
  readonly partyId: string;
  readonly walletId?: string;
  readonly identityId?: string;
  readonly depositId?: string;
  readonly sourceId?: string;
  readonly currency?: string;
  readonly from?: Instant;
  readonly to?: Instant;
  readonly amountFrom?: bigint;
  readonly amountTo?: bigint;
};

export async function listDeposits(db: Database, filter: DepositFilter, page: Page): Promise<Deposit[]> {
  const rows = await db.run(listDepositRows, {
    party_id: filter.partyId,
    wallet_id: filter.walletId ?? null,
    identity_id: filter.identityId ?? null,
    deposit_id: filter.depositId ?? null,
    source_id: filter.sourceId ?? null,
    currency: filter.currency ?? null,
    created_from: filter.from ?? null,
    created_to: filter.to ?? null,
    amount_from: filter.amountFrom ?? null,
    amount_to: filter.amountTo ?? null,
    ...page,
  });
  return rows.map((row) => ({
    id: row.deposit_id,
    partyId: row.party_id,
    walletId: row.wallet_id,
    identityId: row.identity_id,
    sourceId: row.source_id,
    createdAt: row.created_at,
    amount: { minor: row.amount_minor, currency: row.currency as Currency },
    ...(row.description === null ? {} : { description: row.description }),
  }));
}

function walletFromRow(row: Values<typeof walletColumns>): Wallet {
  return {
    id: row.wallet_id,
    partyId: row.party_id,
    identityId: row.identity_id,
    name: row.name,
    currency: row.currency as Currency,
    createdAt: row.created_at,
    ...(row.metadata === null ? {} : { metadata: row.metadata }),
    ...(row.external_id === null ? {} : { externalId: row.external_id }),
    isBlocked: row.is_blocked,
    provider: row.provider,
    level: row.level as Level,
  };
}
