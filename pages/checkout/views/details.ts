// The description and the cart of an order that the page's script has read.
import type { CheckoutFacts } from '../../../src/checkout/domain/checkout-page.ts';
import {
  areShort,
  hasDetails,
  printedLines,
  type OrderDetails,
} from '../../../src/checkout/domain/order-lines.ts';
import { existing, h } from '../../docs/elements.ts';

export function showDetails(
  order: OrderDetails,
  facts: Pick<CheckoutFacts, 'locale' | 'currency' | 'minorDigits'>,
): void {
  const details = existing('details', HTMLDetailsElement);
  details.hidden = !hasDetails(order);
  details.open = areShort(order);
  existing('description', HTMLElement).textContent = order.description ?? '';
  const lines = printedLines(order, facts, facts.locale);
  existing('cart', HTMLElement).replaceChildren(
    ...lines.map(({ product, cost }) => h('li', {}, h('span', {}, product), h('span', {}, cost))),
  );
}
