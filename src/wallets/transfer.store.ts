// Transfers between wallets in SQL: the row and its events, then the journal, in one transaction. Whether the sender has the
// money is known at once, so a transfer is over when it is answered.
import type { Database } from '../database/database.ts';
import { statement, type Values } from '../database/statement.ts';
import { postJournal } from '../ledger/ledger.store.ts';
import { walletTransferred } from '../ledger/postings.ts';
import type { Currency } from '../money.ts';
import type { Named } from './made-once.ts';
import { claimName, listOf, placesOf } from './store-parts.ts';
import type { Transfer, TransferTerms } from './wallet.ts';
import type { Realm } from './withdrawal.store.ts';

const columns = {
  transfer_id: 'text',
  party_id: 'text',
  sender_id: 'text',
  receiver_id: 'text',
  created_at: 'timestamptz',
  amount_minor: 'int8',
  currency: 'text',
  status: 'text',
  external_id: 'text?',
} as const;

const insertTransfer = statement({
  name: 'insert_wallet_transfer',
  parameters: { ...columns, fingerprint: 'bytea' },
  row: { transfer_id: 'text' },
  text: `
    with ${claimName('createTransfer', 'transfer_id')}
    insert into wallet_transfer (${listOf(columns)}) select ${placesOf(columns)} from named
    returning transfer_id`,
});

const failTransfer = statement({
  name: 'fail_wallet_transfer',
  parameters: { transfer_id: 'text' },
  row: {},
  text: `update wallet_transfer set status = 'failed' where transfer_id = :transfer_id`,
});

const logTransfer = statement({
  name: 'log_wallet_transfer',
  parameters: {
    transfer_id: 'text',
    party_id: 'text',
    happened_at: 'timestamptz',
    started: 'json',
    ended: 'json',
  },
  row: {},
  text: `insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
         values (:transfer_id, 1, 'wallet_transfer', :party_id, :happened_at, :started),
                (:transfer_id, 2, 'wallet_transfer', :party_id, :happened_at, :ended)`,
});

const readTransfer = statement({
  name: 'read_wallet_transfer',
  parameters: { transfer_id: 'text', party_id: 'text' },
  row: columns,
  text: `select ${listOf(columns)} from wallet_transfer where transfer_id = :transfer_id and party_id = :party_id`,
});

const readTransferNamed = statement({
  name: 'read_wallet_transfer_named',
  parameters: { party_id: 'text', external_id: 'text' },
  row: { ...columns, fingerprint: 'bytea' },
  text: `select ${listOf(columns, 'wallet_transfer')}, claimed.fingerprint
         from external_id as claimed join wallet_transfer on transfer_id = entity_id
         where claimed.party_id = :party_id and operation = 'createTransfer' and claimed.external_id = :external_id`,
});

/** False when the merchant's name for it is taken already. */
export function storeTransfer(
  db: Database,
  terms: TransferTerms,
  options: { readonly realm: Realm; readonly fingerprint: Buffer },
): Promise<boolean> {
  const { id, partyId, senderId, receiverId, createdAt, amount } = terms;
  return db.transaction(async (tx) => {
    const [made] = await tx.run(insertTransfer, {
      transfer_id: id,
      party_id: partyId,
      sender_id: senderId,
      receiver_id: receiverId,
      created_at: createdAt,
      amount_minor: amount.minor,
      currency: amount.currency,
      status: 'succeeded',
      external_id: terms.externalId ?? null,
      fingerprint: options.fingerprint,
    });
    if (!made) return false;
    const journal = walletTransferred({ realm: options.realm, transferId: id, senderId, receiverId }, amount);
    const isPosted = (await postJournal(tx, journal, createdAt)) === 'posted';
    if (!isPosted) await tx.run(failTransfer, { transfer_id: id });
    await tx.run(logTransfer, {
      transfer_id: id,
      party_id: partyId,
      happened_at: createdAt,
      started: [
        {
          type: 'transfer_started',
          senderId,
          receiverId,
          amountMinor: Number(amount.minor),
          currency: amount.currency,
        },
      ],
      ended: [{ type: isPosted ? 'transfer_succeeded' : 'transfer_failed' }],
    });
    return true;
  });
}

export async function findTransfer(db: Database, partyId: string, id: string): Promise<Transfer | undefined> {
  const [row] = await db.run(readTransfer, { transfer_id: id, party_id: partyId });
  return row && transferFromRow(row);
}

export async function findTransferNamed(
  db: Database,
  partyId: string,
  externalId: string,
): Promise<Named<Transfer> | undefined> {
  const [row] = await db.run(readTransferNamed, { party_id: partyId, external_id: externalId });
  return row && { value: transferFromRow(row), fingerprint: row.fingerprint };
}

function transferFromRow(row: Values<typeof columns>): Transfer {
  return {
    id: row.transfer_id,
    partyId: row.party_id,
    senderId: row.sender_id,
    receiverId: row.receiver_id,
    createdAt: row.created_at,
    amount: { minor: row.amount_minor, currency: row.currency as Currency },
    ...(row.external_id === null ? {} : { externalId: row.external_id }),
    status: row.status as Transfer['status'],
  };
}
