// The settings of the mail server: what they are read as, that connections beyond this machine are encrypted, and that a fault contains
// no password.
import { describe, expect, test } from 'vitest';
import { isMailAddress, mailServerIn } from './mail-settings.ts';

const read = (url: string, from = 'receipts@example.com') => mailServerIn({ url, from, timeoutMs: 20_000 });

test('without a server no mail is sent', () => {
  expect(mailServerIn({ url: undefined, from: 'receipts@example.com', timeoutMs: 1 })).toBeUndefined();
});

test.each([
  ['smtps://mail.example.com', { port: 465, tls: 'fromTheStart' }],
  ['smtps://mail.example.com:2465/', { port: 2465, tls: 'fromTheStart' }],
  ['smtp://mail.example.com', { port: 587, tls: 'demanded' }],
  ['smtp://192.168.0.1:25', { port: 25, tls: 'demanded' }],
  ['smtp://127.0.0.1:1025', { host: '127.0.0.1', port: 1025, tls: 'ifOffered' }],
  ['smtp://[::1]:1025', { host: '::1', tls: 'ifOffered' }],
  ['smtp://localhost', { tls: 'ifOffered' }],
  ['smtp://localhost.example.com', { tls: 'demanded' }],
  [
    'smtps://shop%40example.com:p%3Aw%2F%40@mail.example.com',
    { credentials: { user: 'shop@example.com', password: 'p:w/@' } },
  ],
])('%s', (url, settings) => {
  expect(read(url)).toMatchObject({ server: settings });
});

test.each([
  ['receipts@example.com', { address: 'receipts@example.com' }],
  ['Example Shop <receipts@example.com>', { name: 'Example Shop', address: 'receipts@example.com' }],
  ['<receipts@example.com>', { address: 'receipts@example.com' }],
])('comes from %s', (from, sender) => {
  expect(read('smtps://mail.example.com', from)).toMatchObject({ server: { from: sender } });
});

describe('is a fault', () => {
  test.each([
    'mail.example.com',
    'https://mail.example.com',
    'smtp://',
    'smtp://user:secret-word@',
    'smtp://user:secret-word@mail.example.com/path',
    'smtp://user:secret-word@mail.example.com?pool=true',
    'smtp://user:secret-word%ZZ@mail.example.com',
  ])('%s, without repeating it', (url) => {
    const found = read(url);
    expect(found).toEqual({ fault: expect.stringContaining('SMTP_URL') });
    expect(JSON.stringify(found)).not.toContain('secret-word');
  });

  test.each(['', 'receipts', 'a@b, c@d', 'Shop <a@b', 'a@b\r\nBcc: c@d', 'x" <a@b>@c'])('from %j', (from) => {
    expect(read('smtps://mail.example.com', from)).toEqual({ fault: expect.stringContaining('SMTP_FROM') });
  });
});

test.each([
  ['payer@example.com', true],
  ["o'neil+shop@example.co", true],
  ['a@b,c@d', false],
  ['"a b"@example.com', false],
  ['<a@b>', false],
  ['a@b c', false],
  ['a@b\nc', false],
  ['a@-b', false],
])('%j is one plain address: %s', (text, isOne) => {
  expect(isMailAddress(text)).toBe(isOne);
});
