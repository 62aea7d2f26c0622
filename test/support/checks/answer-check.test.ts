// Tests the check of responses: a right response passes, and every kind of fault is found.
import { expect, test } from 'vitest';
import { answerChecker, type Received, type Sent } from './answer-check.ts';
import type { Document } from '../requests/openapi.ts';

const time = { type: 'string', format: 'date-time' };
const document: Document = {
  paths: {
    '/v2/processing/things/{thingID}': {
      get: {
        operationId: 'getThing',
        responses: {
          200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } },
          204: {},
          400: {
            content: {
              'application/json': {
                schema: {
                  allOf: [
                    { $ref: '#/components/schemas/LogicError' },
                    { properties: { code: { type: 'string', enum: ['invalidRequest'] } } },
                  ],
                },
              },
            },
          },
          401: {},
          500: {},
        },
      },
    },
  },
  components: {
    responses: {},
    schemas: {
      Thing: {
        type: 'object',
        required: ['id', 'parts'],
        properties: {
          id: { type: 'string' },
          at: time,
          free: { type: 'object', properties: {}, additionalProperties: true },
          parts: {
            type: 'array',
            items: {
              oneOf: [
                { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } },
                { type: 'object', required: ['at'], properties: { at: time } },
              ],
            },
          },
        },
      },
      LogicError: {
        type: 'object',
        required: ['code', 'message'],
        properties: { code: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
};

const check = answerChecker(document, { secrets: ['the secret'], slowestMs: 100 });
const sent: Sent = { method: 'GET', url: '/v1/processing/things/x?a=b', requestId: 'one' };
const thing = { id: 'x', at: '2026-01-19T10:00:00.123000Z', free: { any: null }, parts: [{ n: 1 }] };
const headers = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'access-control-allow-origin': '*',
  'x-request-id': 'one',
};
const emptyHeaders = { ...headers, 'content-type': undefined };
const answer = (status: number, body: unknown): Received => ({
  status,
  headers: body === '' ? emptyHeaders : headers,
  text: typeof body === 'string' ? body : JSON.stringify(body),
  tookMs: 1,
});

test.each<[string, Received]>([
  ['a thing', answer(200, thing)],
  ['a thing with another kind of part', answer(200, { ...thing, parts: [{ at: thing.at }] })],
  ['a refusal', answer(400, { code: 'invalidRequest', message: 'no' })],
  ['nothing', answer(204, '')],
  ['an empty refusal', answer(401, '')],
])('%s passes', (_, received) => expect(check(sent, received)).toEqual([]));

test.each<[string, Received, RegExp]>([
  ['a fault, documented or not', answer(500, ''), /the status is 500/],
  ['an undocumented status', answer(418, ''), /418 is not documented/],
  ['an undocumented code', answer(400, { code: 'teapot', message: 'no' }), /400 has \/code that/],
  ['a refusal without a message', answer(400, { code: 'invalidRequest' }), /400 has a body that/],
  [
    'a refusal with another member',
    answer(400, { code: 'invalidRequest', message: '', stack: '' }),
    /400 has /,
  ],
  ['an unexpected body', answer(401, { message: 'no' }), /should be empty/],
  ['a missing body', answer(200, ''), /is not JSON/],
  ['half a body', answer(200, '{"id":'), /is not JSON/],
  ['a missing member', answer(200, { ...thing, id: undefined }), /200 has /],
  ['an additional member', answer(200, { ...thing, partyId: 'x' }), /200 has /],
  [
    'an additional member deep inside',
    answer(200, { ...thing, parts: [{ n: 1, partyId: 'x' }] }),
    /200 has /,
  ],
  ['a null', answer(200, { ...thing, at: null }), /200 has \/at that/],
  ['a number as text', answer(200, { ...thing, parts: [{ n: '1' }] }), /200 has /],
  ['a time without microseconds', answer(200, { ...thing, at: '2026-01-19T10:00:00Z' }), /200 has \/at that/],
  ['a time in another zone', answer(200, { ...thing, at: '2026-01-19T10:00:00.123000+01:00' }), /200 has /],
  ['text as the content type', withHeader('content-type', 'text/plain'), /the content type is text\/plain/],
  ['no content type', withHeader('content-type', undefined), /the content type is undefined/],
  ['a response that may be cached', withHeader('cache-control', 'public'), /cache-control is public/],
  ['no X-Request-ID', withHeader('x-request-id', undefined), /the X-Request-ID is undefined/],
  ['the X-Request-ID of another request', withHeader('x-request-id', 'two'), /the X-Request-ID is two/],
  ["another's secret in the body", answer(200, { ...thing, id: 'not the secret' }), /it contains the secret/],
  ["another's secret in a header", withHeader('location', '/the secret'), /it contains the secret/],
  ['a late response', { ...answer(200, thing), tookMs: 101 }, /it took 101 ms/],
])('%s is found', (_, received, problem) => {
  expect(check(sent, received)).toContainEqual(expect.stringMatching(problem));
});

function withHeader(name: string, value: string | undefined): Received {
  return { ...answer(200, thing), headers: { ...headers, [name]: value } };
}

test('without an operation only a plain refusal passes', () => {
  const elsewhere = { ...sent, url: '/v2/nothing' };
  expect(check(elsewhere, answer(404, { message: 'Not found' }))).toEqual([]);
  expect(check(elsewhere, answer(200, thing))).toEqual(['no operation: 200 is not documented']);
  expect(check({ ...sent, method: 'PUT' }, answer(405, ''))).toEqual([]);
  expect(check({ ...sent, method: 'PUT' }, answer(204, ''))).toEqual([
    'another method: 204 is not documented',
  ]);
});

test('an X-Request-ID that cannot be echoed must not be', () => {
  const unnamed = { ...sent, requestId: 'i'.repeat(41) };
  expect(check(unnamed, answer(200, thing))).toEqual(['getThing: the X-Request-ID is one']);
});
