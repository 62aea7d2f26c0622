// The time zone in which a payer's consent ends, for the bank that stores the card.
import type { Currency } from '../money.ts';
import type { Database } from '../platform/database/database.ts';
import type { MandateTerms } from '../receipts/domain/terms.ts';
import { timeZoneOf } from './domain/settings.ts';
import type { Consents } from './port.ts';

type Consented = {
  readonly partyId: string;
  readonly shopId: string;
  readonly amount: { readonly currency: Currency };
  readonly recurrentTerms?: MandateTerms;
};

/** The same as that of the series which the consent starts. Read only if the consent names a last day. */
export async function zoneOfConsent(
  { db, consents }: { readonly db: Pick<Database, 'run'>; readonly consents: Pick<Consents, 'settings'> },
  { partyId, shopId, amount, recurrentTerms }: Consented,
): Promise<string> {
  if (recurrentTerms?.validUntil === undefined) return 'UTC';
  return timeZoneOf(await consents.settings(db, { partyId, shopId }), amount.currency);
}
