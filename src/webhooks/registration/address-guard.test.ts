// Live mode refuses every form of an internal address, both in the URL and at connect time.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitMs } from '../../../tools/tests/waits.ts';
import { guardedLookup, isOutside, systemDnsLookup, urlProblem, type DnsLookup } from './address-guard.ts';
import { openSender } from '../delivery/http-sender.ts';

const hostile = [
  'http://shop.example/',
  'https://localhost/',
  'https://localhost./',
  'https://localhost../',
  'https://127.0.0.1../',
  'https://LOCALHOST/',
  'https://api.localhost/',
  'https://metadata.google.internal/computeMetadata/v1/',
  'https://printer.local/',
  'https://intranet/',
  'https://127.0.0.1/',
  'https://127.1/',
  'https://127.000.000.001/',
  'https://0177.0.0.1/',
  'https://0x7f.0.0.1/',
  'https://0x7f000001/',
  'https://2130706433/',
  'https://017700000001/',
  'https://１２７.０.０.１/',
  'https://①②⑦.⓪.⓪.①/',
  'https://127。0。0。1/',
  'https://%31%32%37.0.0.1/',
  'https://0/',
  'https://0.0.0.0/',
  'https://10.0.0.1/',
  'https://172.16.0.1/',
  'https://192.168.1.1/',
  'https://100.64.0.1/',
  'https://169.254.169.254/latest/meta-data/',
  'https://2852039166/latest/meta-data/',
  'https://198.18.0.1/',
  'https://224.0.0.1/',
  'https://255.255.255.255/',
  'https://[::]/',
  'https://[::1]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:10.0.0.1]/',
  'https://[::ffff:a00:1]/',
  'https://[::127.0.0.1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[64:ff9b:1::1]/',
  'https://[2002:7f00:1::]/',
  'https://[2001::1]/',
  'https://[2001:db8::1]/',
  'https://[fc00::1]/',
  'https://[fd12:3456::1]/',
  'https://[fe80::1]/',
  'https://[fec0::1]/',
  'https://[ff02::1]/',
  'https://8.8.8.8/',
  'https://user@shop.example/',
  'https://user:secret@shop.example/',
  'https://@shop.example/',
  'https://shop.example@127.0.0.1/',
  'https://shop.example#fragment',
  'https://shop.example/#',
  'https://shop.example:22/',
  'https://shop.example:25/',
  'https://shop.example:80/',
  'https://shop.example\\@127.0.0.1/',
  'https:\\\\127.0.0.1\\',
  'https://shop.exa\tmple/',
  ' https://shop.example/',
  'https://shop.example/\n',
  'https:///shop.example/',
  'https:shop.example',
  '//shop.example/',
  'ftp://shop.example/',
  'file:///etc/passwd',
  'gopher://shop.example/',
  'javascript:alert(1)',
  'data:text/plain,x',
  'unix:/var/run/docker.sock',
  '',
  'x',
  `https://shop.example/${'x'.repeat(1_000)}`,
];

const harmless = [
  'https://shop.example/webhooks',
  'https://shop.example/webhooks?key=1&x=%20',
  'https://SHOP.example.',
  'https://shop.example:443/',
  'https://shop.example:8443/',
  'https://xn--e1afmkfd.xn--p1ai/',
  'https://магазин.рф/уведомления',
];

describe('a webhook URL in live mode', () => {
  test.each(hostile)('%j is refused', (url) =>
    expect(urlProblem(url, 'outside')).toEqual(expect.any(String)),
  );
  test.each(harmless)('%j is accepted', (url) => expect(urlProblem(url, 'outside')).toBeUndefined());
});

describe('a webhook URL in a sandbox', () => {
  test.each(['http://localhost:3000/webhooks', 'http://127.0.0.1:3000/', 'http://[::1]:3000/', ...harmless])(
    '%j is accepted',
    (url) => expect(urlProblem(url, 'anywhere')).toBeUndefined(),
  );
  test.each([
    '',
    'x',
    'ftp://shop.example/',
    'http://user@localhost/',
    'http://localhost/#x',
    'http://local host/',
  ])('%j is refused', (url) => expect(urlProblem(url, 'anywhere')).toEqual(expect.any(String)));
});

test.each([
  ['8.8.8.8', true],
  ['1.1.1.1', true],
  ['172.15.255.255', true],
  ['172.32.0.0', true],
  ['100.128.0.0', true],
  ['2606:4700::1111', true],
  ['2a00:1450::1', true],
  ['172.31.255.255', false],
  ['100.127.255.255', false],
  ['192.0.0.1', false],
  ['192.88.99.1', false],
  ['203.0.113.1', false],
  ['240.0.0.1', false],
  ['::ffff:8.8.8.8', false],
  ['64:ff9b::808:808', false],
  ['100::1', false],
  ['3fff::1', false],
  ['4000::1', false],
  ['shop.example', false],
  ['', false],
])('%s is a public address: %s', (address, expected) => expect(isOutside(address)).toBe(expected));

describe('a connection in live mode', () => {
  let inside: Server;
  let port: number;
  let reached = 0;
  beforeAll(async () => {
    inside = createServer((_request, response) => {
      reached += 1;
      response.end();
    }).listen(0, '127.0.0.1');
    await once(inside, 'listening');
    port = (inside.address() as AddressInfo).port;
  });
  afterAll(() => new Promise((resolve) => inside.close(resolve)));

  async function post(url: string, resolve: DnsLookup, rule: 'outside' | 'anywhere' = 'outside') {
    const sender = openSender({ rule, resolve, timeoutMs: waitMs });
    try {
      return await sender.post({ url: new URL(url), headers: {}, body: Buffer.from('{}') });
    } finally {
      await sender.stop();
    }
  }
  const leadingTo =
    (...addresses: string[]): DnsLookup =>
    (_hostname, done) =>
      done(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );

  test.each([
    ['127.0.0.1'],
    ['169.254.169.254'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['168.63.129.16'],
    ['192.175.48.1'],
    ['2620:4f:8000::1'],
    ['8.8.8.8', '10.0.0.1'],
    ['2606:4700::1111', 'fd00::1'],
  ])('to a name that resolves to %s is refused', async (...addresses) => {
    const response = await post(`https://shop.example:${port}/`, leadingTo(...addresses));
    expect(response).toEqual({ kind: 'nothing', why: 'ADDRESS_REFUSED' });
  });

  test.each(['127.0.0.1', '127.1', '2130706433', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0', 'localhost'])(
    'to %s is refused',
    async (host) => {
      const response = await post(`https://${host}:${port}/`, systemDnsLookup);
      expect(response).toEqual({ kind: 'nothing', why: 'ADDRESS_REFUSED' });
    },
  );

  test('is refused when a public name now resolves to an internal address', () => {
    const answers = [['8.8.8.8'], ['127.0.0.1']];
    const lookup = guardedLookup('outside', (hostname, done) =>
      leadingTo(...(answers.shift() ?? []))(hostname, done),
    );
    const seen: unknown[] = [];
    for (let times = 0; times < 2; times++)
      lookup('shop.example', {}, (error, address) => seen.push(error?.message ?? address));
    expect(seen).toEqual(['8.8.8.8', 'the name has an address that is not public']);
  });

  test('is refused without https', async () => {
    const response = await post(`http://shop.example:${port}/`, leadingTo('8.8.8.8'));
    expect(response).toEqual({ kind: 'nothing', why: 'ADDRESS_REFUSED' });
  });

  test('uses the checked address, with a single DNS lookup', async () => {
    let looks = 0;
    const resolve: DnsLookup = (hostname, done) => {
      looks += 1;
      leadingTo('127.0.0.1')(hostname, done);
    };
    const before = reached;
    expect(await post(`http://shop.example:${port}/`, resolve, 'anywhere')).toMatchObject({ status: 200 });
    expect([looks, reached - before]).toEqual([1, 1]);
  });

  test('reaches the internal receiver only once, when allowed', () => expect(reached).toBe(1));
});
