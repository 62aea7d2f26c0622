// A card as payers read it: its network as the card names it, and its last digits.
import type { PaymentSystem } from './card.ts';

const names: Readonly<Record<PaymentSystem, string>> = {
  visa: 'Visa',
  mastercard: 'Mastercard',
  maestro: 'Maestro',
  nspkmir: 'МИР',
  amex: 'American Express',
  unionpay: 'UnionPay',
  jcb: 'JCB',
  dinersclub: 'Diners Club',
  discover: 'Discover',
  dankort: 'Dankort',
};

/** A page may not know the network yet. */
export function networkName(system: string): string {
  return (names as Readonly<Record<string, string>>)[system] ?? '';
}

/** `Visa •••• 4242`. */
export function printedCard(card: { readonly paymentSystem: string; readonly lastDigits: string }): string {
  return `${networkName(card.paymentSystem)} •••• ${card.lastDigits}`;
}
