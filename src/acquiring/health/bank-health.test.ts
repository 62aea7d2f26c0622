import { describe, expect, test } from 'vitest';
import type { BankResponse } from '../domain/bank-port.ts';
import { openBankHealth } from './bank-health.ts';
import type { Asked } from './observed-bank.ts';

const away: BankResponse = { outcome: 'notSent', why: 'ECONNREFUSED', noBytesSent: true };
const busy: BankResponse = { outcome: 'notSent', why: 'the bank is busy, status 503' };
const silent: BankResponse = { outcome: 'unknown', why: 'no answer within 30000 ms', isSilence: true };
const nonsense: BankResponse = { outcome: 'unknown', why: 'status 502' };
const declined: BankResponse = { outcome: 'declined', network: 'visa', code: '51' };
const neverSeen: BankResponse = { outcome: 'notFound' };

let nowMs: number;
function opened() {
  nowMs = 1_000_000;
  const changes: string[] = [];
  const health = openBankHealth(
    () => nowMs,
    ({ bankId, sinceMs, because }, is) => changes.push(`${bankId} ${is}, ${because} since ${sinceMs}`),
  );
  return {
    health,
    changes,
    said: (answer: BankResponse, asked: Asked = 'authorise') => health.hear('A', asked, answer),
  };
}

test('an unreachable bank is avoided for 10 s, and other banks are not', () => {
  const { health, said } = opened();
  expect(health.mayTry('A')).toBe(true);
  said(away);
  expect([health.mayTry('A'), health.mayTry('B')]).toEqual([false, true]);
  nowMs += 9_999;
  expect(health.mayTry('A')).toBe(false);
});

test('a bank that goes away or comes back is reported once', () => {
  const { said, changes } = opened();
  said(away);
  nowMs += 20_000;
  for (let time = 0; time < 3; time++) said(silent);
  expect(changes).toEqual(['A away, unreachable since 1000000']);
  said(declined, 'inquire');
  said(declined);
  said(declined);
  expect(changes.slice(1)).toEqual(['A back, silent since 1000000']);
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
  said(neverSeen, 'inquire');
  expect(health.mayTry('A')).toBe(true);
});

test('what was not sent to a bank says nothing about it', () => {
  const { health, said } = opened();
  said(away);
  said({ ...declined, noBytesSent: true });
  expect(health.mayTry('A')).toBe(false);
});

test('a bank that is slow, busy or refuses requests is not unreachable', () => {
  const { health, said } = opened();
  for (const answer of [silent, busy, declined]) said(answer);
  expect(health.mayTry('A')).toBe(true);
});

describe('a bank that refuses the signature', () => {
  const refused: BankResponse = { outcome: 'notSent', why: 'the signature', isUnauthorised: true };
  const refusedInquiry: BankResponse = { outcome: 'unknown', why: 'the signature', isUnauthorised: true };

  test.each<[Asked, BankResponse]>([
    ['payout', refused],
    ['authorise', refused],
    ['inquire', refusedInquiry],
  ])('is avoided from the first refusal of %s on, and reported once', (asked, answer) => {
    const { health, said, changes } = opened();
    said(answer, asked);
    nowMs += 3_600_000;
    said(refusedInquiry, 'inquire');
    expect(health.mayTry('A')).toBe(false);
    expect(health.toProbe()).toEqual(['A']);
    expect(changes).toEqual(['A away, refused since 1000000']);
  });

  test('is back once it takes a new operation, and gets one at a time after it has answered an inquiry', () => {
    const { health, said, changes } = opened();
    said(refused);
    for (const asked of ['inquire', 'resume', 'refund'] as const) said(neverSeen, asked);
    expect(health.toProbe()).toEqual([]);
    expect([health.mayTry('A'), health.mayTry('A')]).toEqual([true, false]);
    nowMs += 59_999;
    expect(health.mayTry('A')).toBe(false);
    expect(changes).toHaveLength(1);
    said(declined);
    expect([health.mayTry('A'), health.mayTry('A')]).toEqual([true, true]);
    expect(changes.slice(1)).toEqual(['A back, refused since 1000000']);
  });

  test('gets a payment ever more seldom if it takes inquiries alone, and is reported once', () => {
    const { health, said, changes } = opened();
    said(refused);
    for (const pause of [20_000, 40_000, 80_000]) {
      said(neverSeen, 'inquire');
      expect(health.mayTry('A')).toBe(true);
      said(refused);
      said(neverSeen, 'inquire');
      nowMs += pause - 1;
      expect(health.mayTry('A')).toBe(false);
      nowMs += 1;
    }
    said(refusedInquiry, 'inquire');
    expect(health.mayTry('A')).toBe(false);
    expect(health.toProbe()).toEqual(['A']);
    expect(changes).toEqual(['A away, refused since 1000000']);
  });

  test('keeps its pause when it was silent before', () => {
    const { health, said } = opened();
    for (let times = 0; times < 3; times++) said(silent);
    said(neverSeen, 'inquire');
    said(silent);
    said(refused);
    said(neverSeen, 'inquire');
    said(refused);
    said(neverSeen, 'inquire');
    nowMs += 39_999;
    expect(health.mayTry('A')).toBe(false);
    nowMs += 1;
    expect(health.mayTry('A')).toBe(true);
  });

  test('was silent before, and is no longer', () => {
    const { health, said, changes } = opened();
    for (let times = 0; times < 3; times++) said(silent);
    for (let times = 0; times < 2; times++) said(refusedInquiry, 'inquire');
    expect(changes.slice(1)).toEqual(['A away, refused since 1000000']);
    expect(health.away()).toEqual([{ bankId: 'A', sinceMs: 1_000_000, because: 'refused' }]);
  });
});

describe('a bank that does not answer', () => {
  const hourMs = 3_600_000;
  type Heard = readonly [asked: Asked, answer: BankResponse, afterMs?: number | undefined];
  const a = (answer: BankResponse, afterMs?: number): Heard => ['authorise', answer, afterMs];
  const i = (answer: BankResponse, afterMs?: number): Heard => ['inquire', answer, afterMs];

  test.each<readonly [string, readonly Heard[], boolean]>([
    ['two silences', [a(silent), a(silent)], false],
    ['three silences', [a(silent), a(silent), a(silent)], true],
    ['three silences, one an hour', [a(silent), a(silent, hourMs), a(silent, hourMs)], true],
    ['a silent payment and two silent inquiries', [a(silent), i(silent), i(silent)], true],
    ['an answer in between', [a(silent), a(silent), a(declined), a(silent), a(silent)], false],
    ['nonsense in between, which is no answer', [a(silent), a(silent), a(nonsense), a(silent)], true],
    ['a busy bank in between, which is no answer', [a(silent), a(silent), a(busy), a(silent)], true],
    ['answered inquiries in between', [a(silent), i(neverSeen), a(silent), i(neverSeen), a(silent)], true],
    [
      'silent inquiries with answered ones in between',
      [i(silent), i(neverSeen), i(silent), i(neverSeen), i(silent)],
      false,
    ],
    [
      'silent payouts',
      [
        ['payout', silent],
        ['verify', silent],
        ['payout', silent],
      ],
      true,
    ],
    ['nonsense alone', [a(nonsense), a(nonsense), a(nonsense), a(nonsense), a(nonsense)], false],
    [
      'five silences within a minute among answers',
      [
        a(silent),
        a(declined),
        a(silent, 14_000),
        a(declined),
        a(silent, 14_000),
        a(declined),
        a(silent, 14_000),
        a(declined),
        a(silent, 14_000),
      ],
      true,
    ],
    [
      'five silences in more than a minute among answers',
      [
        a(silent),
        a(declined),
        a(silent, 15_000),
        a(declined),
        a(silent, 15_000),
        a(declined),
        a(silent, 15_000),
        a(declined),
        a(silent, 15_000),
      ],
      false,
    ],
  ])('%s', (_, heard, isAway) => {
    const { health, said } = opened();
    for (const [asked, answer, afterMs = 0] of heard) {
      nowMs += afterMs;
      said(answer, asked);
    }
    expect(health.mayTry('A')).toBe(!isAway);
    expect(health.toProbe()).toEqual(isAway ? ['A'] : []);
    expect(health.away()).toEqual(isAway ? [{ bankId: 'A', sinceMs: nowMs, because: 'silent' }] : []);
  });

  function silentBank() {
    const bank = opened();
    for (let times = 0; times < 3; times++) bank.said(silent);
    return bank;
  }

  test('gets no payment however long it is silent, until it answers an inquiry', () => {
    const { health, said } = silentBank();
    nowMs += 10 * hourMs;
    expect(health.mayTry('A')).toBe(false);
    said(silent, 'inquire');
    expect(health.mayTry('A')).toBe(false);
    said(neverSeen, 'inquire');
    expect(health.toProbe()).toEqual([]);
    expect([health.mayTry('A'), health.mayTry('A')], 'one payment at a time').toEqual([true, false]);
    nowMs += 59_999;
    expect(health.mayTry('A')).toBe(false);
    nowMs += 1;
    expect(health.mayTry('A'), 'the payment was never sent').toBe(true);
    said(declined);
    expect([health.mayTry('A'), health.mayTry('A')]).toEqual([true, true]);
    expect(health.away()).toEqual([]);
  });

  test('gets a payment ever more seldom if it answers inquiries alone', () => {
    const { health, said } = silentBank();
    const since = nowMs;
    for (const pause of [20_000, 40_000, 80_000]) {
      said(neverSeen, 'inquire');
      expect(health.mayTry('A')).toBe(true);
      said(silent);
      said(neverSeen, 'inquire');
      nowMs += pause - 1;
      expect(health.mayTry('A')).toBe(false);
      nowMs += 1;
    }
    for (let times = 0; times < 20; times++) {
      said(neverSeen, 'inquire');
      said(silent);
    }
    said(neverSeen, 'inquire');
    nowMs += hourMs;
    expect(health.mayTry('A'), 'at least once an hour').toBe(true);
    expect(health.away()).toEqual([{ bankId: 'A', sinceMs: since, because: 'silent' }]);
  });

  test('is not held back for longer by the payments that were on their way', () => {
    const { health, said } = silentBank();
    for (let times = 0; times < 20; times++) said(silent);
    said(neverSeen, 'inquire');
    expect(health.mayTry('A')).toBe(true);
  });

  test('is not held back for longer by old time-outs that come after its answer', () => {
    const { health, said } = silentBank();
    const before = nowMs;
    nowMs += 30_000;
    said(neverSeen, 'inquire');
    for (let times = 0; times < 5; times++) health.hear('A', 'authorise', silent, before);
    expect(health.mayTry('A'), 'the trial').toBe(true);
    health.hear('A', 'authorise', silent, nowMs - 1);
    expect(health.toProbe()).toEqual([]);
    health.hear('A', 'authorise', silent, nowMs);
    expect(health.toProbe()).toEqual(['A']);
  });

  test('is still silent when it cannot be reached in between', () => {
    const { health, said } = silentBank();
    said(away);
    nowMs += 10_000;
    expect(health.mayTry('A')).toBe(false);
    said(neverSeen, 'inquire');
    expect(health.mayTry('A')).toBe(true);
  });

  test('is silent since it could not be reached', () => {
    const { health, said } = opened();
    const since = nowMs;
    said(away);
    nowMs += 10_000;
    for (let times = 0; times < 3; times++) said(silent);
    expect(health.away()).toEqual([{ bankId: 'A', sinceMs: since, because: 'silent' }]);
  });
});
