// What live mode refuses, and what its log warns of, because real money and card numbers depend on it. Each says what to do.
import { isLoopback } from '../../platform/http/loopback.ts';
import { isUtf8 } from 'node:buffer';
import { BlockList, isIP } from 'node:net';

type Given = {
  readonly masterKey: Buffer | undefined;
  readonly databaseUrl: string | undefined;
  /** PGHOST: where the driver connects if the URL names no host. */
  readonly usualHost: string | undefined;
  /** The operator knows that the connection is not verified. */
  readonly takesUnverifiedDatabase: boolean;
  readonly rejectUnauthorized: string | undefined;
  readonly trustedProxies: readonly string[];
};

export function liveModeFaults(given: Given): string[] {
  const { masterKey, databaseUrl, usualHost, takesUnverifiedDatabase, rejectUnauthorized, trustedProxies } =
    given;
  const faults: string[] = [];
  if (masterKey && isGuessable(masterKey))
    faults.push(
      'MANDATE_MASTER_KEY is not random: its bytes repeat or count. Create one with `openssl rand -base64 32`.',
    );
  if (rejectUnauthorized === '0')
    faults.push(
      'NODE_TLS_REJECT_UNAUTHORIZED is 0, which switches the check of certificates off. Remove it, and name your own certificate authority in NODE_EXTRA_CA_CERTS.',
    );
  if (isUnverified(databaseUrl, usualHost) && !takesUnverifiedDatabase)
    faults.push(
      'DATABASE_URL is on another machine without verified TLS. End it with `?sslmode=verify-full&sslrootcert=<file>`, or set DATABASE_UNVERIFIED=on if the network between is yours.',
    );
  for (const network of trustedProxies.filter(isOfStrangers))
    faults.push(
      `TRUSTED_PROXIES has "${network}", which callers are in as well, so each could choose its address. Name the networks of your proxies alone.`,
    );
  return faults;
}

type Taken = Pick<Given, 'masterKey' | 'databaseUrl' | 'usualHost'> & {
  readonly cardTestingLimits: boolean;
  readonly publicUrl: string;
};

/** What live mode takes all the same: an operator may have a reason, or runs with it already. */
export function liveModeWarnings({
  masterKey,
  databaseUrl,
  usualHost,
  cardTestingLimits,
  publicUrl,
}: Taken): string[] {
  const { protocol, hostname } = new URL(publicUrl);
  return [
    ...(isUnverified(databaseUrl, usualHost)
      ? ['the connection to the database is not verified; DATABASE_UNVERIFIED allows it']
      : []),
    ...(masterKey && isText(masterKey)
      ? ['MANDATE_MASTER_KEY is text that may be guessed; see "mandate keys change-master-key --help"']
      : []),
    ...(cardTestingLimits ? [] : ['CARD_TESTING_LIMITS is off; stolen cards can be tried without a limit']),
    ...(protocol === 'http:' && !isLoopback(hostname)
      ? ['PUBLIC_URL is not https; card numbers cross the network unencrypted']
      : []),
  ];
}

/** The largest private networks are 10.0.0.0/8, which may be written as one of IPv6, and fc00::/7. A provider of IPv6 has a /32. */
function isOfStrangers(network: string): boolean {
  const [address = '', text] = network.split('/');
  if (text === undefined) return false;
  const bits = Number(text);
  if (isIP(address) === 4) return bits < 8;
  if (/^[0:]*:ffff:/i.test(address)) return bits < 96 + 8;
  if (/^f[cd]/i.test(address)) return bits < 7;
  const list = new BlockList();
  list.addSubnet(address, bits, 'ipv6');
  return bits < 32 || list.check('::ffff:0:0', 'ipv6');
}

/** Whether the connection leaves this machine without a check of who answers. */
export function isUnverified(databaseUrl: string | undefined, usualHost = ''): boolean {
  if (databaseUrl === undefined) return false;
  // A user without a host is no URL to Node, and is one to the driver.
  const withoutUser = databaseUrl.replace(/\/\/[^/]*@(?=\/)/, '//');
  const [text] = [databaseUrl, withoutUser].filter((each) => URL.canParse(each));
  if (text === undefined) return false;
  const { hostname, searchParams } = new URL(text);
  // Of what is given twice the driver takes the last.
  const given: Record<string, string> = Object.fromEntries(searchParams);
  const host = decodeURIComponent(given['host'] || hostname || usualHost).replace(/^\[|\]$/g, '');
  const isHere =
    host === '' || host === 'localhost' || host.startsWith('/') || host === '::1' || /^127\./.test(host);
  if (isHere && (isIP(host) !== 0 || !host.includes('.'))) return false;
  return given['sslmode'] !== 'verify-full';
}

/** Zeros, a short part repeated, or bytes that count up or down. Random keys are never like that. */
function isGuessable(key: Buffer): boolean {
  const repeats = Array.from({ length: key.length / 2 }, (_, place) => place + 1).some((period) =>
    key.every((byte, index) => index < period || byte === key[index - period]),
  );
  const step = ((key[1] ?? 0) - (key[0] ?? 0) + 256) % 256;
  const counts = key.every((byte, index) => index === 0 || byte === ((key[index - 1] ?? 0) + step) % 256);
  return repeats || counts || new Set(key).size < 10;
}

/** Words have less to guess than random bytes, also where they are typed as base64. Of random keys one in 100,000 is so. */
function isText(key: Buffer): boolean {
  const small = key.toString('base64').match(/[a-z]/g) ?? [];
  return isUtf8(key) || small.length >= 32;
}
