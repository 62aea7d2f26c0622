// The outbox of subscriptions in SQL. An email is written with its cause, and ended by the node that sent it.
import type { Instant } from '../../clock.ts';
import {
  currency,
  instant,
  minorUnits,
  object,
  oneOf,
  optional,
  text,
  wholeNumber,
  type Codec,
} from '../../platform/database/codec.ts';
import type { Database } from '../../platform/database/database.ts';
import { columnList, statement, stored, type Values } from '../../platform/database/statement.ts';
import { receiptLanguage } from '../../receipts/store/codec.ts';
import { declineClass } from '../../recurring/store/codec.ts';
import { defined } from '../../defined.ts';
import type { EmailContent, SubscriptionEmail } from '../domain/duties/email-text.ts';
import { emailKinds } from '../domain/duties/emails.ts';
import { announcementReason, endReason } from './codec.ts';

const content: Codec<EmailContent> = object({
  kind: oneOf(...emailKinds),
  product: text,
  currency,
  every: text,
  timeZone: text,
  priceMinor: minorUnits,
  amountMinor: optional(minorUnits),
  period: optional(object({ startsOn: text, endsOn: text })),
  trialUntil: optional(text),
  charges: optional(wholeNumber),
  chargeAt: optional(instant),
  why: optional(announcementReason),
  declineClass: optional(declineClass),
  invoiceId: optional(text),
  paidThrough: optional(instant),
  endedFor: optional(endReason),
  shopId: text,
  language: receiptLanguage,
  contact: optional(text),
  seriesId: optional(text),
});

const columns = {
  subscription_id: 'text',
  email_id: 'text',
  party_id: 'text',
  status: stored('text', oneOf('waiting', 'kept', 'sent', 'refused')),
  created_at: 'timestamptz',
  recipient: 'text',
  content: stored('json', content),
  ended_at: 'timestamptz?',
  subject: 'text?',
  text_body: 'text?',
  html_body: 'text?',
  refusal: 'text?',
} as const;

const key = { subscription_id: 'text', email_id: 'text' } as const;
const isIt = 'subscription_id = :subscription_id and email_id = :email_id';

const insertEmail = statement({
  name: 'insert_subscription_email',
  parameters: {
    ...key,
    party_id: 'text',
    happened_at: 'timestamptz',
    recipient: 'text',
    content: columns.content,
  },
  row: {},
  text: `insert into subscription_email (subscription_id, email_id, party_id, status, created_at, recipient, content, wake_at)
         values (:subscription_id, :email_id, :party_id, 'waiting', :happened_at, :recipient, :content, :happened_at)`,
});

const readEmail = statement({
  name: 'read_subscription_email',
  parameters: key,
  row: columns,
  text: `select ${columnList(columns)} from subscription_email where ${isIt}`,
});

const readEmails = statement({
  name: 'read_emails_of_subscription',
  parameters: { subscription_id: 'text', limit: 'int4' },
  row: columns,
  text: `select ${columnList(columns)} from subscription_email where subscription_id = :subscription_id
         order by created_at desc, email_id limit :limit`,
});

const readOutbox = statement({
  name: 'read_subscription_outbox',
  parameters: { party_id: 'text', invoice_id: 'text?', limit: 'int4' },
  row: columns,
  text: `select ${columnList(columns)} from subscription_email
         where party_id = :party_id and (:invoice_id is null or content ->> 'invoiceId' = :invoice_id)
         order by created_at desc, subscription_id, email_id limit :limit`,
});

/** A second node that ends the same email changes nothing. */
const endEmail = statement({
  name: 'end_subscription_email',
  parameters: {
    ...key,
    status: columns.status,
    now: 'timestamptz',
    subject: 'text',
    text_body: 'text',
    html_body: 'text',
    refusal: 'text?',
  },
  row: {},
  text: `update subscription_email
         set status = :status, ended_at = :now, subject = :subject, text_body = :text_body, html_body = :html_body,
           refusal = :refusal, wake_at = null, attempts = 0, stuck_at = null, stuck_reason = null
         where ${isIt} and status = 'waiting'`,
});

type Key = Pick<SubscriptionEmail, 'subscriptionId' | 'emailId'>;

export async function storeEmail(tx: Database, email: SubscriptionEmail): Promise<void> {
  await tx.run(insertEmail, {
    ...keyOf(email),
    party_id: email.partyId,
    happened_at: email.createdAt,
    recipient: email.recipient,
    content: email.content,
  });
}

export async function findEmail(
  db: Pick<Database, 'run'>,
  email: Key,
): Promise<SubscriptionEmail | undefined> {
  const [row] = await db.run(readEmail, keyOf(email));
  return row && emailFromRow(row);
}

/** Newest first. */
export async function findEmails(
  db: Pick<Database, 'run'>,
  subscriptionId: string,
  limit: number,
): Promise<SubscriptionEmail[]> {
  const rows = await db.run(readEmails, { subscription_id: subscriptionId, limit });
  return rows.map(emailFromRow);
}

/** Newest first. */
export async function findSubscriptionOutbox(
  db: Database,
  { partyId, invoiceId, limit }: { partyId: string; invoiceId: string | undefined; limit: number },
): Promise<SubscriptionEmail[]> {
  const rows = await db.run(readOutbox, { party_id: partyId, invoice_id: invoiceId ?? null, limit });
  return rows.map(emailFromRow);
}

export async function storeEmailEnd(
  db: Database,
  email: Key,
  {
    status,
    written,
    refusal,
  }: Required<Pick<SubscriptionEmail, 'status' | 'written'>> & Pick<SubscriptionEmail, 'refusal'>,
  now: Instant,
): Promise<void> {
  const { subject, text: text_body, html: html_body } = written;
  await db.run(endEmail, {
    ...keyOf(email),
    status,
    now,
    subject,
    text_body,
    html_body,
    refusal: refusal ?? null,
  });
}

function keyOf({ subscriptionId: subscription_id, emailId: email_id }: Key): Values<typeof key> {
  return { subscription_id, email_id };
}

function emailFromRow(row: Values<typeof columns>): SubscriptionEmail {
  const { subject, text_body: written, html_body: html } = row;
  return {
    subscriptionId: row.subscription_id,
    emailId: row.email_id,
    partyId: row.party_id,
    status: row.status,
    createdAt: row.created_at,
    recipient: row.recipient,
    content: row.content,
    ...(subject === null || written === null || html === null
      ? {}
      : { written: { subject, text: written, html } }),
    ...defined({ endedAt: row.ended_at, refusal: row.refusal }),
  };
}
