// The list of withdrawals, by whatever they are searched for.
import type { Database } from '../../platform/database/database.ts';
import type { Values } from '../../platform/database/statement.ts';
import { listStatement, searchFilters } from '../../identities/store/sql-fragments.ts';
import { storedFromRow, withdrawalColumns } from './withdrawals.ts';
import type { Withdrawal } from '../domain/withdrawal.ts';

const listWithdrawalRows = listStatement({
  name: 'list_withdrawals',
  table: 'withdrawal',
  idColumn: 'withdrawal_id',
  filters: {
    wallet_id: 'text?',
    identity_id: 'text?',
    withdrawal_id: 'text?',
    destination_id: 'text?',
    status: 'text?',
    currency: 'text?',
    ...searchFilters,
  },
  row: withdrawalColumns,
});

export async function listWithdrawals(
  db: Database,
  asked: Values<typeof listWithdrawalRows.parameters>,
): Promise<Withdrawal[]> {
  const rows = await db.run(listWithdrawalRows, asked);
  return rows.map((row) => storedFromRow(row).withdrawal);
}
