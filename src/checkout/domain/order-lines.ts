// What an invoice says about the order besides its amount and product, as the page and its script show it.
import { printMoney } from '../../receipts/domain/format-money.ts';

export type OrderDetails = {
  readonly description?: string;
  readonly cart?: readonly {
    readonly product: string;
    readonly quantity: number;
    readonly costMinor: number;
  }[];
};

type PrintedLine = { readonly product: string; readonly cost: string };

/** More would push the card form out of sight: the payer opens them. */
const maxOpenLines = 3;
const maxOpenText = 160;

export function hasDetails({ description, cart }: OrderDetails): boolean {
  return description !== undefined || cart !== undefined;
}

export function areShort({ description = '', cart = [] }: OrderDetails): boolean {
  return cart.length <= maxOpenLines && description.length <= maxOpenText;
}

export function printedLines(
  { cart = [] }: OrderDetails,
  currency: { readonly currency: string; readonly minorDigits: number },
  locale: string,
): PrintedLine[] {
  return cart.map(({ product, quantity, costMinor }) => ({
    product: quantity === 1 ? product : `${product} × ${quantity.toLocaleString(locale)}`,
    cost: printMoney({ ...currency, amountMinor: costMinor }, locale),
  }));
}
