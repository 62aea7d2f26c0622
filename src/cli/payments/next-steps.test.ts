import { describe, expect, test } from 'vitest';
import type { Instant } from '../../clock.ts';
import type { BankExchange } from '../../payments/domain/exchanges/bank-exchanges.ts';
import type { PaymentOverview } from '../../payments/store/job-overview.ts';
import { nextSteps } from './next-steps.ts';

describe('a refund that waits for money', () => {
  const now = '2026-11-20T10:00:00.000000Z' as Instant;
  const refund = { id: '100', minor: 1n, feeMinor: 0n, waitsUntil: '2026-11-30T10:00:00.000000Z' };
  const payment = {
    invoiceId: 'I',
    id: '1',
    state: { name: 'refunding', refund },
    terminal: { bankId: 'BANK' },
  };
  // The last operation at the bank is that of the payment.
  const charged = [{ operationId: 'I.1.a' }] as BankExchange[];
  const stepsOf = (job: Partial<PaymentOverview>) =>
    nextSteps({ payment, isWaiting: false, nextTryAt: now, stuckSince: null, now, ...job } as never, charged);
  const waits = expect.stringMatching(/^Nothing was sent: .* until 2026-11-30T10:00:00Z\./);

  test('is not said to be with the bank', () => {
    expect(stepsOf({})).toEqual([waits]);
  });

  test('is not said to be with the bank either after its job has failed', () => {
    expect(stepsOf({ isWaiting: true, attempts: 3, lastFailure: 'Error: no connection' })).toEqual([waits]);
  });

  test('leads to no question to the bank when its job is stuck', () => {
    const steps = stepsOf({ isWaiting: true, nextTryAt: null, stuckSince: now, lastFailure: 'Error: x' });
    expect(steps.join('\n')).not.toMatch(/I\.1\.a|bank check|--as succeeded/);
    expect(steps).toEqual([
      expect.stringMatching(/^Nothing was sent: the refund waits for money of the shop\./),
      expect.stringMatching(/mandate jobs retry payment I\/1$/),
      expect.stringMatching(/mandate payments resolve I 1 --as failed --reason "…"$/),
      expect.stringContaining('stuck-jobs.md'),
    ]);
  });
});

test('a charge that is undone has steps of its own, and the payment keeps those of its own charge', () => {
  const now = '2026-11-20T10:00:00.000000Z' as Instant;
  const state = { name: 'authorising' };
  const payment = { invoiceId: 'I', id: '1', state, terminal: { bankId: 'BANK' }, deadline: now };
  const stepsOf = (outcome: BankExchange['outcome']) => {
    const exchanges = [{ operationId: 'I.1.s' }, { operationId: 'I.1.f', outcome }] as BankExchange[];
    const one = { payment, isWaiting: true, nextTryAt: null, stuckSince: now, lastFailure: null, now };
    return nextSteps(one as never, exchanges).join('\n');
  };
  expect(stepsOf('approved')).toContain('ask the bank about operation I.1.s');
  expect(stepsOf('approved')).not.toContain('I.1.f');
  expect(stepsOf('open')).toMatch(/I\.1\.f undoes another charge/);
  expect(stepsOf('declined')).toMatch(/ask the bank about operation I\.1\.s[^]*refuses operation I\.1\.f/);
});
