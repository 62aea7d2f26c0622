// Moves a payout to another bank, in SQL: the terminal in its row and the money it holds, with the claim to send it there.
import { exchangeParameters } from '../../acquiring/exchange-log/store/exchange-rows.ts';
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { statement } from '../../platform/database/statement.ts';
import { initialClaim } from '../../platform/jobs/job-runner.ts';
import { withdrawalMoved } from '../domain/withdrawal-postings.ts';
import { journalParameters, journalValues, recording } from '../../platform/ledger/store/journals.ts';
import { exchangesOfMove } from '../domain/bank-operations.ts';
import type { Withdrawal } from '../domain/withdrawal.ts';
import { ledgerOf, rowOf, withdrawalColumns, type StoredWithdrawal } from './withdrawals.ts';

/**
 * The version counts events, and this is none. Only the last send of attempt 1 moves it: an older node with a later attempt may
 * send it to the bank of before.
 */
const moveRow = statement({
  name: 'move_withdrawal',
  parameters: {
    withdrawal_id: 'text',
    version: 'int4',
    sends: 'int4',
    terms: withdrawalColumns.terms,
    wake_at: 'timestamptz',
    happened_at: 'timestamptz',
    ...exchangeParameters,
    ...journalParameters,
  },
  row: { exchanges: 'int4', journal: 'text?' },
  text: `
    with changed as (
      update withdrawal set terms = :terms, wake_at = :wake_at, sends = sends + 1
      where withdrawal_id = :withdrawal_id and version = :version and sends = :sends and not is_unsent and status = 'sending'
        and attempts = 1
      returning withdrawal_id, greatest(changed_at, :happened_at) as changed_at
    )
    select record_exchanges(:exchanges) as exchanges,
      record_journal(withdrawal_id, :journal_operation, changed_at, :journal_entries) as journal
    from changed`,
});

/** Undefined if another writer was first. */
export async function storeMove(
  db: Database,
  { withdrawal, version, sends }: StoredWithdrawal,
  moved: Withdrawal,
  { livemode, now }: { readonly livemode: boolean; readonly now: Instant },
): Promise<StoredWithdrawal | undefined> {
  const [from, to] = [ledgerOf(withdrawal, livemode), ledgerOf(moved, livemode)];
  if (!from || !to) throw new Error(`withdrawal ${withdrawal.id} moves and has no route`);
  const journal = withdrawalMoved(from, to, withdrawal.amount);
  const rows = await recording(db, journal, () =>
    db.withSavepoint((part) =>
      part.run(moveRow, {
        withdrawal_id: withdrawal.id,
        version,
        sends,
        terms: rowOf(moved, version).terms,
        wake_at: initialClaim(now).wake_at,
        happened_at: now,
        exchanges: exchangesOfMove(moved, now),
        ...journalValues(journal),
      }),
    ),
  );
  return rows.length > 0 ? { withdrawal: moved, version, sends: sends + 1, isUnsent: false } : undefined;
}
