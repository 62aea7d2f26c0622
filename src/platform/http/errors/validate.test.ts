import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { compileCheck, validationMessageOf } from './validate.ts';

const check = compileCheck(
  Type.Object({
    kind: Type.Optional(Type.Enum(['small', 'large'])),
    payer: Type.Union([
      Type.Object({ payerType: Type.Literal('Card'), token: Type.String() }),
      Type.Object({ payerType: Type.Literal('Customer'), customerID: Type.String() }),
    ]),
  }),
);

function messageOf(value: unknown): string | undefined {
  const error = check(value)?.next().value;
  return error && validationMessageOf(error);
}

test('an error of a union is that of the branch which the request names', () => {
  expect(messageOf({ payer: { payerType: 'Customer' } })).toBe(
    'Request parameter: payer.customerID, error type: not_found, description: must have required properties customerID',
  );
  expect(messageOf({ payer: { payerType: 'Customer', customerID: 'C' } })).toBeUndefined();
});

test('an unknown value is answered with the allowed ones', () => {
  const allowed = (where: string, values: string) =>
    `Request parameter: ${where}, error type: no_match, description: must be equal to one of the allowed values: ${values}`;
  expect(messageOf({ payer: { payerType: 'Cash' } })).toBe(allowed('payer.payerType', 'Card, Customer'));
  expect(messageOf({ kind: 'big', payer: { payerType: 'Card', token: 'T' } })).toBe(
    allowed('kind', 'small, large'),
  );
});
