// The consent that the charges of a subscription rest on.
import { findChargeable } from '../customers/port.ts';
import type { Database } from '../platform/database/database.ts';
import { seriesIdOf } from '../recurring/domain/series.ts';
import type { Consents, StoredSeries } from '../recurring/port.ts';
import type { Subscription } from './domain/subscription.ts';

/** Of the card that is charged: the customer's, or that of the payer's own payment. */
export async function findChargedSeries(
  db: Database,
  { terms: { partyId, customerId }, parent }: Pick<Subscription, 'terms' | 'parent'>,
  consents: Pick<Consents, 'find' | 'seriesOfCustomer'>,
): Promise<StoredSeries | undefined> {
  if (customerId === undefined) return parent && consents.find(db, seriesIdOf(parent));
  const { card } = (await findChargeable(db, partyId, customerId)) ?? {};
  if (!card) return undefined;
  const { token, livemode, seriesId: named } = card;
  const of = { named, customerId, partyId, livemode, token };
  return consents.find(db, await consents.seriesOfCustomer(db, of));
}
