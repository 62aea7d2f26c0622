// The page of an address that does not exist, for a person in a browser.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { pageFiles } from '../platform/http/pages/pages.ts';
import { escaped } from '../receipts/domain/receipt.ts';
import { localeOf } from './domain/checkout-request.ts';
import { mark } from './domain/page-parts.ts';
import { wordsIn } from './domain/translations.ts';
import { textOf } from '../platform/http/pages/inline-page.ts';
import { sheetPage } from './sheet-page.ts';

const files = pageFiles('checkout');

export async function sendNotFoundPage(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const locale = localeOf(undefined, request.headers['accept-language']);
  const { notFoundHead, notFoundLead } = wordsIn(locale).ended;
  const { html, contentSecurityPolicy } = sheetPage({
    view: 'dead',
    locale,
    title: notFoundHead,
    style: textOf((await files()).get('checkout.css')),
    content: `${mark('stop')}<h1>${escaped(notFoundHead)}</h1><p>${escaped(notFoundLead)}</p>`,
  });
  return reply
    .headers({ 'Content-Security-Policy': contentSecurityPolicy, Vary: 'Accept, Accept-Language' })
    .type('text/html; charset=utf-8')
    .send(html);
}
