// Invoices as JSON: the lines of a cart in their column, the facts in the log. Money is a JSON integer there: the largest
// amount is far below 2^53.
import type { Currency } from '../../money.ts';
import type { CartLine, InvoiceFact, InvoiceTerms } from '../domain/invoice.ts';

export type LineJson = Omit<CartLine, 'quantity' | 'priceMinor'> & { quantity: number; priceMinor: number };
type TermsJson = Omit<InvoiceTerms, 'amount' | 'cart'> & {
  amountMinor: number;
  currency: Currency;
  cart?: LineJson[];
};
type FactJson =
  Exclude<InvoiceFact, { type: 'invoice_created' }> | { type: 'invoice_created'; terms: TermsJson };

export function lineToJson(line: CartLine): LineJson {
  return { ...line, quantity: Number(line.quantity), priceMinor: Number(line.priceMinor) };
}

export function lineFromJson(line: LineJson): CartLine {
  return { ...line, quantity: BigInt(line.quantity), priceMinor: BigInt(line.priceMinor) };
}

export function invoiceFactToJson(fact: InvoiceFact): FactJson {
  if (fact.type !== 'invoice_created') return fact;
  const { amount, cart, ...terms } = fact.terms;
  return {
    type: fact.type,
    terms: {
      ...terms,
      amountMinor: Number(amount.minor),
      currency: amount.currency,
      ...(cart ? { cart: cart.map(lineToJson) } : {}),
    },
  };
}

export function invoiceFactFromJson(json: unknown): InvoiceFact {
  const fact = json as FactJson;
  if (fact.type !== 'invoice_created') return fact;
  const { amountMinor, currency, cart, ...terms } = fact.terms;
  return {
    type: fact.type,
    terms: {
      ...terms,
      amount: { minor: BigInt(amountMinor), currency },
      ...(cart ? { cart: cart.map(lineFromJson) } : {}),
    },
  };
}
