// Reads the mail server's settings from the environment. Pure.
import type { MailServerSettings } from './mail-server.ts';

type Given = {
  readonly url: string | undefined;
  readonly from: string | undefined;
  readonly timeoutMs: number;
};

const usualPorts: Readonly<Record<string, number>> = { 'smtps:': 465, 'smtp:': 587 };

/** Undefined when no mail is sent. A fault does not repeat the URL, which may hold a password. */
export function mailServerIn({
  url,
  from,
  timeoutMs,
}: Given): { readonly server: MailServerSettings } | { readonly fault: string } | undefined {
  if (url === undefined) return undefined;
  const host = mailHostIn(url);
  if (!host)
    return {
      fault:
        'SMTP_URL is not the address of a mail server. Write it as smtps://user:password@host:port or smtp://…, without a path or query.',
    };
  const sender = senderIn(from ?? '');
  if (!sender)
    return {
      fault: 'SMTP_URL needs SMTP_FROM. Set it to receipts@example.com or Example <receipts@example.com>',
    };
  return { server: { ...host, from: sender, timeoutMs } };
}

/** Undefined if the text is not the address of a mail server. */
export function mailHostIn(url: string): Omit<MailServerSettings, 'from' | 'timeoutMs'> | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const usualPort = usualPorts[parsed?.protocol ?? ''];
  if (!parsed || usualPort === undefined || parsed.hostname === '') return undefined;
  const isBare = /^\/?$/.test(parsed.pathname) && parsed.search === '' && parsed.hash === '';
  const credentials = credentialsIn(parsed);
  if (!isBare || credentials === 'unreadable') return undefined;
  const host = parsed.hostname.replace(/^\[|\]$/g, '');
  const demanded = isThisMachine(host) ? 'ifOffered' : 'demanded';
  return {
    host,
    port: parsed.port === '' ? usualPort : Number(parsed.port),
    tls: parsed.protocol === 'smtps:' ? 'fromTheStart' : demanded,
    ...(credentials ? { credentials } : {}),
  };
}

function credentialsIn({ username, password }: URL): MailServerSettings['credentials'] | 'unreadable' {
  if (username === '' && password === '') return undefined;
  try {
    return { user: decodeURIComponent(username), password: decodeURIComponent(password) };
  } catch {
    return 'unreadable';
  }
}

function senderIn(from: string): MailServerSettings['from'] | undefined {
  const [, name, named, alone] = /^(?:([^<>\r\n]*?)\s*<([^<>\s]+)>|(\S+))$/.exec(from.trim()) ?? [];
  const address = named ?? alone ?? '';
  if (!isMailAddress(address)) return undefined;
  return { ...(name ? { name } : {}), address };
}

/** One plain address: nothing in it can be read as two addresses or as anything else. */
export function isMailAddress(text: string): boolean {
  return /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?$/.test(text);
}

function isThisMachine(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1)$/.test(host);
}
