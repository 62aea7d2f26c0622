import { describe, expect, test } from 'vitest';
import type { Instant } from '../../../clock.ts';
import { bankExchangesOf } from './bank-exchanges.ts';
import type { PaymentFact, PaymentTerms } from '../payment.ts';

const amount = { minor: 100n, currency: 'RUB' } as PaymentTerms['amount'];
const terminal = { id: 'T1', bankId: 'ONE', merchantId: 'M', descriptor: 'SHOP' };
const approval = { reference: 'R' };
const failure = ['timeout'] as const;

function started(flow: 'instant' | 'hold'): PaymentFact {
  const terms = { invoiceId: 'I', id: '1', amount, terminal, flow: { type: flow } };
  return { type: 'payment_started', terms: terms as unknown as PaymentTerms };
}

/** Each exchange as `operation kind bank started-ended outcome note`; a fact's time is its place. */
function read(...facts: PaymentFact[]): string[] {
  const dated = facts.map((fact, index) => ({ at: String(index) as Instant, fact }));
  return bankExchangesOf({ invoiceId: 'I', id: '1' }, dated).map((one) =>
    [
      one.operationId,
      one.kind,
      one.terminal.bankId,
      `${one.startedAt}-${one.endedAt ?? ''}`,
      one.outcome,
      one.note ?? '',
    ]
      .join(' ')
      .trim(),
  );
}

const reason = 'r';
const processed = { type: 'payment_processed', approval } as const;
const captured = { type: 'payment_captured', amount } as const;
const capturing = { type: 'payment_capture_started', amount, reason } as const;
const cancelling = { type: 'payment_cancel_started', reason } as const;
const reversing = { type: 'payment_reversal_started', failure } as const;
const refunding = {
  type: 'refund_started',
  refund: { id: '100', createdAt: '0' as Instant, amount, feeMinor: 0n },
} as const;

const unfunded = {
  ...refunding,
  refund: { ...refunding.refund, waitsUntil: '9' as Instant },
} as const;

/** As an operator orders it. */
const ordered = <Fact extends typeof refunding>(fact: Fact) =>
  ({ ...fact, byOperator: true, refund: { ...fact.refund, reason } }) as const;

describe('the bank operations of a payment', () => {
  test.each<[string, PaymentFact[], string[]]>([
    ['a charge in progress', [started('instant')], ['I.1.a charge ONE 0- open']],
    ['a charge', [started('instant'), processed, captured], ['I.1.a charge ONE 0-1 approved']],
    [
      'a charge that was declined',
      [started('instant'), { type: 'payment_failed', failure }],
      ['I.1.a charge ONE 0-1 declined'],
    ],
    [
      'a charge before a step-up that is undone while the payment continues',
      [
        started('instant'),
        { type: 'payment_stepped_up', network: 'visa', code: '1A' },
        { type: 'payment_undo_started', operation: 'f', amount },
        processed,
        captured,
        { type: 'payment_undo_refused', operation: 'f', code: '12' },
        { type: 'payment_undone', operation: 'f', amount, settledBecause: 'email' },
      ],
      [
        'I.1.a charge ONE 0-1 declined code 1A',
        'I.1.s charge ONE 1-3 approved',
        'I.1.f refund ONE 2-6 approved email',
      ],
    ],
    [
      'a charge that another bank got',
      [
        started('instant'),
        { type: 'payment_rerouted', terminal: { ...terminal, bankId: 'TWO' }, why: 'ECONNREFUSED' },
      ],
      ['I.1.a charge TWO 1- open ECONNREFUSED'],
    ],
    [
      'a challenge, then a reversal',
      [
        started('instant'),
        {
          type: 'payment_interaction_requested',
          interaction: { method: 'GET', url: 'u' },
          until: '9' as Instant,
        },
        reversing,
        { type: 'payment_failed', failure },
      ],
      ['I.1.a charge ONE 0-2 notDone', 'I.1.r reverse ONE 2-3 approved'],
    ],
    [
      'a refused reversal of a charge that was declined',
      [
        started('instant'),
        reversing,
        { type: 'payment_reversal_refused', code: '12', isUncharged: true },
        { type: 'payment_failed', failure },
      ],
      ['I.1.a charge ONE 0-1 notDone', 'I.1.r reverse ONE 1-2 declined code 12'],
    ],
    [
      'a hold and its capture',
      [started('hold'), processed, capturing],
      ['I.1.a authorise ONE 0-1 approved', 'I.1.c capture ONE 2- open'],
    ],
    [
      'a capture that an operator released',
      [started('hold'), processed, capturing, cancelling, { type: 'payment_cancelled', reason }],
      ['I.1.a authorise ONE 0-1 approved', 'I.1.c capture ONE 2-3 notDone', 'I.1.r reverse ONE 3-4 approved'],
    ],
    [
      'a refund with an outcome that an operator recorded',
      [
        started('instant'),
        processed,
        captured,
        refunding,
        { type: 'refund_succeeded', refundId: '100', settledBecause: 'statement, line 4' },
        { type: 'payment_refunded' },
      ],
      ['I.1.a charge ONE 0-1 approved', 'I.1.100 refund ONE 3-4 approved statement, line 4'],
    ],
    [
      'a refund that waits for money',
      [started('instant'), processed, captured, unfunded],
      ['I.1.a charge ONE 0-1 approved'],
    ],
    [
      'a refund that waited in vain',
      [
        started('instant'),
        processed,
        captured,
        unfunded,
        { type: 'refund_failed', refundId: '100', failure },
      ],
      ['I.1.a charge ONE 0-1 approved'],
    ],
    [
      'a refund that was sent when its money had come',
      [started('instant'), processed, captured, unfunded, { type: 'refund_funded', refundId: '100' }],
      ['I.1.a charge ONE 0-1 approved', 'I.1.100 refund ONE 4- open'],
    ],
    [
      'a refund that an operator ordered',
      [started('instant'), processed, captured, ordered(refunding)],
      ['I.1.a charge ONE 0-1 approved', 'I.1.100 refund ONE 3- open by an operator: r'],
    ],
    [
      'a refund that an operator ordered, and that waited for money',
      [
        started('instant'),
        processed,
        captured,
        ordered(unfunded),
        { type: 'refund_funded', refundId: '100' },
      ],
      ['I.1.a charge ONE 0-1 approved', 'I.1.100 refund ONE 4- open by an operator: r'],
    ],
    [
      'a refund that was declined',
      [
        started('instant'),
        processed,
        captured,
        refunding,
        { type: 'refund_failed', refundId: '100', failure },
      ],
      ['I.1.a charge ONE 0-1 approved', 'I.1.100 refund ONE 3-4 declined'],
    ],
  ])('are those of %s', (_, facts, expected) => expect(read(...facts)).toEqual(expected));
});
