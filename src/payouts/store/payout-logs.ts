// Reads the logs of withdrawals and destinations, and what a pending withdrawal waits for.
import type { Database } from '../../platform/database/database.ts';
import { logReader, readFacts, type NumberedFact } from '../../platform/events/read-log.ts';
import { statement } from '../../platform/database/statement.ts';
import { destinationFact, withdrawalFact, type WithdrawalLogFact } from './codec.ts';

export const readWithdrawalLog = logReader('withdrawal', withdrawalFact);
export const readDestinationLog = logReader('destination', destinationFact);

/** The oldest first. */
export function readWithdrawalFacts(
  db: Database,
  name: { readonly partyId: string; readonly id: string },
): Promise<NumberedFact<WithdrawalLogFact>[]> {
  return readFacts(
    (page) => readWithdrawalLog(db, name, page),
    (fact): fact is WithdrawalLogFact => fact.type.startsWith('withdrawal_'),
  );
}

const readWait = statement({
  name: 'read_wait_of_withdrawal',
  parameters: { withdrawal_id: 'text' },
  row: { attempts: 'int4', wake_at: 'timestamptz?', stuck_at: 'timestamptz?' },
  text: `select attempts, wake_at, stuck_at from withdrawal
         where withdrawal_id = :withdrawal_id and status = 'sending'`,
});

/** Undefined if it has ended. */
export async function findWaitOfWithdrawal(db: Database, withdrawalId: string) {
  const [row] = await db.run(readWait, { withdrawal_id: withdrawalId });
  return row;
}
