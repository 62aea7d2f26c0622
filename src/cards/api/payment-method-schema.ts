// The payment methods in the API: a card of any supported network.
import { Type, type Static } from 'typebox';
import { paymentSystems } from '../domain/card.ts';

export const PaymentMethod = Type.Object(
  { method: Type.Enum(['BankCard']), paymentSystems: Type.Array(Type.String()) },
  { title: 'PaymentMethod' },
);

export const byBankCard: Static<typeof PaymentMethod> = {
  method: 'BankCard',
  paymentSystems: Object.keys(paymentSystems),
};
