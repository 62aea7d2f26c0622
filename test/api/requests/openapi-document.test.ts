// The OpenAPI document as a generator of clients gets it.
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { topics } from '../../../src/app/composition/topics.ts';
import { startTestService, type TestService } from '../../support/service/test-service.ts';

/** Of each operation, by coding: docs/decisions/0046-size-of-the-document.md. */
const mostBytes = { br: 215, gzip: 255 };

let service: TestService;
let document: any;
beforeAll(async () => {
  service = await startTestService();
  document = (await service.call('GET', '/openapi.json')).body;
});
afterAll(() => service.close());

/** Every object in the document, with its path. */
function nodes(node: unknown, path = ''): [path: string, node: Record<string, any>][] {
  if (typeof node !== 'object' || node === null) return [];
  const inside = Object.entries(node).flatMap(([name, member]) => nodes(member, `${path}/${name}`));
  return [[path, node], ...inside];
}

function operations(): number {
  return nodes(document.paths).filter(([, node]) => 'operationId' in node).length;
}

describe('the document', () => {
  test('has unions as oneOf, without a discriminator', () => {
    const all = nodes(document);
    expect(all.filter(([, node]) => Array.isArray(node['oneOf'])).length).toBeGreaterThan(4);
    for (const word of ['anyOf', 'allOf', 'discriminator'])
      expect(
        all.filter(([path, node]) => word in node && !path.endsWith('/properties')).map(([path]) => path),
      ).toEqual([]);
  });

  test('requires no header', () => {
    const required = nodes(document).filter(([, node]) => node['in'] === 'header' && node['required']);
    expect(required).toEqual([]);
  });

  test('names every error by a shared schema, and lists its codes next to it', () => {
    const answers = nodes(document.paths).filter(([path]) => /\/responses\/4\d\d$/.test(path));
    const bodies = answers.map(([, { $ref, ...own }]) =>
      $ref === undefined ? own : document.components.responses[$ref.split('/').at(-1)],
    );
    const schemas = bodies.flatMap(({ content }) => (content ? content['application/json'].schema : []));
    expect(schemas.length).toBeGreaterThan(200);
    expect([...new Set(schemas.map((schema) => schema.$ref.split('/').at(-1)))].sort()).toEqual([
      'BadRequest',
      'ExternalIDConflictError',
      'GeneralError',
      'InvalidOperationParameters',
      'LogicError',
    ]);
    const { responses } = document.paths['/v2/processing/invoices'].post;
    expect(responses[400]['x-codes']).toContain('invalidShopID');
  });

  test('explains at a response only the codes that no other operation has', () => {
    const { description } = document.paths['/v2/processing/invoices'].post.responses[400];
    expect(description).toContain('`invalidInvoiceCost`: Invalid invoice amount.');
    expect(description).not.toContain('invalidShopID');
  });

  test('has every webhook event', () => {
    expect(Object.keys(document.webhooks)).toEqual(topics.flatMap(({ eventTypes }) => eventTypes));
    const { schema } = document.webhooks.InvoicePaid.post.requestBody.content['application/json'];
    expect(schema).toEqual({ $ref: '#/components/schemas/InvoiceWebhook' });
  });

  test('says of operations what they can never return today', () => {
    const said = nodes(document.paths).flatMap(([, { operationId, description }]) =>
      /\btoday\b/.test(description) ? [[operationId, description.split(':')[0]]] : [],
    );
    expect(Object.fromEntries(said)).toEqual({
      listChargebacks: 'Always an empty list today',
      getChargeback: 'Always refused with `chargebackNotFound` today',
      createQuote: 'Always refused today',
    });
  });

  test('refers to nothing that it lacks', () => {
    const references = nodes(document).flatMap(([, node]) =>
      typeof node['$ref'] === 'string' ? node['$ref'] : [],
    );
    const missing = references.filter((reference) => {
      const found = reference
        .split('/')
        .slice(1)
        .reduce((node: any, name: string) => node?.[name], document);
      return found === undefined;
    });
    expect([...new Set(missing)]).toEqual([]);
  });
});

test.each([
  ['gzip', 'gzip', gunzipSync],
  ['gzip, deflate, br', 'br', brotliDecompressSync],
] satisfies [string, keyof typeof mostBytes, typeof gunzipSync][])(
  'it is sent compressed to a caller that takes %s, and once',
  async (accepted, coding, decompress) => {
    const headers = { 'accept-encoding': accepted, 'x-request-id': 'one' };
    const { app } = service;
    const first = await app.inject({ method: 'GET', url: '/openapi.json', headers });
    expect(first.headers['content-encoding']).toBe(coding);
    expect(first.rawPayload.length / operations()).toBeLessThan(mostBytes[coding]);
    expect(JSON.parse(decompress(first.rawPayload).toString())).toEqual(document);
    const again = { ...headers, 'if-none-match': String(first.headers['etag']) };
    const { statusCode, body } = await app.inject({ method: 'GET', url: '/openapi.json', headers: again });
    expect([statusCode, body]).toEqual([304, '']);
  },
);
