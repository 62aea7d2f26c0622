// Where a payer's browser ends when his bank has heard him: it tells the page that opened it, and tries to close itself. It
// says the same to everybody, whatever came of it.
import type { FastifyReply } from 'fastify';

export function sendDonePage(reply: FastifyReply): FastifyReply {
  return reply.type('text/html; charset=utf-8').header('Content-Security-Policy', policy).send(page);
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
<p>Your bank has been heard. You can close this window and go back to the shop.</p>
<script>
(window.opener || (window.parent !== window && window.parent) || window).postMessage('finish-interaction', '*');
if (window.opener) window.close();
</script>
`;
