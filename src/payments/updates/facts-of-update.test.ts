// What each update means in each state: the table of the decision, row by row.
import { describe, expect, test } from 'vitest';
import type { OperationUpdate } from '../../acquiring/domain/bank-updates.ts';
import { laterBy, type Instant } from '../../clock.ts';
import type { Currency } from '../../money.ts';
import { evolve, type Payment, type PaymentFact, type PaymentTerms } from '../domain/payment.ts';
import { journalOf } from '../domain/payment-postings.ts';
import { factsOf } from './facts-of-update.ts';

const now = '2026-01-19T10:00:00.000000Z' as Instant;
const rub = (minor: bigint) => ({ minor, currency: 'RUB' as Currency });
const terms: PaymentTerms = {
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
};
const flow = { type: 'hold', onExpiration: 'cancel', heldUntil: now } as const;
const sold: PaymentFact[] = [
  { type: 'payment_started', terms },
  { type: 'payment_processed', approval: { reference: '900000000001' } },
  { type: 'payment_captured', amount: rub(6_000n) },
];
const failure = ['authorization_failed', 'insufficient_funds'] as const;
const held: PaymentFact[] = [
  { type: 'payment_started', terms: { ...terms, flow } },
  { type: 'payment_processed', approval: { reference: '900000000001' } },
];
const capturing: PaymentFact[] = [
  ...held,
  { type: 'payment_capture_started', amount: rub(4_000n), reason: 'r' },
];
const shipped: PaymentFact[] = [...capturing, { type: 'payment_captured', amount: rub(4_000n) }];
const givenUp: PaymentFact[] = [
  { type: 'payment_started', terms },
  { type: 'payment_reversal_started', failure },
];
const started: PaymentFact[] = [{ type: 'payment_started', terms }];
const interaction = { method: 'GET', url: 'https://issuer.example' } as const;
const challenged: PaymentFact[] = [
  ...started,
  { type: 'payment_interaction_requested', interaction, until: now },
];
const refund = { id: '100', createdAt: now, amount: rub(6_000n), feeMinor: 7n };
const refunding: PaymentFact[] = [...sold, { type: 'refund_started', refund }];
const refunded: PaymentFact[] = [
  ...refunding,
  { type: 'refund_succeeded', refundId: '100' },
  { type: 'payment_refunded' },
];
const declinedLater = { type: 'payment_failed', failure } as const;

function after(facts: readonly PaymentFact[]): Payment {
  const payment = facts.reduce<Payment | undefined>((before, fact) => evolve(before, fact), undefined);
  if (!payment) throw new Error('no facts');
  return payment;
}
const meaning = (
  what: OperationUpdate['what'],
  suffix: string,
  facts: PaymentFact[],
  more: Partial<OperationUpdate> = {},
) =>
  factsOf(
    { operationId: `I.1.${suffix}`, what, at: now, ...more },
    after(facts),
    facts.map((fact) => ({ at: now, fact })),
  );
const nothing = { outcome: 'nothing' };
const undone = { outcome: 'nothing', isUndone: true };
const tooEarly = { outcome: 'tooEarly' };
const contradiction = { outcome: 'contradiction' };

describe('a capture that failed', () => {
  test.each([
    ['a', sold, 6_000n, 60n],
    ['c', shipped, 4_000n, 40n],
  ] as const)(
    'of operation %s ends the payment as cancelled and takes the money back',
    (suffix, facts, minor, feeMinor) => {
      const fact = { type: 'payment_capture_failed', amount: rub(minor), feeMinor, code: 'x' } as const;
      const told = { amount: rub(minor), code: 'x' };
      expect(meaning('captureFailed', suffix, [...facts], told)).toEqual({ fact });
      expect(evolve(after(facts), fact).state).toEqual({
        name: 'cancelled',
        approval: { reference: '900000000001' },
      });
      expect(journalOf(after(facts), [fact])?.entries).toMatchObject([
        {
          step: 'uncaptured',
          debit: { code: 'merchant.settlement' },
          credit: { code: 'acq.uncleared' },
          minor,
        },
        {
          step: 'uncaptured_fee',
          debit: { code: 'fee.income' },
          credit: { code: 'merchant.settlement' },
          minor: feeMinor,
        },
      ]);
      expect(journalOf(after(facts), [{ ...fact, isAside: true }])?.entries[0]).toMatchObject({
        debit: { code: 'acq.receivable' },
      });
    },
  );
  test('costs at most what was captured', () => {
    const costly = { ...terms, fees: { processing: { basisPoints: 0n, fixedMinor: 9_000n } } };
    const [, ...more] = sold;
    const facts: PaymentFact[] = [{ type: 'payment_started', terms: costly }, ...more];
    expect(meaning('captureFailed', 'a', facts)).toMatchObject({ fact: { feeMinor: 6_000n } });
    const free: PaymentFact[] = [{ type: 'payment_started', terms: { ...terms, fees: {} } }, ...more];
    expect(meaning('captureFailed', 'a', free)).toMatchObject({ fact: { feeMinor: 0n } });
  });
  test('is known, too early, or without a meaning', () => {
    const failed = { type: 'payment_capture_failed', amount: rub(6_000n), feeMinor: 60n } as const;
    expect(meaning('captureFailed', 'a', [...sold, failed])).toEqual(nothing);
    expect(meaning('captureFailed', 'c', capturing)).toEqual(tooEarly);
    expect(meaning('captureFailed', 'a', refunding)).toEqual(tooEarly);
    // If the bank refuses to give it back, it counts as captured.
    const cancelling: PaymentFact[] = [
      ...sold.slice(0, 2),
      { type: 'payment_cancel_started', reason: 'r' },
      { type: 'payment_reversal_refused', code: '12' },
    ];
    expect(meaning('captureFailed', 'a', cancelling)).toEqual(tooEarly);
    for (const facts of [started, challenged, givenUp])
      expect(meaning('captureFailed', 'a', facts)).toEqual(tooEarly);
    expect(meaning('captureFailed', 'c', held)).toEqual(nothing);
  });
  test.each([
    ['another operation', 'c', sold, {}],
    ['another amount', 'a', sold, { amount: rub(1n) }],
    ['another currency', 'a', sold, { amount: { minor: 6_000n, currency: 'USD' as Currency } }],
    ['refunded money', 'a', refunded, {}],
    [
      'a part that was refunded',
      'a',
      [
        ...sold,
        { type: 'refund_started', refund: { ...refund, amount: rub(1n) } },
        { type: 'refund_succeeded', refundId: '100' },
      ],
      {},
    ],
  ] as [string, string, PaymentFact[], Partial<OperationUpdate>][])(
    'contradicts %s',
    (_, suffix, facts, more) => {
      expect(meaning('captureFailed', suffix, facts, more)).toMatchObject(contradiction);
    },
  );
});

describe('a refund that failed', () => {
  const returned = {
    type: 'refund_returned',
    refundId: '100',
    amount: rub(6_000n),
    feeMinor: 7n,
    refundsMade: 1,
    failure: ['authorization_failed', 'account_not_found'],
  } as const;
  test('after it succeeded gives the shop its money and fee, and the payment its amount', () => {
    expect(meaning('refundFailed', '100', refunded, { code: '53' })).toEqual({ fact: returned });
    expect(meaning('refundFailed', '100', refunded)).toMatchObject({
      fact: { failure: ['authorization_failed', 'unknown'] },
    });
    const { state } = evolve(after(refunded), returned);
    expect(state).toMatchObject({ name: 'captured', refundedMinor: 0n, refundsMade: 1, amount: rub(6_000n) });
    expect(journalOf(after(refunded), [returned])?.entries).toMatchObject([
      {
        step: 'returned',
        debit: { code: 'acq.uncleared' },
        credit: { code: 'merchant.settlement' },
        minor: 6_000n,
      },
      {
        step: 'returned_fee',
        debit: { code: 'fee.income' },
        credit: { code: 'merchant.settlement' },
        minor: 7n,
      },
    ]);
  });
  test('leaves another refund in progress', () => {
    const part = { ...refund, amount: rub(10n) };
    const facts: PaymentFact[] = [
      ...sold,
      { type: 'refund_started', refund: part },
      { type: 'refund_succeeded', refundId: '100' },
      { type: 'refund_started', refund: { ...part, id: '101' } },
    ];
    expect(meaning('refundFailed', '100', facts)).toMatchObject({ fact: { refundsMade: 2 } });
    const fact = { ...returned, amount: rub(10n), refundsMade: 2 };
    expect(evolve(after(facts), fact).state).toMatchObject({
      name: 'refunding',
      refundedMinor: 0n,
      refund: { id: '101' },
    });
    expect(() => evolve(after(facts), { ...fact, amount: rub(11n) })).toThrow(/More came back/);
    expect(meaning('refundFailed', '101', facts)).toEqual(tooEarly);
  });
  test('means nothing when it is known, and contradicts another amount or operation', () => {
    expect(meaning('refundFailed', '100', [...refunded, returned])).toEqual(nothing);
    expect(
      meaning('refundFailed', '100', [...refunding, { type: 'refund_failed', refundId: '100', failure }]),
    ).toEqual(nothing);
    expect(meaning('refundFailed', '100', refunded, { amount: rub(1n) })).toMatchObject(contradiction);
    expect(meaning('refundFailed', '101', refunded)).toMatchObject(contradiction);
  });
});

describe('a failed refund that undid a charge', () => {
  const why = 'the refund that undid the charge failed: the bank has to give the payer their money';
  const amount = rub(6_000n);
  const back: PaymentFact = { type: 'payment_given_back', amount };
  const refused: PaymentFact = { type: 'payment_reversal_refused', code: '12' };
  const late: PaymentFact = { type: 'payment_approved_late' };
  const stepUp: PaymentFact = { type: 'payment_stepped_up', network: 'visa', code: '1A' };
  const first: PaymentFact = { type: 'payment_undo_started', operation: 'f', amount };
  const [, ...paid] = sold;
  const begun: Record<string, PaymentFact[]> = {
    u: [...givenUp, refused],
    l: [...started, declinedLater, late],
    f: [...started, stepUp, ...paid, first],
  };
  const ended: Record<string, PaymentFact[]> = {
    u: [back, declinedLater],
    l: [back],
    f: [{ type: 'payment_undone', operation: 'f', amount }],
  };
  test.each(['u', 'l', 'f'] as const)(
    'is sent once more, under %s2, and then is for the operator',
    (name) => {
      const facts = [...begun[name]!, ...ended[name]!];
      const fact = { type: 'payment_undo_started', operation: `${name}2`, amount, code: '14' } as PaymentFact;
      expect(meaning('refundFailed', name, begun[name]!)).toEqual(tooEarly);
      expect(meaning('refundFailed', name, facts, { code: '14' })).toEqual({ fact });
      expect(meaning('refundFailed', name, facts, { amount: rub(1n) })).toMatchObject(contradiction);
      expect(evolve(after(facts), fact)).toEqual(after(facts));
      expect(meaning('refundFailed', name, [...facts, fact])).toEqual(nothing);
      expect(meaning('refundFailed', `${name}2`, [...facts, fact])).toEqual({ ...contradiction, why });
    },
  );
  test.each([
    ['the bank', { amount }],
    ['an operator', { settledBecause: 'email' }],
  ] as const)('of a first charge is not taken for that of the second, which %s has ended', (_, end) => {
    const started2 = { type: 'payment_undo_started', operation: 'l2', amount } as const;
    const second: PaymentFact[] = [
      ...started,
      stepUp,
      declinedLater,
      late,
      back,
      started2,
      { type: 'payment_undone', operation: 'l2', ...end },
    ];
    const fact: PaymentFact = { type: 'payment_undo_started', operation: 'f2', amount };
    expect(meaning('refundFailed', 'f', second)).toEqual({ ...contradiction, why });
    for (const open of [
      [...second, first],
      [...second.slice(0, -1), first, ...second.slice(-1)],
    ]) {
      expect(meaning('refundFailed', 'f', open)).toEqual(tooEarly);
      expect(meaning('refundFailed', 'f', [...open, ...ended['f']!])).toEqual({ fact });
    }
  });
  test('is for the operator if there was none, or an operator recorded its outcome', () => {
    const settled: PaymentFact = { type: 'payment_given_back', settledBecause: 'email' };
    for (const facts of [sold, [...givenUp, { ...refused, isUncharged: true } as const, declinedLater]])
      expect(meaning('refundFailed', 'u', facts)).toEqual({ ...contradiction, why });
    expect(meaning('refundFailed', 'l', [...begun['l']!, settled])).toEqual({ ...contradiction, why });
    expect(meaning('refundFailed', 'l', [...begun['u']!, ...ended['u']!])).toEqual({ ...contradiction, why });
  });
});

describe('a late approval', () => {
  const late = { type: 'payment_approved_late' } as const;
  const refused: PaymentFact[] = [...givenUp, { type: 'payment_reversal_refused', code: '12' }];
  const back: PaymentFact = { type: 'payment_given_back', amount: rub(6_000n) };
  test.each([
    ['that was reversed', [...givenUp, declinedLater]],
    ['that the bank had declined', [...started, declinedLater]],
    ['that it had declined after a challenge', [...challenged, declinedLater]],
    ['that it neither reversed nor refunded', [...refused, declinedLater]],
    ['that an operator gave up', [...started, { ...declinedLater, settledBecause: 'email' }]],
  ] as [string, PaymentFact[]][])('of a charge %s is taken back once', (_, facts) => {
    expect(meaning('approvedLate', 'a', facts)).toEqual({ fact: late });
    expect(evolve(after(facts), late).state).toMatchObject({ name: 'failed', isUndoing: true });
    expect(meaning('approvedLate', 'a', [...facts, late])).toEqual(undone);
    expect(meaning('approvedLate', 'a', [...facts, late, back])).toEqual(undone);
    expect(() => evolve(after([...facts, late]), late)).toThrow(/cannot be approved late/);
  });
  test('is not given back again if the bank has refunded it in the place of a reversal', () => {
    expect(meaning('approvedLate', 'a', [...refused, back, declinedLater])).toEqual(undone);
  });
  test('contradicts another operation', () => {
    expect(meaning('approvedLate', 'r', [...givenUp, declinedLater])).toMatchObject(contradiction);
  });
  test('of the declined charge before a challenge is undone once, whatever the payment does', () => {
    const stepUp: PaymentFact = { type: 'payment_stepped_up', network: 'visa', code: '1A' };
    const [, ...paid] = sold;
    const fact: PaymentFact = { type: 'payment_undo_started', operation: 'f', amount: rub(6_000n) };
    for (const facts of [paid, [declinedLater], []]) {
      expect(meaning('approvedLate', 'a', [...started, stepUp, ...facts])).toEqual({ fact });
      expect(meaning('approvedLate', 'a', [...started, stepUp, ...facts, fact])).toEqual(undone);
    }
    const { amount: _, ...released } = fact;
    expect(meaning('approvedLate', 'a', [...held.slice(0, 1), stepUp])).toEqual({ fact: released });
    expect(meaning('approvedLate', 's', [...started, stepUp, declinedLater])).toEqual({ fact: late });
  });
  test('waits until the outcome of the charge is known', () => {
    for (const facts of [started, challenged, givenUp, refused, [...refused, back]])
      expect(meaning('approvedLate', 'a', facts)).toEqual(tooEarly);
  });
  test('means nothing once the approval is known, whatever happened then', () => {
    const cancelling: PaymentFact[] = [...held, { type: 'payment_cancel_started', reason: 'r' }];
    const cancelled: PaymentFact[] = [...cancelling, { type: 'payment_cancelled' }];
    for (const facts of [held, sold, capturing, shipped, refunding, refunded, cancelling, cancelled])
      expect(meaning('approvedLate', 'a', facts)).toEqual(nothing);
  });

  describe('before the reversal that the bank approved', () => {
    const at = (minutes: number) => laterBy(now, -minutes * 60_000);
    test('is for an operator, unless clocks may explain the order', () => {
      const facts = [...givenUp, declinedLater];
      const why = 'its reversal, which the bank approved, came after the approval';
      expect(meaning('approvedLate', 'a', facts, { at: at(5) })).toEqual({ ...contradiction, why });
      expect(meaning('approvedLate', 'a', facts, { at: at(4.9) })).toEqual({ fact: late });
    });
    test.each([
      ['the bank refused it', [...refused, declinedLater]],
      ['an operator ended it', [...givenUp, { ...declinedLater, settledBecause: 'email' }]],
    ] as [string, PaymentFact[]][])('is taken back if %s', (_, facts) => {
      expect(meaning('approvedLate', 'a', facts, { at: at(60) })).toEqual({ fact: late });
    });
  });
});

describe('a hold that ended', () => {
  test('is released, and the merchant reads why', () => {
    const fact = { type: 'payment_cancel_started', reason: 'holdEnded', isReleased: true } as const;
    expect(meaning('holdEnded', 'a', held)).toEqual({ fact });
    expect(evolve(after(held), fact).state).toMatchObject({
      name: 'cancelling',
      isReleased: true,
      reason: 'holdEnded',
    });
    for (const facts of [capturing, shipped]) expect(meaning('holdEnded', 'a', facts)).toEqual(nothing);
  });
  test('waits until the hold is known, and contradicts another operation', () => {
    expect(meaning('holdEnded', 'a', held.slice(0, 1))).toEqual(tooEarly);
    expect(meaning('holdEnded', 'a', sold)).toMatchObject(contradiction);
    expect(meaning('holdEnded', 'c', capturing)).toMatchObject(contradiction);
  });
});

test('network IDs mean nothing for a payment, and it is no payout', () => {
  expect(meaning('networkIds', 'a', sold)).toEqual(nothing);
  expect(meaning('payoutReturned', 'a', sold)).toMatchObject(contradiction);
});
