// The client's address, which behind trusted proxies is the right-most entry of X-Forwarded-For that is not one of them. A client can
// make up what stands further left, and without trusted proxies the whole header.
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';

/** Undefined when a trusted proxy sent a header with an entry that is not an IP address. */
export function clientAddress(request: Pick<FastifyRequest, 'ip' | 'ips' | 'headers'>): string | undefined {
  // The framework lists more than the connection's own address only if it trusts the header.
  const isForwarded = (request.ips?.length ?? 0) > 1;
  if (isForwarded && !forwardedEntries(request).every((entry) => isIP(entry) !== 0)) return undefined;
  return plain(request.ip);
}

function forwardedEntries({ headers }: Pick<FastifyRequest, 'headers'>): string[] {
  return String(headers['x-forwarded-for'])
    .split(',')
    .map((entry) => entry.trim());
}

/** Some proxies write the port behind an address, and brackets around one of IPv6. */
export function withoutPort(address: string): string {
  return address.replace(/^\[([^\]]*)\].*$|^([^:]+):\d+$/, '$1$2');
}

/** Writes an IPv4 address that came over an IPv6 socket as IPv4, and an IPv6 address without its interface. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
}

/**
 * What limits count callers by: an IPv4 address in any form, or the first half of an IPv6 address. A subscriber can choose the second
 * half, and the port.
 */
export function networkOf(address: string): string {
  const bare = plain(withoutPort(address));
  if (isIP(bare) !== 6) return bare;
  // The usual form: lower case, no leading zeros, groups only.
  const written = new URL(`http://[${bare}]`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(written) ?? [];
  if (high !== undefined && low !== undefined) return [...bytesOf(high), ...bytesOf(low)].join('.');
  const [before = [], after = []] = written.split('::').map((groups) => groups.split(':').filter(Boolean));
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return [...before, ...zeros, ...after].slice(0, 4).join(':');
}

function bytesOf(group: string): [number, number] {
  const number = Number.parseInt(group, 16);
  return [number >> 8, number & 0xff];
}
