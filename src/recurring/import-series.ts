// A consent that a payer gave elsewhere, as the series of a customer's card. Its terms are as they were agreed: no default of the shop is
// mixed in.
import type { CardDetails } from '../cards/domain/card.ts';
import type { Instant } from '../clock.ts';
import { defined } from '../defined.ts';
import type { Database } from '../platform/database/database.ts';
import { endOfCard, endOfDay } from '../retry-rules/domain/calendar.ts';
import { cardKey } from './card-credential.ts';
import { mandateOf, type Mandate, type MandateGiven } from './domain/mandate.ts';
import { seriesIdOfCustomer, type BindingRef } from './domain/series.ts';
import { timeZoneOf, type RecurringSettings } from './domain/settings.ts';
import { knownSeries, storeImported, type NewSeries } from './store/imported-series.ts';
import { findSettings } from './store/settings.ts';

export type ImportedConsent = BindingRef & {
  readonly partyId: string;
  readonly shopId: string;
  readonly livemode: boolean;
  readonly card: CardDetails & {
    readonly token: string;
    readonly numberHash: Buffer;
    /** `2030-12`. */
    readonly expiry: string;
  };
  readonly given: MandateGiven;
  readonly evidence: Pick<Mandate, 'payer' | 'payment'>;
  readonly lastChargedAt?: Instant;
};

export type SeriesImport = {
  settings(shop: { readonly partyId: string; readonly shopId: string }): Promise<RecurringSettings>;
  idOf(card: Pick<ImportedConsent, 'partyId' | 'livemode' | 'customerId'> & { numberHash: Buffer }): string;
  known(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Undefined if the consent has ended. */
  seriesOf(consent: ImportedConsent, settings: RecurringSettings, now: Instant): NewSeries | undefined;
  store(tx: Database, series: readonly NewSeries[], now: Instant): Promise<void>;
};

export function importingSeries(db: Pick<Database, 'run'>): SeriesImport {
  return {
    settings: (shop) => findSettings(db, shop),
    idOf: ({ customerId, numberHash, partyId, livemode }) =>
      seriesIdOfCustomer(customerId, cardKey(numberHash, partyId, livemode)),
    known: (ids) => knownSeries(db, ids),
    seriesOf,
    store: storeImported,
  };
}

function seriesOf(
  { customerId, bindingId, partyId, shopId, livemode, card, given, evidence, ...consent }: ImportedConsent,
  settings: RecurringSettings,
  now: Instant,
): NewSeries | undefined {
  const mandate = mandateOf(given, {}, evidence);
  const { createdAt, currency, networkTransactionId: rootNetworkTransactionId } = mandate.payment;
  const endOf = (date: string | undefined) =>
    date === undefined ? undefined : endOfDay(date, timeZoneOf(settings, currency));
  const endsAt = endOf(mandate.validUntil);
  if (endsAt !== undefined && endsAt <= now) return undefined;
  const { paymentSystem, lastDigits, token, numberHash, expiry } = card;
  const key = cardKey(numberHash, partyId, livemode);
  const terms = {
    id: seriesIdOfCustomer(customerId, key),
    kind: 'customer',
    root: { customerId, bindingId },
    partyId,
    shopId,
    card: { paymentSystem, lastDigits, endsAt: endOfCard(expiry) },
    mandate,
    // Its periods are counted from there, as before. A stop of the card since then counts, too.
    consentedAt: createdAt,
    ...defined({ rootNetworkTransactionId, endsAt, trialEndsAt: endOf(mandate.trialEnd) }),
    bindsAmount: true,
    imported: defined({ lastChargedAt: consent.lastChargedAt }),
  } as const;
  return { started: { type: 'series_started', terms }, handles: { token, key }, settings };
}
