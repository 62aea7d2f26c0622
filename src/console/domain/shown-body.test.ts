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

test('no digit of a sum is lost, and no text is taken for one', () => {
  const json = String.raw`{"amount":9007199254740993,"due":-9007199254740993,"exact":9007199254740991,"share":0.30798479087452474,"id":"9007199254740993","said":"\":9007199254740993,"}`;
  expect(JSON.parse(shownBody(json))).toEqual({
    amount: '9007199254740993',
    due: '-9007199254740993',
    exact: 9_007_199_254_740_991,
    share: 0.30798479087452474,
    id: '9007199254740993',
    said: '":9007199254740993,',
  });
});
