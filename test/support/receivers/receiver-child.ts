// A merchant's server in its own process, which fails a share of deliveries and writes each into a journal before it responds. Its
// environment: RECEIVER_PORT, RECEIVER_JOURNAL (a file), RECEIVER_FAILING (a share), RECEIVER_KEYS (JSON: publicKey, signingSecret,
// signingPublicKey; without it nothing is verified or written).
import { createHash } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';
import { contentIsSigned, standardIsSigned } from './receiver.ts';

const { RECEIVER_PORT, RECEIVER_JOURNAL, RECEIVER_FAILING = '0', RECEIVER_KEYS } = process.env;
const keys = RECEIVER_KEYS === undefined ? undefined : (JSON.parse(RECEIVER_KEYS) as Record<string, string>);
const journal = RECEIVER_JOURNAL === undefined ? undefined : openSync(RECEIVER_JOURNAL, 'a');
const failing = Number(RECEIVER_FAILING);
const slowMs = 300;
let received = 0;

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    received += 1;
    if (!keys || journal === undefined) return void response.writeHead(200).end();
    const raw = Buffer.concat(chunks);
    const delivery = { headers: request.headers, raw };
    const nowSeconds = Math.floor(Date.now() / 1_000);
    const isSigned =
      contentIsSigned(delivery, keys['publicKey'] ?? '') &&
      standardIsSigned(delivery, keys['signingSecret'] ?? '', nowSeconds) &&
      standardIsSigned(delivery, keys['signingPublicKey'] ?? '', nowSeconds);
    // By count: chance might fail too few.
    const accepted = Math.floor(received * failing) === Math.floor((received - 1) * failing);
    const body = JSON.parse(raw.toString()) as {
      eventID: number;
      eventType: string;
      invoice: { id: string; status: string };
    };
    const { eventID, eventType, invoice } = body;
    const id = String(request.headers['webhook-id']);
    const hash = createHash('sha256').update(raw).digest('base64');
    const { status } = invoice;
    const entry = { id, hash, eventID, eventType, invoice: invoice.id, status, accepted, isSigned };
    writeSync(journal, `${JSON.stringify(entry)}\n`);
    const answer = () => response.writeHead(accepted ? 200 : 500).end();
    if (received % 100 === 50) setTimeout(answer, slowMs);
    else answer();
  });
});
server.keepAliveTimeout = 30_000;
server.listen(Number(RECEIVER_PORT ?? 0), '127.0.0.1', () => {
  const address = server.address();
  console.log(JSON.stringify({ port: typeof address === 'object' ? address?.port : 0 }));
});
process.on('message', (question) => {
  if (question === 'received') process.send?.({ received });
});
