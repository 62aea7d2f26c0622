// The request that the reference page builds, and its command line, which readers paste into a shell.
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

  test('omits empty parameters, and a body where there is none', () => {
    const read: Operation = { ...pay, method: 'GET', body: undefined };
    const { url, headers, body } = prepare(read, { values: {}, body: undefined }, base, '');
    expect(url).toBe('http://127.0.0.1:8080/v2/invoices/{invoiceID}/payments');
    expect([headers, body]).toEqual([[], undefined]);
  });

  test('has no address while a path parameter is empty', () => {
    expect(missingPathParameter(pay, { values: {}, body: undefined })?.name).toBe('invoiceID');
    expect(missingPathParameter(pay, typed)).toBeUndefined();
  });
});

describe('a command line', () => {
  /** The words a shell reads, one a line: `curl` is replaced by a program that prints them. */
  const wordsOf = (command: string) =>
    execFileSync('sh', ['-c', `curl() { printf '%s\\n' "$@"; }\n${command}`], {
      env: { MANDATE_TOKEN: 'from-the-shell', HOME: '/nowhere' },
    })
      .toString()
      .split('\n')
      .slice(0, -1);

  test('reads in a shell exactly as typed', () => {
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

  test('reads the token from the shell’s environment where the page has none', () => {
    expect(wordsOf(curlOf(prepare(pay, typed, base, tokenVariable)))).toContain(
      'Authorization: Bearer from-the-shell',
    );
  });

  test('names the method where curl would choose another', () => {
    expect(wordsOf(curlOf(prepare({ ...pay, method: 'PUT' }, typed, base, '')))[1]).toBe('PUT');
    const remove: Operation = { ...pay, method: 'DELETE', body: undefined };
    expect(wordsOf(curlOf(prepare(remove, typed, base, '')))[1]).toBe('DELETE');
  });
});

test('a masked token shows its kind and its end, and a short one nothing', () => {
  expect(masked('mandate_test_abcdefghijklmnopqrstuvwxyz')).toBe('mandate_test_abc…wxyz');
  expect(masked('short-secret')).toBe('••••••••••••');
});
