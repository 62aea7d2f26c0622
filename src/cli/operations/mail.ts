// mandate mail: check that the mail server accepts receipts.
import { systemClock } from '../../clock.ts';
import { settingsHere } from '../settings.ts';
import { openMailServer } from '../../platform/mail/mail-server.ts';
import { isMailAddress } from '../../platform/mail/mail-settings.ts';

export async function testMail(address: string): Promise<void> {
  const { mailServer } = settingsHere();
  if (!mailServer) throw new Error('No mail server is configured. Set SMTP_URL and SMTP_FROM.');
  if (!isMailAddress(address))
    throw new Error(`"${address}" is not an email address. Write it as receipts@example.com.`);
  const at = systemClock.now();
  const text = 'Receipts of recurring payments reach this address.';
  const email = { id: `test.${at.replace(/\D/g, '')}`, at, to: address, subject: 'Mandate test email' };
  const answer = await openMailServer(mailServer).send({ ...email, text, html: `<p>${text}</p>` });
  if ('refused' in answer)
    throw new Error(`The mail server rejected ${address}: ${answer.refused}. Check the address.`);
  console.log(`The mail server at ${mailServer.host}:${mailServer.port} accepted an email to ${address}.`);
}
