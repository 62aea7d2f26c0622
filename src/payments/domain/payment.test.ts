import { describe, expect, test } from 'vitest';
import type { BankResponse } from '../../acquiring/domain/bank-port.ts';
import { laterBy, parseInstant, type Instant } from '../../clock.ts';
import type { Currency } from '../../money.ts';
import { interpret, nextAction } from './bank-actions.ts';
import { standInFor } from './bank-operations.ts';
import { journalOf } from './payment-postings.ts';
import { possibleOutcomes } from './resolution.ts';
import {
  decideCancel,
  decideCapture,
  requirePayable,
  startedBy,
  type PayableInvoice,
  type StartPayment,
} from './commands.ts';
import {
  deadlineReached,
  failureOfDecline,
  merchantError,
  payerError,
} from '../../acquiring/authorisation/domain/payment-failure.ts';
import {
  amountOf,
  carriesNetworkIds,
  evolve,
  isInProgress,
  isTaken,
  isUndoFact,
  operationIdOf,
  paymentOfOperation,
  publicStatus,
  wakeOf,
  withInteractionEnd,
  sendUntilOf,
  type Payment,
  type PaymentFact,
  type PaymentState,
  type PaymentStateName,
} from './payment.ts';

const now = at('2026-01-19T10:00:00.123456Z');
const minute = 60_000;
const rub = (minor: bigint) => ({ minor, currency: 'RUB' as Currency });
const invoice: PayableInvoice = {
  id: 'I',
  partyId: 'P',
  shopId: 'TEST',
  status: 'unpaid',
  amount: rub(6_000n),
  dueDate: at('2026-01-20T10:00:00Z'),
  paymentInProgress: false,
  paymentsMade: 0,
  createdAt: at('2026-01-19T09:00:00Z'),
  changedAt: at('2026-01-19T09:00:00Z'),
};
const command: StartPayment = {
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
  terminal: { id: 'T', bankId: 'BANK', merchantId: 'M', descriptor: 'SHOP' },
  livemode: false,
  fees: {},
};
const approved: BankResponse = { outcome: 'approved', reference: '900000000001', approvalCode: '000001' };
const declined: BankResponse = { outcome: 'declined', network: 'visa', code: '51' };
const interaction = { method: 'GET', url: 'https://issuer.example/' } as const;
const payerNeeded: BankResponse = { outcome: 'payerNeeded', interaction };
const unknown: BankResponse = { outcome: 'unknown', why: 'timeout' };
const nothingKnown: BankResponse[] = [
  unknown,
  { outcome: 'notFound' },
  { outcome: 'notSent', why: 'closed' },
  { outcome: 'pending' },
];

const started = (flow: StartPayment['flow'] = { type: 'instant' }): PaymentFact =>
  startedBy({ ...command, flow }, invoice, now);
const hold = { type: 'hold', onExpiration: 'cancel', days: 3 } as const;
const approval = { reference: '900000000001', approvalCode: '000001' };
const processed: PaymentFact = { type: 'payment_processed', approval };
const captured: PaymentFact = { type: 'payment_captured', amount: rub(6_000n) };
const failure = ['authorization_failed', 'insufficient_funds'] as const;

const refundStarted = (minor: bigint, id = '100', feeMinor = 0n) =>
  ({
    type: 'refund_started',
    refund: { id, createdAt: now, amount: rub(minor), feeMinor },
  }) as const satisfies PaymentFact;

const otherTerminal = { id: 'T2', bankId: 'BANK2', merchantId: 'M2', descriptor: 'SHOP' };
const facts: Record<PaymentFact['type'], PaymentFact> = {
  payment_started: started(),
  payment_interaction_requested: {
    type: 'payment_interaction_requested',
    interaction,
    until: laterBy(now, minute),
  },
  payment_interaction_completed: { type: 'payment_interaction_completed' },
  payment_rerouted: { type: 'payment_rerouted', terminal: otherTerminal, why: 'ECONNREFUSED' },
  payment_stepped_up: { type: 'payment_stepped_up', network: 'visa', code: '1A' },
  payment_reversal_started: { type: 'payment_reversal_started', failure },
  payment_processed: processed,
  payment_capture_started: { type: 'payment_capture_started', amount: rub(5_000n), reason: 'shipped' },
  payment_captured: captured,
  payment_cancel_started: { type: 'payment_cancel_started', reason: 'no' },
  payment_cancelled: { type: 'payment_cancelled' },
  payment_failed: { type: 'payment_failed', failure },
  refund_started: refundStarted(10n),
  refund_funded: { type: 'refund_funded', refundId: '100' },
  refund_failed: { type: 'refund_failed', refundId: '100', failure },
  refund_succeeded: { type: 'refund_succeeded', refundId: '100' },
  payment_refunded: { type: 'payment_refunded' },
  payment_reversal_refused: { type: 'payment_reversal_refused', code: '12' },
  payment_given_back: { type: 'payment_given_back', amount: rub(6_000n) },
  payment_capture_failed: { type: 'payment_capture_failed', amount: rub(6_000n), feeMinor: 0n },
  payment_approved_late: { type: 'payment_approved_late' },
  payment_undo_started: { type: 'payment_undo_started', operation: 'f', amount: rub(6_000n) },
  payment_undo_refused: { type: 'payment_undo_refused', operation: 'f', code: '12' },
  payment_undone: { type: 'payment_undone', operation: 'f', amount: rub(6_000n) },
  refund_returned: {
    type: 'refund_returned',
    refundId: '100',
    amount: rub(10n),
    feeMinor: 0n,
    refundsMade: 1,
    failure,
  },
};
/** What has to happen in a state before it can have the fact. */
const preludes: Record<string, PaymentFact[]> = {
  'reversing payment_given_back': [facts.payment_reversal_refused],
  'cancelling payment_given_back': [facts.payment_reversal_refused],
  'failed payment_given_back': [facts.payment_approved_late],
  'captured refund_returned': [facts.refund_started, facts.refund_succeeded],
  'refunding refund_returned': [facts.refund_succeeded, refundStarted(5n, '101')],
};
const histories: Record<PaymentStateName | 'absent', PaymentFact[]> = {
  absent: [],
  authorising: [started(hold)],
  challenged: [started(hold), facts.payment_interaction_requested],
  reversing: [started(hold), facts.payment_reversal_started],
  held: [started(hold), processed],
  capturing: [started(hold), processed, facts.payment_capture_started],
  cancelling: [started(hold), processed, facts.payment_cancel_started],
  captured: [started(), processed, captured],
  refunding: [started(), processed, captured, facts.refund_started],
  cancelled: [started(hold), processed, facts.payment_cancel_started, facts.payment_cancelled],
  refunded: [started(), processed, captured, facts.payment_refunded],
  failed: [started(), facts.payment_failed],
};
const after = (history: readonly PaymentFact[]): Payment => {
  const payment = history.reduce<Payment | undefined>((before, fact) => evolve(before, fact), undefined);
  if (!payment) throw new Error('The history has no facts.');
  return payment;
};
const inState = (state: PaymentStateName) => after(histories[state]);

describe('the payment lifecycle', () => {
  // Written out instead of read from the table under test.
  const expected: Record<string, Record<string, PaymentStateName>> = {
    absent: { payment_started: 'authorising' },
    authorising: {
      payment_rerouted: 'authorising',
      payment_stepped_up: 'authorising',
      payment_interaction_requested: 'challenged',
      payment_processed: 'held',
      payment_failed: 'failed',
      payment_reversal_started: 'reversing',
    },
    challenged: {
      payment_interaction_completed: 'challenged',
      payment_processed: 'held',
      payment_failed: 'failed',
      payment_reversal_started: 'reversing',
    },
    reversing: {
      payment_reversal_refused: 'reversing',
      payment_given_back: 'reversing',
      payment_processed: 'held',
      payment_failed: 'failed',
    },
    held: {
      payment_captured: 'captured',
      payment_capture_started: 'capturing',
      payment_cancel_started: 'cancelling',
    },
    capturing: { payment_captured: 'captured', payment_cancel_started: 'cancelling' },
    cancelling: {
      payment_reversal_refused: 'cancelling',
      payment_given_back: 'cancelling',
      payment_captured: 'captured',
      payment_cancelled: 'cancelled',
    },
    captured: {
      refund_started: 'refunding',
      payment_refunded: 'refunded',
      refund_returned: 'captured',
      payment_capture_failed: 'cancelled',
    },
    refunding: { refund_failed: 'captured', refund_succeeded: 'captured', refund_returned: 'refunding' },
    refunded: { refund_returned: 'captured' },
    failed: { payment_approved_late: 'failed', payment_given_back: 'failed' },
  };
  for (const [from, history] of Object.entries(histories)) {
    for (const [type, fact] of Object.entries(facts)) {
      if (isUndoFact(fact)) continue;
      const to = expected[from]?.[type];
      if (to)
        test(`${type} in state ${from} leads to ${to}`, () =>
          expect(after([...history, ...(preludes[`${from} ${type}`] ?? []), fact]).state.name).toBe(to));
      else
        test(`${type} is not allowed in state ${from}`, () =>
          expect(() => after([...history, fact])).toThrow(/cannot have/));
    }
  }

  test('a charge before a step-up is undone whatever the payment does, which stays as it is', () => {
    const undoing = [facts.payment_undo_started, facts.payment_undo_refused, facts.payment_undone];
    for (const fact of undoing) {
      expect(() => after([fact])).toThrow(/before the payment/);
      for (const state of Object.keys(publicStatus) as PaymentStateName[]) {
        expect(() => after([...histories[state], fact])).toThrow(/not stepped up/);
        const payment: Payment = { ...inState(state), isSteppedUp: true };
        expect(evolve(payment, fact)).toEqual(payment);
      }
    }
  });

  test('an interaction is completed once', () => {
    const { payment_interaction_completed: completed } = facts;
    const back = after([...histories.challenged, completed]);
    expect(back.state).toEqual({ ...inState('challenged').state, isCompleted: true });
    expect(() => evolve(back, completed)).toThrow('no interaction to complete');
  });

  test('what ends a challenge is preceded by the end of the interaction, as an event of its own', () => {
    const { payment_interaction_completed: completed } = facts;
    const challenged = inState('challenged');
    expect(withInteractionEnd(challenged, [[processed], [captured]])).toEqual([
      [completed],
      [processed],
      [captured],
    ]);
    const back = evolve(challenged, completed);
    for (const [payment, events] of [
      [challenged, []],
      [challenged, [[completed]]],
      [back, [[processed]]],
      [inState('authorising'), [[processed]]],
    ] as const)
      expect(withInteractionEnd(payment, events)).toEqual(events);
  });

  test.each([
    ['authorising', 'pending', true],
    ['challenged', 'pending', true],
    ['reversing', 'pending', true],
    ['held', 'processed', true],
    ['capturing', 'processed', true],
    ['cancelling', 'processed', true],
    ['captured', 'captured', false],
    ['refunding', 'captured', false],
    ['cancelled', 'cancelled', false],
    ['refunded', 'refunded', false],
    ['failed', 'failed', false],
  ] as const)('state %s has public status %s and blocks other payments: %s', (state, status, busy) => {
    expect(publicStatus[state]).toBe(status);
    expect(isInProgress(inState(state))).toBe(busy);
  });

  test.each(['captured', 'refunding', 'refunded'] as const)(
    'a %s payment counts the captured amount',
    (name) => {
      const payment = inState(name);
      expect(isTaken(payment.state)).toBe(true);
      const state = { ...payment.state, amount: rub(1n) } as PaymentState;
      expect(amountOf({ ...payment, state })).toEqual(rub(1n));
    },
  );

  test.each([
    'authorising',
    'challenged',
    'reversing',
    'held',
    'capturing',
    'cancelling',
    'cancelled',
    'failed',
  ] as const)('a payment that is %s has taken nothing, and counts its whole amount', (name) => {
    const payment = inState(name);
    expect(isTaken(payment.state)).toBe(false);
    expect(amountOf(payment)).toEqual(payment.amount);
  });

  test('succeeded refunds add up, and a failed refund releases its amount', () => {
    const twice = after([...histories.refunding, facts.refund_succeeded, refundStarted(5n, '101')]);
    expect(twice.state).toMatchObject({ refundedMinor: 10n, refund: { id: '101', minor: 5n } });
    expect(evolve(twice, { type: 'refund_failed', refundId: '101', failure }).state).toMatchObject({
      refundedMinor: 10n,
    });
    expect(evolve(twice, { type: 'refund_succeeded', refundId: '101' }).state).toMatchObject({
      refundedMinor: 15n,
    });
    expect(() => evolve(twice, { type: 'refund_succeeded', refundId: '100' })).toThrow(/not in progress/);
  });
});

describe('a refund that waits for money', () => {
  const waitsUntil = laterBy(now, minute);
  const { refund } = refundStarted(10n);
  const waiting = after([
    ...histories.captured,
    { type: 'refund_started', refund: { ...refund, waitsUntil } },
  ]);
  test('asks for the money until its time is up, then fails', () => {
    expect(nextAction(waiting, now)).toEqual({ do: 'fundRefund', id: '100', until: waitsUntil });
    expect(nextAction(waiting, waitsUntil)).toEqual({
      do: 'write',
      fact: {
        type: 'refund_failed',
        refundId: '100',
        failure: ['terms_violated', 'insufficient_merchant_funds'],
      },
    });
  });
  test('is sent once its money is reserved, and only then can succeed', () => {
    expect(() => evolve(waiting, facts.refund_succeeded)).toThrow(/cannot have/);
    const funded = evolve(waiting, facts.refund_funded);
    expect(nextAction(funded, waitsUntil)).toMatchObject({ do: 'refund', id: '100' });
    expect(evolve(funded, facts.refund_succeeded).state).toMatchObject({ refundedMinor: 10n });
  });
  test('moves money when that is reserved, and none if it fails before', () => {
    const journal = (payment: Payment, fact: PaymentFact) => journalOf(payment, [fact])?.entries;
    const started = { type: 'refund_started', refund: { ...refund, waitsUntil } } as const;
    expect(journal(inState('captured'), started)).toBeUndefined();
    expect(journal(waiting, facts.refund_failed)).toBeUndefined();
    expect(journal(waiting, facts.refund_funded)).toMatchObject([{ phase: 'pending', minor: 10n }]);
    expect(journal(evolve(waiting, facts.refund_funded), facts.refund_failed)).toEqual([
      { phase: 'void', step: 'refund' },
    ]);
  });
  test('can be recorded as failed by an operator, and not as succeeded', () => {
    expect(possibleOutcomes(waiting)).toEqual(['failed']);
  });
});

describe('starting a payment', () => {
  test('sets its number, the amount of the invoice and a deadline of 30 minutes', () => {
    expect(startedBy(command, { ...invoice, paymentsMade: 2 }, now)).toMatchObject({
      terms: { id: '3', invoiceId: 'I', amount: rub(6_000n), deadline: laterBy(now, 30 * minute) },
    });
  });
  test('is dated no earlier than the invoice’s last event, and its deadline follows the clock', () => {
    const changedAt = laterBy(now, minute);
    expect(startedBy(command, { ...invoice, changedAt }, now)).toMatchObject({
      terms: { createdAt: changedAt, deadline: laterBy(now, 30 * minute) },
    });
    expect(startedBy(command, invoice, now)).toMatchObject({ terms: { createdAt: now } });
  });
  test('with a hold sets heldUntil in whole seconds', () => {
    expect(startedBy({ ...command, flow: hold }, invoice, now)).toMatchObject({
      terms: { flow: { type: 'hold', onExpiration: 'cancel', heldUntil: '2026-01-22T10:00:00.000000Z' } },
    });
  });
  test.each<[code: string, ofInvoice: Partial<PayableInvoice>, ofCommand: object]>([
    ['invoicePaymentPending', { paymentInProgress: true }, {}],
    ['invalidInvoiceStatus', { status: 'paid', paymentInProgress: true }, {}],
    ['invalidInvoiceStatus', { dueDate: now }, {}],
    ['invalidProcessingDeadline', { status: 'paid' }, { deadline: now }],
  ])('is refused with %s', (code, ofInvoice, ofCommand) => {
    expect(requirePayable({ ...invoice, ...ofInvoice }, { ...command, ...ofCommand }, now)).toMatchObject({
      refusal: { code },
    });
  });
});

describe('ending a hold', () => {
  test.each([
    ['the whole amount by default', {}, 6_000n],
    ['a part', { amountMinor: 1n }, 1n],
    ['the whole amount if given explicitly', { amountMinor: 6_000n, currency: 'RUB' }, 6_000n],
    ['the total of the cart', { cartTotalMinor: 500n }, 500n],
    ['the whole amount if only a currency is given', { currency: 'USD' }, 6_000n],
  ])('captures %s', (_what, asked, minor) => {
    expect(decideCapture(inState('held'), { reason: 'r', ...asked })).toMatchObject({
      ok: true,
      value: { type: 'payment_capture_started', amount: { minor } },
    });
  });
  test.each([
    ['inconsistentCaptureCurrency', { amountMinor: 9_999n, currency: 'USD', cartTotalMinor: 1n }, 'captured'],
    ['invalidRequest', { amountMinor: 9_999n, cartTotalMinor: 1n }, 'captured'],
    ['invalidPaymentStatus', { amountMinor: 9_999n }, 'captured'],
    ['amountExceededCaptureBalance', { amountMinor: 6_001n }, 'held'],
  ] as const)('refuses with %s before any later rule', (code, asked, state) => {
    expect(decideCapture(inState(state), { reason: 'r', ...asked })).toMatchObject({ refusal: { code } });
  });
  test('is refused for an instant payment and after the hold has ended', () => {
    const instant = after([started(), processed]);
    expect(decideCapture(instant, { reason: 'r' })).toMatchObject({
      refusal: { code: 'operationNotPermitted' },
    });
    expect(decideCancel(instant, 'r')).toMatchObject({ refusal: { code: 'operationNotPermitted' } });
    for (const state of ['capturing', 'cancelling', 'captured', 'cancelled', 'failed'] as const) {
      expect(decideCancel(inState(state), 'r')).toMatchObject({ refusal: { code: 'invalidPaymentStatus' } });
    }
  });
});

describe('interpreting the bank’s response', () => {
  const meaning = (state: PaymentStateName, answer: BankResponse, when: Instant = now) =>
    interpret(inState(state), answer, when);

  test('an approval captures an instant payment in two events, and puts a hold in state held', () => {
    expect(interpret(after([started()]), approved, now)).toEqual({ events: [[processed], [captured]] });
    expect(meaning('authorising', approved)).toEqual({ events: [[processed]] });
    expect(meaning('challenged', approved, laterBy(now, 60 * minute))).toEqual({ events: [[processed]] });
  });
  test('a decline fails the payment with the meaning of its code', () => {
    for (const state of ['authorising', 'challenged'] as const) {
      expect(meaning(state, declined)).toEqual({
        events: [[{ type: 'payment_failed', failure, declineClass: 'funds', bank: { code: '51' } }]],
      });
    }
  });
  test('a failed authentication has no class, and a lost answer is technical', () => {
    const failed = { outcome: 'declined', network: 'visa', code: '3ds-failed' } as const;
    expect(meaning('authorising', failed)).toEqual({
      events: [
        [
          {
            type: 'payment_failed',
            failure: ['preauthorization_failed', 'three_ds_failed'],
            bank: { code: '3ds-failed' },
          },
        ],
      ],
    });
    const lost = evolve(after([started()]), { type: 'payment_reversal_started', failure: deadlineReached });
    expect(interpret(lost, approved, now)).toEqual({
      events: [[{ type: 'payment_failed', failure: deadlineReached, declineClass: 'technical' }]],
    });
  });
  test('a challenge is requested once, for ten minutes at most, and never beyond the deadline', () => {
    expect(meaning('authorising', payerNeeded)).toEqual({
      events: [[{ type: 'payment_interaction_requested', interaction, until: laterBy(now, 10 * minute) }]],
    });
    const late = laterBy(now, 25 * minute);
    expect(meaning('authorising', payerNeeded, late)).toMatchObject({
      events: [[{ until: laterBy(now, 30 * minute) }]],
    });
    expect(meaning('challenged', payerNeeded)).toEqual({ again: laterBy(now, 15_000) });
  });
  test('a response that proves nothing changes nothing, in any state', () => {
    for (const state of ['authorising', 'challenged', 'reversing', 'capturing', 'cancelling'] as const) {
      for (const answer of nothingKnown)
        expect(meaning(state, answer), `${state} ${answer.outcome}`).not.toHaveProperty('events');
    }
  });
  test('a payment without proof at its deadline is reversed before it fails', () => {
    for (const answer of nothingKnown) {
      expect(meaning('authorising', answer, laterBy(now, 30 * minute))).toEqual({
        events: [
          [
            {
              type: 'payment_reversal_started',
              failure: ['authorization_failed', 'processing_deadline_reached'],
            },
          ],
        ],
      });
      expect(meaning('challenged', answer, laterBy(now, minute))).toEqual({
        events: [
          [
            {
              type: 'payment_reversal_started',
              failure: ['preauthorization_failed', 'three_ds_not_finished'],
            },
          ],
        ],
      });
    }
  });
  test('a response after the end of the payment changes nothing', () => {
    for (const state of ['captured', 'cancelled', 'refunded', 'failed', 'held'] as const) {
      for (const answer of [approved, declined, payerNeeded, unknown])
        expect(meaning(state, answer)).toEqual({ events: [] });
    }
  });
});

test('a hold is cancelled or captured automatically when it ends, and not before', () => {
  const until = at('2026-01-22T10:00:00Z');
  expect(nextAction(inState('held'), laterBy(until, -1))).toEqual({ do: 'wait', until });
  expect(nextAction(inState('held'), until)).toMatchObject({ fact: { type: 'payment_cancel_started' } });
  const capturing = after([started({ ...hold, onExpiration: 'capture' }), processed]);
  expect(nextAction(capturing, until)).toMatchObject({
    fact: { type: 'payment_capture_started', amount: rub(6_000n) },
  });
});

test('every state but a final one has a wake time', () => {
  for (const [
    state,
    {
      state: { name },
    },
  ] of Object.entries(histories)
    .slice(1)
    .map(([state, history]) => [state, after(history)] as const)) {
    const isEnd = ['captured', 'cancelled', 'refunded', 'failed'].includes(name);
    expect(wakeOf(inState(state as PaymentStateName), now) === null, state).toBe(isEnd);
  }
});

test.each([
  [['authorization_failed', 'insufficient_funds'], 'InsufficientFunds'],
  [['authorization_failed', 'rejected_by_issuer'], 'RejectedByIssuer'],
  [['authorization_failed', 'account_blocked'], 'RejectedByIssuer'],
  [
    ['authorization_failed', 'payment_tool_rejected', 'bank_card_rejected', 'cvv_invalid'],
    'InvalidPaymentTool',
  ],
  [['authorization_failed', 'account_not_found'], 'InvalidPaymentTool'],
  [['authorization_failed', 'account_limit_exceeded', 'amount'], 'AccountLimitsExceeded'],
  [['authorization_failed', 'unknown'], 'PaymentRejected'],
  [['preauthorization_failed', 'three_ds_failed'], 'PreauthorizationFailed'],
  [['no_route_found', 'unknown'], 'PaymentRejected'],
  [['timeout'], 'timeout'],
] as [[string, ...string[]], string][])('failure %j is %s to a payer', (path, code) => {
  expect(payerError(path)).toEqual({ code });
});

test('a merchant sees a failure as a tree, and an unmapped bank code as unknown', () => {
  expect(merchantError(failureOfDecline({ network: 'visa', code: 'N7' }))).toEqual({
    code: 'authorization_failed',
    subError: {
      code: 'payment_tool_rejected',
      subError: { code: 'bank_card_rejected', subError: { code: 'cvv_invalid' } },
    },
  });
  for (const network of ['mastercard', 'maestro'])
    expect(failureOfDecline({ network, code: '65' })).toEqual([
      'authorization_failed',
      'security_policy_violated',
    ]);
  expect(failureOfDecline({ network: 'visa', code: '65' })).toEqual([
    'authorization_failed',
    'account_limit_exceeded',
    'number',
  ]);
  expect(failureOfDecline({ network: 'visa', code: '??' })).toEqual(['authorization_failed', 'unknown']);
});

function at(text: string): Instant {
  const instant = parseInstant(text);
  if (!instant) throw new Error(`${text} is not a date-time.`);
  return instant;
}

describe('the members of a payment state', () => {
  const taken = { approval, amount: rub(6_000n), refundedMinor: 0n, refundsMade: 0 };
  const expected: Record<PaymentStateName, object> = {
    authorising: {},
    challenged: { interaction, until: laterBy(now, minute) },
    reversing: { failure },
    held: { approval },
    capturing: { approval, amount: rub(5_000n), reason: 'shipped' },
    cancelling: { approval, reason: 'no' },
    captured: taken,
    refunding: { ...taken, refundsMade: 1, refund: { id: '100', minor: 10n, feeMinor: 0n } },
    cancelled: { approval },
    refunded: { approval, amount: rub(6_000n) },
    failed: { failure },
  };
  test.each(Object.keys(expected) as PaymentStateName[])('%s', (name) =>
    expect(inState(name).state).toStrictEqual({ name, ...expected[name] }),
  );

  test('cancelling a capture marks the payment as released', () => {
    const asked = [...histories.capturing];
    const released = { name: 'cancelling', approval, reason: 'no', isReleased: true };
    expect(after([...asked, facts.payment_cancel_started]).state).toStrictEqual(released);
    const refused = { ...facts.payment_cancel_started, captureMinor: 5_000n };
    expect(after([...asked, refused]).state).toStrictEqual({ ...released, captureMinor: 5_000n });
  });

  test('a reroute changes only the terminal', () => {
    const before = inState('authorising');
    expect(evolve(before, facts.payment_rerouted)).toStrictEqual({ ...before, terminal: otherTerminal });
  });
});

test('a hold wakes when it ends, an instant payment immediately', () => {
  const { flow } = inState('held');
  expect(wakeOf(inState('held'), now)).toBe(flow.type === 'hold' && flow.heldUntil);
  expect(wakeOf(after([started(), processed]), now)).toBe(now);
});

test('bank operation IDs are derived from the payment and lead back to it', () => {
  const payment = inState('held');
  const names = [operationIdOf(payment, 'authorise'), operationIdOf(payment, 'capture')];
  names.push(operationIdOf(payment, 'reverse'), operationIdOf(payment, { refund: '100' }));
  names.push(operationIdOf(payment, 'undo'), operationIdOf(payment, 'late'));
  expect(names).toEqual(['I.1.a', 'I.1.c', 'I.1.r', 'I.1.100', 'I.1.u', 'I.1.l']);
  for (const name of names) expect(paymentOfOperation(name)).toEqual(['I', '1']);
  for (const name of ['', 'I', 'I.1', 'I..a', '.1.a']) expect(paymentOfOperation(name)).toBeUndefined();
});

describe('a cancelled payment whose outcome is not known', () => {
  const wanted = (name: 'authorising' | 'challenged'): Payment => {
    const payment = inState(name);
    return { ...payment, state: { ...payment.state, cancelReason: 'r' } as PaymentState };
  };

  test.each([
    ['authorising', { type: 'cancelWanted', reason: 'r' }],
    ['challenged', { type: 'cancelWanted', reason: 'r' }],
    ['reversing', { type: 'nothing' }],
  ] as const)('is accepted when it is %s, also for an instant payment', (state, value) => {
    expect(decideCancel(inState(state), 'r')).toEqual({ ok: true, value });
  });
  test('is accepted again', () => {
    for (const name of ['authorising', 'challenged'] as const)
      expect(decideCancel(wanted(name), 'other')).toEqual({ ok: true, value: { type: 'nothing' } });
  });
  test('is cancelled once it is approved, and never captured', () => {
    for (const name of ['authorising', 'challenged'] as const)
      expect(interpret(wanted(name), approved, now)).toEqual({
        events: [[processed], [{ type: 'payment_cancel_started', reason: 'r' }]],
      });
  });
  test('fails once it is declined', () =>
    expect(interpret(wanted('authorising'), declined, now)).toMatchObject({
      events: [[{ type: 'payment_failed' }]],
    }));
  test('is reversed if the bank does not know it, or waits for the payer', () => {
    const failure = ['authorization_failed', 'operation_blocked'];
    for (const answer of [{ outcome: 'notFound' } as const, payerNeeded])
      for (const name of ['authorising', 'challenged'] as const)
        expect(interpret(wanted(name), answer, now)).toEqual({
          events: [[{ type: 'payment_reversal_started', failure }]],
        });
  });
  test('waits as long as the bank does not say', () => {
    expect(interpret(wanted('authorising'), unknown, now)).toHaveProperty('unknown');
    expect(interpret(wanted('authorising'), { outcome: 'pending' }, now)).toHaveProperty('again');
  });
});

describe('a payment that the bank has never received', () => {
  const notFound = { outcome: 'notFound' } as const;
  const at = (ms: number) => laterBy(inState('authorising').createdAt, ms);

  test('is given up three minutes after the payer acted', () => {
    const payment = inState('authorising');
    expect(sendUntilOf(payment)).toBe(at(3 * minute));
    expect(interpret(payment, notFound, at(3 * minute - 1))).toHaveProperty('unknown');
    expect(interpret(payment, notFound, at(3 * minute))).toMatchObject({
      events: [[{ type: 'payment_reversal_started' }]],
    });
    expect(interpret(payment, unknown, at(3 * minute)), 'it may have been received').toHaveProperty(
      'unknown',
    );
  });
  test('is not given up in a challenge, which has its own time', () => {
    const payment = inState('challenged');
    const state = { ...payment.state, until: at(10 * minute) } as PaymentState;
    expect(interpret({ ...payment, state }, notFound, at(3 * minute))).toHaveProperty('unknown');
  });
});

test.each([
  ['the ID of the first payment', { rootNetworkTransactionId: 'n' }, true],
  ['the ID of the previous one', { previousNetworkTransactionId: 'n' }, true],
  ['all IDs of the first payment', { rootNetworkIds: [{ kind: 'visaTid' as const, value: '1' }] }, true],
  ['all IDs of the previous one', { previousNetworkIds: [{ kind: 'visaTid' as const, value: '1' }] }, true],
  ['none', {}, false],
])('a charge carries network IDs if it has those of any earlier payment: %s', (_, ids, carries) => {
  const payer = {
    type: 'recurrent',
    token: 'v1.token',
    seriesId: 'S.1',
    parent: { invoiceId: 'S', paymentId: '1' },
    warnings: [],
    contactInfo: {},
    ...ids,
  } as const;
  expect(carriesNetworkIds({ payer })).toBe(carries);
  // Then only a bank that takes them may stand in.
  const payment = { ...evolve(undefined, started()), payer };
  expect('idsOf' in standInFor(payment, now)).toBe(carries);
});
