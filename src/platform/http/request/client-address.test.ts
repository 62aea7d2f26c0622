import { expect, test } from 'vitest';
import { clientAddress, networkOf } from './client-address.ts';

const request = (ip: string, forwarded?: string, ips?: string[]) => ({
  ip,
  ...(ips ? { ips } : {}),
  headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::1', '::1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:192.0.2.1', '192.0.2.1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['2001:db8::ffff:1', '2001:db8::ffff:1'],
])('the address %s is shown as %s', (ip, shown) => expect(clientAddress(request(ip))).toBe(shown));

test('the header is read only if the framework trusted it', () => {
  expect(clientAddress(request('192.0.2.1', 'nonsense'))).toBe('192.0.2.1');
  expect(clientAddress(request('192.0.2.1', 'nonsense', ['192.0.2.1']))).toBe('192.0.2.1');
  expect(clientAddress(request('nonsense', 'nonsense', ['10.0.0.1', 'nonsense']))).toBeUndefined();
  expect(clientAddress(request('192.0.2.1', 'x, 192.0.2.1', ['10.0.0.1', '192.0.2.1']))).toBeUndefined();
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['2001:0db8:0000:0000::1', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['2001:db8:1:2::', '2001:db8:1:2'],
  ['2001:db8:1:2:3:4:5::', '2001:db8:1:2'],
  ['2001:DB8:1:02::1', '2001:db8:1:2'],
  ['2001:db8:0:0:1::1', '2001:db8:0:0'],
  ['1::2:3:4:5:192.0.2.1', '1:0:2:3'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:c000:0201', '192.0.2.1'],
  ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
  ['0:0:0:0:0:ffff:192.0.2.1%eth0', '192.0.2.1'],
  ['2001:db8::ffff:c000:201', '2001:db8:0:0'],
  ['192.0.2.1:50123', '192.0.2.1'],
  ['[2001:db8:1:2::1]:50123', '2001:db8:1:2'],
  ['[2001:db8:1:2::1]', '2001:db8:1:2'],
  ['nonsense', 'nonsense'],
  ['no:address', 'no:address'],
])('the network of %s is %s', (address, network) => expect(networkOf(address)).toBe(network));
