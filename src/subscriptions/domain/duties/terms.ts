// The announcement of a charge, and how it has reached the payer.
import type { Instant } from '../../../clock.ts';

export type AnnouncementReason = 'trialEnding' | 'newPrice' | 'rareCharge' | 'eachCharge';

export type Announcement = {
  /** Of the period that is charged. */
  readonly number: number;
  readonly why: AnnouncementReason;
  /** What a full period costs. */
  readonly priceMinor: bigint;
  /** How long before the charge the payer must know. */
  readonly leadMs: number;
  /** Of the subscription when it was announced: the key of the email, and where to look for the webhook event. */
  readonly version: number;
  /** `none`: the payer has no address. */
  readonly by: 'email' | 'webhook' | 'none';
  readonly announcedAt?: Instant;
  readonly acceptedAt?: Instant;
  readonly refusedAt?: Instant;
};
