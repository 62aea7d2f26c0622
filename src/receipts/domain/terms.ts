// The terms of recurring charges as each receipt shows them: schedule, lifetime and amounts.
import type { ChargeReason } from '../../acquiring/domain/initiation.ts';

export type AmountRule =
  | { readonly kind: 'fixed' | 'upTo'; readonly amountMinor: number }
  | { readonly kind: 'variable'; readonly text: string };

export type MandateTerms = {
  /** An ISO 8601 period, `P1M`, or words. */
  readonly schedule?: string;
  /** The last day, `2030-12-31`. Absent: until cancelled. */
  readonly validUntil?: string;
  readonly amountRule?: AmountRule;
  /** The last day of a trial or of a first price. */
  readonly trialEnd?: string;
  readonly amountAfterTrialMinor?: number;
  /** The day of the next charge after the payer has agreed. */
  readonly firstChargeOn?: string;
  /** How many charges follow, that one included. Absent: until the terms end. */
  readonly charges?: number;
  /** What card networks call later charges. Absent: recurring, at regular times. */
  readonly chargeReason?: ChargeReason;
};

/** In the words of card networks: whether later charges have the same amount. Undefined if the terms do not say. */
export function agreedAmountOf({ amountRule }: MandateTerms): 'fixed' | 'variable' | undefined {
  return amountRule && (amountRule.kind === 'fixed' ? 'fixed' : 'variable');
}

/** The schedule if the merchant gave none. */
export const asAgreed = 'as agreed with the merchant';

/** Terms come as one block from the first source that states any: mixed, they would be terms that the payer never saw. */
export function firstStated(...sources: readonly (MandateTerms | undefined)[]): MandateTerms {
  return sources.find((terms) => terms && Object.keys(terms).length > 0) ?? {};
}

/** `fixed:29900`, `upTo:100000` or `variable:the price of each order`. Undefined for anything else. */
export function amountRuleIn(text: string): AmountRule | undefined {
  const [, kind, value = ''] = /^(fixed|upTo|variable):(.+)$/s.exec(text) ?? [];
  if (kind === 'variable') return value.trim() === '' ? undefined : { kind, text: value };
  const isAmount = /^[1-9]\d{0,11}$/.test(value);
  return isAmount && (kind === 'fixed' || kind === 'upTo') ? { kind, amountMinor: Number(value) } : undefined;
}
