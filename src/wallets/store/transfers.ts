// Transfers between wallets in SQL. One statement writes the row, its events and the journal, so a transfer is final when the
// API responds.
import type { Database } from '../../platform/database/database.ts';
import { readByExternalId, type FoundByExternalId } from '../../platform/database/external-id.ts';
import { currency, oneOf } from '../../platform/database/codec.ts';
import {
  columnList,
  parameterList,
  statement,
  stored,
  type Values,
} from '../../platform/database/statement.ts';
import { eventsOf } from '../../platform/events/log.ts';
import type { FundsCheckedJournal } from '../../platform/ledger/domain/ledger.ts';
import { journalParameters, journalValues, recording } from '../../platform/ledger/store/journals.ts';
import { walletTransferred } from '../domain/wallet-postings.ts';
import type { Transfer, TransferTerms } from '../domain/wallet.ts';
import type { Refusal } from '../../refusal.ts';
import { defined } from '../../defined.ts';
import type { Counter, TurnoverRefusal } from '../domain/payout-limits.ts';
import { transferFact } from './codec.ts';
import { exceededLimit, turnoverParameters, turnoverValues } from './turnover.ts';

const columns = {
  transfer_id: 'text',
  party_id: 'text',
  sender_id: 'text',
  receiver_id: 'text',
  created_at: 'timestamptz',
  amount_minor: 'int8',
  currency: stored('text', currency),
  status: stored('text', oneOf('pending', 'succeeded', 'failed')),
  external_id: 'text?',
} as const;

/** Writes nothing and returns no row if the external ID is taken. Fails if a limit is exceeded or money is missing. */
const insertTransfer = statement({
  name: 'insert_wallet_transfer',
  parameters: {
    ...columns,
    ...eventsOf(transferFact),
    ...journalParameters,
    ...turnoverParameters,
    fingerprint: 'bytea',
  },
  row: { version: 'int4', counted: 'int4', journal: 'text?' },
  text: `
    with changed as (
      insert into wallet_transfer (${columnList(columns)})
      select ${parameterList(columns)}
      where claim_external_id(:party_id, 'createTransfer', :external_id, :transfer_id, :fingerprint)
      returning transfer_id, party_id, json_array_length(:events) as version, created_at as changed_at
    )
    select append_events('wallet_transfer', transfer_id, version, party_id, changed_at, :events) as version,
      count_turnover(:counters, :currency, :amount_minor, :day, :month) as counted,
      record_journal(transfer_id, :journal_operation, changed_at, :journal_entries) as journal
    from changed`,
});

const readTransfer = statement({
  name: 'read_wallet_transfer',
  parameters: { transfer_id: 'text', party_id: 'text' },
  row: columns,
  text: `select ${columnList(columns)} from wallet_transfer where transfer_id = :transfer_id and party_id = :party_id`,
});

const readTransferByExternalId = readByExternalId({
  name: 'read_wallet_transfer_by_external_id',
  operation: 'createTransfer',
  row: columns,
  select: columnList(columns, 'wallet_transfer'),
  join: 'wallet_transfer on transfer_id = entity_id',
});

export type TransferNotMade = 'externalIdTaken' | Refusal<TurnoverRefusal>;

/** A transfer whose sender has too little money is stored as failed, and counts towards no limit. */
export async function storeTransfer(
  db: Database,
  terms: TransferTerms,
  options: {
    readonly livemode: boolean;
    readonly fingerprint: Buffer;
    /** Of the sender's identity, if the money leaves it. */
    readonly counters: readonly Counter[];
  },
): Promise<'stored' | TransferNotMade> {
  const { id, senderId, receiverId, amount } = terms;
  const { livemode, fingerprint, counters } = options;
  const journal = walletTransferred({ livemode, transferId: id, senderId, receiverId }, amount);
  try {
    const moved = await recording(db, journal, () => insert(db, terms, { fingerprint, counters, journal }));
    const isStored =
      moved === 'insufficient' ? await insert(db, terms, { fingerprint, counters: [] }) : moved;
    return isStored ? 'stored' : 'externalIdTaken';
  } catch (error) {
    const exceeded = exceededLimit(error, counters, terms.createdAt);
    if (!exceeded) throw error;
    return exceeded;
  }
}

async function insert(
  db: Database,
  { id, partyId, senderId, receiverId, createdAt, amount, externalId }: TransferTerms,
  written: {
    readonly fingerprint: Buffer;
    readonly counters: readonly Counter[];
    readonly journal?: FundsCheckedJournal;
  },
): Promise<boolean> {
  const { fingerprint, counters, journal } = written;
  const status = journal ? 'succeeded' : 'failed';
  const { minor: amountMinor, currency: of } = amount;
  const started = { type: 'transfer_started', senderId, receiverId, amountMinor, currency: of } as const;
  const rows = await db.withSavepoint((part) =>
    part.run(insertTransfer, {
      transfer_id: id,
      party_id: partyId,
      sender_id: senderId,
      receiver_id: receiverId,
      created_at: createdAt,
      amount_minor: amountMinor,
      currency: of,
      status,
      external_id: externalId ?? null,
      fingerprint,
      events: [[started], [{ type: `transfer_${status}` }]],
      ...journalValues(journal),
      ...turnoverValues(counters, createdAt),
    }),
  );
  return rows.length > 0;
}

export async function findTransfer(db: Database, partyId: string, id: string): Promise<Transfer | undefined> {
  const [row] = await db.run(readTransfer, { transfer_id: id, party_id: partyId });
  return row && transferFromRow(row);
}

export async function findTransferByExternalId(
  db: Database,
  partyId: string,
  externalId: string,
): Promise<FoundByExternalId<Transfer> | undefined> {
  const [row] = await db.run(readTransferByExternalId, { party_id: partyId, external_id: externalId });
  return row && { value: transferFromRow(row), fingerprint: row.request_fingerprint };
}

function transferFromRow(row: Values<typeof columns>): Transfer {
  return {
    id: row.transfer_id,
    partyId: row.party_id,
    senderId: row.sender_id,
    receiverId: row.receiver_id,
    createdAt: row.created_at,
    amount: { minor: row.amount_minor, currency: row.currency },
    ...defined({ externalId: row.external_id }),
    status: row.status,
  };
}
