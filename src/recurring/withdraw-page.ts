// Where a payer ends recurring charges himself: a link on every receipt leads to a page with one button. It works without
// script, says the same when it is opened again, and opening it alone changes nothing: mail readers open links too.
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Instant } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { isKeepable } from '../http/json-body.ts';
import type { Service } from '../service.ts';
import { findSeries } from './series.store.ts';
import type { Series } from './series.ts';

const path = '/recurring/withdraw';

export function withdrawUrlOf(publicUrl: string, seriesId: string, secret: string): string {
  return `${publicUrl}${path}/${seriesId}/${secret}`;
}

type Link = { Params: { seriesId: string; secret: string } };

export function addWithdrawPage(
  app: FastifyInstance,
  {
    db,
    recurring,
    customers,
    merchants,
  }: Pick<Service, 'recurring' | 'customers' | 'merchants'> & { db: Database },
): void {
  async function linked({ seriesId, secret }: Link['Params']): Promise<Series | undefined> {
    if (!isKeepable(seriesId) || !(await recurring.isLink(seriesId, secret))) return undefined;
    return (await findSeries(db, seriesId))?.series;
  }

  async function timeOf(series: Series): Promise<Instant> {
    const party = await merchants.party(series.partyId);
    if (!party) throw new Error(`series ${series.id} belongs to no party`);
    return merchants.timeOf(party);
  }

  app.get<Link>(`${path}/:seriesId/:secret`, async (request, reply) => {
    request.operation = 'withdrawPage';
    const series = await linked(request.params);
    if (!series) return show(reply, 404, 'No such link', 'This link does not end any recurring charges.');
    return series.state.name === 'withdrawn' ? showEnded(reply, series) : showQuestion(reply, series);
  });

  app.post<Link>(`${path}/:seriesId/:secret`, async (request, reply) => {
    request.operation = 'withdrawByPayer';
    const series = await linked(request.params);
    if (!series) return show(reply, 404, 'No such link', 'This link does not end any recurring charges.');
    const now = await timeOf(series);
    await db.transaction(async (tx) => {
      await recurring.withdraw(tx, series.id, { by: 'payer' }, now);
      await customers.consentWithdrawn(tx, series, recurring, now);
    });
    return showEnded(reply, series);
  });
}

function showQuestion(reply: FastifyReply, { card }: Series) {
  return show(
    reply,
    200,
    'End recurring charges',
    `The card ending in ${card.lastDigits} will not be charged any more without you. This takes effect at once.`,
    '<form method="post"><button>End recurring charges</button></form>',
  );
}

function showEnded(reply: FastifyReply, { card }: Series) {
  return show(
    reply,
    200,
    'Ended',
    `The card ending in ${card.lastDigits} is not charged any more without you.`,
  );
}

const policy =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

function show(reply: FastifyReply, status: number, title: string, text: string, more = '') {
  return reply
    .code(status)
    .type('text/html; charset=utf-8')
    .header('Content-Security-Policy', policy)
    .header('Referrer-Policy', 'no-referrer')
    .header('Cache-Control', 'no-store')
    .header('X-Robots-Tag', 'noindex').send(`<!doctype html>
<html lang="en">
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
