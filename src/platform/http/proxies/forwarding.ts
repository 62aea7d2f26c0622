// Detects a proxy that says for whom it forwards and is not believed, so that its own address stands for every payer's. Either the
// operator has not declared it, or it sends Forwarded alone.
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Logger } from '../../log.ts';
import { withoutPort } from '../request/client-address.ts';
import { proxyCheck } from './proxies.ts';

type Received = Pick<FastifyRequest, 'ip' | 'headers'> & {
  readonly raw: { readonly socket: { readonly remoteAddress?: string | undefined } };
};

export type Forwarding = {
  /** For every request, before anything reads its address. */
  observe(request: Received): void;
  /** What limits count the caller by: its address, or in live mode what an undeclared proxy of a private network says it is. */
  countedAs(request: Received): string;
  /** For operators, as long as it has lasted until recently. */
  warnings(): string[];
};

type Fault = { readonly logged: string; readonly shown: string };

const undeclared: Fault = {
  logged: 'forwarded header ignored; if this peer is your proxy, add it to TRUSTED_PROXIES',
  shown:
    'proxy: forwarded headers come from a peer that is not in TRUSTED_PROXIES; limits may count all its callers as one',
};
/** Most proxies that send X-Forwarded-For pass this header on as the caller wrote it, so it is never believed. */
const forwardedAlone: Fault = {
  logged: 'Forwarded header ignored; let this proxy send X-Forwarded-For',
  shown: 'proxy: a peer in TRUSTED_PROXIES sends Forwarded, which is ignored, and no X-Forwarded-For',
};
const faults = [undeclared, forwardedAlone];

const warnEveryMs = 60_000;
const recentlyMs = 600_000;
const forwardingHeaders = ['x-forwarded-for', 'forwarded', 'x-real-ip'] as const;
const privateNetworks = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
];

export function watchForwarding(options: {
  readonly trustedProxies: readonly string[];
  readonly livemode: boolean;
  readonly log: Pick<Logger, 'warn'>;
  readonly nowMs: () => number;
}): Forwarding {
  const isDeclared = proxyCheck(options.trustedProxies);
  const isPrivate = proxyCheck(privateNetworks);
  const warnedAtMs = new Map<Fault, number>();
  const seenAtMs = new Map<Fault, number>();

  const undeclaredPeer = ({ raw, headers }: Received): string | undefined => {
    const peer = raw.socket.remoteAddress;
    const isForwarded = forwardingHeaders.some((name) => headers[name] !== undefined);
    return isForwarded && peer !== undefined && !isDeclared(peer) ? peer : undefined;
  };

  const faultOf = (request: Received): Fault | undefined => {
    if (undeclaredPeer(request) !== undefined) return undeclared;
    const { 'x-forwarded-for': list, forwarded } = request.headers;
    return forwarded !== undefined && !list ? forwardedAlone : undefined;
  };

  return {
    observe(request) {
      const peer = request.raw.socket.remoteAddress ?? '';
      if (isDeclared(peer)) readRealIp(request.headers);
      const fault = faultOf(request);
      if (fault === undefined) return;
      const now = options.nowMs();
      seenAtMs.set(fault, now);
      if (now - (warnedAtMs.get(fault) ?? -Infinity) < warnEveryMs) return;
      warnedAtMs.set(fault, now);
      options.log.warn({ peer }, fault.logged);
    },
    countedAs(request) {
      const peer = options.livemode ? undeclaredPeer(request) : undefined;
      // A payer on the internet can write the header too, but does not come from a private network.
      if (peer === undefined || !isPrivate(peer)) return request.ip;
      return lastForwarded(request.headers) ?? request.ip;
    },
    warnings() {
      const since = options.nowMs() - recentlyMs;
      return faults.filter((fault) => (seenAtMs.get(fault) ?? -Infinity) > since).map(({ shown }) => shown);
    },
  };
}

/** Some proxies name the payer in X-Real-IP alone. The list that each proxy extends goes before it. */
function readRealIp(headers: Received['headers']): void {
  const realIp = headers['x-real-ip'];
  if (realIp !== undefined && !headers['x-forwarded-for']) headers['x-forwarded-for'] = String(realIp);
}

/**
 * For whom the peer itself forwards: a client can make up what stands further left. What is no address is not taken, as it could be
 * another with each request, or a card number.
 */
function lastForwarded(headers: Received['headers']): string | undefined {
  const lastOf = (name: string) =>
    String(headers[name] ?? '')
      .split(',')
      .at(-1)
      ?.trim() ?? '';
  const forwardedFor = /(?:^|;)\s*for="?([^;"]+)/i.exec(lastOf('forwarded'))?.[1] ?? '';
  const named = lastOf('x-forwarded-for') || forwardedFor || lastOf('x-real-ip');
  const address = withoutPort(named).replace(/%.*$/, '');
  return isIP(address) === 0 ? undefined : address;
}
