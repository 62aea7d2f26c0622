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

test('a bank is passed over for ten seconds when nothing could be sent, and others are not', () => {
  const { health, said } = opened();
  expect(health.mayTry('A')).toBe(true);
  said(away);
  expect([health.mayTry('A'), health.mayTry('B')]).toEqual([false, true]);
  nowMs += 9_999;
  expect(health.mayTry('A')).toBe(false);
});

test('after that one tries, and the others wait for what becomes of it', () => {
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

test('one who tried and was never heard of again does not keep it away', () => {
  const { health, said } = opened();
  said(away);
  nowMs += 10_000;
  health.mayTry('A');
  nowMs += 10_000;
  expect(health.mayTry('A')).toBe(true);
});

test('an answer to an inquiry shows that it is back; what proves nothing does not', () => {
  const { health, said } = opened();
  said(away);
  said(silent);
  said(busy);
  expect(health.mayTry('A')).toBe(false);
  said(neverSeen);
  expect(health.mayTry('A')).toBe(true);
});

test('a bank that is slow, busy or refuses is not away', () => {
  const { health, said } = opened();
  for (const answer of [silent, busy, declined]) said(answer);
  expect(health.mayTry('A')).toBe(true);
});
