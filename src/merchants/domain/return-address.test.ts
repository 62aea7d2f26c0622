import { expect, test } from 'vitest';
import { isTrusted, mayReturn, returnAddressOf } from './return-address.ts';

const own = ['https://pay.example'];
const origins = ['https://shop.example'];

test.each([
  [
    'https://пример.example/спасибо{?x}',
    'https://xn--e1afmkfd.example/%D1%81%D0%BF%D0%B0%D1%81%D0%B8%D0%B1%D0%BE',
  ],
  ['HTTP://shop.example:8080/a?b=c#d', 'http://shop.example:8080/a?b=c#d'],
  ['javascript:alert(1)', undefined],
  ['data:text/html,x', undefined],
  ['//evil.example', undefined],
  ['/here', undefined],
  [' https://shop.example', undefined],
  ['https://[', undefined],
  ['', undefined],
  [undefined, undefined],
])('%s leads to %s', (template, address) => {
  expect(returnAddressOf(template)).toBe(address);
});

test.each([
  ['https://shop.example/done', true],
  ['https://shop.example:443/done', true],
  ['https://pay.example/checkout/return', true],
  ['https://evil.example/', false],
  ['https://shop.example.evil.example/', false],
  ['https://shop.example@evil.example/', false],
  ['http://shop.example/', false],
  ['https://shop.example:8443/', false],
  ['javascript:alert(1)', false],
])('a shop with a list is returned to %s: %s', (address, isAllowed) => {
  expect(mayReturn(address, origins, own)).toBe(isAllowed);
  expect(isTrusted(address, origins, own)).toBe(isAllowed);
});

test('a shop without a list is returned to anywhere, which is not trusted', () => {
  expect(mayReturn('https://any.example/', [], own)).toBe(true);
  expect(isTrusted('https://any.example/', [], own)).toBe(false);
});

test('loopback names of one port are the same place', () => {
  const here = ['http://127.0.0.1:8080'];
  expect(isTrusted('http://localhost:8080/checkout/return', [], here)).toBe(true);
  expect(isTrusted('http://[::1]:8080/', [], here)).toBe(true);
  expect(isTrusted('http://localhost:8081/', [], here)).toBe(false);
  expect(isTrusted('http://localhost.evil.example:8080/', [], here)).toBe(false);
  expect(isTrusted('http://127.0.0.1.evil.example:8080/', [], here)).toBe(false);
});
