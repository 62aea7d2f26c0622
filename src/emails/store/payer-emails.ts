// The outbox in SQL. The columns of its key are still named as those of receipts, because older nodes use them.
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { anyObject, currency, oneOf } from '../../platform/database/codec.ts';
import { writeStatement } from '../../platform/database/batches/write-statement.ts';
import { columnList, statement, stored, type Values } from '../../platform/database/statement.ts';
import {
  emailsAbout,
  type EmailEnd,
  type EmailKey,
  type NewPayerEmail,
  type PayerEmail,
  type WrittenEmail,
} from '../domain/payer-email.ts';
import { defined } from '../../defined.ts';

/** Of an email, or all null for none. */
export const payerEmailParameters = {
  email_recipient: 'text?',
  email_paid_at: 'timestamptz?',
  email_amount_minor: 'int8?',
  email_currency: stored('text?', currency),
  email_reference: 'text?',
  email_approval_code: 'text?',
  email_content: stored('json?', anyObject),
} as const;

export function payerEmailValues(email: NewPayerEmail | undefined): Values<typeof payerEmailParameters> {
  const { recipient, paid, content } = email ?? {};
  return {
    email_recipient: recipient ?? null,
    email_paid_at: paid?.at ?? null,
    email_amount_minor: paid?.amount.minor ?? null,
    email_currency: paid?.amount.currency ?? null,
    email_reference: paid?.reference ?? null,
    email_approval_code: paid?.approvalCode ?? null,
    email_content: content ?? null,
  };
}

const key = { invoice_id: 'text', payment_id: 'text' } as const;

const columns = {
  ...key,
  party_id: 'text',
  about: stored('text', oneOf(...emailsAbout)),
  series_id: 'text?',
  status: stored('text', oneOf('waiting', 'kept', 'sent', 'refused')),
  created_at: 'timestamptz',
  recipient: 'text',
  paid_at: 'timestamptz?',
  amount_minor: 'int8?',
  currency: stored('text?', currency),
  reference: 'text?',
  approval_code: 'text?',
  content: stored('json?', anyObject),
  ended_at: 'timestamptz?',
  subject: 'text?',
  text_body: 'text?',
  html_body: 'text?',
  refusal: 'text?',
} as const;

const insertPayerEmail = statement({
  name: 'insert_payer_email',
  parameters: {
    ...key,
    party_id: 'text',
    about: columns.about,
    series_id: 'text?',
    happened_at: 'timestamptz',
    ...payerEmailParameters,
  },
  row: {},
  text: `insert into payer_email (invoice_id, payment_id, party_id, about, series_id, status, created_at, recipient, paid_at, amount_minor,
           currency, reference, approval_code, content, wake_at)
         values (:invoice_id, :payment_id, :party_id, :about, :series_id, 'waiting', :happened_at, :email_recipient, :email_paid_at,
           :email_amount_minor, :email_currency, :email_reference, :email_approval_code, :email_content, :happened_at)
         on conflict do nothing`,
});

const readPayerEmail = statement({
  name: 'read_payer_email',
  parameters: key,
  row: columns,
  text: `select ${columnList(columns)} from payer_email where invoice_id = :invoice_id and payment_id = :payment_id`,
});

const readPayerEmails = statement({
  name: 'read_payer_emails_of',
  parameters: { keys: 'json' },
  row: columns,
  text: `select ${columnList(columns, 'payer_email')}
         from json_to_recordset(:keys) as asked (invoice_id text, payment_id text)
         join payer_email using (invoice_id, payment_id)`,
});

const readLatest = statement({
  name: 'read_latest_payer_email',
  parameters: { invoice_id: 'text' },
  row: columns,
  text: `select ${columnList(columns)} from payer_email where invoice_id = :invoice_id
         order by created_at desc, payment_id limit 1`,
});

const readOutbox = statement({
  name: 'read_outbox',
  parameters: { party_id: 'text', invoice_id: 'text?', limit: 'int4' },
  row: columns,
  text: `select ${columnList(columns)} from payer_email
         where party_id = :party_id and (:invoice_id is null or invoice_id = :invoice_id or content ->> 'invoiceId' = :invoice_id)
         order by created_at desc, about, invoice_id, payment_id limit :limit`,
});

/** A second node that ends the same email changes nothing. */
const endPayerEmailRow = writeStatement({
  name: 'end_payer_email',
  leavesOut: 'held',
  change: {
    ...key,
    status: columns.status,
    now: 'timestamptz',
    subject: 'text',
    text_body: 'text',
    html_body: 'text',
    refusal: 'text?',
  },
  row: {},
  text: 'select asker from end_payer_emails(:changes)',
});

export async function storePayerEmail(tx: Database, email: NewPayerEmail, now: Instant): Promise<void> {
  const { partyId, about, seriesId } = email;
  await tx.run(insertPayerEmail, {
    ...keyOf(email),
    party_id: partyId,
    about,
    series_id: seriesId ?? null,
    happened_at: now,
    ...payerEmailValues(email),
  });
}

export async function findPayerEmail(
  db: Pick<Database, 'run'>,
  email: EmailKey,
): Promise<PayerEmail | undefined> {
  const [row] = await db.run(readPayerEmail, keyOf(email));
  return row && payerEmailFromRow(row);
}

export async function findPayerEmails(db: Database, emails: readonly EmailKey[]): Promise<PayerEmail[]> {
  return (await db.run(readPayerEmails, { keys: emails.map(keyOf) })).map(payerEmailFromRow);
}

export async function findLatestEmail(db: Database, aggregateId: string): Promise<PayerEmail | undefined> {
  const [row] = await db.run(readLatest, { invoice_id: aggregateId });
  return row && payerEmailFromRow(row);
}

/** Newest first. */
export async function findOutbox(
  db: Database,
  { partyId, invoiceId, limit }: { partyId: string; invoiceId: string | undefined; limit: number },
): Promise<PayerEmail[]> {
  const rows = await db.run(readOutbox, { party_id: partyId, invoice_id: invoiceId ?? null, limit });
  return rows.map(payerEmailFromRow);
}

export async function endPayerEmail(
  db: Database,
  email: EmailKey,
  { status, refusal, written }: EmailEnd & { readonly written: WrittenEmail },
  now: Instant,
): Promise<void> {
  await db.run(endPayerEmailRow, {
    ...keyOf(email),
    status,
    now,
    subject: written.subject,
    text_body: written.text,
    html_body: written.html,
    refusal: refusal ?? null,
  });
}

function keyOf({ aggregateId, emailId }: EmailKey): Values<typeof key> {
  return { invoice_id: aggregateId, payment_id: emailId };
}

function payerEmailFromRow(row: Values<typeof columns>): PayerEmail {
  const { subject, text_body: text, html_body: html } = row;
  return {
    about: row.about,
    aggregateId: row.invoice_id,
    emailId: row.payment_id,
    partyId: row.party_id,
    recipient: row.recipient,
    createdAt: row.created_at,
    status: row.status,
    ...(subject === null || text === null || html === null ? {} : { written: { subject, text, html } }),
    ...defined({
      seriesId: row.series_id,
      paid: paidIn(row),
      content: row.content,
      endedAt: row.ended_at,
      refusal: row.refusal,
    }),
  };
}

function paidIn(row: Values<typeof columns>): PayerEmail['paid'] {
  const { paid_at: at, amount_minor: minor, currency: of, reference, approval_code: approvalCode } = row;
  if (at === null || minor === null || of === null || reference === null) return undefined;
  return { at, amount: { minor, currency: of }, reference, ...defined({ approvalCode }) };
}
