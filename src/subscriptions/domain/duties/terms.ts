// What a shop says about duties towards the payer, and the announcement of a charge.
import type { Instant } from '../../../clock.ts';

/** Settings of the shop. Each is absent unless the merchant has set it. */
export type Duties = {
  /** Announce every charge so many hours before it. */
  readonly announceEachHours?: number;
  /** Who writes to the payer: Mandate, or the merchant when a webhook event asks for it. */
  readonly emailsBy?: 'service' | 'merchant';
  /** Charges also if the announcement that is due has reached no one. */
  readonly chargeUnannounced?: boolean;
};

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
