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
const declined = { operationId, outcome: 'declined', network: 'visa', code: '51' };
const form = [{ name: 'PaReq', value: 'abc' }];

test.each([
  ['4242424242424242', '424242******4242'],
  ['n-4242-4242-4242-4242', 'n-424242******4242'],
  // Visa's own IDs look like this, and later charges send them back.
  ['378282246310005', '378282246310005'],
  ['424242424242424242', '424242424242424242'],
])('a card number as the transaction ID %s is kept as %s', (networkTransactionId, kept) => {
  expect(read(sent, 200, { ...approved, networkTransactionId })).toMatchObject({
    networkTransactionId: kept,
  });
});

test.each<[string, object, object]>([
  ['the reference', approved, { reference: '4000056655665556' }],
  ['the acquirer’s reference', approved, { references: { acquirer: 'a-4000056655665556' } }],
  ['the network', declined, { network: '4000056655665556' }],
  ['the code', declined, { code: '4000056655665556' }],
  ['the text', declined, { text: `No card 4000 0566-5566\n5556, ${'x'.repeat(300)}` }],
  ['the text at its cut', declined, { text: `${'x'.repeat(190)} 4000056655665556` }],
  ['the reference of a decline', declined, { references: { acquirer: 'a-4000056655665556' } }],
])('a card number as %s is masked, and the response counts', (_, response, fields) => {
  const answer = read(sent, 200, { ...response, ...fields });
  expect(answer.outcome).toBe((response as typeof approved).outcome);
  expect(JSON.stringify(answer)).toContain('400005***');
  expect(JSON.stringify(answer).replace(/\D+/g, '')).not.toContain('4000056');
});

test('a card number in an error is masked', () => {
  const odd = read(sent, 500, { error: 'no 4242424242424242' });
  expect(JSON.stringify(odd)).not.toContain('4242424242424242');
});

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

  test('401 with unauthorised says that the signature is refused, to an inquiry as well', () => {
    const body = { error: 'unauthorised' };
    expect(read(sent, 401, body)).toMatchObject({ outcome: 'notSent', isUnauthorised: true });
    expect(read(inquired, 401, body)).toMatchObject({ outcome: 'unknown', isUnauthorised: true });
    expect(read(sent, 503, body)).not.toHaveProperty('isUnauthorised');
  });
});

describe('a response as payment service providers give it', () => {
  const arn = '7'.repeat(23);
  const networkIds = [
    { kind: 'mcTrace', value: 'MCC0000011123' },
    { kind: 'mcLink', value: 'a'.repeat(22) },
  ];
  const authenticated = { how: 'challenge', version: '2.2.0', status: 'Y', dsTransId: 'd' };

  test.each<[string, object, object]>([
    [
      'a reference of 16 characters',
      { reference: '993617895204576J' },
      { reference: '993617895204576J', references: { acquirer: '993617895204576J' } },
    ],
    [
      'a reference with an underscore',
      { reference: 'pi_3MtwBwLkdIwHu7ix28a3tqPa' },
      { reference: 'pi_3MtwBwLkdIwHu7ix28a3tqPa', references: { acquirer: 'pi_3MtwBwLkdIwHu7ix28a3tqPa' } },
    ],
    [
      'all references',
      { reference: '900000000001', references: { acquirer: 'pi_3Mt', arn } },
      { reference: '900000000001', references: { rrn: '900000000001', acquirer: 'pi_3Mt', arn } },
    ],
    [
      'a reference only in the new place',
      { references: { acquirer: '993617895204576J' } },
      { reference: '993617895204576J', references: { acquirer: '993617895204576J' } },
    ],
    [
      'an ARN',
      { reference: '900000000001', arn },
      { reference: '900000000001', references: { rrn: '900000000001', arn } },
    ],
    [
      'network IDs, an authentication and a time',
      {
        reference: '900000000001',
        networkIds,
        authenticated: { ...authenticated, more: 1 },
        liabilityShift: true,
        availableBy: '2026-11-24T09:00:00Z',
      },
      {
        reference: '900000000001',
        networkIds,
        authenticated,
        liabilityShift: true,
        availableBy: '2026-11-24T09:00:00.000000Z',
      },
    ],
    [
      'later fields that do not fit',
      {
        reference: '900000000001',
        references: { acquirer: 'a b' },
        networkIds: [{ kind: 'amexTid', value: '1' }],
        authenticated: { how: 'by phone' },
        liabilityShift: 'yes',
        availableBy: 'soon',
      },
      { reference: '900000000001' },
    ],
  ])('is an approval with %s', (_what, told, meant) => {
    const body = { operationId, outcome: 'approved', ...told };
    expect(read(sent, 200, body)).toStrictEqual({ outcome: 'approved', ...meant });
    expect(read(inquired, 200, body)).toStrictEqual({ outcome: 'approved', ...meant });
  });

  test.each<[object, object]>([
    [{ code: 'insufficient_funds' }, { code: 'insufficient_funds' }],
    [
      { code: 'authentication-required', by: 'acquirer', class: 'payerPresent' },
      { code: 'authentication-required', by: 'acquirer', class: 'payerPresent' },
    ],
    [
      { code: 'a'.repeat(64), by: 'connector', class: 'technical', notBefore: '2026-11-24T09:00:00Z' },
      { code: 'a'.repeat(64), by: 'connector', class: 'technical', notBefore: '2026-11-24T09:00:00.000000Z' },
    ],
    [{ code: '51', by: 'the moon', class: 'soft', notBefore: 'later' }, { code: '51' }],
    [
      { code: '51', text: 'Not  enough\u0000 money\n', references: { rrn: '900000000018' } },
      { code: '51', text: 'Not enough money', references: { rrn: '900000000018' } },
    ],
    [
      { code: '51', text: 'card 4242 4242\u200b 4242 4242', references: { acquirer: '4242424242424242' } },
      { code: '51', text: 'card 424242******4242', references: { acquirer: '424242******4242' } },
    ],
    [
      { code: '51', text: `${'x'.repeat(199)}\u{1f600}` },
      { code: '51', text: 'x'.repeat(199) },
    ],
    [{ code: '51', text: '\u200b ', references: {} }, { code: '51' }],
    [{ code: '51', text: 'x'.repeat(1_001), references: { rrn: 'short' } }, { code: '51' }],
    [{ code: '51', text: 7 }, { code: '51' }],
  ])('is a decline with %j', (told, meant) => {
    const body = { operationId, outcome: 'declined', network: 'visa', ...told };
    expect(read(sent, 200, body)).toStrictEqual({ outcome: 'declined', network: 'visa', ...meant });
  });

  const pageWith = (fields: number, value: string) => {
    const form = Array.from({ length: fields }, (_none, place) => ({ name: `f${place}`, value }));
    const interaction = { method: 'POST', url: `https://acs.example/${'x'.repeat(8_000)}`, form };
    return read(sent, 200, { operationId, outcome: 'payerNeeded', interaction }).outcome;
  };
  test('is a page with 25 fields, with 50, and with 64 KiB of values', () => {
    expect(pageWith(25, 'abc')).toBe('payerNeeded');
    expect(pageWith(50, 'x'.repeat(1_300))).toBe('payerNeeded');
    expect(pageWith(1, 'x'.repeat(65_536))).toBe('payerNeeded');
  });
  test('is no page with more', () => {
    expect(pageWith(51, 'abc')).toBe('unknown');
    expect(pageWith(50, 'x'.repeat(1_311))).toBe('unknown');
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
    ['a reference of the wrong length', sent, 200, { ...approved, reference: '9'.repeat(65) }],
    ['a reference with a space', sent, 200, { ...approved, reference: '90000 000001' }],
    [
      'an approval with nothing but an ARN',
      sent,
      200,
      { operationId, outcome: 'approved', arn: '7'.repeat(23) },
    ],
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
    `https://acs.example/${'x'.repeat(8_192)}`,
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
