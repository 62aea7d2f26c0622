import { expect, test } from 'vitest';
import type { PaymentFailure } from '../../acquiring/authorisation/domain/payment-failure.ts';
import { rowState, type RowState } from '../store/codec.ts';

const failure: PaymentFailure = ['authorization_failed', 'unknown'];
const failed: RowState = { name: 'failed', failure, declineClass: 'technical' };
const late: RowState = { ...failed, isUndoing: true };
const storedAs = (state: RowState): unknown => JSON.parse(JSON.stringify(rowState.write?.(state) ?? state));

test('a failed payment is stored as 0.2.0 stored it', () => {
  expect(storedAs(failed)).toEqual({ name: 'failed', failure, declineClass: 'technical' });
  expect(rowState.read({ name: 'failed', failure })).toEqual({ name: 'failed', failure });
  expect(() => rowState.read({ name: 'failed' })).toThrow(/without its failure/);
});

test('a late approval is stored so that 0.2.0, which wants a failure, does not take it for final', () => {
  expect(storedAs(late)).toEqual({ name: 'failed', lateFailure: failure, declineClass: 'technical' });
  expect(rowState.read(storedAs(late))).toEqual(late);
});
