// The request that the reference page makes of what was typed, and its command line, which people paste into a shell.
import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import type { Operation } from '../../pages/docs/document.ts';
import {
  curlOf,
  masked,
  missingPathParameter,
  prepare,
  tokenVariable,
} from '../../pages/docs/request/request.ts';

const pay: Operation = {
  id: 'pay',
  method: 'POST',
  path: '/v2/invoices/{invoiceID}/payments',
  tag: 'Payments',
  summary: 'Pay',
  description: undefined,
  deprecated: false,
  callers: ['apiKey'],
  scope: 'payments:write',
  parameters: [
    { name: 'invoiceID', in: 'path', required: true, schema: { type: 'string' } },
    { name: 'limit', in: 'query', schema: { type: 'integer' } },
    { name: 'X-Request-ID', in: 'header', schema: { type: 'string' } },
  ],
  body: { schema: {}, examples: [] },
  responses: [],
};
const base = 'http://127.0.0.1:8080/';
const typed = {
  values: { 'path invoiceID': 'a/b $& c', 'query limit': '10&x=1', 'header X-Request-ID': 'one' },
  body: '{"product":"It\'s $HOME"}',
};

describe('a prepared request', () => {
  test('keeps what was typed in its place', () => {
    expect(prepare(pay, typed, base, 'secret')).toEqual({
      method: 'POST',
      url: 'http://127.0.0.1:8080/v2/invoices/a%2Fb%20%24%26%20c/payments?limit=10%26x%3D1',
      headers: [
        ['Authorization', 'Bearer secret'],
        ['X-Request-ID', 'one'],
        ['Content-Type', 'application/json'],
      ],
      body: typed.body,
    });
  });

  test('has neither what was left empty nor a body where there is none', () => {
    const read: Operation = { ...pay, method: 'GET', body: undefined };
    const { url, headers, body } = prepare(read, { values: {}, body: undefined }, base, '');
    expect(url).toBe('http://127.0.0.1:8080/v2/invoices/{invoiceID}/payments');
    expect([headers, body]).toEqual([[], undefined]);
  });

  test('lacks an address while a part of its path is empty', () => {
    expect(missingPathParameter(pay, { values: {}, body: undefined })?.name).toBe('invoiceID');
    expect(missingPathParameter(pay, typed)).toBeUndefined();
  });
});

describe('a command line', () => {
  /** What a shell makes of it, a word a line, with `curl` replaced by something that prints. */
  const wordsOf = (command: string) =>
    execFileSync('sh', ['-c', `curl() { printf '%s\\n' "$@"; }\n${command}`], {
      env: { MANDATE_TOKEN: 'from-the-shell', HOME: '/nowhere' },
    })
      .toString()
      .split('\n')
      .slice(0, -1);

  test('means to a shell exactly what was typed', () => {
    const { url } = prepare(pay, typed, base, '');
    expect(wordsOf(curlOf(prepare(pay, typed, base, "it's")))).toEqual([
      url,
      '-H',
      "Authorization: Bearer it's",
      '-H',
      'X-Request-ID: one',
      '-H',
      'Content-Type: application/json',
      '-d',
      typed.body,
    ]);
  });

  test('takes the token from the shell where the page has none', () => {
    expect(wordsOf(curlOf(prepare(pay, typed, base, tokenVariable)))).toContain(
      'Authorization: Bearer from-the-shell',
    );
  });

  test('names the method where curl would take another', () => {
    expect(wordsOf(curlOf(prepare({ ...pay, method: 'PUT' }, typed, base, '')))[1]).toBe('PUT');
    const remove: Operation = { ...pay, method: 'DELETE', body: undefined };
    expect(wordsOf(curlOf(prepare(remove, typed, base, '')))[1]).toBe('DELETE');
  });
});

test('a masked token shows its kind and its end, and a short one nothing', () => {
  expect(masked('mandate_test_abcdefghijklmnopqrstuvwxyz')).toBe('mandate_test_abc…wxyz');
  expect(masked('short-secret')).toBe('••••••••••••');
});
