import { expect, test } from 'vitest';
import { proxyCheck } from './proxies.ts';

test.each([
  ['10.0.0.1', true],
  ['::ffff:10.0.0.1', true],
  ['10.0.0.2', false],
  ['192.168.7.9', true],
  ['192.169.0.1', false],
  ['fd00::5', true],
  ['fe80::1%eth0', true],
  ['2001:db8::1', false],
  ['', false],
])('%s', (address, isProxy) => {
  expect(proxyCheck(['10.0.0.1', '192.168.0.0/16', 'fd00::/8', 'fe80::1'])(address)).toBe(isProxy);
});
