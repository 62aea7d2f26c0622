#!/usr/bin/env node
// Receives webhook events, verifies and prints them: plain Node 20, to copy.
// WEBHOOK_SECRET is the signingSecret of the webhook; RECEIVER_PORT is 3000 by default.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const { WEBHOOK_SECRET: secret, RECEIVER_PORT: port = '3000' } = process.env;
if (!secret?.startsWith('whsec_')) {
  console.error('Set WEBHOOK_SECRET to the signingSecret of the webhook. It begins with whsec_.');
  process.exit(1);
}

/** In memory here. Keep them in your database, in the transaction that does the work. */
const seen = new Set();

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const rawBody = Buffer.concat(chunks);
  if (!isGenuine(rawBody, request.headers)) return response.writeHead(401).end();
  // Respond first and work afterwards: Mandate waits ten seconds at most.
  response.writeHead(204).end();
  const id = request.headers['webhook-id'];
  if (seen.has(id)) return;
  seen.add(id);
  const { eventType, invoice } = JSON.parse(rawBody);
  console.log([eventType, invoice?.id, invoice?.status].filter(Boolean).join(' '));
}).listen(Number(port), '127.0.0.1');

function isGenuine(rawBody, headers) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures = '' } = headers;
  if (!id || !(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) return false;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(rawBody).digest();
  return signatures.split(' ').some((entry) => {
    const given = Buffer.from(entry.startsWith('v1,') ? entry.slice(3) : '', 'base64');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}
