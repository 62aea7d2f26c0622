// Moves a payout to another bank, in SQL: the terminal in its row and the money it holds. Only its first attempt may do so.
import { exchangeParameters, recordExchanges } from '../../acquiring/exchange-log/store/exchange-rows.ts';
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { statement } from '../../platform/database/statement.ts';
import { initialClaim } from '../../platform/jobs/job-runner.ts';
import { withdrawalMoved } from '../domain/withdrawal-postings.ts';
import {
  journalParameters,
  journalValues,
  recording,
  recordJournal,
} from '../../platform/ledger/store/journals.ts';
import { exchangesOfMove } from '../domain/bank-operations.ts';
import type { Withdrawal } from '../domain/withdrawal.ts';
import { ledgerOf, rowOf, withdrawalColumns, type StoredWithdrawal } from './withdrawals.ts';

/** The version counts events, and this is none. The claim stays: at the next bank too, a later attempt must query first. */
const moveRow = statement({
  name: 'move_withdrawal',
  parameters: {
    withdrawal_id: 'text',
    version: 'int4',
    terms: withdrawalColumns.terms,
    wake_at: 'timestamptz',
    happened_at: 'timestamptz',
    ...exchangeParameters,
    ...journalParameters,
  },
  row: { journal: 'text?' },
  text: `
    with changed as (
      update withdrawal set terms = :terms, wake_at = :wake_at
      where withdrawal_id = :withdrawal_id and version = :version and attempts = 1 and status = 'sending'
      returning withdrawal_id, greatest(changed_at, :happened_at) as changed_at
    ), exchanged as (
      ${recordExchanges('changed')}
    )
    select ${recordJournal('withdrawal_id')} as journal from changed`,
});

/** False if another node has claimed the payout. */
export async function storeMove(
  db: Database,
  { withdrawal, version }: StoredWithdrawal,
  moved: Withdrawal,
  { livemode, now }: { readonly livemode: boolean; readonly now: Instant },
): Promise<boolean> {
  const [from, to] = [ledgerOf(withdrawal, livemode), ledgerOf(moved, livemode)];
  if (!from || !to) throw new Error(`withdrawal ${withdrawal.id} moves and has no route`);
  const journal = withdrawalMoved(from, to, withdrawal.amount);
  const rows = await recording(db, journal, () =>
    db.withSavepoint((part) =>
      part.run(moveRow, {
        withdrawal_id: withdrawal.id,
        version,
        terms: rowOf(moved, version).terms,
        wake_at: initialClaim(now).wake_at,
        happened_at: now,
        exchanges: exchangesOfMove(moved, now),
        ...journalValues(journal),
      }),
    ),
  );
  return rows.length > 0;
}
