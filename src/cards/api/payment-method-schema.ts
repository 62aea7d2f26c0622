// The payment methods in the API: a card of a network that a bank of the shop takes.
import { Type, type Static } from 'typebox';

export const PaymentMethod = Type.Object(
  { method: Type.Enum(['BankCard']), paymentSystems: Type.Array(Type.String()) },
  { title: 'PaymentMethod' },
);

export function paymentMethodsOf(networks: readonly string[]): Static<typeof PaymentMethod>[] {
  return networks.length === 0 ? [] : [{ method: 'BankCard', paymentSystems: [...networks] }];
}
