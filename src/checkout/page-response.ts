// How the pages for payers are sent: each in one response, under a policy that lets nothing run but its own script.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { policyHash } from '../platform/http/pages/csp-hash.ts';
import type { SmallPage } from './challenge-pages.ts';

export function policyOf(
  { script, style }: { script: string; style: string },
  origins: readonly string[],
  mode: 'sandbox' | 'live',
): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `script-src ${policyHash(script)}`,
    `style-src ${policyHash(style)}`,
    "connect-src 'self'",
    'img-src data:',
    // The bank's page is framed, and the bank depends on the card.
    mode === 'sandbox' ? "frame-src 'self' https: http:" : "frame-src 'self' https:",
    "form-action 'none'",
    "base-uri 'none'",
    `frame-ancestors ${origins.length === 0 ? "'none'" : origins.join(' ')}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  return {
    'Content-Security-Policy': policy.join('; '),
    ...(origins.length === 0 ? { 'X-Frame-Options': 'DENY' } : {}),
    'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), usb=()',
  };
}

/**
 * Only a site on the shop's list keeps a handle on the window it opened: no other can steer or watch it. The browser names the site in
 * Referer; the address of the page could name any.
 */
export function openerPolicy(isListed: boolean): Record<string, string> {
  return { 'Cross-Origin-Opener-Policy': isListed ? 'unsafe-none' : 'same-origin-allow-popups' };
}

export function sendSmall(
  { html, contentSecurityPolicy }: SmallPage,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  request.operation = 'checkoutChallenge';
  return reply
    .header('Content-Security-Policy', contentSecurityPolicy)
    .type('text/html; charset=utf-8')
    .send(html);
}
