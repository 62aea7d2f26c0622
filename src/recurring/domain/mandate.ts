// The mandate: what the payer agreed to, and what there is to show for it. The terms come from the payment, else from the
// shop's own defaults, else they are the plainest there are. Pure.
import { givesAnyNumberAway } from '../../cards/domain/card.ts';
import type { Instant } from '../../clock.ts';

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

/** Why words may not be its schedule, which is kept for good and stands on the receipts. */
export function scheduleProblem(schedule: string): string | undefined {
  if (schedule.trim() === '') return 'has no words in it';
  return givesAnyNumberAway(schedule) ? 'has a card number in it' : undefined;
}

/** As the merchant attests it: the page was his. */
export type ConsentGiven = {
  /** What stood beside the box; or only its hash, where the merchant keeps the text. */
  readonly text?: string;
  readonly textHash: string;
  readonly ticked: true;
  readonly tickedAt: Instant;
  readonly checkbox?: string;
  readonly locale?: string;
  readonly version?: string;
};

export type Mandate = MandateTerms & {
  readonly schedule: string;
  /** Whether the merchant sent what the payer agreed to. */
  readonly evidence: 'attestedByMerchant' | 'missing';
  readonly consent?: ConsentGiven;
  readonly payer: {
    readonly ip?: string;
    readonly fingerprint?: string;
    readonly page?: string;
    readonly contactInfo: Readonly<Record<string, string>>;
  };
  readonly payment: {
    readonly createdAt: Instant;
    readonly amountMinor: number;
    readonly currency: string;
    readonly reference: string;
    readonly approvalCode?: string;
    /** What proves that the payer was authenticated. */
    readonly eci?: string;
    readonly networkTransactionId?: string;
  };
};

/** What a payment brings with it. */
export type MandateGiven = MandateTerms & { readonly consent?: ConsentGiven };

/** Of a mandate that nobody has said anything about. */
export const asAgreed = 'as agreed with the merchant';

/** The lifetime goes with the schedule it was agreed with: half of one and half of another would be a third agreement. */
export function mandateOf(
  given: MandateGiven | undefined,
  shopDefaults: MandateTerms,
  facts: Pick<Mandate, 'payer' | 'payment'>,
): Mandate {
  const { consent, ...terms } = given ?? {};
  const agreed = Object.keys(terms).length > 0 ? terms : shopDefaults;
  return {
    schedule: asAgreed,
    ...agreed,
    ...(consent ? { evidence: 'attestedByMerchant', consent } : { evidence: 'missing' }),
    ...facts,
  };
}
