// Sends emails over SMTP with nodemailer: the server accepts an email, or its address accepts none. Any other failure is an error without
// the address or the server's text, which may repeat it.
import type { Instant } from '../../clock.ts';

/** The mail server of `SMTP_URL`. */
export type MailServerSettings = {
  readonly host: string;
  readonly port: number;
  /** From the first byte, or with STARTTLS: demanded, or on the same machine only used if offered. */
  readonly tls: 'fromTheStart' | 'demanded' | 'ifOffered';
  readonly credentials?: { readonly user: string; readonly password: string };
  readonly from: { readonly name?: string; readonly address: string };
  /** For a whole email, from connecting to the server's last response. */
  readonly timeoutMs: number;
};

export type OutgoingEmail = {
  /** The same on every try, so that a mail program shows a duplicate once. */
  readonly id: string;
  readonly at: Instant;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
};

export type MailServer = {
  send(email: OutgoingEmail): Promise<{ readonly taken: true } | { readonly refused: string }>;
};

export type OpenMailServer = (settings: MailServerSettings) => MailServer;

/** It is unknown whether the server has the email, or it has not: the email is sent again. */
class EmailNotAccepted extends Error {
  override readonly name = 'EmailNotAccepted';
}

export function openMailServer(settings: MailServerSettings): MailServer {
  const { from, timeoutMs } = settings;
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);

  return {
    async send({ id, at, to, subject, text, html }) {
      const message = {
        messageId: `<${id}@${domain}>`,
        date: new Date(at),
        from: { name: from.name ?? '', address: from.address },
        to: { name: '', address: to },
        // Repeated here, so that nothing in an address can name a second recipient.
        envelope: { from: from.address, to: [to] },
        // Tells mail robots not to reply.
        headers: { 'Auto-Submitted': 'auto-generated' },
        subject,
        text,
        html,
        signal: AbortSignal.timeout(timeoutMs),
      };
      try {
        await (await transportTo(settings, domain)).sendMail(message);
        return { taken: true };
      } catch (error) {
        const failure = error as SmtpFailure;
        const said = saidOf(failure);
        if (isRefusalOfAddress(failure)) return { refused: said };
        throw new EmailNotAccepted(`The mail server did not accept the email: ${said}`);
      }
    },
  };
}

/** One connection per email: there are few, and one that fails holds up no other. */
async function transportTo({ host, port, tls, credentials, timeoutMs }: MailServerSettings, domain: string) {
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

/** How nodemailer describes a failure: the step, and the server's response. */
type SmtpFailure = {
  readonly code?: string;
  readonly command?: string;
  readonly responseCode?: number;
  readonly response?: string;
};

/** Codes only, because the server's text may repeat the address. */
function saidOf({ code = 'unknown', responseCode, command }: SmtpFailure): string {
  return `${code} ${responseCode ?? ''} ${command ?? ''}`.trim();
}

/** Permanent, and because of the payer's address. A 5.7 code means instead that this service may not send there. */
function isRefusalOfAddress({ command, responseCode = 0, response = '' }: SmtpFailure): boolean {
  return command === 'RCPT TO' && responseCode >= 500 && !/^\d{3}[ -]5\.7\./.test(response);
}
