// The consent that the charges of a subscription rest on.
import type { Instant } from '../clock.ts';
import { findChargeable } from '../customers/port.ts';
import type { Database } from '../platform/database/database.ts';
import { seriesIdOf } from '../recurring/domain/series.ts';
import type { Charging, Consents, StoredSeries } from '../recurring/port.ts';
import { accept, refuse, type Outcome } from '../refusal.ts';
import type { ChargeRefusal } from '../retry-rules/domain/may-charge.ts';
import { sumOf } from './domain/changes/proration.ts';
import type { Subscription, SubscriptionTerms } from './domain/subscription.ts';

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

/** What only a new consent or card would change. A wait is no reason: the first charge waits too. */
export async function allowedBySeries(
  seriesId: string,
  { items, currency }: Pick<SubscriptionTerms, 'items' | 'currency'>,
  now: Instant,
  { db, charging }: { readonly db: Database; readonly charging: Pick<Charging, 'preview'> },
): Promise<Outcome<undefined, ChargeRefusal['code']>> {
  const amount = { minor: sumOf(items), currency };
  const found = await charging.preview(db, seriesId, { invoiceCreatedAt: 'then', amount }, now);
  if (!found) throw new Error(`Series ${seriesId} of a subscription not found.`);
  const { decision } = found;
  if (decision.may || decision.retryAfter !== undefined || decision.rule === 'attemptPending')
    return accept(undefined);
  return refuse(decision.code, { details: { rule: decision.rule, rulePack: decision.pack } });
}
