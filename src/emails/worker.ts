// Runs the job of an email to a payer: has it written, sends it, records the result. A crash in between sends it again with the same
// message ID: better twice than never.
import type { Database } from '../platform/database/database.ts';
import type { Job } from '../platform/jobs/job-table.ts';
import type { MailServer } from '../platform/mail/mail-server.ts';
import { isMailAddress } from '../platform/mail/mail-settings.ts';
import {
  messageIdOf,
  type EmailEnd,
  type EmailAbout,
  type PayerEmail,
  type WrittenEmail,
} from './domain/payer-email.ts';
import type { EmailAuthor } from './port.ts';
import { endPayerEmail, findPayerEmail } from './store/payer-emails.ts';

export type PayerEmailJobDeps = {
  readonly db: Database;
  readonly authors: Readonly<Record<EmailAbout, EmailAuthor>>;
  /** Without a mail server, emails are kept and not sent. */
  readonly mailServer: MailServer | undefined;
};

export async function runPayerEmailJob(
  { db, authors, mailServer }: PayerEmailJobDeps,
  { key: [aggregateId = '', emailId = ''], clock, row }: Job<PayerEmail>,
): Promise<void> {
  const now = clock.now();
  const email = row ?? (await findPayerEmail(db, { aggregateId, emailId }));
  if (email?.status !== 'waiting') return;
  const { write, ended } = authors[email.about];
  const { subject, text, html } = await write(email, now);
  const written = { subject, text, html };
  const end = await sendEmail(email, written, mailServer);
  if (!ended) return endPayerEmail(db, email, { ...end, written }, now);
  const follow = await db.transaction(async (tx) => {
    await endPayerEmail(tx, email, { ...end, written }, now);
    return ended(tx, email, now);
  });
  follow?.();
}

async function sendEmail(
  email: PayerEmail,
  written: WrittenEmail,
  mailServer: MailServer | undefined,
): Promise<EmailEnd> {
  const { createdAt: at, recipient: to } = email;
  if (!mailServer) return { status: 'kept' };
  if (!isMailAddress(to)) return { status: 'refused', refusal: 'no address mail can go to' };
  const outgoing = { id: messageIdOf(email), at, to, ...written };
  const answer = await mailServer.send(outgoing);
  return 'refused' in answer ? { status: 'refused', refusal: answer.refused } : { status: 'sent' };
}
