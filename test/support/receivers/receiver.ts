// A merchant's server for webhooks: it keeps every delivery and responds as the test says. Signatures are verified by code of the tests,
// not of the service.
import { createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Delivery = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly raw: Buffer;
  readonly body: any;
};

/** A status, or anything else the test does with the response. */
export type Behaviour = (
  delivery: Delivery,
  response: ServerResponse,
) => number | void | Promise<number | void>;

export type Receiver = {
  readonly url: string;
  readonly deliveries: Delivery[];
  behave(behaviour: Behaviour): void;
  stop(): Promise<void>;
};

export async function startReceiver(): Promise<Receiver> {
  const deliveries: Delivery[] = [];
  let behaviour: Behaviour = () => 200;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => void answer());
    const answer = async () => {
      const raw = Buffer.concat(chunks);
      const { url: path = '', headers } = request;
      const delivery = { path, headers, raw, body: JSON.parse(raw.toString()) };
      deliveries.push(delivery);
      const status = await behaviour(delivery, response);
      if (status !== undefined) response.writeHead(status).end();
    };
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook-events`,
    deliveries,
    behave: (next) => void (behaviour = next),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Follows the published rules of the header, not the code that writes it. */
export function contentIsSigned(
  { headers, raw }: Pick<Delivery, 'headers' | 'raw'>,
  publicKey: string,
): boolean {
  const header = String(headers['content-signature'] ?? '');
  const attributes = new Map(
    header.split(/;\s/).map((part) => part.split(/=(.*)/s).slice(0, 2) as [string, string]),
  );
  const digest = attributes.get('digest');
  if (attributes.get('alg') !== 'RS256' || !digest) return false;
  const signature = Buffer.from(digest.replace(/-/g, '+').replace(/_/g, '/'), 'base64');
  return verify('RSA-SHA256', raw, publicKey, signature);
}

/** Standard Webhooks 1.0, with the keys in their published form: `whsec_…`, `whpk_…`. */
export function standardIsSigned(
  { headers, raw }: Pick<Delivery, 'headers' | 'raw'>,
  key: string,
  nowSeconds: number,
): boolean {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    String(headers[name] ?? ''),
  );
  if (!id || !signatures || !/^\d+$/.test(timestamp ?? '')) return false;
  if (Math.abs(nowSeconds - Number(timestamp)) > 300) return false;
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), raw]);
  const [kind, material = ''] = key.split('_');
  return signatures.split(' ').some((entry) => {
    const [version, text = ''] = entry.split(',');
    const signature = Buffer.from(text, 'base64');
    if (version === 'v1' && kind === 'whsec') {
      const expected = createHmac('sha256', Buffer.from(material, 'base64')).update(signed).digest();
      return signature.length === expected.length && timingSafeEqual(signature, expected);
    }
    if (version === 'v1a' && kind === 'whpk') {
      const spki = Buffer.concat([
        Buffer.from('302a300506032b6570032100', 'hex'),
        Buffer.from(material, 'base64'),
      ]);
      return verify(null, signed, createPublicKey({ key: spki, format: 'der', type: 'spki' }), signature);
    }
    return false;
  });
}
