// How the pages for payers are sent: each in one response, under a policy that lets nothing run but its own script.
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SmallPage } from './challenge-pages.ts';
import { policyHash } from './csp-hash.ts';

const zip = promisify(gzip);

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

export async function sendPage(
  html: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  reply.header('Vary', 'Accept-Encoding, Accept-Language').type('text/html; charset=utf-8');
  if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(html);
  return reply.header('Content-Encoding', 'gzip').send(await zip(html));
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

export function textOf(file: { readonly content: Buffer } | undefined): string {
  if (!file) throw new Error('a file of the checkout is missing from the build');
  // The hash covers the text between the tags, without a line break at its end.
  return file.content.toString().trimEnd();
}
