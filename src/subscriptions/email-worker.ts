// Runs the job of an email about a subscription: renders it, sends it, records the result. A crash in between sends it again with the same
// message ID: better twice than never.
import type { Instant } from '../clock.ts';
import type { Merchants } from '../merchants/merchants.ts';
import type { Database } from '../platform/database/database.ts';
import type { Job } from '../platform/jobs/job-table.ts';
import type { MailServer } from '../platform/mail/mail-server.ts';
import { isMailAddress } from '../platform/mail/mail-settings.ts';
import { messageIdOf, writeEmail, type SubscriptionEmail } from './domain/duties/email-text.ts';
import { findEmail, storeEmailEnd } from './store/subscription-emails.ts';
import { claimToWake } from './store/subscriptions.ts';

export type SubscriptionEmailJobDeps = {
  readonly db: Database;
  readonly merchants: Pick<Merchants, 'shop'>;
  /** Without a mail server, emails are kept and not sent. */
  readonly mailServer: MailServer | undefined;
  /** Its job is claimed. */
  readonly runSubscription: (subscriptionId: string, at: Instant) => void;
  /** The links of an email. Their secrets are not stored before it is written. */
  readonly pageUrlOf: (subscriptionId: string, now: Instant) => string;
  readonly payUrlOf: (invoice: { readonly partyId: string; readonly invoiceId: string }) => string;
};

export async function runSubscriptionEmailJob(
  { db, ...deps }: SubscriptionEmailJobDeps,
  { key: [subscriptionId = '', emailId = ''], clock }: Job,
): Promise<void> {
  const key = { subscriptionId, emailId };
  const email = await findEmail(db, key);
  if (email?.status !== 'waiting') return;
  const now = clock.now();
  const written = await writtenEmail(email, now, deps);
  const sent = await send(email, written, deps.mailServer);
  const isClaimed = await db.transaction(async (tx) => {
    await storeEmailEnd(tx, key, { ...sent, written }, now);
    // Its charge may have waited for it.
    return email.content.kind === 'announced' && (await claimToWake(tx, subscriptionId, now));
  });
  if (isClaimed) deps.runSubscription(subscriptionId, now);
}

async function writtenEmail(
  { subscriptionId, partyId, content }: SubscriptionEmail,
  now: Instant,
  { merchants, pageUrlOf, payUrlOf }: Omit<SubscriptionEmailJobDeps, 'db' | 'mailServer' | 'runSubscription'>,
) {
  const { shopId, invoiceId } = content;
  const shop = await merchants.shop(partyId, shopId);
  if (!shop) throw new Error('The shop was not found: the email cannot be sent.');
  return writeEmail(content, {
    merchant: { name: shop.name, site: shop.url },
    cancelUrl: pageUrlOf(subscriptionId, now),
    ...(invoiceId === undefined ? {} : { payUrl: payUrlOf({ partyId, invoiceId }) }),
  });
}

async function send(
  email: SubscriptionEmail,
  written: NonNullable<SubscriptionEmail['written']>,
  mailServer: MailServer | undefined,
): Promise<Pick<SubscriptionEmail, 'status' | 'refusal'>> {
  const { createdAt, recipient: to } = email;
  if (!mailServer) return { status: 'kept' };
  if (!isMailAddress(to)) return { status: 'refused', refusal: 'no address mail can go to' };
  const answer = await mailServer.send({ id: messageIdOf(email), at: createdAt, to, ...written });
  return 'refused' in answer ? { status: 'refused', refusal: answer.refused } : { status: 'sent' };
}
