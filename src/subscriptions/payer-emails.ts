// Writes emails to payers about subscriptions in the transaction of their cause, and says how a payer can be reached.
import { findChargeable } from '../customers/port.ts';
import { defined } from '../defined.ts';
import type { Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { findLatestEmail, storePayerEmail } from '../emails/store/payer-emails.ts';
import { languageOf } from '../receipts/domain/receipt-email.ts';
import type { Mandate } from '../recurring/domain/mandate.ts';
import { seriesIdOf } from '../recurring/domain/series.ts';
import type { Consents } from '../recurring/port.ts';
import type { Announcement } from './domain/duties/terms.ts';
import { emailIdOf } from './domain/duties/email-text.ts';
import { emailsFor } from './domain/duties/emails.ts';
import { evolveAll, type Subscription, type SubscriptionFact } from './domain/subscription.ts';
import { emailContentIn, storedContent } from './store/email-content.ts';
import type { StoredSubscription } from './store/subscriptions.ts';

export type PayerEmails = {
  /** Whether an email can go to the payer, or the merchant writes to them. */
  reach(db: Database, subscription: Pick<Subscription, 'terms' | 'parent'>): Promise<Announcement['by']>;
  /** For the receipt of a payment that they make. */
  addressOf(db: Database, subscription: Pick<Subscription, 'terms' | 'parent'>): Promise<string | undefined>;
  write(
    tx: Database,
    before: Pick<StoredSubscription, 'subscription' | 'version'>,
    facts: readonly SubscriptionFact[],
    now: Instant,
  ): Promise<void>;
};

type Deps = {
  readonly consents: Pick<Consents, 'settings' | 'find' | 'seriesOfCustomer'>;
  /** False in live mode without a mail server. */
  readonly sendsEmail: boolean;
};

export function openPayerEmails({ consents, sendsEmail }: Deps): PayerEmails {
  return {
    async reach(db, subscription) {
      const { duties } = await consents.settings(db, subscription.terms);
      if (duties?.emailsBy === 'merchant') return 'webhook';
      const payer = sendsEmail ? await payerOf(db, consents, subscription) : undefined;
      return payer?.email === undefined ? 'none' : 'email';
    },

    addressOf: async (db, subscription) => (await payerOf(db, consents, subscription)).email,

    async write(tx, { subscription, version }, facts, now) {
      const emails = sendsEmail ? emailsFor(subscription, facts, now) : [];
      if (emails.length === 0) return;
      const { id: subscriptionId, partyId, shopId } = subscription.terms;
      const settings = await consents.settings(tx, { partyId, shopId });
      const payer = await payerOf(tx, consents, evolveAll(subscription, facts, now));
      if (settings.duties?.emailsBy === 'merchant' || payer.email === undefined) return;
      const { seriesId, mandate, email: recipient } = payer;
      const latest = mandate ? undefined : await findLatestEmail(tx, subscriptionId);
      const known = latest && emailContentIn(latest).language;
      const language = known ?? languageOf(mandate ?? {}, settings.language);
      const common = { shopId, language, ...defined({ contact: settings.contact, seriesId }) };
      for (const email of emails) {
        const content = storedContent({ ...email, ...common });
        const key = { aggregateId: subscriptionId, emailId: emailIdOf(version, email.kind) };
        await storePayerEmail(tx, { about: 'subscription', ...key, partyId, recipient, content }, now);
      }
    },
  };
}

/** With the consent under which the card is charged, if the customer has a card. */
async function payerOf(
  tx: Database,
  consents: Pick<Consents, 'find' | 'seriesOfCustomer'>,
  { terms: { partyId, customerId }, parent }: Pick<Subscription, 'terms' | 'parent'>,
): Promise<{ readonly email?: string; readonly seriesId?: string; readonly mandate?: Mandate }> {
  if (customerId === undefined) {
    const seriesId = parent && seriesIdOf(parent);
    const mandate = seriesId && (await consents.find(tx, seriesId))?.series.mandate;
    return mandate ? defined({ email: mandate.payer.contactInfo.email, seriesId, mandate }) : {};
  }
  const customer = await findChargeable(tx, partyId, customerId);
  const { email } = customer?.contactInfo ?? {};
  if (!customer?.card) return defined({ email });
  const { seriesId: named, token, livemode } = customer.card;
  const seriesId = await consents.seriesOfCustomer(tx, { named, customerId, partyId, livemode, token });
  const mandate = (await consents.find(tx, seriesId))?.series.mandate;
  return defined({ email, seriesId, mandate });
}
