// Routes of the issuer's pages: the challenge, the payer's decision, and the way back to the merchant.
// Everything the browser sends is checked against the bank's state.
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { BookedOperation, Waiting } from './state/state.ts';
import { challengePage, closingPage, oneTimePassword, returnPage, type Page } from './issuer-pages.ts';
import { returnField, returnValueOf } from './operation-processor.ts';
import type { Ending, Interaction, OperationProcessor } from './operation-processor.ts';

const maxTries = 3;
const ticketPattern = /^[0-9a-f-]{36}$/;

/** What the browser sends: the ticket of the challenge, and the fields to return. */
type Visit = { readonly ticket: string; readonly returnTo?: string; readonly echoed?: string };

/** The request that opens the page, in the 3-D Secure dialect of the card. */
export function interactionOf(publicUrl: string, challenged: Challenged): Interaction {
  const { challenge, ticket, returnUrl, largeForm } = challenged;
  const url = `${publicUrl}/issuer/challenge`;
  if (challenge.method === 'GET') return { method: 'GET', url: `${url}?ticket=${ticket}` };
  const form =
    challenge.dialect === '3-D Secure 1'
      ? { PaReq: encode({ ticket }), MD: ticket, TermUrl: returnUrl ?? '' }
      : { creq: encode({ ...challengeRequest, acsTransID: ticket }), threeDSSessionData: encode({ ticket }) };
  const fields = Object.entries(form).map(([name, value]) => ({ name, value }));
  if (!largeForm) return { method: 'POST', url, form: fields };
  const filler = Array.from({ length: 25 - fields.length }, (_none, place) => ({
    name: `filler${place}`,
    value: 'x'.repeat(1_000),
  }));
  return { method: 'POST', url: `${url}?filler=${'x'.repeat(4_000)}`, form: [...fields, ...filler] };
}

type Challenged = Waiting & { for: 'payer' };

const challengeRequest = { messageType: 'CReq', messageVersion: '2.2.0', challengeWindowSize: '05' };

export function addIssuerPages(app: FastifyInstance, processor: () => OperationProcessor): void {
  // Kept in memory: a restart gives new tries, which is harmless in a sandbox.
  const wrongCodes = new Map<string, number>();

  app.get('/issuer/challenge', (request, reply) => {
    const { ticket = '', termination_uri } = request.query as Record<string, string | undefined>;
    return visit({ ticket, ...(termination_uri ? { returnTo: termination_uri } : {}) }, reply);
  });

  app.post('/issuer/challenge', (request, reply) => {
    const fields = fieldsOf(request.body);
    return visit(visitOf(fields), reply);
  });

  app.post('/issuer/decision', async (request, reply) => {
    const fields = fieldsOf(request.body);
    const given = {
      ticket: fields['ticket'] ?? '',
      returnTo: fields['returnTo'] ?? '',
      echoed: fields['echoed'] ?? '',
    };
    const ending = endingOf(fields['decision']);
    if (!ticketPattern.test(given.ticket) || !ending) return visit(given, reply);
    if (ending === 'confirm' && fields['otp']?.trim() !== oneTimePassword) {
      const wrong = (wrongCodes.get(given.ticket) ?? 0) + 1;
      wrongCodes.set(given.ticket, wrong);
      if (wrong >= maxTries) await processor().endChallenge(given.ticket, 'refuse');
    } else {
      await processor().endChallenge(given.ticket, ending);
    }
    return visit(given, reply);
  });

  /** Shows the challenge while it is open, and sends the browser back after that. */
  async function visit(given: Visit, reply: FastifyReply): Promise<FastifyReply> {
    const booked = ticketPattern.test(given.ticket) ? await processor().challenge(given.ticket) : undefined;
    const challenge = booked?.challenge;
    if (!booked || !challenge) {
      const text = 'This confirmation was not found. Go back to the merchant and try again.';
      return sendPage(reply.code(404), closingPage('Nothing to confirm', text));
    }
    if (!booked.waiting || booked.isConfirmed) {
      wrongCodes.delete(given.ticket);
      return leave(challenge, given, reply);
    }
    const { ticket, returnTo = '', echoed = '' } = given;
    return sendPage(
      reply,
      challengePage({
        // Relative, because a proxy may serve the bank under any path.
        action: 'decision',
        merchant: booked.operation.descriptor,
        amount: printedAmount(booked),
        cardMask: booked.operation.card?.mask ?? '',
        hidden: { ticket, returnTo, echoed },
        triesLeft: maxTries - (wrongCodes.get(ticket) ?? 0),
        returnUrl: challenge.returnUrl,
      }),
    );
  }
}

function leave(challenge: Challenged, { returnTo, echoed = '' }: Visit, reply: FastifyReply): FastifyReply {
  const { returnUrl } = challenge;
  if (returnUrl === undefined) {
    return sendPage(reply, closingPage('Thank you', 'You can close this window now.'));
  }
  if (challenge.needsReturn)
    return reply.redirect(withQuery(returnUrl, returnField, returnValueOf(challenge.ticket)), 303);
  if (challenge.challenge.method === 'GET') {
    return reply.redirect(returnTo ? withQuery(returnUrl, 'termination_uri', returnTo) : returnUrl, 303);
  }
  if (challenge.challenge.dialect === '3-D Secure 1') {
    // The page that showed the form may have added a query to the merchant's address, nothing else.
    const target = returnTo && isExtensionOf(returnTo, returnUrl) ? returnTo : returnUrl;
    return sendPage(reply, returnPage(target, { PaRes: encode({ ticket: challenge.ticket }), MD: echoed }));
  }
  const cres = encode({ acsTransID: challenge.ticket, messageType: 'CRes', messageVersion: '2.2.0' });
  return sendPage(reply, returnPage(returnUrl, { cres, threeDSSessionData: echoed }));
}

function isExtensionOf(address: string, original: string): boolean {
  return address === original || address.startsWith(original + (original.includes('?') ? '&' : '?'));
}

function withQuery(address: string, name: string, value: string): string {
  const url = new URL(address);
  url.searchParams.set(name, value);
  return url.href;
}

function visitOf(fields: Readonly<Record<string, string>>): Visit {
  const { PaReq, MD = '', TermUrl = '', creq, threeDSSessionData = '' } = fields;
  return creq === undefined
    ? { ticket: decode(PaReq)?.['ticket'] ?? '', returnTo: TermUrl, echoed: MD }
    : { ticket: decode(creq)?.['acsTransID'] ?? '', echoed: threeDSSessionData };
}

function endingOf(text: string | undefined): Ending | undefined {
  return (['confirm', 'refuse', 'cancel'] as const).find((known) => known === text);
}

function sendPage(reply: FastifyReply, { html, headers }: Page): FastifyReply {
  return reply.headers(headers).send(html);
}

function printedAmount({ operation }: BookedOperation): string {
  const { amount = 0, currency = 'XXX' } = operation.authenticationAmount ?? operation;
  const format = new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay: 'code' });
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}

function fieldsOf(body: unknown): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(Buffer.isBuffer(body) ? body.toString() : ''));
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function decode(text: string | undefined): Record<string, string> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text ?? '', 'base64url').toString());
    return typeof value === 'object' && value !== null ? (value as Record<string, string>) : undefined;
  } catch {
    return undefined;
  }
}
