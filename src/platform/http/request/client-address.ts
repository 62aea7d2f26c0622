// Where a request comes from. Behind trusted proxies that is the right-most entry of X-Forwarded-For that is none of them:
// what stands further left a client may have made up. Where no proxy is trusted the header means nothing.
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';

/** Undefined when a trusted proxy sent a header with an entry that is no address. */
export function clientAddress(request: Pick<FastifyRequest, 'ip' | 'ips' | 'headers'>): string | undefined {
  // The framework lists more than the connection's own address only where it believes the header.
  const isForwarded = (request.ips?.length ?? 0) > 1;
  if (isForwarded && !forwardedEntries(request).every((entry) => isIP(entry) !== 0)) return undefined;
  return plain(request.ip);
}

function forwardedEntries({ headers }: Pick<FastifyRequest, 'headers'>): string[] {
  return String(headers['x-forwarded-for'])
    .split(',')
    .map((entry) => entry.trim());
}

/** An IPv4 address that came in over an IPv6 socket as itself, and an IPv6 address without the name of an interface. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
}

/**
 * By what limits tell callers apart: an IPv4 address in whatever form it came, and of IPv6 the first half, for the second is the
 * subscriber's own to choose from.
 */
export function networkOf(address: string): string {
  const bare = plain(address);
  if (isIP(bare) !== 6) return bare;
  // As it is usually written: in lower case, without leading zeros, in groups alone.
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
