// A consent link: new terms for a series, which the payer accepts on a page. Its status follows from the binding with which the
// payer confirms them, so nothing has to be written when that ends.
import { epochMsOf, type Instant } from '../../clock.ts';
import type { Binding } from '../../customers/domain/binding.ts';
import type { ReceiptLanguage } from '../../receipts/domain/receipt.ts';
import type { AmountRule, MandateTerms } from '../../receipts/domain/terms.ts';
import type { Series } from '../../recurring/domain/series.ts';

/** A payer cannot agree to an amount or a schedule that is not said. */
export type NewTerms = MandateTerms & { readonly schedule: string; readonly amountRule: AmountRule };

export type ConsentLink = {
  readonly id: string;
  readonly partyId: string;
  readonly shopId: string;
  readonly seriesId: string;
  readonly terms: NewTerms;
  /** Of the page, if the merchant has chosen it. */
  readonly language?: ReceiptLanguage;
  /** Where the payer goes after success. */
  readonly redirectUrl?: string;
  readonly externalId?: string;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
  /** The latest binding with which the payer has tried to confirm. */
  readonly attempt?: { readonly customerId: string; readonly bindingId: string };
  readonly cancelledAt?: Instant;
};

export const linkStatuses = ['open', 'authenticating', 'done', 'expired', 'cancelled'] as const;
export type LinkStatus = (typeof linkStatuses)[number];

/** A link with what its status follows from. */
export type LinkState = {
  readonly link: ConsentLink;
  readonly series: Series;
  /** The token of the card with which the series began. */
  readonly token: string;
  readonly binding?: Binding;
  readonly status: LinkStatus;
};

export function statusOf(
  { cancelledAt, expiresAt }: ConsentLink,
  { state }: Pick<Series, 'state'>,
  binding: Pick<Binding, 'state'> | undefined,
  now: Instant,
): LinkStatus {
  switch (binding?.state.name) {
    case 'succeeded':
    case 'withdrawn':
      return 'done';
    case 'failed':
    case undefined:
      break;
    default:
      // An attempt that began in time ends as it ends.
      return 'authenticating';
  }
  if (cancelledAt !== undefined || state.name === 'withdrawn') return 'cancelled';
  return now >= expiresAt ? 'expired' : 'open';
}

export const usualLifeMs = 7 * 24 * 3_600_000;
const maxLifeMs = 30 * 24 * 3_600_000;

/** What is wrong with the dates, which depends on the time. `endsAt`: of the consent, by the new terms. */
export function dateProblem(
  { expiresAt, endsAt }: { readonly expiresAt: Instant; readonly endsAt?: Instant },
  now: Instant,
): string | undefined {
  if (expiresAt <= now) return 'expiresAt is in the past';
  if (epochMsOf(expiresAt) - epochMsOf(now) > maxLifeMs) return 'expiresAt is more than 30 days away';
  return endsAt !== undefined && endsAt <= now ? 'terms.validUntil has passed' : undefined;
}
