// Protects internal networks from webhook URLs: live mode never connects to a loopback, private or link-local address.
// The check is at connect time: a name is resolved once, all its addresses are checked, and one of them is used.
import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { BlockList, isIP } from 'node:net';

/** `anywhere` is for a sandbox, whose receivers run on internal addresses. */
export type AddressRule = 'anywhere' | 'outside';

export type DnsLookup = (
  hostname: string,
  done: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void;

export const systemDnsLookup: DnsLookup = (hostname, done) =>
  systemLookup(hostname, { all: true, verbatim: true }, (error, addresses) => done(error, addresses ?? []));

/** The special-purpose address ranges of the IANA registries, and addresses that clouds use internally. */
const inside = new BlockList();
for (const network of [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]) {
  const [address = '', bits] = network.split('/');
  inside.addSubnet(address, Number(bits), 'ipv4');
}
/** IPv6 global unicast, without the ranges excluded below. */
const globalSix = new BlockList();
globalSix.addSubnet('2000::', 3, 'ipv6');
for (const network of ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20']) {
  const [address = '', bits] = network.split('/');
  inside.addSubnet(address, Number(bits), 'ipv6');
}

export function isOutside(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !inside.check(address, 'ipv4');
  // An IPv4 address mapped into IPv6 is outside the global unicast range, so it is rejected too.
  return version === 6 && globalSix.check(address, 'ipv6') && !inside.check(address, 'ipv6');
}

/** Names that are never public, whatever a resolver returns. */
const namesInside =
  /(^|\.)(localhost|local|localdomain|internal|intranet|home|lan|corp|arpa|test|invalid|onion)$/;
const maxUrlCharacters = 1_000;
const portsBelow1024 = ['443'];

/** Says what is wrong with the URL of a webhook; undefined when it is acceptable. */
export function urlProblem(text: string, rule: AddressRule): string | undefined {
  if (text.length > maxUrlCharacters) return `must have at most ${maxUrlCharacters} characters`;
  if (!/^https?:/i.test(text)) return 'must be an absolute http or https URL';
  // The URL parser silently drops these, and another parser might not.
  if (/[\s\\\p{Cc}]/u.test(text)) return 'must not contain spaces, backslashes or control characters';
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return 'must be an absolute http or https URL';
  }
  if (!/^https?:\/\/[^/]/i.test(text)) return 'must be an absolute http or https URL';
  if (url.username !== '' || url.password !== '' || /^https?:\/\/[^/?#]*@/i.test(text)) {
    return 'must not contain a user name or password';
  }
  if (url.hash !== '' || text.includes('#')) return 'must not contain a fragment';
  if (rule === 'anywhere') return undefined;
  if (url.protocol !== 'https:') return 'must use https';
  if (url.port !== '' && Number(url.port) < 1024 && !portsBelow1024.includes(url.port)) {
    return 'must use port 443, or a port from 1024 up';
  }
  const host = hostOf(url.hostname);
  if (isIP(host) !== 0) return 'must have a host name, not an IP address';
  if (namesInside.test(host) || !host.includes('.')) return 'must have a public host name';
  return undefined;
}

/** Removes the brackets of IPv6 and all trailing dots. */
function hostOf(hostname: string): string {
  return hostname
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.+$/, '')
    .toLowerCase();
}

export class AddressRefused extends Error {
  readonly code = 'ADDRESS_REFUSED';
}

type LookupDone = (error: Error | null, address?: string | LookupAddress[], family?: number) => void;

/** The DNS lookup of a connection; fails unless all addresses of the name are public. */
export function guardedLookup(rule: AddressRule, resolve: DnsLookup) {
  return (hostname: string, options: { all?: boolean }, done: LookupDone): void => {
    resolve(hostname, (error, addresses) => {
      if (error) return done(error);
      const [first] = addresses;
      if (!first) return done(new AddressRefused('the name has no address'));
      // One internal address is enough to refuse: the next connection might use it.
      if (rule === 'outside' && !addresses.every(({ address }) => isOutside(address))) {
        return done(new AddressRefused('the name has an address that is not public'));
      }
      if (options.all) done(null, [...addresses]);
      else done(null, first.address, first.family);
    });
  };
}

/** Checks literal IP addresses, for which there is no DNS lookup. */
export function mayConnectTo(hostname: string, rule: AddressRule): boolean {
  const host = hostOf(hostname);
  return rule === 'anywhere' || isIP(host) === 0 || isOutside(host);
}
