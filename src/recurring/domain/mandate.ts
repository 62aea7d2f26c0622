// The mandate: what the payer agreed to, and what there is to show for it. The terms come from the payment, else from the
// shop's own defaults, else they are the plainest there are. Pure.
import { givesAnyNumberAway } from '../../cards/domain/card.ts';
import type { Instant } from '../../clock.ts';
import type { Currency } from '../../money.ts';
import { asAgreed, type MandateTerms } from '../../receipts/domain/terms.ts';

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

/** How to reach a payer, as the merchant says it. It may have more members, which nobody reads. */
export type ContactInfo = {
  readonly email?: string;
  readonly phoneNumber?: string;
  readonly firstName?: string;
  readonly lastName?: string;
  readonly country?: string;
  readonly state?: string;
  readonly city?: string;
  readonly address?: string;
  readonly postalCode?: string;
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
    readonly contactInfo: ContactInfo;
  };
  readonly payment: {
    readonly createdAt: Instant;
    readonly amountMinor: number;
    readonly currency: Currency;
    readonly reference: string;
    readonly approvalCode?: string;
    /** What proves that the payer was authenticated. */
    readonly eci?: string;
    readonly networkTransactionId?: string;
  };
};

/** What a payment brings with it. */
export type MandateGiven = MandateTerms & { readonly consent?: ConsentGiven };

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
