// Runs the job of a payer email: renders the receipt, sends it, records the result. A crash in between sends it again with
// the same message ID: better twice than never.
import type { Database } from '../platform/database/database.ts';
import type { Job } from '../platform/jobs/job-table.ts';
import type { MailServer } from '../platform/mail/mail-server.ts';
import { isMailAddress } from '../platform/mail/mail-settings.ts';
import { payerEmailIdOf, type PayerEmail, type ReceiptSource } from './domain/payer-email.ts';
import type { Receipts } from './receipts.ts';
import { endPayerEmail, findPayerEmail } from './store/payer-emails.ts';

export type PayerEmailJobDeps = {
  readonly db: Database;
  readonly receipts: Pick<Receipts, 'write'>;
  /** For an email without content, which an older node has stored. */
  readonly sourceOf: (db: Database, email: PayerEmail) => Promise<ReceiptSource | undefined>;
  /** Without a mail server, emails are kept and not sent. */
  readonly mailServer: MailServer | undefined;
};

export async function runPayerEmailJob(
  { db, receipts, sourceOf, mailServer }: PayerEmailJobDeps,
  { key: [invoiceId = '', paymentId = ''], clock, row }: Job<PayerEmail>,
): Promise<void> {
  const now = clock.now();
  const payerEmail = row ?? (await findPayerEmail(db, { invoiceId, paymentId }));
  if (payerEmail?.status !== 'waiting') return;
  const { paid, recipient, createdAt, content } = payerEmail;
  const source = content ? { ...payerEmail, content } : await sourceOf(db, payerEmail);
  const receipt = source && (await receipts.write(source, paid));
  if (!receipt) throw new Error('The series or the shop was not found: the receipt cannot be sent.');
  const { subject, text, html } = receipt;
  const written = { subject, text, html };

  if (!mailServer) return endPayerEmail(db, paid, { status: 'kept', written }, now);
  if (!isMailAddress(recipient)) {
    return endPayerEmail(db, paid, { status: 'refused', written, refusal: 'no address mail can go to' }, now);
  }
  const outgoing = { id: payerEmailIdOf(paid), at: createdAt, to: recipient, ...written };
  const answer = await mailServer.send(outgoing);
  if ('refused' in answer) {
    return endPayerEmail(db, paid, { status: 'refused', written, refusal: answer.refused }, now);
  }
  return endPayerEmail(db, paid, { status: 'sent', written }, now);
}
