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

const maxBodyBytes = 1_048_576;
/** In memory here. Keep them in your database, in the transaction that stores the event. */
const seen = new Set();

// A connection that breaks must not end the receiver.
const server = createServer((request, response) => {
  receive(request, response).catch(() => response.destroy());
});
server.listen(Number(port), '127.0.0.1');

async function receive(request, response) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) return response.writeHead(413, { connection: 'close' }).end();
    chunks.push(chunk);
  }
  const rawBody = Buffer.concat(chunks);
  if (!isGenuine(rawBody, request.headers)) return response.writeHead(401).end();
  const id = request.headers['webhook-id'];
  if (!seen.has(id)) {
    store(JSON.parse(rawBody));
    seen.add(id);
  }
  // After a 2xx the event is not sent again. Store it first, respond within ten seconds, and work on it afterwards.
  response.writeHead(204).end();
}

function store({ eventType, invoice }) {
  console.log([eventType, invoice?.id, invoice?.status].filter(Boolean).join(' '));
}

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
