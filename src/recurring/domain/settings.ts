// A shop's settings for recurring charges, where they differ from the rules.
import type { MandateTerms } from '../../receipts/domain/terms.ts';
import type { Currency } from '../../money.ts';
import type { ReceiptLanguage } from '../../receipts/domain/receipt.ts';
import type { ShopRules } from '../../retry-rules/domain/may-charge.ts';

export type RecurringSettings = ShopRules & {
  /** The terms of a consent whose payment brings none. */
  readonly terms?: MandateTerms;
  /** Whose calendar days count: `Europe/Moscow`. */
  readonly timeZone?: string;
  /** Saves no card without the payer's consent. */
  readonly requireConsentEvidence?: boolean;
  /** The access token of an invoice cannot make recurring charges. */
  readonly needsApiKey?: boolean;
  /** Whether payers may do so on the page of their subscription. They may if it is absent. */
  readonly pauseByPayer?: boolean;
  readonly newCardByPayer?: boolean;
  /** The contact for payers on their receipts. */
  readonly contact?: string;
  /** The language of emailed receipts, if the payer's is not known. */
  readonly language?: ReceiptLanguage;
  /** Duties towards the payers of subscriptions. */
  readonly duties?: Duties;
};

/** Each is absent unless the merchant has set it. */
export type Duties = {
  /** Every charge of a subscription is announced so many hours before it. */
  readonly announceEachHours?: number;
  /** Who writes to payers about subscriptions: Mandate, or the merchant when a webhook event asks for it. */
  readonly emailsBy?: 'service' | 'merchant';
  /** A charge is made also if the announcement that is due has not reached the payer. */
  readonly chargeUnannounced?: boolean;
};

/** The shop's time zone. Without a setting it follows from the currency. */
export function timeZoneOf({ timeZone }: RecurringSettings, currency: Currency): string {
  return timeZone ?? (currency === 'RUB' ? 'Europe/Moscow' : 'UTC');
}
