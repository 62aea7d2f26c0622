import { expect, test } from 'vitest';
import type { BankResponse } from './domain/bank-port.ts';
import { openBankHealth } from './bank-health.ts';

const away: BankResponse = { outcome: 'notSent', why: 'ECONNREFUSED', noBytesSent: true };
const busy: BankResponse = { outcome: 'notSent', why: 'the bank is busy, status 503' };
const silent: BankResponse = { outcome: 'unknown', why: 'no answer within 30000 ms' };
const declined: BankResponse = { outcome: 'declined', network: 'visa', code: '51' };
const neverSeen: BankResponse = { outcome: 'notFound' };

let nowMs: number;
function opened() {
  nowMs = 1_000_000;
  const health = openBankHealth(() => nowMs);
  return { health, said: (answer: BankResponse) => health.hear('A', answer) };
}

test('an unreachable bank is avoided for 10 s, and other banks are not', () => {
  const { health, said } = opened();
  expect(health.mayTry('A')).toBe(true);
  said(away);
  expect([health.mayTry('A'), health.mayTry('B')]).toEqual([false, true]);
  nowMs += 9_999;
  expect(health.mayTry('A')).toBe(false);
});

test('after 10 s one request probes the bank while the others still avoid it', () => {
  const { health, said } = opened();
  said(away);
  nowMs += 10_000;
  expect([health.mayTry('A'), health.mayTry('A')]).toEqual([true, false]);
  said(away);
  nowMs += 10_000;
  expect(health.mayTry('A')).toBe(true);
  said(declined);
  expect([health.mayTry('A'), health.mayTry('A')]).toEqual([true, true]);
});

test('a probe without a result does not keep the bank unreachable', () => {
  const { health, said } = opened();
  said(away);
  nowMs += 10_000;
  health.mayTry('A');
  nowMs += 10_000;
  expect(health.mayTry('A')).toBe(true);
});

test('only a response with a proven outcome marks the bank as back', () => {
  const { health, said } = opened();
  said(away);
  said(silent);
  said(busy);
  expect(health.mayTry('A')).toBe(false);
  said(neverSeen);
  expect(health.mayTry('A')).toBe(true);
});

test('a bank that is slow, busy or refuses requests is not unreachable', () => {
  const { health, said } = opened();
  for (const answer of [silent, busy, declined]) said(answer);
  expect(health.mayTry('A')).toBe(true);
});
