// The outbox in SQL. An email is written with the change of its payment, and ended by the node that sent it.
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { currency, oneOf } from '../../platform/database/codec.ts';
import { writeStatement } from '../../platform/database/batches/write-statement.ts';
import { columnList, statement, stored, type Values } from '../../platform/database/statement.ts';
import type { NewPayerEmail, PayerEmail, PaymentOfEmail } from '../domain/payer-email.ts';
import { defined } from '../../defined.ts';
import { receiptContent } from './codec.ts';

/** Of an email, or all null for none. */
export const payerEmailParameters = {
  email_recipient: 'text?',
  email_paid_at: 'timestamptz?',
  email_amount_minor: 'int8?',
  email_currency: stored('text?', currency),
  email_reference: 'text?',
  email_approval_code: 'text?',
  email_content: stored('json?', receiptContent),
} as const;

const writtenColumns = `invoice_id, payment_id, party_id, series_id, status, created_at, recipient, paid_at, amount_minor,
        currency, reference, approval_code, content, wake_at, attempts`;

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

const insertPayerEmail = statement({
  name: 'insert_payer_email',
  parameters: {
    invoice_id: 'text',
    payment_id: 'text',
    party_id: 'text',
    series_id: 'text?',
    happened_at: 'timestamptz',
    ...payerEmailParameters,
  },
  row: {},
  text: `insert into payer_email (${writtenColumns})
         values (:invoice_id, :payment_id, :party_id, :series_id, 'waiting', :happened_at, :email_recipient, :email_paid_at, :email_amount_minor, :email_currency,
           :email_reference, :email_approval_code, :email_content,
           :happened_at, 0)
         on conflict do nothing`,
});

const columns = {
  invoice_id: 'text',
  payment_id: 'text',
  party_id: 'text',
  series_id: 'text?',
  status: stored('text', oneOf('waiting', 'kept', 'sent', 'refused')),
  created_at: 'timestamptz',
  recipient: 'text',
  paid_at: 'timestamptz',
  amount_minor: 'int8',
  currency: stored('text', currency),
  reference: 'text',
  approval_code: 'text?',
  content: stored('json?', receiptContent),
  ended_at: 'timestamptz?',
  subject: 'text?',
  text_body: 'text?',
  html_body: 'text?',
  refusal: 'text?',
} as const;

const readPayerEmail = statement({
  name: 'read_payer_email',
  parameters: { invoice_id: 'text', payment_id: 'text' },
  row: columns,
  text: `select ${columnList(columns)} from payer_email where invoice_id = :invoice_id and payment_id = :payment_id`,
});

const readPayerEmails = statement({
  name: 'read_payer_emails_of',
  parameters: { payments: 'json' },
  row: columns,
  text: `select ${columnList(columns, 'payer_email')}
         from json_to_recordset(:payments) as asked (invoice_id text, payment_id text)
         join payer_email using (invoice_id, payment_id)`,
});

const readOutbox = statement({
  name: 'read_outbox',
  parameters: { party_id: 'text', invoice_id: 'text?', limit: 'int4' },
  row: columns,
  text: `select ${columnList(columns)} from payer_email
         where party_id = :party_id and (:invoice_id is null or invoice_id = :invoice_id)
         order by created_at desc, invoice_id, payment_id limit :limit`,
});

/** A second node that ends the same email changes nothing. */
const endPayerEmailRow = writeStatement({
  name: 'end_payer_email',
  leavesOut: 'held',
  change: {
    invoice_id: 'text',
    payment_id: 'text',
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
  await tx.run(insertPayerEmail, {
    invoice_id: email.paid.invoiceId,
    payment_id: email.paid.paymentId,
    party_id: email.partyId,
    series_id: email.seriesId ?? null,
    happened_at: now,
    ...payerEmailValues(email),
  });
}

export async function findPayerEmail(
  db: Database,
  { invoiceId, paymentId }: PaymentOfEmail,
): Promise<PayerEmail | undefined> {
  const [row] = await db.run(readPayerEmail, { invoice_id: invoiceId, payment_id: paymentId });
  return row && payerEmailFromRow(row);
}

export async function findPayerEmails(
  db: Database,
  payments: readonly PaymentOfEmail[],
): Promise<PayerEmail[]> {
  const asked = payments.map(({ invoiceId, paymentId }) => ({
    invoice_id: invoiceId,
    payment_id: paymentId,
  }));
  return (await db.run(readPayerEmails, { payments: asked })).map(payerEmailFromRow);
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
  { invoiceId, paymentId }: PaymentOfEmail,
  ended: Required<Pick<PayerEmail, 'status' | 'written'>> & Pick<PayerEmail, 'refusal'>,
  now: Instant,
): Promise<void> {
  const { status, written, refusal } = ended;
  await db.run(endPayerEmailRow, {
    invoice_id: invoiceId,
    payment_id: paymentId,
    status,
    now,
    subject: written.subject,
    text_body: written.text,
    html_body: written.html,
    refusal: refusal ?? null,
  });
}

function payerEmailFromRow(row: Values<typeof columns>): PayerEmail {
  const { subject, text_body: text, html_body: html, approval_code: approvalCode } = row;
  return {
    partyId: row.party_id,
    ...defined({ seriesId: row.series_id }),
    recipient: row.recipient,
    createdAt: row.created_at,
    status: row.status,
    paid: {
      invoiceId: row.invoice_id,
      paymentId: row.payment_id,
      at: row.paid_at,
      amount: { minor: row.amount_minor, currency: row.currency },
      reference: row.reference,
      ...defined({ approvalCode }),
    },
    ...(subject === null || text === null || html === null ? {} : { written: { subject, text, html } }),
    ...defined({ content: row.content, endedAt: row.ended_at, refusal: row.refusal }),
  };
}
