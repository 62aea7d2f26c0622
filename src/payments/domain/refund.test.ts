import { describe, expect, test } from 'vitest';
import { parseInstant, type Instant } from '../../clock.ts';
import type { CartLine } from '../../invoices/domain/invoice.ts';
import type { Currency } from '../../money.ts';
import { interpret, nextAction } from './bank-actions.ts';
import { journalOf } from './payment-postings.ts';
import {
  evolve,
  operationIdOf,
  paymentOfOperation,
  wakeOf,
  type Payment,
  type PaymentFact,
} from './payment.ts';
import { awaitingFunds, decideRefund, evolveRefund, type Refund, type StartRefund } from './refund.ts';

const now = parseInstant('2026-01-19T10:00:00.123456Z') as Instant;
const rub = (minor: bigint) => ({ minor, currency: 'RUB' as Currency });
const approval = { reference: '900000000001' };
const captured: Payment = {
  invoiceId: 'I',
  id: '1',
  partyId: 'P',
  shopId: 'S',
  createdAt: now,
  amount: rub(6_000n),
  flow: { type: 'instant' },
  payer: {
    type: 'resource',
    token: 'v1.token',
    session: 's1.session',
    card: { bin: '424242', lastDigits: '4242', mask: '424242******4242', paymentSystem: 'visa' },
    clientInfo: { fingerprint: 'f', ip: '192.0.2.1' },
    contactInfo: {},
  },
  makeRecurrent: false,
  deadline: now,
  terminal: { id: 'T', bankId: 'BANK', merchantId: 'M', descriptor: 'SHOP' },
  livemode: false,
  fees: { refund: { basisPoints: 100n, fixedMinor: 3n } },
  state: { name: 'captured', approval, amount: rub(5_000n), refundedMinor: 0n, refundsMade: 0 },
};
const started = (payment: Payment, command: StartRefund = {}) => {
  const decision = decideRefund(payment, command, now);
  if (!decision.ok) throw new Error(`The refund was refused with ${decision.refusal.code}.`);
  return decision.value;
};
const line = (priceMinor: bigint, quantity = 1n): CartLine => ({ product: 'One', quantity, priceMinor });
const after = (payment: Payment, ...facts: PaymentFact[]) =>
  facts.reduce<Payment>((before, fact) => evolve(before, fact), payment);

describe('creating a refund', () => {
  test('without an amount refunds what was captured, not what was held', () => {
    expect(started(captured).refund).toEqual({
      id: '100',
      createdAt: now,
      amount: rub(5_000n),
      feeMinor: 53n,
    });
  });
  test('a partial refund leaves the rest for the next, which has the next number', () => {
    const once = after(captured, started(captured, { amountMinor: 2_000n }), {
      type: 'refund_succeeded',
      refundId: '100',
    });
    expect(started(once).refund).toMatchObject({ id: '101', amount: rub(3_000n) });
    expect(decideRefund(once, { amountMinor: 3_001n }, now)).toMatchObject({
      refusal: { code: 'invoicePaymentAmountExceeded' },
    });
  });
  test('after a failed refund, the amount can be refunded under a new number', () => {
    const once = after(captured, started(captured), {
      type: 'refund_failed',
      refundId: '100',
      failure: ['authorization_failed', 'unknown'],
    });
    expect(started(once).refund).toMatchObject({ id: '101', amount: rub(5_000n) });
  });
  test('the cart must equal what the payer keeps', () => {
    const cart = [line(1_000n, 2n), line(1_000n)];
    expect(started(captured, { amountMinor: 2_000n, cart }).refund).toMatchObject({ cart });
    const wrong = { amountMinor: 1_999n, cart };
    expect(decideRefund(captured, wrong, now)).toMatchObject({
      refusal: { code: 'invalidRequest', message: expect.stringContaining('3001') },
    });
    expect(decideRefund(captured, { cart }, now)).toMatchObject({ refusal: { code: 'invalidRequest' } });
    expect(decideRefund(captured, { amountMinor: 1n, cart: [] }, now)).toMatchObject({
      refusal: { code: 'invalidInvoiceCart' },
    });
  });

  // Each request breaks this rule and all later ones: the first rule decides.
  const busy = after(captured, started(captured));
  const wrong: StartRefund = { currency: 'USD', amountMinor: 5_001n, cart: [] };
  test.each<[string, Payment, StartRefund]>([
    ['operationNotPermitted', busy, wrong],
    ['invalidPaymentStatus', { ...busy, state: { name: 'cancelled' } }, wrong],
    ['inconsistentRefundCurrency', captured, wrong],
    ['invoicePaymentAmountExceeded', captured, { ...wrong, currency: 'RUB' }],
    ['invalidInvoiceCart', captured, { amountMinor: 5_000n, cart: [] }],
  ])('is refused with %s before any later rule', (code, payment, command) => {
    expect(decideRefund(payment, command, now)).toMatchObject({ refusal: { code } });
  });
});

describe('a refund that waits for money', () => {
  const refund = { id: '100', createdAt: now, amount: rub(10n), feeMinor: 1n };
  const waiting = awaitingFunds({ type: 'refund_started', refund });
  const pending: Refund = { ...waiting.refund, status: 'pending' };
  test('waits for ten days', () => {
    const waitsUntil = parseInstant('2026-01-29T10:00:00.123456Z');
    expect(waiting).toEqual({ type: 'refund_started', refund: { ...refund, waitsUntil } });
  });
  test('no longer waits when it has its money, has failed or has succeeded', () => {
    const about = { refundId: '100' };
    const failure = ['terms_violated'] as const;
    const references = { rrn: '900000000002', arn: '74000006900000000002000' };
    expect(evolveRefund(pending, { type: 'refund_funded', ...about })).toEqual({
      ...refund,
      status: 'pending',
    });
    expect(evolveRefund(pending, { type: 'refund_failed', ...about, failure })).toEqual({
      ...refund,
      status: 'failed',
      failure,
    });
    expect(evolveRefund(pending, { type: 'refund_succeeded', ...about, ...references })).toEqual({
      ...refund,
      status: 'succeeded',
      ...references,
    });
  });
});

describe('a refund in progress', () => {
  const command = { amountMinor: 2_000n };
  const busy = after(captured, started(captured, command));
  test('is due immediately, under an operation ID that leads back to the payment', () => {
    expect(nextAction(busy, now)).toEqual({ do: 'refund', id: '100', amount: rub(2_000n) });
    expect(wakeOf(busy, now)).toBe(now);
    expect(wakeOf(captured, now)).toBe(null);
    expect(operationIdOf(busy, { refund: '100' })).toBe('I.1.100');
    expect(paymentOfOperation('I.1.100')).toEqual(['I', '1']);
  });
  test('succeeds when approved, and the last one sets the payment to refunded in the same event', () => {
    const approved = { outcome: 'approved', reference: '900000000002' } as const;
    const succeeded = { type: 'refund_succeeded', refundId: '100', rrn: '900000000002' };
    expect(interpret(busy, approved, now)).toEqual({ events: [[succeeded]] });
    const whole = after(captured, started(captured));
    expect(interpret(whole, approved, now)).toEqual({ events: [[succeeded, { type: 'payment_refunded' }]] });
  });
  test('fails when declined, with the meaning of the code', () => {
    expect(interpret(busy, { outcome: 'declined', network: 'visa', code: '57' }, now)).toEqual({
      events: [
        [
          {
            type: 'refund_failed',
            refundId: '100',
            failure: ['authorization_failed', 'operation_blocked'],
            bank: { code: '57' },
          },
        ],
      ],
    });
  });
  test.each(['unknown', 'notSent'] as const)('stays in progress when the bank’s outcome is %s', (outcome) => {
    expect(interpret(busy, { outcome, why: 'silence' }, now)).toEqual({ unknown: 'silence' });
  });
  test('stays in progress when the bank does not know it', () => {
    expect(interpret(busy, { outcome: 'notFound' }, now)).toMatchObject({ unknown: expect.any(String) });
  });
  test('excludes a second refund', () => {
    const second = { id: '101', createdAt: now, amount: rub(1n), feeMinor: 0n };
    expect(() => evolve(busy, { type: 'refund_started', refund: second })).toThrow(/cannot have/);
  });
});

describe('the ledger entries', () => {
  const held: Payment = { ...captured, flow: { type: 'hold', onExpiration: 'cancel', heldUntil: now } };
  const authorising: Payment = { ...captured, state: { name: 'authorising' } };
  const summary = (payment: Payment, ...facts: PaymentFact[]) => {
    const journal = journalOf(payment, facts);
    const entries = journal?.entries.map((entry) => [
      entry.phase,
      entry.step,
      'minor' in entry ? entry.minor : undefined,
    ]);
    return journal && { operation: journal.operationId, entries };
  };
  const fees = {
    processing: { basisPoints: 250n, fixedMinor: 0n },
    refund: { basisPoints: 0n, fixedMinor: 7n },
  };
  const processed: PaymentFact = { type: 'payment_processed', approval };
  const refund = started({ ...captured, fees }, { amountMinor: 100n });
  const refunding = after({ ...captured, fees }, refund);

  test('of an instant payment are one sale and its fee', () => {
    const sale: PaymentFact = { type: 'payment_captured', amount: rub(6_000n) };
    expect(summary({ ...authorising, fees }, processed, sale)).toEqual({
      operation: 'payment/1',
      entries: [
        ['single', 'sale', 6_000n],
        ['single', 'fee', 150n],
      ],
    });
  });
  test('of a hold are pending, then posted by a capture or voided by a cancellation', () => {
    expect(
      summary(
        { ...held, state: { name: 'challenged', interaction: { method: 'GET', url: 'u' }, until: now } },
        processed,
      )?.entries,
    ).toEqual([['pending', 'hold', 6_000n]]);
    const capturing: Payment = {
      ...held,
      fees,
      state: { name: 'capturing', approval, amount: rub(4_000n), reason: 'r' },
    };
    expect(summary(capturing, { type: 'payment_captured', amount: rub(4_000n) })?.entries).toEqual([
      ['post', 'hold', 4_000n],
      ['single', 'fee', 100n],
    ]);
    const cancelling: Payment = { ...held, state: { name: 'cancelling', approval, reason: 'r' } };
    expect(summary(cancelling, { type: 'payment_cancelled' })?.entries).toEqual([
      ['void', 'hold', undefined],
    ]);
  });
  test('of a refund are pending with the fee, then posted or voided with the same fee', () => {
    expect(summary({ ...captured, fees }, refund)).toEqual({
      operation: 'payment/1/refund/100',
      entries: [
        ['pending', 'refund', 100n],
        ['pending', 'refund_fee', 7n],
      ],
    });
    expect(summary(refunding, { type: 'refund_succeeded', refundId: '100' })?.entries).toEqual([
      ['post', 'refund', undefined],
      ['post', 'refund_fee', undefined],
    ]);
    const failed: PaymentFact = { type: 'refund_failed', refundId: '100', failure: ['timeout'] };
    expect(summary(refunding, failed)?.entries).toEqual([
      ['void', 'refund', undefined],
      ['void', 'refund_fee', undefined],
    ]);
  });
  test.each<PaymentFact>([
    { type: 'payment_failed', failure: ['timeout'] },
    { type: 'payment_reversal_started', failure: ['timeout'] },
    { type: 'payment_interaction_requested', interaction: { method: 'GET', url: 'u' }, until: now },
  ])('do not exist for $type', (fact) => expect(summary(authorising, fact)).toBe(undefined));
});

test('a refused refund has a message with the reason', () => {
  const refusalOf = (payment: Payment, command: StartRefund = {}) => {
    const decision = decideRefund(payment, command, now);
    return decision.ok ? undefined : decision.refusal;
  };
  expect(refusalOf(after(captured, started(captured)))).toEqual({
    code: 'operationNotPermitted',
    message: 'Refund 100 of the payment is pending. Wait until it has ended.',
  });
  expect(refusalOf({ ...captured, state: { name: 'cancelled' } })).toEqual({
    code: 'invalidPaymentStatus',
    message: 'Invalid invoice payment status',
    hint: 'The payment is cancelled.',
    since: { type: 'payment_cancelled', paymentId: '1' },
  });
  expect(refusalOf(captured, { cart: [line(4_000n)] })).toEqual({
    code: 'invalidRequest',
    message: 'A cart requires an amount. Send the amount to refund.',
  });
});

test('a refund cart can have 100 lines and not 101', () => {
  const left = (lines: number) => Array.from({ length: lines }, () => line(1n));
  const refund = (lines: number) =>
    decideRefund(captured, { amountMinor: 5_000n - BigInt(lines), cart: left(lines) }, now);
  expect(refund(100).ok).toBe(true);
  expect(refund(101)).toMatchObject({ refusal: { code: 'invalidInvoiceCart' } });
});
