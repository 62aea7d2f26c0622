// Where the log of a subscription has an announcement.
import type { Database } from '../../platform/database/database.ts';
import { logReader } from '../../platform/events/read-log.ts';
import type { Announcement } from '../domain/duties/terms.ts';
import type { SubscriptionTerms } from '../domain/subscription.ts';
import { subscriptionFact } from './codec.ts';

export const readSubscriptionLog = logReader('subscription', subscriptionFact);
/** The events of one step. A long outage writes several. */
const mostOfAStep = 20;

/** The sequence of its event. The first one after its version has it, because a step announces one charge at most. */
export async function findAnnouncement(
  db: Database,
  { id, partyId }: Pick<SubscriptionTerms, 'id' | 'partyId'>,
  { version }: Pick<Announcement, 'version'>,
): Promise<number | undefined> {
  const events = await readSubscriptionLog(db, { id, partyId }, { after: version, limit: mostOfAStep });
  return events?.find(({ facts }) => facts.some(({ type }) => type === 'charge_announced'))?.sequence;
}
