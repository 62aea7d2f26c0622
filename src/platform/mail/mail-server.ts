// The way of a letter out of the house: SMTP, spoken by nodemailer, which is loaded with the first letter. Of a letter it says
// that the server has taken it, or that nobody at its address takes letters. All else is a fault, whose text has neither
// the address nor what the server wrote: servers repeat addresses.
import type { Instant } from '../../clock.ts';

/** Where letters are handed in, as `SMTP_URL` says. */
export type MailServerSettings = {
  readonly host: string;
  readonly port: number;
  /** From the first byte; or before anything is said (STARTTLS), demanded or, on the same machine, only taken if offered. */
  readonly tls: 'fromTheStart' | 'demanded' | 'ifOffered';
  readonly credentials?: { readonly user: string; readonly password: string };
  readonly from: { readonly name?: string; readonly address: string };
  /** For the whole of a letter, from connecting to the server's last word. */
  readonly timeoutMs: number;
};

export type OutgoingEmail = {
  /** The same whenever it is tried: a mail program shows what comes twice once. */
  readonly id: string;
  readonly at: Instant;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
};

export type MailServer = {
  send(letter: OutgoingEmail): Promise<{ readonly taken: true } | { readonly refused: string }>;
};

export type OpenMailServer = (settings: MailServerSettings) => MailServer;

/** Nobody knows whether the server has the letter, or it has not: it is sent again. */
class EmailNotAccepted extends Error {
  override readonly name = 'EmailNotAccepted';
}

export function openMailServer(settings: MailServerSettings): MailServer {
  const { host, port, tls, credentials, from, timeoutMs } = settings;
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);

  /** One connection for each letter: there are few, and one that failed holds up no other. */
  async function transport() {
    const { createTransport } = await import('nodemailer');
    return createTransport({
      host,
      port,
      secure: tls === 'fromTheStart',
      requireTLS: tls === 'demanded',
      tls: { minVersion: 'TLSv1.2' },
      ...(credentials ? { auth: { user: credentials.user, pass: credentials.password } } : {}),
      name: domain,
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      dnsTimeout: timeoutMs,
      socketCloseTimeout: 0,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }

  return {
    async send({ id, at, to, subject, text, html }) {
      const letter = {
        messageId: `<${id}@${domain}>`,
        date: new Date(at),
        from: { name: from.name ?? '', address: from.address },
        to: { name: '', address: to },
        // Said here too, so that nothing in an address can name a second recipient.
        envelope: { from: from.address, to: [to] },
        // No robot answers it.
        headers: { 'Auto-Submitted': 'auto-generated' },
        subject,
        text,
        html,
        signal: AbortSignal.timeout(timeoutMs),
      };
      try {
        await (await transport()).sendMail(letter);
        return { taken: true };
      } catch (error) {
        const failure = error as SmtpFailure;
        const said = saidOf(failure);
        if (isRefusalOfAddress(failure)) return { refused: said };
        throw new EmailNotAccepted(`the mail server did not take the letter: ${said}`);
      }
    },
  };
}

/** What nodemailer tells of a failure: which step, and what the server answered. */
type SmtpFailure = {
  readonly code?: string;
  readonly command?: string;
  readonly responseCode?: number;
  readonly response?: string;
};

/** Codes alone. */
function saidOf({ code = 'unknown', responseCode, command }: SmtpFailure): string {
  return `${code} ${responseCode ?? ''} ${command ?? ''}`.trim();
}

/** For good, and for the sake of the payer's address; not, as 5.7 says, because it is us who may not send there. */
function isRefusalOfAddress({ command, responseCode = 0, response = '' }: SmtpFailure): boolean {
  return command === 'RCPT TO' && responseCode >= 500 && !/^\d{3}[ -]5\.7\./.test(response);
}
