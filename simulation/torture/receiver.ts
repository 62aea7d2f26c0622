// A merchant's server that receives every webhook event and fails now and then.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { invoicesTopic } from '../../src/payments/webhook-events.ts';
import { customersTopic } from '../../src/customers/webhook-events.ts';
import type { Delivery } from '../checks/index.ts';
import type { Client } from './client.ts';

const failingShare = 0.03;

export type Receiver = { readonly received: readonly Delivery[]; stop(): Promise<void> };

export async function startReceiver(client: Client): Promise<Receiver> {
  const received: Delivery[] = [];
  const webhooks = new Map<string, string>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const webhookID = webhooks.get(request.url ?? '');
      if (webhookID === undefined || Math.random() < failingShare) return void response.writeHead(500).end();
      const body = JSON.parse(Buffer.concat(chunks).toString()) as { eventID: number };
      received.push({ webhookID, eventID: body.eventID, body });
      response.writeHead(200).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (const { name: topic, eventTypes } of [invoicesTopic, customersTopic]) {
    const scope = { topic, shopID: 'TEST', eventTypes };
    const made = await client.call('POST', '/v2/processing/webhooks', {
      scope,
      url: `http://127.0.0.1:${port}/${topic}`,
    });
    webhooks.set(`/${topic}`, made.id);
  }
  return {
    received,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
