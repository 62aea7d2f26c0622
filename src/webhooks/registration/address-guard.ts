// Where a merchant may have us send something. In live mode that is nowhere inside: no loopback, no private network, no
// link-local address with a cloud's secrets behind it. What is checked is the address that is connected to, at the moment
// of connecting: a name is resolved once, every answer is checked, and one of the checked ones is used.
import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { BlockList, isIP } from 'node:net';

/** Whether addresses inside may be reached: in a sandbox, where the receiver runs beside it. */
export type AddressRule = 'anywhere' | 'outside';

export type DnsLookup = (
  hostname: string,
  done: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void;

export const systemDnsLookup: DnsLookup = (hostname, done) =>
  systemLookup(hostname, { all: true, verbatim: true }, (error, addresses) => done(error, addresses ?? []));

/** Everything that is not a global unicast address, by the registries of special addresses, and what clouds keep for themselves. */
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
/** Global unicast of version 6 is this, less what is taken out of it below. */
const globalSix = new BlockList();
globalSix.addSubnet('2000::', 3, 'ipv6');
for (const network of ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20']) {
  const [address = '', bits] = network.split('/');
  inside.addSubnet(address, Number(bits), 'ipv6');
}

export function isOutside(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !inside.check(address, 'ipv4');
  // An address of version 4 in the clothes of version 6 is in none of the ranges of the outside.
  return version === 6 && globalSix.check(address, 'ipv6') && !inside.check(address, 'ipv6');
}

/** Names that never lead outside, whatever a resolver says. */
const namesInside =
  /(^|\.)(localhost|local|localdomain|internal|intranet|home|lan|corp|arpa|test|invalid|onion)$/;
const maxUrlCharacters = 1_000;
const portsBelow1024 = ['443'];

/** The complaint about an address a merchant wants to be told at; undefined when it will do. */
export function urlProblem(text: string, rule: AddressRule): string | undefined {
  if (text.length > maxUrlCharacters) return `at most ${maxUrlCharacters} characters`;
  // The parser would drop these in silence, and another parser might not.
  if (/[\s\\\p{Cc}]/u.test(text)) return 'no spaces, backslashes or control characters';
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return 'must be an absolute http or https address';
  }
  if (!/^https?:\/\/[^/]/i.test(text)) return 'must be an absolute http or https address';
  if (url.username !== '' || url.password !== '' || /^https?:\/\/[^/?#]*@/i.test(text)) {
    return 'no user name and no password';
  }
  if (url.hash !== '' || text.includes('#')) return 'no fragment';
  if (rule === 'anywhere') return undefined;
  if (url.protocol !== 'https:') return 'must be https';
  if (url.port !== '' && Number(url.port) < 1024 && !portsBelow1024.includes(url.port)) {
    return 'the port must be 443, or 1024 and above';
  }
  const host = hostOf(url.hostname);
  if (isIP(host) !== 0) return 'a name is needed, not an address';
  if (namesInside.test(host) || !host.includes('.')) return 'the name must be a public one';
  return undefined;
}

/** Without the brackets of version 6 and without the dot of the root, however often it is written. */
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

/** For a connection: resolves a name, and fails unless each of its addresses is outside. */
export function guardedLookup(rule: AddressRule, resolve: DnsLookup) {
  return (hostname: string, options: { all?: boolean }, done: LookupDone): void => {
    resolve(hostname, (error, addresses) => {
      if (error) return done(error);
      const [first] = addresses;
      if (!first) return done(new AddressRefused('the name has no address'));
      // One that leads inside is enough: the next connection might take it.
      if (rule === 'outside' && !addresses.every(({ address }) => isOutside(address))) {
        return done(new AddressRefused('the name leads inside'));
      }
      if (options.all) done(null, [...addresses]);
      else done(null, first.address, first.family);
    });
  };
}

/** Literal addresses are never looked up: they are checked here. */
export function mayConnectTo(hostname: string, rule: AddressRule): boolean {
  const host = hostOf(hostname);
  return rule === 'anywhere' || isIP(host) === 0 || isOutside(host);
}
