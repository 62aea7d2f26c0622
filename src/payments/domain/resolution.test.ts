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
const inState = (state: PaymentState) => ({ invoiceId: 'I', id: '1', state }) as unknown as Payment;
const endings: readonly ManualOutcome[] = ['captured', 'cancelled', 'failed', 'succeeded'];

test('what is open can end as it could by itself, and nothing else ends', () => {
  const expected: Partial<Record<PaymentState['name'], readonly ManualOutcome[]>> = {
    authorising: ['failed'],
    challenged: ['failed'],
    reversing: ['failed'],
    capturing: ['captured', 'cancelled'],
    cancelling: ['cancelled'],
    refunding: ['succeeded', 'failed'],
  };
  for (const state of Object.values(states)) {
    expect(possibleOutcomes(inState(state)), state.name).toEqual(expected[state.name] ?? []);
    for (const as of endings) {
      const events = resolutionFacts(inState(state), as, 'the clearing file');
      expect(events !== undefined, `${state.name} as ${as}`).toBe(
        expected[state.name]?.includes(as) ?? false,
      );
    }
  }
});

test.each<[string, PaymentState, ManualOutcome, PaymentState]>([
  [
    'a charge nobody knows of',
    states.authorising,
    'failed',
    { name: 'failed', failure: ['authorization_failed', 'processing_deadline_reached'] },
  ],
  ['a reversal nobody confirms', states.reversing, 'failed', { name: 'failed', failure }],
  [
    'a capture in part',
    capturing,
    'captured',
    { name: 'captured', ...taken, amount: rub(5_000n), refundsMade: 0 },
  ],
  ['a capture that was none', capturing, 'cancelled', { name: 'cancelled', approval }],
  ['a hold that is over', states.cancelling, 'cancelled', { name: 'cancelled', approval }],
  ['all that was left', refunding(6_000n), 'succeeded', { name: 'refunded', approval, amount: rub(6_000n) }],
  ['a part', refunding(10n), 'succeeded', { name: 'captured', ...taken, refundedMinor: 10n }],
  ['a refund that was none', refunding(10n), 'failed', { name: 'captured', ...taken }],
])('%s ends by the moves of the lifecycle, with the reason in the log', (_what, state, as, ended) => {
  const facts = resolutionFacts(inState(state), as, 'the clearing file')?.flat() ?? [];
  expect(facts.reduce<Payment>((before, fact) => evolve(before, fact), inState(state)).state).toEqual(ended);
  expect(facts.filter((fact) => 'settledBecause' in fact)).toEqual([
    expect.objectContaining({ settledBecause: 'the clearing file' }),
  ]);
});

const told = (fact: PaymentFact | undefined) =>
  fact && (fact.type === 'payment_cancelled' ? fact.reason : fact);
const approved: BankResponse = { outcome: 'approved', reference: '900000000001' };

test('a merchant is told why a hold was let go that he had asked for, and no reason of his own', () => {
  const release = releaseOf(inState(capturing), { outcome: 'notFound' }, 'the bank refused');
  if (!('fact' in release)) throw new Error(release.not);
  const cancelling = evolve(inState(capturing), release.fact);
  const now = '2026-01-19T10:00:00.000000Z' as Instant;
  const last = (payment: Payment) => {
    const meaning = interpret(payment, approved, now);
    return 'events' in meaning ? meaning.events.flat().at(-1) : undefined;
  };
  expect(told(last(cancelling))).toBe('the bank refused');
  expect(told(last(inState(states.cancelling)))).toBeUndefined();
  expect(told(resolutionFacts(cancelling, 'cancelled', 'it told us')?.flat().at(-1))).toBe(
    'the bank refused',
  );
  expect(told(resolutionFacts(inState(capturing), 'cancelled', 'it told us')?.flat().at(-1))).toBe(
    'it told us',
  );
});

test.each<[string, BankResponse, object]>([
  [
    'declined it',
    { outcome: 'declined', network: 'bank', code: '12' },
    { fact: expect.anything() as object },
  ],
  ['never had it', { outcome: 'notFound' }, { fact: expect.anything() as object }],
  ['did it', approved, { not: 'the bank has captured it' }],
  ['is not finished', { outcome: 'pending' }, { not: 'the bank does not say' }],
  ['is silent', { outcome: 'unknown', why: 'timeout' }, { not: 'the bank does not say' }],
  ['is away', { outcome: 'notSent', why: 'ECONNREFUSED' }, { not: 'the bank does not say' }],
])('a capture of a bank that %s', (_what, answer, release) =>
  expect(releaseOf(inState(capturing), answer, 'r')).toEqual(release),
);

test('what is not being captured is not released', () => {
  for (const { name, ...state } of Object.values(states)) {
    if (name === 'capturing') continue;
    const release = releaseOf(inState({ name, ...state } as PaymentState), { outcome: 'notFound' }, 'r');
    expect(release).toEqual({ not: 'it is not being captured' });
  }
});
