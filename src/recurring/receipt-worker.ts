// Runs the job of a payer email: renders the receipt, sends it, records the result. A crash in between sends it again with
// the same message ID: better twice than never.
import type { Database } from '../platform/database/database.ts';
import type { Job } from '../platform/jobs/job-table.ts';
import type { MailServer } from '../platform/mail/mail-server.ts';
import { isMailAddress } from '../platform/mail/mail-settings.ts';
import type { PreloadedEmail } from '../recurring/store/charge-fragments.ts';
import { payerEmailIdOf } from '../receipts/domain/payer-email.ts';
import { endPayerEmail, findPayerEmail } from '../receipts/store/payer-emails.ts';
import type { Recurring } from '../recurring/port.ts';

export type PayerEmailJobDeps = {
  readonly db: Database;
  readonly recurring: Pick<Recurring, 'receipt'>;
  /** Without a mail server, emails are kept and not sent. */
  readonly mailServer: MailServer | undefined;
};

export async function runPayerEmailJob(
  { db, recurring, mailServer }: PayerEmailJobDeps,
  { key: [invoiceId = '', paymentId = ''], clock, row }: Job<PreloadedEmail>,
): Promise<void> {
  const now = clock.now();
  const payerEmail = row ?? (await findPayerEmail(db, { invoiceId, paymentId }));
  if (payerEmail?.status !== 'waiting') return;
  const { paid, seriesId, recipient, createdAt } = payerEmail;
  const receipt = await recurring.receipt(db, row?.series ?? seriesId, paid);
  if (!receipt) throw new Error(`Series ${seriesId} not found: its receipt cannot be sent.`);
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
