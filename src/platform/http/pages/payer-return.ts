// Where a payer's browser returns after a challenge, whatever its outcome. It redirects to the given address, or shows a page that
// notifies the window that opened it and tries to close itself.
import type { FastifyInstance, FastifyReply } from 'fastify';
import { isStorableText } from '../request/json-body.ts';

/**
 * The path ends with the IDs of an object and its part. The browser is not trusted: `find` only expedites the query to the bank, and
 * returns where the payer goes next.
 */
export function addPayerReturn(
  app: FastifyInstance,
  path: string,
  find: (id: string, partId: string) => Promise<string | undefined>,
): void {
  app.route<{ Params: { id: string; partId: string } }>({
    // A bank may send the browser back by either.
    method: ['GET', 'POST'],
    url: `${path}/:id/:partId`,
    handler: async (request, reply) => {
      request.operation = 'payerReturn';
      const { id, partId } = request.params;
      const isPossible = isStorableText(id) && isStorableText(partId);
      return redirectPayer(reply, isPossible ? await find(id, partId) : undefined);
    },
  });
}

function redirectPayer(reply: FastifyReply, redirectUrl: string | undefined): FastifyReply {
  const address = redirectAddress(redirectUrl);
  if (address !== undefined) return reply.redirect(address, 303);
  return reply.type('text/html; charset=utf-8').header('Content-Security-Policy', policy).send(page);
}

function redirectAddress(template: string | undefined): string | undefined {
  // A template without variables is a URL; there are no variables to fill in.
  const address = template?.replace(/\{[^}]*\}/g, '');
  if (address === undefined || !/^https?:\/\//i.test(address) || !URL.canParse(address)) return undefined;
  // Percent-encoded, as a header needs it.
  return new URL(address).href;
}

const policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors *";

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Done</title>
<style>body{font:18px/1.5 system-ui,sans-serif;margin:20vh auto;max-width:24em;padding:0 1em;text-align:center}</style>
<h1>Thank you</h1>
<p>Your bank has replied. You can close this window and go back to the shop.</p>
<script>
(window.opener || (window.parent !== window && window.parent) || window).postMessage('finish-interaction', '*');
if (window.opener) window.close();
</script>
`;
