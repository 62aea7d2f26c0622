import { describe, expect, test } from 'vitest';
import type { BankResponse } from '../../domain/bank-port.ts';
import { complaintOf, readAnswer, type Asked } from './read-response.ts';

const operationId = 'inv1.1.a';
const sent: Asked = { operationId, as: 'authorise', payerPresent: true, plainPages: false };
const inquired: Asked = { ...sent, as: 'inquire' };

function read(
  asked: Asked,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): BankResponse {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return readAnswer(asked, { status, headers, body: bytes });
}
const approved = { operationId, outcome: 'approved', reference: '900000000001' };
const form = [{ name: 'PaReq', value: 'abc' }];

describe('a documented response', () => {
  test.each<[object, BankResponse]>([
    [approved, { outcome: 'approved', reference: '900000000001' }],
    [
      { ...approved, approvalCode: 'A1', networkTransactionId: 'n-1_/', eci: '05', advice: '03' },
      {
        outcome: 'approved',
        reference: '900000000001',
        approvalCode: 'A1',
        networkTransactionId: 'n-1_/',
        eci: '05',
        advice: '03',
      },
    ],
    [
      { operationId, outcome: 'declined', network: 'visa', code: '51' },
      { outcome: 'declined', network: 'visa', code: '51' },
    ],
    [
      { operationId, outcome: 'declined', network: 'visa', code: '3ds-failed', advice: '21' },
      { outcome: 'declined', network: 'visa', code: '3ds-failed', advice: '21' },
    ],
    [
      {
        operationId,
        outcome: 'payerNeeded',
        interaction: { method: 'GET', url: 'https://acs.example/?a=1' },
      },
      { outcome: 'payerNeeded', interaction: { method: 'GET', url: 'https://acs.example/?a=1' } },
    ],
    [
      {
        operationId,
        outcome: 'payerNeeded',
        interaction: { method: 'POST', url: 'https://acs.example/', form, more: 1 },
      },
      { outcome: 'payerNeeded', interaction: { method: 'POST', url: 'https://acs.example/', form } },
    ],
    [{ operationId, outcome: 'pending' }, { outcome: 'pending' }],
    [
      { ...approved, cardNumber: '4242424242424242', anything: { else: true } },
      { outcome: 'approved', reference: '900000000001' },
    ],
  ])('%j', (body, answer) => {
    expect(read(sent, 200, body)).toStrictEqual(answer);
    expect(read(inquired, 200, body)).toStrictEqual(answer);
  });

  test('to an inquiry with 404, notFound and the ID proves that the bank never received the operation', () => {
    expect(read(inquired, 404, { operationId, outcome: 'notFound' })).toEqual({ outcome: 'notFound' });
  });

  test('400 with invalid is declined as a format error', () => {
    const body = { error: 'invalid', field: 'card.number' };
    expect(read(sent, 400, body)).toEqual({ outcome: 'declined', network: 'bank', code: '30' });
  });

  test.each([
    [429, { error: 'notDone' }, { 'retry-after': '1' }],
    [503, { error: 'notDone' }, { 'retry-after': '1' }],
    [401, { error: 'unauthorised' }, {}],
  ])('status %i with %j proves that nothing was done', (status, body, headers) => {
    expect(read(sent, status, body, headers).outcome).toBe('notSent');
    expect(read(inquired, status, body, headers).outcome, 'to an inquiry it proves nothing').toBe('unknown');
  });
});

describe('the outcome is unknown after', () => {
  test.each<[string, Asked, number, unknown, Record<string, string>?]>([
    ['a bare 404', inquired, 404, 'Not Found'],
    ['a 404 about another operation', inquired, 404, { operationId: 'other', outcome: 'notFound' }],
    ['a 404 to a message', sent, 404, { operationId, outcome: 'notFound' }],
    ['a 200 that says notFound', inquired, 200, { operationId, outcome: 'notFound' }],
    ['a response about another operation', sent, 200, { ...approved, operationId: 'other' }],
    ['a response without an ID', sent, 200, { outcome: 'approved', reference: '900000000001' }],
    ['a response with status 201', sent, 201, approved],
    ['half a response', sent, 200, '{"operationId":"inv1.1.a","outcome":"appro'],
    ['an empty response', sent, 200, ''],
    ['an HTML page', sent, 200, '<html>'],
    ['a list', sent, 200, [approved]],
    ['null', sent, 200, null],
    ['an unknown outcome', sent, 200, { operationId, outcome: 'perhaps' }],
    ['an approval without a reference', sent, 200, { operationId, outcome: 'approved' }],
    ['a reference of the wrong length', sent, 200, { ...approved, reference: '1' }],
    ['a network transaction ID with a NUL', sent, 200, { ...approved, networkTransactionId: 'a\0b' }],
    ['a decline without a code', sent, 200, { operationId, outcome: 'declined', network: 'visa' }],
    ['a redirect', sent, 302, ''],
    ['a bare 400', sent, 400, 'Bad Request'],
    ['a 400 with another error', sent, 400, { error: 'conflict' }],
    ['a bare 401', sent, 401, ''],
    ['a conflict', sent, 409, { error: 'conflict' }],
    ['a bare 429', sent, 429, '', { 'retry-after': '1' }],
    ['a 503 from a gateway', sent, 503, '{"error":"unavailable"}', { 'retry-after': '1' }],
    ['a 503 without Retry-After', sent, 503, { error: 'notDone' }],
    ['a 500 that says notDone', sent, 500, { error: 'notDone' }, { 'retry-after': '1' }],
    ['a 504', sent, 504, 'gateway timeout'],
  ])('%s', (_what, asked, status, body, headers) => {
    const answer = read(asked, status, body, headers);
    expect(answer.outcome).toBe('unknown');
  });

  test('payerNeeded when the payer is not present', () => {
    const interaction = { method: 'GET', url: 'https://acs.example/' };
    const answer = read({ ...sent, payerPresent: false }, 200, {
      operationId,
      outcome: 'payerNeeded',
      interaction,
    });
    expect(answer.outcome).toBe('unknown');
  });
});

describe('the payer is sent', () => {
  const pageAt = (url: string, plainPages: boolean) =>
    read({ ...sent, plainPages }, 200, {
      operationId,
      outcome: 'payerNeeded',
      interaction: { method: 'GET', url },
    }).outcome;

  test.each([
    'javascript:alert(1)',
    'http://acs.example/',
    'https://',
    'https://user:password@acs.example/',
    'ftp://acs.example/',
    'https://acs.example/ page',
    `https://acs.example/${'x'.repeat(2_048)}`,
  ])('not to %s', (url) => expect(pageAt(url, false)).toBe('unknown'));

  test('to an http page only when the bank itself is on http', () => {
    expect(pageAt('http://127.0.0.1:9090/issuer', false)).toBe('unknown');
    expect(pageAt('http://127.0.0.1:9090/issuer', true)).toBe('payerNeeded');
    expect(pageAt('https://acs.example/', true)).toBe('payerNeeded');
  });
});

test('the error for the log names the field without digits', () => {
  const complaint = (body: object) =>
    complaintOf({ status: 400, headers: {}, body: Buffer.from(JSON.stringify(body)) });
  expect(complaint({ error: 'invalid', field: 'card.number' })).toBe('invalid card.number');
  expect(complaint({ error: 'invalid', field: 'card.number 4242424242424242 is bad' })).toBe(
    'invalid card.numberisbad',
  );
  expect(complaint({ error: 'conflict', message: '4242424242424242' })).toBe('conflict');
  expect(complaint({ error: '4242424242424242' })).toBeUndefined();
});
