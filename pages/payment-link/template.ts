// What the page shows of a template: the product, what it costs at least and at most, and the lines of a cart. Pure.
import type { Order } from '../../src/checkout/domain/checkout-page.ts';
import type { Bounds } from './amount-text.ts';

type Amounts = { readonly lowerBound: number; readonly upperBound: number };

/** As much of it as the page reads. */
export type Template = {
  readonly description?: string;
  readonly details:
    | {
        readonly templateType: 'InvoiceTemplateSingleLine';
        readonly product: string;
        readonly price:
          | { readonly costType: 'InvoiceTemplateLineCostFixed'; readonly amount: number }
          | { readonly costType: 'InvoiceTemplateLineCostRange'; readonly range: Amounts }
          | { readonly costType: 'InvoiceTemplateLineCostUnlim' };
      }
    | {
        readonly templateType: 'InvoiceTemplateMultiLine';
        readonly cart: readonly {
          readonly product: string;
          readonly quantity: number;
          readonly cost: number;
        }[];
      };
};

export type Offer = Bounds & Omit<Order, 'amountMinor'>;

export function offerOf({ description, details }: Template, largestMinor: number): Offer {
  const described = description === undefined ? {} : { description };
  if (details.templateType === 'InvoiceTemplateMultiLine') {
    const total = details.cart.reduce((sum, { cost }) => sum + cost, 0);
    const cart = details.cart.map(({ product, quantity, cost }) => ({ product, quantity, costMinor: cost }));
    return { ...described, product: cart[0]?.product ?? '', cart, leastMinor: total, mostMinor: total };
  }
  const { product, price } = details;
  return { ...described, product, ...boundsOf(price, largestMinor) };
}

function boundsOf(
  price: Extract<Template['details'], { product: string }>['price'],
  largestMinor: number,
): Bounds {
  switch (price.costType) {
    case 'InvoiceTemplateLineCostFixed':
      return { leastMinor: price.amount, mostMinor: price.amount };
    case 'InvoiceTemplateLineCostRange':
      return { leastMinor: price.range.lowerBound, mostMinor: price.range.upperBound };
    case 'InvoiceTemplateLineCostUnlim':
      return { leastMinor: 1, mostMinor: largestMinor };
  }
}
