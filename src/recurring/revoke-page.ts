// The page on which a payer ends recurring charges, opened by the link on each receipt. Only its button changes something,
// because mail programs open links.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { isStorableText } from '../platform/http/request/json-body.ts';
import type { ReceiptLanguage } from '../receipts/domain/receipt.ts';
import type { ConsentFollowers, Consents } from './port.ts';
import { findSeries } from './store/series.ts';
import type { Series } from './domain/series.ts';
import type { Merchants } from '../merchants/merchants.ts';

const path = '/recurring/withdraw';

export function revokeUrlOf(publicUrl: string, seriesId: string, secret: string): string {
  return `${publicUrl}${path}/${seriesId}/${secret}`;
}

type Link = { Params: { seriesId: string; secret: string } };
type Said = { readonly title: string; readonly text: string };
type Words = {
  readonly question: (lastDigits: string) => Said & { readonly button: string };
  readonly ended: (lastDigits: string) => Said;
  readonly noLink: Said;
};

const words: Record<ReceiptLanguage, Words> = {
  en: {
    question: (lastDigits) => ({
      title: 'End recurring charges',
      text: `Your card ending in ${lastDigits} will no longer be charged without you. This takes effect immediately.`,
      button: 'End recurring charges',
    }),
    ended: (lastDigits) => ({
      title: 'Ended',
      text: `Your card ending in ${lastDigits} will no longer be charged without you. You can close this page.`,
    }),
    noLink: {
      title: 'Link not found',
      text: 'This link does not end any recurring charges. Open the whole link from your receipt.',
    },
  },
  ru: {
    question: (lastDigits) => ({
      title: 'Прекратить регулярные списания',
      text: `С вашей карты, номер которой заканчивается на ${lastDigits}, больше ничего не спишут без вашего участия. Это вступит в силу сразу.`,
      button: 'Прекратить списания',
    }),
    ended: (lastDigits) => ({
      title: 'Списания прекращены',
      text: `С вашей карты, номер которой заканчивается на ${lastDigits}, больше ничего не спишут без вашего участия. Эту страницу можно закрыть.`,
    }),
    noLink: {
      title: 'Ссылка не найдена',
      text: 'Эта ссылка не прекращает регулярные списания. Откройте ссылку из чека целиком.',
    },
  },
};

export function addWithdrawPage(
  app: FastifyInstance,
  {
    db,
    consents,
    customers,
    merchants,
    browserLanguage,
  }: {
    db: Database;
    consents: Consents;
    customers: ConsentFollowers;
    merchants: Pick<Merchants, 'party' | 'timeOf'>;
    browserLanguage: (acceptLanguage: string | undefined) => ReceiptLanguage;
  },
): void {
  async function linked({ seriesId, secret }: Link['Params']) {
    if (!isStorableText(seriesId) || !(await consents.verifyRevokeLink(seriesId, secret))) return undefined;
    return (await findSeries(db, seriesId))?.series;
  }

  async function timeOf(series: Series): Promise<Instant> {
    const party = await merchants.party(series.partyId);
    if (!party) throw new Error(`The party of series ${series.id} was not found.`);
    return merchants.timeOf(party);
  }

  const languageOf = ({ headers }: FastifyRequest) => browserLanguage(headers['accept-language']);

  function showNoLink(request: FastifyRequest, reply: FastifyReply) {
    const language = languageOf(request);
    return show(reply, 404, language, words[language].noLink);
  }

  app.get<Link>(`${path}/:seriesId/:secret`, async (request, reply) => {
    request.operation = 'withdrawPage';
    const series = await linked(request.params);
    if (!series) return showNoLink(request, reply);
    const language = languageOf(request);
    const { question, ended } = words[language];
    const { lastDigits } = series.card;
    if (series.state.name === 'withdrawn') return show(reply, 200, language, ended(lastDigits));
    const asked = question(lastDigits);
    const form = `<form method="post"><button>${asked.button}</button></form>`;
    return show(reply, 200, language, asked, form);
  });

  app.post<Link>(`${path}/:seriesId/:secret`, async (request, reply) => {
    request.operation = 'withdrawByPayer';
    const series = await linked(request.params);
    if (!series) return showNoLink(request, reply);
    const now = await timeOf(series);
    await db.transaction(async (tx) => {
      await consents.revoke(tx, series.id, { by: 'payer' }, now);
      await customers.onConsentRevoked(tx, series, consents, now);
    });
    const language = languageOf(request);
    return show(reply, 200, language, words[language].ended(series.card.lastDigits));
  });
}

const policy =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

function show(
  reply: FastifyReply,
  status: number,
  language: ReceiptLanguage,
  { title, text }: Said,
  more = '',
) {
  return reply
    .code(status)
    .type('text/html; charset=utf-8')
    .header('Content-Security-Policy', policy)
    .header('Referrer-Policy', 'no-referrer')
    .header('Cache-Control', 'no-store')
    .header('X-Robots-Tag', 'noindex').send(`<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>:root{color-scheme:light dark}body{background:Canvas;color:CanvasText;font:18px/1.5 system-ui,sans-serif;margin:20vh auto;max-width:26em;padding:0 1em;text-align:center}button{font:inherit;padding:.6em 1.2em}</style>
<main>
<h1>${title}</h1>
<p>${text}</p>
${more}
</main>
</html>
`);
}
