// The time zone in which a payer's consent ends, for the bank that stores the card.
import type { Currency } from '../money.ts';
import type { Database } from '../platform/database/database.ts';
import type { MandateTerms } from '../receipts/domain/terms.ts';
import { timeZoneOf, type RecurringSettings } from './domain/settings.ts';

type Deps = {
  readonly db: Pick<Database, 'run'>;
  readonly consents: {
    settings(
      db: Pick<Database, 'run'>,
      shop: { readonly partyId: string; readonly shopId: string },
    ): Promise<RecurringSettings>;
  };
};

type Consented = {
  readonly partyId: string;
  readonly shopId: string;
  readonly amount: { readonly currency: Currency };
  readonly recurrentTerms?: MandateTerms;
};

/** The same as that of the series which the consent starts. Read only if the consent names a last day. */
export async function zoneOfConsent(
  { db, consents }: Deps,
  { partyId, shopId, amount, recurrentTerms }: Consented,
): Promise<string> {
  if (recurrentTerms?.validUntil === undefined) return 'UTC';
  return timeZoneOf(await consents.settings(db, { partyId, shopId }), amount.currency);
}
