// The terms of recurring charges, as they stand on each receipt: how often, until when, how much. Pure.

export type AmountRule =
  | { readonly kind: 'fixed' | 'upTo'; readonly amountMinor: number }
  | { readonly kind: 'variable'; readonly text: string };

export type MandateTerms = {
  /** An ISO 8601 period, `P1M`, or words. */
  readonly schedule?: string;
  /** The last day of its lifetime, `2030-12-31`; none: until cancelled. */
  readonly validUntil?: string;
  readonly amountRule?: AmountRule;
  /** The last day of a trial, or of another price that ends. */
  readonly trialEnd?: string;
  readonly amountAfterTrialMinor?: number;
};

/** The schedule of a mandate that nobody has said anything about. */
export const asAgreed = 'as agreed with the merchant';
