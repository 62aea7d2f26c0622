// A browser gets no token of a card, wherever an operation has it.
import { expect, test } from 'vitest';
import { shownBody } from './shown-body.ts';

test('tokens of cards and addresses of payers are left out, and nothing else', () => {
  const shown = { payerType: 'PaymentResourcePayer', contactInfo: { email: 'a@b.example' } };
  const kept = {
    paymentToolToken: 'v1.x',
    paymentSession: 's1.x',
    sessionInfo: { redirectUrl: 'https://x' },
  };
  const body = {
    result: [{ id: '1', amount: 9_007_199_254_740_991, payer: { ...shown, ...kept } }],
    ...kept,
  };
  const expected = { result: [{ id: '1', amount: 9_007_199_254_740_991, payer: shown }] };
  expect(JSON.parse(shownBody(JSON.stringify(body)))).toEqual(expected);
});
