import { describe, expect, test } from 'vitest';
import type { BankResponse } from '../../../acquiring/domain/bank-port.ts';
import { laterBy, parseInstant, type Instant } from '../../../clock.ts';
import type { Currency } from '../../../money.ts';
import { exchangesOfChange, exchangesOfReroute, openExchangeOf } from './exchanges.ts';
import { evolve, type Payment, type PaymentFact, type PaymentTerms } from '../payment.ts';

const now = parseInstant('2026-01-19T10:00:00Z') as Instant;
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
    token: 'v1.token',
    session: 's1.session',
    card: { bin: '424242', lastDigits: '4242', mask: '424242******4242', paymentSystem: 'visa' },
    clientInfo: { fingerprint: 'f', ip: '192.0.2.1' },
    contactInfo: {},
  },
  makeRecurrent: false,
  deadline: laterBy(now, 60_000),
  terminal: { id: 'T', bankId: 'BANK', merchantId: 'M', descriptor: 'SHOP' },
  livemode: false,
  fees: {},
};
const approved: BankResponse = { outcome: 'approved', reference: '900000000001' };
const declined: BankResponse = { outcome: 'declined', network: 'visa', code: '51' };
const processed: PaymentFact = { type: 'payment_processed', approval: { reference: '900000000001' } };
const captured: PaymentFact = { type: 'payment_captured', amount: rub(6_000n) };
const failed: PaymentFact = { type: 'payment_failed', failure: ['timeout'] };
const givenUp: PaymentFact = { type: 'payment_reversal_started', failure: ['timeout'] };
const refundOf = (waitsUntil?: Instant): PaymentFact => ({
  type: 'refund_started',
  refund: {
    id: '100',
    createdAt: now,
    amount: rub(10n),
    feeMinor: 0n,
    ...(waitsUntil ? { waitsUntil } : {}),
  },
});

const started = evolve(undefined, { type: 'payment_started', terms });
const after = (payment: Payment, ...facts: PaymentFact[]) =>
  facts.reduce<Payment>((before, fact) => evolve(before, fact), payment);
const taken = after(started, processed, captured);

/** Operations with their state, and the outcome that is kept. */
function writtenBy(before: Payment, facts: PaymentFact[], answer?: BankResponse): string[] {
  return exchangesOfChange(before, after(before, ...facts), facts, now, answer).map(
    ({ content, state, answer: kept }) =>
      `${content.operationId} ${state}${kept ? ` by ${kept.outcome}` : ''}`,
  );
}

describe('the exchange log', () => {
  test('has the charge with all that a repeat must have in common with it', () => {
    const [write, ...others] = exchangesOfChange(
      undefined,
      started,
      [{ type: 'payment_started', terms }],
      now,
    );
    expect(others).toEqual([]);
    expect(write).toEqual({
      content: {
        operationId: 'I.1.a',
        kind: 'authorise',
        terminal: terms.terminal,
        amount: rub(6_000n),
        cardToken: 'v1.token',
        capture: true,
        notAfter: terms.deadline,
      },
      at: now,
      state: 'begun',
    });
  });

  test('has how the open operation ended, and the one that follows', () => {
    const holding = after(
      { ...started, flow: { type: 'hold', onExpiration: 'cancel', heldUntil: now } },
      processed,
    );
    const capture: PaymentFact = { type: 'payment_capture_started', amount: rub(5_000n), reason: '' };
    const cancel: PaymentFact = { type: 'payment_cancel_started', reason: '' };
    expect(writtenBy(started, [processed, captured], approved)).toEqual(['I.1.a approved by approved']);
    expect(writtenBy(started, [failed], declined)).toEqual(['I.1.a declined by declined']);
    expect(writtenBy(holding, [capture])).toEqual(['I.1.c begun']);
    expect(writtenBy(after(holding, capture), [captured], approved)).toEqual(['I.1.c approved by approved']);
    expect(writtenBy(holding, [cancel])).toEqual(['I.1.r begun']);
    // An operator releases a hold that the bank does not capture.
    expect(writtenBy(after(holding, capture), [cancel])).toEqual(['I.1.c givenUp', 'I.1.r begun']);
    expect(writtenBy(after(holding, cancel), [{ type: 'payment_cancelled' }], approved)).toEqual([
      'I.1.r approved by approved',
    ]);
  });

  test('has a challenge once', () => {
    const until = laterBy(now, 1_000);
    const challenge: PaymentFact = {
      type: 'payment_interaction_requested',
      interaction: { method: 'GET', url: 'https://issuer.example/' },
      until,
    };
    expect(writtenBy(started, [challenge], { outcome: 'pending' })).toEqual(['I.1.a challenged']);
    expect(writtenBy(after(started, challenge), [processed, captured], approved)).toEqual([
      'I.1.a approved by approved',
    ]);
  });

  test('says what was given up, and that it was taken back only once the reversal is approved', () => {
    expect(writtenBy(started, [givenUp], { outcome: 'unknown', why: 'timeout' })).toEqual([
      'I.1.a givenUp',
      'I.1.r begun',
    ]);
    const reversing = after(started, givenUp);
    expect(writtenBy(reversing, [failed], approved)).toEqual([
      'I.1.r approved by approved',
      'I.1.a takenBack',
    ]);
    expect(writtenBy(reversing, [{ ...failed, settledBecause: 'Ann' }])).toEqual(['I.1.r settled']);
  });

  test('has a charge that the bank neither reverses nor refunds as approved', () => {
    const refused: PaymentFact = { type: 'payment_reversal_refused', code: '12' };
    const undoing = after(started, givenUp, refused);
    expect(writtenBy(after(started, givenUp), [refused], declined)).toEqual([
      'I.1.r declined by declined',
      'I.1.u begun',
    ]);
    expect(writtenBy(undoing, [processed, captured], declined)).toEqual([
      'I.1.u declined by declined',
      'I.1.a approved',
    ]);
    const givenBack: PaymentFact = { type: 'payment_given_back', amount: rub(6_000n) };
    expect(writtenBy(undoing, [givenBack, failed], approved)).toEqual([
      'I.1.u approved by approved',
      'I.1.a takenBack',
    ]);
  });

  test('has a refund once it has its money', () => {
    const waiting = after(taken, refundOf(laterBy(now, 1_000)));
    const funded: PaymentFact = { type: 'refund_funded', refundId: '100' };
    expect(writtenBy(taken, [refundOf()])).toEqual(['I.1.100 begun']);
    expect(writtenBy(taken, [refundOf(laterBy(now, 1_000))])).toEqual([]);
    expect(writtenBy(waiting, [funded])).toEqual(['I.1.100 begun']);
    expect(writtenBy(waiting, [{ type: 'refund_failed', refundId: '100', failure: ['timeout'] }])).toEqual(
      [],
    );
    const succeeded: PaymentFact = { type: 'refund_succeeded', refundId: '100' };
    expect(writtenBy(after(waiting, funded), [succeeded], approved)).toEqual([
      'I.1.100 approved by approved',
    ]);
    expect(openExchangeOf(after(taken, refundOf()), now)?.content).toEqual({
      operationId: 'I.1.100',
      kind: 'refund',
      amount: rub(10n),
      originalOperationId: 'I.1.a',
      terminal: terms.terminal,
    });
  });

  test('names the terminal of a reroute', () => {
    const terminal = { ...terms.terminal, id: 'T2', bankId: 'BANK2' };
    const [write] = exchangesOfReroute({ ...started, terminal }, now);
    expect(write).toMatchObject({ content: { operationId: 'I.1.a', terminal }, state: 'begun' });
  });
});
