// A subscription as its payer sees it.
import type { CardDetails } from '../../cards/domain/card.ts';
import type { Instant } from '../../clock.ts';
import type { AmountRule, MandateTerms } from '../../receipts/domain/terms.ts';
import type { NextCharge } from './duties/next-charge.ts';
import type { PayerAct, PayerMay } from './payer-acts.ts';
import type { Outlook } from './payer-outlook.ts';
import type { Period, Subscription } from './subscription.ts';

/** What the payer agreed to, and what they are asked to agree to. */
export type TermsToAgree = {
  readonly seriesId: string;
  readonly before: MandateTerms;
  readonly after: MandateTerms & { readonly schedule: string; readonly amountRule: AmountRule };
};

export type PayerView = {
  readonly subscription: Subscription;
  /** Of the row. The page's buttons act on what it shows, and on nothing newer. */
  readonly version: number;
  /** The last ones, newest first. */
  readonly periods: readonly Period[];
  /** The numbers of those that a payment has paid. */
  readonly receipts: readonly number[];
  /** The saved card that is charged. */
  readonly card?: CardDetails;
  /** An ISO 8601 period. */
  readonly schedule: string;
  readonly nextCharge?: NextCharge;
  readonly newTerms?: TermsToAgree;
  readonly may: PayerMay;
  readonly acts: readonly PayerAct[];
  readonly outlook: Outlook;
  readonly now: Instant;
};
