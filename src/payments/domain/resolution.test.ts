import { expect, test } from 'vitest';
import type { BankResponse } from '../../acquiring/domain/bank-port.ts';
import type { Instant } from '../../clock.ts';
import type { Currency } from '../../money.ts';
import { interpret } from './bank-actions.ts';
import { possibleOutcomes, releaseOf, resolutionFacts, type ManualOutcome } from './resolution.ts';
import { evolve, type Payment, type PaymentFact, type PaymentState } from './payment.ts';

const rub = (minor: bigint) => ({ minor, currency: 'RUB' as Currency });
const approval = { reference: '900000000001' };
const failure = ['authorization_failed', 'insufficient_funds'] as const;
const until = '2026-01-19T10:10:00.000000Z' as Instant;
const taken = { approval, amount: rub(6_000n), refundedMinor: 0n, refundsMade: 1 };
const refunding = (minor: bigint): PaymentState => ({
  name: 'refunding',
  ...taken,
  refund: { id: '100', minor, feeMinor: 0n },
});
const capturing: PaymentState = { name: 'capturing', approval, amount: rub(5_000n), reason: 'shipped' };

const states: Record<PaymentState['name'], PaymentState> = {
  authorising: { name: 'authorising' },
  challenged: { name: 'challenged', interaction: { method: 'GET', url: 'https://issuer.example' }, until },
  reversing: { name: 'reversing', failure },
  held: { name: 'held', approval },
  capturing,
  cancelling: { name: 'cancelling', approval, reason: 'no' },
  captured: { name: 'captured', ...taken },
  refunding: refunding(6_000n),
  cancelled: { name: 'cancelled' },
  refunded: { name: 'refunded', approval, amount: rub(6_000n) },
  failed: { name: 'failed', failure },
};
const approvedLate: PaymentState = { name: 'failed', failure, isUndoing: true };
const inState = (state: PaymentState) => ({ invoiceId: 'I', id: '1', state }) as unknown as Payment;
const endings: readonly ManualOutcome[] = ['captured', 'cancelled', 'failed', 'succeeded'];

test('an open payment can be resolved only with outcomes its state allows', () => {
  const expected: Partial<Record<PaymentState['name'], readonly ManualOutcome[]>> = {
    authorising: ['failed'],
    challenged: ['failed'],
    reversing: ['failed'],
    capturing: ['captured', 'cancelled'],
    cancelling: ['cancelled'],
    refunding: ['succeeded', 'failed'],
  };
  const open = Object.values(states).map((state) => [state, expected[state.name] ?? []] as const);
  for (const [state, outcomes] of [...open, [approvedLate, ['failed']] as const]) {
    expect(possibleOutcomes(inState(state)), state.name).toEqual(outcomes);
    for (const as of endings) {
      const events = resolutionFacts(inState(state), as, 'the clearing file');
      expect(events !== undefined, `${state.name} as ${as}`).toBe(outcomes.includes(as));
    }
  }
});

test.each<[string, PaymentState, ManualOutcome, PaymentState]>([
  [
    'a charge the bank does not know',
    states.authorising,
    'failed',
    { name: 'failed', failure: ['authorization_failed', 'processing_deadline_reached'] },
  ],
  ['an unconfirmed reversal', states.reversing, 'failed', { name: 'failed', failure }],
  [
    'a partial capture',
    capturing,
    'captured',
    { name: 'captured', ...taken, amount: rub(5_000n), refundsMade: 0 },
  ],
  ['a capture that did not happen', capturing, 'cancelled', { name: 'cancelled', approval }],
  ['a hold that has ended', states.cancelling, 'cancelled', { name: 'cancelled', approval }],
  ['a late approval that the bank does not undo', approvedLate, 'failed', { name: 'failed', failure }],
  [
    'a refund of all that was left',
    refunding(6_000n),
    'succeeded',
    { name: 'refunded', approval, amount: rub(6_000n) },
  ],
  ['a partial refund', refunding(10n), 'succeeded', { name: 'captured', ...taken, refundedMinor: 10n }],
  ['a refund that did not happen', refunding(10n), 'failed', { name: 'captured', ...taken }],
])('%s is resolved within the lifecycle, with the reason in the log', (_what, state, as, ended) => {
  const facts = resolutionFacts(inState(state), as, 'the clearing file')?.flat() ?? [];
  expect(facts.reduce<Payment>((before, fact) => evolve(before, fact), inState(state)).state).toEqual(ended);
  expect(facts.filter((fact) => 'settledBecause' in fact)).toEqual([
    expect.objectContaining({ settledBecause: 'the clearing file' }),
  ]);
});

const reported = (fact: PaymentFact | undefined) =>
  fact && (fact.type === 'payment_cancelled' ? fact.reason : fact);
const approved: BankResponse = { outcome: 'approved', reference: '900000000001' };

test('a merchant sees the reason for a release, but not for a cancellation they requested', () => {
  const release = releaseOf(inState(capturing), { outcome: 'notFound' }, 'the bank refused');
  if (!('fact' in release)) throw new Error(release.refusal);
  const cancelling = evolve(inState(capturing), release.fact);
  const now = '2026-01-19T10:00:00.000000Z' as Instant;
  const last = (payment: Payment) => {
    const meaning = interpret(payment, approved, now);
    return 'events' in meaning ? meaning.events.flat().at(-1) : undefined;
  };
  expect(reported(last(cancelling))).toBe('the bank refused');
  expect(reported(last(inState(states.cancelling)))).toBeUndefined();
  expect(reported(resolutionFacts(cancelling, 'cancelled', 'reported by the bank')?.flat().at(-1))).toBe(
    'the bank refused',
  );
  expect(
    reported(resolutionFacts(inState(capturing), 'cancelled', 'reported by the bank')?.flat().at(-1)),
  ).toBe('reported by the bank');
});

test.each<[string, BankResponse, object]>([
  [
    'is declined',
    { outcome: 'declined', network: 'bank', code: '12' },
    { fact: expect.anything() as object },
  ],
  ['is unknown to the bank', { outcome: 'notFound' }, { fact: expect.anything() as object }],
  ['is approved', approved, { refusal: 'capturedAtBank' }],
  ['is pending', { outcome: 'pending' }, { refusal: 'unknownAtBank' }],
  ['has an unknown outcome', { outcome: 'unknown', why: 'timeout' }, { refusal: 'unknownAtBank' }],
  ['could not be queried', { outcome: 'notSent', why: 'ECONNREFUSED' }, { refusal: 'unknownAtBank' }],
])('a release checks a capture that %s', (_what, answer, release) =>
  expect(releaseOf(inState(capturing), answer, 'r')).toEqual(release),
);

test('a payment that is not capturing cannot be released', () => {
  for (const { name, ...state } of Object.values(states)) {
    if (name === 'capturing') continue;
    const release = releaseOf(inState({ name, ...state } as PaymentState), { outcome: 'notFound' }, 'r');
    expect(release).toEqual({ refusal: 'notCapturing' });
  }
});
