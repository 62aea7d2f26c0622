// What a shop wants of recurring charges where it wants anything else than the rules say.
import type { MandateTerms } from '../../receipts/domain/terms.ts';
import type { ReceiptLanguage } from '../../receipts/domain/receipt.ts';

export type RecurringSettings = {
  /** Of a consent whose payment brings none of its own. */
  readonly terms?: MandateTerms;
  /** A charge after six months without one is refused, not only warned about. */
  readonly enforceMaxGap?: boolean;
  /** No card is stored without what the payer agreed to. */
  readonly requireConsentEvidence?: boolean;
  /** The access token of an invoice does not charge without the payer. */
  readonly needsApiKey?: boolean;
  /** Where the payer can ask, on his receipts. */
  readonly contact?: string;
  /** Of receipts that are mailed, where it is not known in which the payer agreed. */
  readonly language?: ReceiptLanguage;
};
