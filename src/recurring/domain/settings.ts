// A shop's settings for recurring charges, where they differ from the rules.
import type { MandateTerms } from '../../receipts/domain/terms.ts';
import type { ReceiptLanguage } from '../../receipts/domain/receipt.ts';

export type RecurringSettings = {
  /** The terms of a consent whose payment brings none. */
  readonly terms?: MandateTerms;
  /** Refuses a charge after six months without one, instead of only warning. */
  readonly enforceMaxGap?: boolean;
  /** Saves no card without the payer's consent. */
  readonly requireConsentEvidence?: boolean;
  /** The access token of an invoice cannot make recurring charges. */
  readonly needsApiKey?: boolean;
  /** The contact for payers on their receipts. */
  readonly contact?: string;
  /** The language of emailed receipts, if the payer's is not known. */
  readonly language?: ReceiptLanguage;
};
