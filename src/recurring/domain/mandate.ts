// The mandate: what the payer agreed to, with its evidence. Terms come from the payment, then from the shop's defaults.
import type { AuthenticationResult } from '../../acquiring/domain/authentication.ts';
import type { NetworkId, References } from '../../acquiring/domain/references.ts';
import { givesAnyNumberAway } from '../../cards/domain/card.ts';
import type { Instant } from '../../clock.ts';
import type { Currency } from '../../money.ts';
import { asAgreed, firstStated, type MandateTerms } from '../../receipts/domain/terms.ts';
import type { Warning } from '../../refusal.ts';

/** Why words cannot be a schedule, which is stored permanently and shown on receipts. */
export function scheduleProblem(schedule: string): string | undefined {
  if (schedule.trim() === '') return 'must not be empty';
  return givesAnyNumberAway(schedule) ? 'must not contain a card number' : undefined;
}

/** As the merchant attests it, if the page was theirs; with `link`, as Mandate saw it. */
export type ConsentGiven = {
  /** The text next to the box, or only its hash if the merchant keeps the text. */
  readonly text?: string;
  readonly textHash: string;
  readonly ticked: true;
  readonly tickedAt: Instant;
  readonly checkbox?: string;
  readonly locale?: string;
  readonly version?: string;
  /** The consent link on whose page the payer ticked the box. What Mandate saw there follows. */
  readonly link?: string;
  readonly receivedAt?: Instant;
  readonly userAgent?: string;
};

/** How to reach a payer. It may have more members, which are ignored. */
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
  /** Whether the merchant sent the consent. */
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
    /** Proves that the payer was authenticated. */
    readonly eci?: string;
    readonly networkTransactionId?: string;
    readonly references?: References;
    readonly networkIds?: readonly NetworkId[];
    readonly authenticated?: AuthenticationResult;
    readonly liabilityShift?: boolean;
  };
};

/** What the request of a payment contains. */
export type MandateGiven = MandateTerms & { readonly consent?: ConsentGiven };

/** What a consent lacks that was accepted all the same. */
export function consentWarnings(given: MandateGiven | undefined, shopDefaults?: MandateTerms): Warning[] {
  const { consent, ...terms } = given ?? {};
  return [...amountWarnings(terms, shopDefaults), ...(consent ? [] : [missing])];
}

/** Of terms that no payer has agreed to yet. */
export function amountWarnings(terms: MandateTerms, shopDefaults?: MandateTerms): Warning[] {
  return firstStated(terms, shopDefaults).amountRule ? [] : [withoutAmount];
}

const withoutAmount: Warning = { code: 'consentWithoutAmount', field: 'recurrentTerms.amountRule' };
const missing: Warning = { code: 'consentMissing', field: 'recurrentTerms.consent' };

export function mandateOf(
  given: MandateGiven | undefined,
  shopDefaults: MandateTerms,
  facts: Pick<Mandate, 'payer' | 'payment'>,
): Mandate {
  const { consent, ...terms } = given ?? {};
  return {
    schedule: asAgreed,
    ...firstStated(terms, shopDefaults),
    ...(consent ? { evidence: 'attestedByMerchant', consent } : { evidence: 'missing' }),
    ...facts,
  };
}
