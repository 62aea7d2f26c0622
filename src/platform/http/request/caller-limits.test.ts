import { expect, test } from 'vitest';
import type { Caller } from '../../../caller.ts';
import { callerLimits, isTooLargeFor, type CallerAt } from './caller-limits.ts';

let addresses = 0;
const at = (caller: Caller, countedAs = `192.0.2.${++addresses}`): CallerAt => ({ caller, countedAs });
const key = (keyId: string, countedAs?: string) =>
  at({ kind: 'apiKey', keyId, partyId: 'P', scopes: [] }, countedAs);
const token = (entityId: string, countedAs?: string) =>
  at({ kind: 'invoice', entityId, partyId: 'P' }, countedAs);
const mebibyte = 1024 * 1024;

function limits(perSecond = 1_000) {
  let nowMs = 0;
  const limits = callerLimits({ perSecond, perSecondOfToken: Math.min(perSecond, 20) }, () => nowMs);
  return { limits, pass: (ms: number) => void (nowMs += ms) };
}

test('an access token may send twenty requests a second, and twice as many at once', () => {
  const { limits: some, pass } = limits();
  const passed = (caller: CallerAt) =>
    Array.from({ length: 100 }, () => some.take(caller)).filter((wait) => wait === undefined).length;
  expect([passed(token('A')), passed(token('B')), passed(key('K'))]).toEqual([40, 40, 100]);
  pass(1_000);
  expect(passed(token('A'))).toBe(20);
});

test('a caller of unusable bodies waits, and learns it late; no other caller waits', () => {
  const { limits: some, pass } = limits();
  for (let times = 0; times < 4; times++) {
    expect(some.take(key('junk'))).toBeUndefined();
    some.countUnusable(key('junk'), mebibyte / 4);
  }
  expect(some.take(key('junk'))).toEqual({ waitSeconds: 1, afterMs: 1_000 });
  expect(some.take(key('other'))).toBeUndefined();
  pass(1_000);
  expect(some.take(key('junk'))).toBeUndefined();
});

test('a body that cost more than was left makes its caller wait longer', () => {
  const { limits: some } = limits();
  for (let times = 0; times < 5; times++) some.countUnusable(token('T'), mebibyte / 4);
  // After two seconds it is paid for, and nothing is left.
  expect(some.take(token('T'))).toMatchObject({ waitSeconds: 3 });
});

test('short bodies count too: a thousand may be unusable at once', () => {
  const { limits: some } = limits();
  for (let times = 0; times < 1_023; times++) some.countUnusable(key('K'), 2);
  expect(some.take(key('K'))).toBeUndefined();
  some.countUnusable(key('K'), 2);
  expect(some.take(key('K'))).toMatchObject({ waitSeconds: 1 });
});

test('tokens of many invoices share the bytes of their address, whatever they are for', () => {
  const { limits: some } = limits();
  for (let nth = 0; nth < 64; nth++) some.countUnusable(token(`T${nth}`, `2001:db8::${nth}`), mebibyte / 32);
  expect(some.take(token('another', '2001:db8::ffff'))).toMatchObject({ waitSeconds: 9, afterMs: 1_000 });
  expect(some.take(token('another', '2001:db9::1'))).toBeUndefined();
  expect(some.take(key('K', '2001:db8::1'))).toBeUndefined();
});

test('payers of one template share no limit, unless they share an address', () => {
  const { limits: some } = limits();
  const payer = (countedAs: string) =>
    at({ kind: 'invoice-template', entityId: 'T', partyId: 'P' }, countedAs);
  for (let times = 0; times < 40; times++) expect(some.take(payer('192.0.2.201'))).toBeUndefined();
  expect(some.take(payer('192.0.2.201'))).toEqual({ waitSeconds: 1, afterMs: 0 });
  expect(some.take(payer('192.0.2.202'))).toBeUndefined();
  for (let times = 0; times < 4; times++) some.countUnusable(payer('2001:db8:1::1'), mebibyte / 4);
  expect(some.take(payer('2001:db8:1::2'))).toMatchObject({ afterMs: 1_000 });
  expect(some.take(payer('2001:db8:2::1'))).toBeUndefined();
});

test('without a limit for API keys there is none for what they send', () => {
  const { limits: some } = limits(0);
  for (let times = 0; times < 100; times++) some.countUnusable(key('K'), mebibyte);
  expect(some.take(key('K'))).toBeUndefined();
});

test('only the body of an access token may not exceed 32 KiB', () => {
  const isTooLarge = ({ caller }: CallerAt) =>
    [32 * 1024, 32 * 1024 + 1].map((bytes) => isTooLargeFor(caller, bytes));
  expect(isTooLarge(token('T'))).toEqual([false, true]);
  expect(isTooLarge(key('K'))).toEqual([false, false]);
});
