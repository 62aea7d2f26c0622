// mandate mail: whether the mail server takes receipts.
import { systemClock } from '../../clock.ts';
import { settingsHere } from '../settings.ts';
import { openMailServer } from '../../platform/mail/mail-server.ts';
import { isMailAddress } from '../../platform/mail/mail-settings.ts';

/** Needs nothing but the settings of the mail server. */
export async function testMail(address: string): Promise<void> {
  const { mailServer } = settingsHere();
  if (!mailServer) throw new Error('no mail server is set: SMTP_URL and SMTP_FROM say which');
  if (!isMailAddress(address)) throw new Error(`${address} is no address like receipts@example.com`);
  const at = systemClock.now();
  const text = 'Receipts of recurring payments reach this address.';
  const email = { id: `test.${at.replace(/\D/g, '')}`, at, to: address, subject: 'Mandate test email' };
  const answer = await openMailServer(mailServer).send({ ...email, text, html: `<p>${text}</p>` });
  if ('refused' in answer) throw new Error(`the mail server knows nobody at ${address}: ${answer.refused}`);
  console.log(`the mail server at ${mailServer.host}:${mailServer.port} has accepted an email to ${address}`);
}
