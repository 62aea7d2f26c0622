import { describe, expect, test } from 'vitest';
import { laterBy, parseInstant, type Instant } from '../clock.ts';
import type { Currency } from '../money.ts';
import { abilitiesOfVersion1 } from './domain/abilities.ts';
import type { BankOperation, BankResponse, IsTooLate } from './domain/bank-port.ts';
import { contentOf } from './exchange-log/domain/exchange.ts';
import { digestOf } from './exchange-log/store/exchange-rows.ts';
import { leaseMs } from '../platform/jobs/job-table.ts';
import { sendOrInquire, whyOnlyInquired, type Sending } from './send-or-inquire.ts';

const begun = parseInstant('2026-01-19T10:00:00Z') as Instant;
const day = 24 * 60 * 60_000;
const approved: BankResponse = { outcome: 'approved', reference: '900000000001' };
const tooLate: BankResponse = { outcome: 'notSent', why: 'too late', turnedAway: true };
const terminal = { id: 'T', bankId: 'BANK', merchantId: 'M', descriptor: 'SHOP' };
const rub = (minor: bigint) => ({ minor, currency: 'RUB' as Currency });
const payout: BankOperation = {
  kind: 'payout',
  operationId: 'W.p',
  terminal,
  amount: rub(1_000n),
  card: { token: 'v1.token' },
};
const refund: BankOperation = {
  kind: 'refund',
  operationId: 'I.1.100',
  originalOperationId: 'I.1.a',
  terminal,
  amount: rub(1_000n),
};

type World = Partial<Sending<'refused'>> & {
  readonly inquired?: BankResponse;
  readonly repeatableMs?: number;
  /** What the log has; by default the operation itself. */
  readonly logged?: BankOperation | 'nothing';
  /** When it is decided, and how long the node then stands still before the first byte. */
  readonly now?: Instant;
  readonly stillMs?: number;
};

/** What was asked of the bank, and the result. */
async function outcomeOf(world: World) {
  const { inquired, repeatableMs = 'always' as never, logged, now = begun, stillMs = 0, ...more } = world;
  let shown = now;
  const abilities = { ...abilitiesOfVersion1, repeatableMs };
  const asked: string[] = [];
  const heard = (what: string, answer: BankResponse) => {
    asked.push(what);
    return Promise.resolve(answer);
  };
  const operation = more.operation ?? payout;
  const known = logged ?? operation;
  const row = known === 'nothing' ? [] : [rowOf(known)];
  const result = await sendOrInquire<'refused'>({
    db: { run: () => Promise.resolve(row as never) },
    bank: {
      send(_operation, _mayStill, isTooLate: IsTooLate = () => false) {
        shown = laterBy(shown, stillMs);
        return isTooLate() ? heard('kept', tooLate) : heard('sent', approved);
      },
      inquire: () => heard('inquired', inquired ?? approved),
      resume: () => Promise.resolve(approved),
      abilities: () => Promise.resolve(abilities),
      knownAbilities: () => abilities,
      waiting: () => 0,
      stopWaiting: () => {},
      updates: (last) => Promise.resolve({ updates: [], unreadable: [], last, hasMore: false }),
      stop: () => Promise.resolve(),
    },
    operation,
    attempt: 2,
    clock: { now: () => shown },
    ...more,
  });
  return { asked: asked.join(', '), result };
}

function rowOf(operation: BankOperation) {
  const digest = Buffer.from(digestOf(contentOf(operation)), 'hex');
  const keys = { aggregate_id: 'W', operation: 'p', wire_keys: { id: 'W.p', merchant: 'M' } };
  return { ...keys, digest, begun_at: begun, amount_minor: null, currency: null };
}

const notFound: BankResponse = { outcome: 'notFound' };

test('an operation that no node can have sent is sent without a query, however late', async () => {
  const late = laterBy(begun, 9 * day);
  expect((await outcomeOf({ attempt: 1 })).asked).toBe('sent');
  expect((await outcomeOf({ attempt: 1, operation: refund, repeatableMs: day, now: late })).asked).toBe(
    'sent',
  );
  expect((await outcomeOf({ attempt: 1, inquiresFirst: true, inquired: notFound })).asked).toBe(
    'inquired, sent',
  );
});

test('one that may have been sent is queried, and sent only if the bank never received it', async () => {
  expect(await outcomeOf({})).toEqual({ asked: 'inquired', result: approved });
  expect(await outcomeOf({ inquired: notFound })).toEqual({ asked: 'inquired, sent', result: approved });
  const pending: BankResponse = { outcome: 'pending' };
  expect(await outcomeOf({ inquired: pending })).toEqual({ asked: 'inquired', result: pending });
});

test('a reason not to send it is asked for only once the bank never received it', async () => {
  const refuse = () => 'refused' as const;
  expect((await outcomeOf({ refuse })).result).toEqual(approved);
  expect(await outcomeOf({ refuse, inquired: notFound })).toEqual({ asked: 'inquired', result: 'refused' });
});

test('a follow-up that may have been sent is sent again, because the bank recognises it', async () => {
  expect((await outcomeOf({ operation: refund })).asked).toBe('sent');
  expect(
    (await outcomeOf({ operation: refund, repeatableMs: day, now: laterBy(begun, day / 2) })).asked,
  ).toBe('sent');
});

test.each([payout, refund])('beyond the memory of the bank, a $kind is only queried', async (operation) => {
  const late = { operation, repeatableMs: day, now: laterBy(begun, day) };
  expect(await outcomeOf(late)).toEqual({ asked: 'inquired', result: approved });
  expect(await outcomeOf({ ...late, inquired: notFound })).toEqual({
    asked: 'inquired',
    result: { outcome: 'unknown', why: whyOnlyInquired },
  });
});

test.each([payout, refund])(
  'a $kind of unknown age is sent again only to a bank that forgets nothing',
  async (operation) => {
    const unlogged = { operation, logged: 'nothing', inquired: notFound } as const;
    expect((await outcomeOf({ ...unlogged, repeatableMs: day })).asked).toBe('inquired');
    expect((await outcomeOf(unlogged)).asked).toMatch(/sent$/);
  },
);

test.each([payout, refund])(
  'a $kind that differs from the one begun under its ID is never sent',
  async (operation) => {
    const logged = { ...operation, amount: rub(999n) };
    expect((await outcomeOf({ operation, logged, inquired: notFound })).asked).toBe('inquired');
  },
);

describe('a node that stands still before the first byte', () => {
  const minute = 60_000;

  test.each([payout, refund])(
    'sends a $kind again only while the bank remembers the first',
    async (operation) => {
      const repeated = { operation, inquired: notFound, repeatableMs: day, now: laterBy(begun, day / 2) };
      expect((await outcomeOf({ ...repeated, stillMs: day / 2 - 61 * minute })).asked).toMatch(/sent$/);
      expect((await outcomeOf({ ...repeated, stillMs: day / 2 - 60 * minute })).asked).toMatch(/kept$/);
      expect(
        (await outcomeOf({ ...repeated, repeatableMs: 'always' as never, stillMs: 9 * day })).asked,
      ).toMatch(/sent$/);
    },
  );

  test('sends a first message only while no other node can have sent it, or the bank would remember that', async () => {
    const first = { operation: refund, attempt: 1, now: laterBy(begun, 9 * day) };
    const sentAfter = async (repeatableMs: number, stillMs: number) =>
      (await outcomeOf({ ...first, repeatableMs, stillMs })).asked;
    expect(await sentAfter(0, leaseMs - 1)).toBe('sent');
    expect(await sentAfter(10 * minute, leaseMs)).toBe('sent');
    expect(await sentAfter(10 * minute, 9 * minute)).toBe('kept');
  });

  test('tells it to a caller that sends in its own way', async () => {
    const told: boolean[] = [];
    const send = (isTooLate: IsTooLate) => {
      told.push(isTooLate());
      return Promise.resolve(approved);
    };
    await outcomeOf({ send, attempt: 1 });
    await outcomeOf({ send, inquired: notFound });
    expect(told).toEqual([false, false]);
  });
});
