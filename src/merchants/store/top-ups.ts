// Money that merchants have paid in for their shops. One statement writes the top-up, or its reversal, and the journal.
import type { Instant } from '../../clock.ts';
import { defined } from '../../defined.ts';
import { currency, minorUnits, text, variants, type Codec } from '../../platform/database/codec.ts';
import {
  columnList,
  parameterList,
  statement,
  stored,
  type Values,
} from '../../platform/database/statement.ts';
import type { Database } from '../../platform/database/database.ts';
import { shopToppedUp, topUpReversed, type LedgerTopUp } from '../domain/top-up-postings.ts';
import { journalParameters, journalValues, recording } from '../../platform/ledger/store/journals.ts';
import { changedWith, createdWith } from '../../platform/events/log.ts';
import type { TopUp, TopUpFact } from '../domain/top-up.ts';

const topUpFact: Codec<TopUpFact> = variants<TopUpFact, 'type'>('type', {
  shop_topped_up: { shopId: text, amountMinor: minorUnits, currency },
  top_up_reversed: { reason: text },
});

const columns = {
  top_up_id: 'text',
  party_id: 'text',
  shop_id: 'text',
  reference: 'text',
  bank_account_id: 'text',
  amount_minor: 'int8',
  currency: stored('text', currency),
  created_at: 'timestamptz',
  reversed_at: 'timestamptz?',
} as const;

const insertTopUp = statement({
  name: 'insert_shop_top_up',
  parameters: { ...columns, ...createdWith(topUpFact), ...journalParameters },
  row: { version: 'int4', journal: 'text?' },
  text: `
    with changed as (
      insert into shop_top_up (${columnList(columns)}) values (${parameterList(columns)})
      on conflict do nothing returning top_up_id, party_id, 1 as version, created_at as changed_at
    )
    select append_event('shop_top_up', top_up_id, version, party_id, changed_at, :facts) as version,
      record_journal(top_up_id, :journal_operation, changed_at, :journal_entries) as journal
    from changed`,
});

/** Its second event, once. Fails if the shop lacks the money. */
const reverseTopUpRow = statement({
  name: 'reverse_shop_top_up',
  parameters: { ...changedWith(topUpFact), top_up_id: 'text', ...journalParameters },
  row: { version: 'int4', journal: 'text?' },
  text: `
    with changed as (
      update shop_top_up set reversed_at = greatest(created_at, :happened_at)
      where top_up_id = :top_up_id and reversed_at is null
      returning top_up_id, party_id, 2 as version, reversed_at as changed_at
    )
    select append_event('shop_top_up', top_up_id, version, party_id, changed_at, :facts) as version,
      record_journal(top_up_id, :journal_operation, changed_at, :journal_entries) as journal
    from changed`,
});

const readTopUp = statement({
  name: 'read_shop_top_up',
  parameters: { top_up_id: 'text' },
  row: columns,
  text: `select ${columnList(columns)} from shop_top_up where top_up_id = :top_up_id`,
});

/** Returns the earlier top-up with the same ID, if there is one. Then nothing is written. */
export async function storeTopUp(
  db: Database,
  topUp: TopUp,
  livemode: boolean,
): Promise<{ readonly topUp: TopUp; readonly isNew: boolean }> {
  const { id, partyId, shopId, reference, bankAccountId, amount, createdAt } = topUp;
  const journal = shopToppedUp(ledgerOf(topUp, livemode), amount);
  const written = await recording(db, journal, () =>
    db.withSavepoint((part) =>
      part.run(insertTopUp, {
        top_up_id: id,
        party_id: partyId,
        shop_id: shopId,
        reference,
        bank_account_id: bankAccountId,
        amount_minor: amount.minor,
        currency: amount.currency,
        created_at: createdAt,
        reversed_at: null,
        facts: [{ type: 'shop_topped_up', shopId, amountMinor: amount.minor, currency: amount.currency }],
        ...journalValues(journal),
      }),
    ),
  );
  if (written.length > 0) return { topUp, isNew: true };
  const earlier = await findTopUp(db, id);
  if (!earlier) throw new Error(`Top-up ${id} was neither created nor found.`);
  return { topUp: earlier, isNew: false };
}

/** Takes the whole top-up back, once. The shop must still have the money. */
export async function reverseTopUp(
  db: Database,
  topUp: TopUp,
  { livemode, reason, now }: { livemode: boolean; reason: string; now: Instant },
): Promise<'reversed' | 'reversedBefore' | 'insufficient'> {
  const journal = topUpReversed(ledgerOf(topUp, livemode), topUp.amount);
  const written = await recording(db, journal, () =>
    db.withSavepoint((part) =>
      part.run(reverseTopUpRow, {
        top_up_id: topUp.id,
        happened_at: now,
        facts: [{ type: 'top_up_reversed', reason }],
        ...journalValues(journal),
      }),
    ),
  );
  if (written === 'insufficient') return written;
  return written.length > 0 ? 'reversed' : 'reversedBefore';
}

export async function findTopUp(db: Database, id: string): Promise<TopUp | undefined> {
  const [row] = await db.run(readTopUp, { top_up_id: id });
  return row && topUpFromRow(row);
}

function topUpFromRow(row: Values<typeof columns>): TopUp {
  return {
    id: row.top_up_id,
    partyId: row.party_id,
    shopId: row.shop_id,
    reference: row.reference,
    bankAccountId: row.bank_account_id,
    amount: { minor: row.amount_minor, currency: row.currency },
    createdAt: row.created_at,
    ...defined({ reversedAt: row.reversed_at }),
  };
}

function ledgerOf({ id: topUpId, partyId, shopId, bankAccountId }: TopUp, livemode: boolean): LedgerTopUp {
  return { livemode, topUpId, partyId, shopId, bankAccountId };
}
