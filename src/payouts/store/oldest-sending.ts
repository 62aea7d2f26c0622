// For monitoring: since when the oldest payout has been pending. Every pending payout is scheduled or stuck, so two small
// indexes find them all.
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { statement } from '../../platform/database/statement.ts';

const readOldestSending = statement({
  name: 'read_oldest_sending_withdrawal',
  parameters: {},
  row: { since: 'timestamptz?' },
  text: `select min(created_at) as since
         from (
           select created_at from withdrawal where wake_at is not null and status = 'sending'
           union all
           select created_at from withdrawal where stuck_at is not null and status = 'sending'
         ) as open`,
});

export async function oldestSendingWithdrawal(db: Database): Promise<Instant | undefined> {
  const [row] = await db.run(readOldestSending, {});
  return row?.since ?? undefined;
}
