import { expect, test } from 'vitest';
import { watchForwarding } from './forwarding.ts';

function watch(livemode: boolean, trustedProxies: string[] = []) {
  let nowMs = 0;
  const warned: unknown[] = [];
  const log = { warn: (...line: unknown[]) => void warned.push(line) } as never;
  const forwarding = watchForwarding({ trustedProxies, livemode, log, nowMs: () => nowMs });
  return { ...forwarding, warned, pass: (ms: number) => void (nowMs += ms) };
}

const from = (remoteAddress: string, headers: Record<string, string> = {}) => ({
  ip: remoteAddress,
  headers,
  raw: { socket: { remoteAddress } },
});
const forwarded = (peer: string, payers: string) => from(peer, { 'x-forwarded-for': payers });

test('an undeclared proxy is warned about once a minute, and to operators for ten', () => {
  const one = watch(true);
  one.observe(from('10.0.0.7'));
  expect([one.warned, one.warnings()]).toEqual([[], []]);
  for (let times = 0; times < 100; times++) one.observe(forwarded('10.0.0.7', '203.0.113.9'));
  expect(one.warned).toEqual([[{ peer: '10.0.0.7' }, expect.stringContaining('TRUSTED_PROXIES')]]);
  expect(one.warnings()).toEqual([expect.stringContaining('TRUSTED_PROXIES')]);
  one.pass(60_000);
  one.observe(from('10.0.0.7', { 'x-real-ip': '203.0.113.9' }));
  expect(one.warned).toHaveLength(2);
  one.pass(600_000);
  expect(one.warnings()).toEqual([]);
});

test.each(['x-forwarded-for', 'forwarded', 'x-real-ip'])(
  '%s warns from any peer that is not declared',
  (name) => {
    for (const peer of ['10.0.0.7', '198.51.100.1', '2001:db8::7']) {
      const one = watch(true, ['10.0.1.0/24']);
      one.observe(from(peer, { [name]: '203.0.113.9' }));
      expect(one.warned).toEqual([[{ peer }, expect.stringContaining('TRUSTED_PROXIES')]]);
      expect(one.warnings()).toHaveLength(1);
    }
  },
);

test('a declared proxy is not', () => {
  const one = watch(true, ['10.0.0.0/24']);
  one.observe(forwarded('10.0.0.7', '203.0.113.9'));
  expect([one.warned, one.warnings()]).toEqual([[], []]);
});

test('a declared proxy that names the payer in Forwarded alone is warned about, and not believed', () => {
  const one = watch(true, ['10.0.0.0/24']);
  const request = from('10.0.0.7', { forwarded: 'for=192.0.2.60' });
  one.observe(request);
  one.observe(request);
  const asked = expect.stringContaining('X-Forwarded-For');
  expect([one.warned, one.warnings()]).toEqual([[[{ peer: '10.0.0.7' }, asked]], [asked]]);
  expect(one.countedAs(request)).toBe('10.0.0.7');
});

test.each(['x-forwarded-for', 'x-real-ip'])(
  'Forwarded from a caller behind a declared proxy that sends %s is not the proxy’s',
  (name) => {
    const one = watch(true, ['10.0.0.0/24']);
    one.observe(from('10.0.0.7', { [name]: '203.0.113.9', forwarded: 'for=192.0.2.60' }));
    expect([one.warned, one.warnings()]).toEqual([[], []]);
  },
);

test('in live mode payers behind an undeclared proxy of a private network are counted apart', () => {
  const { countedAs } = watch(true);
  expect(countedAs(forwarded('10.0.0.7', '203.0.113.9'))).toBe('203.0.113.9');
  expect(countedAs(forwarded('::ffff:10.0.0.7', 'made up, 203.0.113.10'))).toBe('203.0.113.10');
  expect(countedAs(from('10.0.0.7'))).toBe('10.0.0.7');
});

test.each([
  ['x-real-ip', '203.0.113.9', '203.0.113.9'],
  ['forwarded', 'for=192.0.2.60;proto=https;by=10.0.0.7', '192.0.2.60'],
  ['forwarded', 'for=made-up, for=192.0.2.60:47011', '192.0.2.60'],
  ['forwarded', 'proto=https;For="[2001:db8:cafe::17]:4711"', '2001:db8:cafe::17'],
  ['forwarded', 'by=10.0.0.7', '10.0.0.7'],
  ['x-forwarded-for', '203.0.113.9:51234', '203.0.113.9'],
  ['x-forwarded-for', '[2001:db8:cafe::17]:4711', '2001:db8:cafe::17'],
  ['x-forwarded-for', '203.0.113.9, 4242424242424242', '10.0.0.7'],
  ['x-forwarded-for', 'fe80::1%4242424242424242', 'fe80::1'],
  ['x-real-ip', 'another each time', '10.0.0.7'],
])('also by %s: %s', (name, value, expected) => {
  expect(watch(true).countedAs(from('10.0.0.7', { [name]: value }))).toBe(expected);
});

test('of several headers the list that each proxy extends is believed', () => {
  const headers = {
    'x-forwarded-for': '203.0.113.9',
    forwarded: 'for=192.0.2.60',
    'x-real-ip': '192.0.2.61',
  };
  expect(watch(true).countedAs(from('10.0.0.7', headers))).toBe('203.0.113.9');
});

test('a payer on the internet cannot choose by what it is counted, and in a sandbox none can', () => {
  expect(watch(true).countedAs(forwarded('198.51.100.1', '203.0.113.9'))).toBe('198.51.100.1');
  expect(watch(false).countedAs(forwarded('10.0.0.7', '203.0.113.9'))).toBe('10.0.0.7');
});
