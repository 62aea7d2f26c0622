// Puts the timeline of a withdrawal together.
import type { Instant } from '../clock.ts';
import { operationIdOf, type Withdrawal } from '../payouts/domain/withdrawal.ts';
import type { Database } from '../platform/database/database.ts';
import { inOrder, type TimelineItem } from './domain/item.ts';
import { bankLines } from './lines/bank-lines.ts';
import { ledgerLines, webhookLines } from './lines/record-lines.ts';
import { moveLines, waitLines, withdrawalLines } from './lines/withdrawal-lines.ts';
import type { TimelineSources } from './port.ts';

export async function readWithdrawalTimeline(
  sources: TimelineSources,
  db: Database,
  withdrawal: Withdrawal,
  now: Instant,
): Promise<TimelineItem[]> {
  const { id } = withdrawal;
  const facts = await sources.withdrawalFacts(db, withdrawal);
  const transfers = await sources.transfers(db, id, 'withdrawal');
  return inOrder([
    ...withdrawalLines(withdrawal, facts),
    ...bankLines(await sources.exchanges(db, id, operationIdOf(withdrawal)), now),
    ...moveLines(transfers),
    ...ledgerLines(transfers),
    ...webhookLines(await sources.deliveries(db, id, facts), facts),
    ...waitLines(withdrawal, await sources.waitOfWithdrawal(db, id)),
  ]);
}
