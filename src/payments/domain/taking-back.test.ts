// What happens when a bank refuses for good: a capture, a reversal, and the refund in the place of a reversal.
import { describe, expect, test } from 'vitest';
import type { BankResponse } from '../../acquiring/domain/bank-port.ts';
import type { Instant } from '../../clock.ts';
import type { Currency } from '../../money.ts';
import { interpret, interpretInquiry as interpretAnswer, nextAction } from './bank-actions.ts';
import { deadlineReached } from '../../acquiring/authorisation/domain/payment-failure.ts';
import {
  evolve,
  isInProgress,
  wakeOf,
  type Payment,
  type PaymentFact,
  type PaymentState,
} from './payment.ts';
import { journalOf } from './payment-postings.ts';

const now = '2026-01-19T10:00:00.000000Z' as Instant;
const rub = (minor: bigint) => ({ minor, currency: 'RUB' as Currency });
const approval = { reference: '900000000001' };
const instant: Payment = {
  invoiceId: 'I',
  id: '1',
  partyId: 'P',
  shopId: 'S',
  createdAt: now,
  amount: rub(6_000n),
  flow: { type: 'instant' },
  payer: {
    type: 'resource',
    token: 't',
    session: 's',
    card: { bin: '424242', lastDigits: '4242', mask: '424242******4242', paymentSystem: 'visa' },
    clientInfo: { fingerprint: 'f', ip: '192.0.2.1' },
    contactInfo: {},
  },
  makeRecurrent: false,
  deadline: now,
  terminal: { id: 'T', bankId: 'BANK', merchantId: 'M', descriptor: 'SHOP' },
  livemode: false,
  fees: { processing: { basisPoints: 100n, fixedMinor: 0n } },
  state: { name: 'authorising' },
};
const hold: Payment = { ...instant, flow: { type: 'hold', onExpiration: 'cancel', heldUntil: now } };
const inState = (payment: Payment, state: PaymentState): Payment => ({ ...payment, state });

const interpretInquiry = (payment: Payment, answer: BankResponse, at: Instant) =>
  interpretAnswer(payment, answer, at, '12');

const references = { rrn: '900000000002', arn: '7'.repeat(23) };
const approved: BankResponse = { outcome: 'approved', reference: '900000000002', references };
const declined: BankResponse = { outcome: 'declined', network: 'bank', code: '12' };
const notFound: BankResponse = { outcome: 'notFound' };
const pending: BankResponse = { outcome: 'pending' };
const unknown: BankResponse = { outcome: 'unknown', why: 'timeout' };

const failure = ['preauthorization_failed', 'three_ds_not_finished'] as const;
const givenUp = { type: 'payment_failed', failure } as const;
const reversing = inState(instant, { name: 'reversing', failure });
const cancelling = inState(hold, { name: 'cancelling', approval, reason: 'r' });
const refused = { type: 'payment_reversal_refused', code: '12' } as const;
const capturing = inState(hold, { name: 'capturing', approval, amount: rub(4_000n), reason: 'r' });
const captureRefused = {
  type: 'payment_cancel_started',
  reason: 'captureRefused',
  code: '12',
  captureMinor: 4_000n,
} as const;
const released = evolve(capturing, captureRefused);
const given = (minor: bigint) => ({
  type: 'payment_given_back',
  amount: rub(minor),
  rrn: '900000000002',
  arn: '7'.repeat(23),
});

describe('a refused capture', () => {
  test.each(['12', '25', '91'])('with any code (%s) releases the hold', (code) => {
    expect(interpret(capturing, { ...declined, code }, now)).toEqual({
      events: [[{ ...captureRefused, code }]],
    });
  });
  test.each([notFound, pending, unknown])('is no $outcome', (answer) => {
    expect(interpret(capturing, answer, now)).not.toHaveProperty('events');
  });
  test('is followed by a reversal, and the merchant reads why it was cancelled', () => {
    expect(nextAction(released, now)).toEqual({ do: 'reverse' });
    expect(wakeOf(released, now)).toBe(now);
    const cancelled = { type: 'payment_cancelled', reason: 'captureRefused' } as const;
    expect(interpret(released, approved, now)).toEqual({ events: [[cancelled]] });
    expect(isInProgress(evolve(released, cancelled))).toBe(false);
  });
});

describe('a refused reversal', () => {
  const unwanted = inState(instant, { name: 'cancelling', approval, reason: 'r' });
  const lostHold = inState(hold, { name: 'reversing', failure });
  const uncharged = { ...refused, isUncharged: true } as const;
  const cancelled = { type: 'payment_cancelled' } as const;

  test.each([
    ['of a charge that was given up', reversing, 'authorise', 6_000n],
    ['of a charge that was cancelled', unwanted, 'authorise', 6_000n],
    ['after a capture of a part', released, 'capture', 4_000n],
  ] as const)(
    '%s is followed by a refund if the bank says that it has the money',
    (_, payment, asked, minor) => {
      expect(interpret(payment, declined, now)).toEqual({ inquire: asked, code: '12' });
      expect(interpretInquiry(payment, approved, now)).toEqual({ events: [[refused]] });
      const next = evolve(payment, refused);
      expect(next.state).toStrictEqual({ ...payment.state, isRefunding: true });
      expect(nextAction(next, now)).toEqual({ do: 'undo', amount: rub(minor) });
      expect(() => evolve(next, refused)).toThrow(/cannot be refused/);
    },
  );
  test.each([
    ['a charge that was declined', reversing, [declined], givenUp],
    ['a hold that was given up', lostHold, [approved, declined], givenUp],
    ['a hold without a capture', cancelling, [notFound, declined], cancelled],
    [
      'a hold with a refused capture',
      released,
      [notFound, declined],
      { ...cancelled, reason: 'captureRefused' },
    ],
  ] as const)('of %s is followed by no refund, and ends the payment', (_, payment, answers, end) => {
    for (const answer of answers)
      expect(interpretInquiry(payment, answer, now)).toEqual({ events: [[uncharged, end]] });
    expect(evolve(payment, uncharged).state).toStrictEqual(payment.state);
  });
  test.each([
    ['a charge that the bank does not know', reversing, [notFound, pending, unknown]],
    ['a cancelled charge that the bank denies', unwanted, [notFound, declined, pending, unknown]],
    ['a hold that the bank does not know', lostHold, [notFound, pending, unknown]],
    ['a hold whose capture is unknown', cancelling, [pending, unknown]],
  ] as const)('of %s stays open', (_, payment, answers) => {
    for (const answer of answers) expect(interpretInquiry(payment, answer, now)).not.toHaveProperty('events');
  });
  test.each([pending, unknown, notFound])('is no $outcome', (answer) => {
    for (const payment of [reversing, cancelling])
      expect(interpret(payment, answer, now)).not.toHaveProperty('events');
  });
  test('that is approved ends the payment', () => {
    expect(interpret(reversing, approved, now)).toEqual({ events: [[givenUp]] });
    expect(interpret(cancelling, approved, now)).toEqual({ events: [[{ type: 'payment_cancelled' }]] });
    const lost = inState(instant, { name: 'reversing', failure: deadlineReached, isRefunding: true });
    expect(interpret(lost, approved, now)).toMatchObject({ events: [[{}, { declineClass: 'technical' }]] });
  });
});

describe('the refund in the place of a reversal', () => {
  const undoing = {
    charge: evolve(reversing, refused),
    hold: evolve(cancelling, refused),
    part: evolve(released, refused),
    lostHold: evolve(inState(hold, { name: 'reversing', failure }), refused),
  };
  const cancelled = { type: 'payment_cancelled', reason: 'captureRefused' };

  test('ends the payment as the reversal would have', () => {
    expect(interpret(undoing.charge, approved, now)).toEqual({ events: [[given(6_000n), givenUp]] });
    expect(interpret(undoing.part, approved, now)).toEqual({ events: [[given(4_000n), cancelled]] });
  });
  test.each([pending, unknown, notFound])('waits while the bank answers $outcome', (answer) => {
    for (const payment of Object.values(undoing))
      expect(interpret(payment, answer, now)).not.toHaveProperty('events');
  });
  test('may be refused too, and then the bank is asked what stands', () => {
    expect(interpret(undoing.charge, declined, now)).toEqual({ inquire: 'authorise', code: '12' });
    expect(interpret(undoing.part, declined, now)).toEqual({ inquire: 'capture', code: '12' });
    const unwanted = evolve(inState(instant, { name: 'cancelling', approval, reason: 'r' }), refused);
    expect(interpret(unwanted, declined, now)).toEqual({ inquire: 'authorise', code: '12' });
    expect(interpretInquiry(unwanted, approved, now)).toEqual({
      events: [[{ type: 'payment_captured', amount: rub(6_000n) }]],
    });
    for (const answer of [declined, notFound, pending, unknown])
      expect(interpretInquiry(unwanted, answer, now)).not.toHaveProperty('events');
    // An earlier build has sent the refund without asking. No capture was sent, so there is only a hold, which expires.
    expect(interpret(undoing.hold, declined, now)).toEqual({ inquire: 'capture', code: '12' });
    expect(interpretInquiry(undoing.hold, notFound, now)).toEqual({
      events: [[{ type: 'payment_cancelled' }]],
    });
  });
  test('a charge that stands is captured, and one that was declined fails', () => {
    expect(interpretInquiry(undoing.charge, approved, now)).toEqual({
      events: [
        [{ type: 'payment_processed', approval: { reference: '900000000002', references } }],
        [{ type: 'payment_captured', amount: rub(6_000n) }],
      ],
    });
    expect(interpretInquiry(undoing.charge, declined, now)).toEqual({ events: [[givenUp]] });
    for (const answer of [notFound, pending, unknown])
      expect(interpretInquiry(undoing.charge, answer, now)).not.toHaveProperty('events');
  });
  test('a capture that stands counts, and without one the hold expires', () => {
    const captured = { type: 'payment_captured', amount: rub(4_000n) };
    expect(interpretInquiry(undoing.part, approved, now)).toEqual({ events: [[captured]] });
    for (const answer of [declined, notFound])
      expect(interpretInquiry(undoing.part, answer, now)).toEqual({ events: [[cancelled]] });
    for (const answer of [pending, unknown])
      expect(interpretInquiry(undoing.part, answer, now)).not.toHaveProperty('events');
    for (const answer of [approved, declined])
      expect(interpretInquiry(undoing.lostHold, answer, now)).toEqual({ events: [[givenUp]] });
  });
  test('nothing is asked about a payment in another state', () => {
    expect(interpretInquiry(capturing, approved, now)).toEqual({ events: [] });
  });
  test('only follows a refused reversal', () => {
    const back: PaymentFact = { type: 'payment_given_back', amount: rub(1n) };
    for (const payment of [reversing, cancelling, inState(instant, { name: 'failed', failure })])
      expect(() => evolve(payment, back)).toThrow(/no charge to undo/);
    expect(evolve(undoing.part, back)).toEqual(undoing.part);
  });
  test('is posted with its charge, which makes nothing', () => {
    const lines = (payment: Payment, ...facts: PaymentFact[]) =>
      journalOf(payment, facts)?.entries.map((entry) => [
        entry.phase,
        entry.step,
        'minor' in entry && entry.minor,
      ]);
    const back = { type: 'payment_given_back', amount: rub(4_000n) } as const;
    const pair = [
      ['single', 'undone_charge', 4_000n],
      ['single', 'undone_refund', 4_000n],
    ];
    expect(lines(undoing.charge, back, givenUp)).toEqual(pair);
    expect(lines(undoing.part, back, { type: 'payment_cancelled' })).toEqual([
      ['void', 'hold', false],
      ...pair,
    ]);
    const [charge, refund] = journalOf(undoing.charge, [back])?.entries ?? [];
    expect(charge).toMatchObject({ debit: refund && 'credit' in refund && refund.credit });
    expect(charge).toMatchObject({ credit: refund && 'debit' in refund && refund.debit });
  });
  test('a charge that stands is posted as a sale', () => {
    const taken = [
      { type: 'payment_processed', approval },
      { type: 'payment_captured', amount: rub(6_000n) },
    ] as const;
    expect(journalOf(undoing.charge, taken)?.entries).toMatchObject([
      { phase: 'single', step: 'sale', minor: 6_000n },
      { step: 'fee', minor: 60n },
    ]);
    expect(
      journalOf(undoing.part, [{ type: 'payment_captured', amount: rub(4_000n) }])?.entries,
    ).toMatchObject([
      { phase: 'post', step: 'hold', minor: 4_000n },
      { step: 'fee', minor: 40n },
    ]);
  });
});

describe('a late approval', () => {
  const failed = inState(instant, { name: 'failed', failure, declineClass: 'technical' });
  const late = (payment: Payment) =>
    evolve(inState(payment, failed.state), { type: 'payment_approved_late' });
  test('is undone: a charge by a refund, a hold by a reversal', () => {
    expect(nextAction(failed, now)).toEqual({ do: 'nothing' });
    expect(wakeOf(failed, now)).toBeNull();
    expect(nextAction(late(instant), now)).toEqual({ do: 'undoLate', amount: rub(6_000n) });
    expect(nextAction(late(hold), now)).toEqual({ do: 'undoLate' });
    expect(wakeOf(late(hold), now)).toBe(now);
    expect(isInProgress(late(hold))).toBe(false);
  });
  test('is undone once, and the payment stays failed', () => {
    expect(interpret(late(instant), approved, now)).toEqual({ events: [[given(6_000n)]] });
    expect(interpret(late(hold), approved, now)).toEqual({ events: [[{ type: 'payment_given_back' }]] });
    expect(evolve(late(hold), { type: 'payment_given_back' }).state).toStrictEqual(failed.state);
    expect(interpret(failed, approved, now)).toEqual({ events: [] });
  });
  test.each([declined, notFound, pending, unknown])(
    'stays open while the bank answers $outcome',
    (answer) => {
      expect(interpret(late(instant), answer, now)).not.toHaveProperty('events');
    },
  );
  test('is posted with its refund, and a released hold is not posted', () => {
    const steps = (payment: Payment, fact: PaymentFact) =>
      journalOf(payment, [fact])?.entries.map(({ step }) => step);
    expect(steps(late(instant), { type: 'payment_given_back', amount: rub(6_000n) })).toEqual([
      'undone_charge',
      'undone_refund',
    ]);
    expect(steps(late(hold), { type: 'payment_given_back' })).toBeUndefined();
  });
});

describe('what a bank tells later changes the state:', () => {
  const returned = (minor: bigint) =>
    ({
      type: 'refund_returned',
      refundId: '100',
      amount: rub(minor),
      feeMinor: 0n,
      refundsMade: 2,
      failure,
    }) as const;
  const taken = { approval, amount: rub(6_000n), refundedMinor: 50n, refundsMade: 3 };

  test('a returned refund can be refunded again', () => {
    const refunded = inState(instant, { name: 'refunded', approval, amount: rub(6_000n) });
    expect(evolve(refunded, returned(1_000n)).state).toStrictEqual({
      name: 'captured',
      approval,
      amount: rub(6_000n),
      refundedMinor: 5_000n,
      refundsMade: 2,
    });
    const captured = inState(instant, { name: 'captured', ...taken });
    expect(evolve(captured, returned(50n)).state).toStrictEqual({
      name: 'captured',
      ...taken,
      refundedMinor: 0n,
    });
    expect(evolve(captured, returned(20n)).state).toMatchObject({ refundedMinor: 30n });
    const refund = { id: '102', minor: 5n, feeMinor: 0n };
    expect(
      evolve(inState(instant, { name: 'refunding', ...taken, refund }), returned(20n)).state,
    ).toStrictEqual({
      name: 'refunding',
      ...taken,
      refundedMinor: 30n,
      refund,
    });
    expect(() => evolve(captured, returned(51n))).toThrow(/More came back/);
  });
  test('a released hold is marked, a cancelled one is not', () => {
    const held = inState(hold, { name: 'held', approval });
    const ended = { type: 'payment_cancel_started', reason: 'holdEnded' } as const;
    expect(evolve(held, { ...ended, isReleased: true }).state).toStrictEqual({
      name: 'cancelling',
      approval,
      reason: 'holdEnded',
      isReleased: true,
    });
    expect(evolve(held, ended).state).not.toHaveProperty('isReleased');
  });
  test('a late approval keeps why the payment failed, and is recorded once', () => {
    const failed = evolve(reversing, { ...givenUp, declineClass: 'technical' });
    expect(failed.state).toStrictEqual({ name: 'failed', failure, declineClass: 'technical' });
    const late = evolve(failed, { type: 'payment_approved_late' });
    expect(late.state).toStrictEqual({ ...failed.state, isUndoing: true });
    expect(() => evolve(late, { type: 'payment_approved_late' })).toThrow(/cannot be approved late/);
  });
});
