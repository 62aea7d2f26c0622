// What an email about a subscription says. Its end may be what a charge waits for.
import type { Instant } from '../clock.ts';
import type { EmailAuthor } from '../emails/port.ts';
import type { Merchants } from '../merchants/merchants.ts';
import { writeEmail } from './domain/duties/email-text.ts';
import { emailContentIn } from './store/email-content.ts';
import { wakeToRun } from './store/subscriptions.ts';

export type SubscriptionAuthorDeps = {
  readonly merchants: Pick<Merchants, 'shop'>;
  /** Its row is claimed, or due within a lease. */
  readonly runSubscription: (subscriptionId: string, at: Instant) => void;
  /** Its secret is not stored before an email is written. */
  readonly pageUrlOf: (subscriptionId: string, now: Instant) => string;
};

export function subscriptionAuthor({
  merchants,
  runSubscription,
  pageUrlOf,
}: SubscriptionAuthorDeps): EmailAuthor {
  return {
    async write(email, now) {
      const { aggregateId: subscriptionId, partyId } = email;
      const content = emailContentIn(email);
      const shop = await merchants.shop(partyId, content.shopId);
      if (!shop) throw new Error('The shop was not found: the email cannot be sent.');
      return writeEmail(content, {
        merchant: { name: shop.name, site: shop.url },
        pageUrl: pageUrlOf(subscriptionId, now),
      });
    },

    async ended(tx, email, now) {
      const { aggregateId: subscriptionId } = email;
      // Its charge may have waited for it.
      if (emailContentIn(email).kind !== 'announced' || !(await wakeToRun(tx, subscriptionId, now)))
        return undefined;
      return () => runSubscription(subscriptionId, now);
    },
  };
}
