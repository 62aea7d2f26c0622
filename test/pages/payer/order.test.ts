// What the checkout shows of an order besides its amount and product.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeInBrowser } from '../../support/processes/browser.ts';
import {
  desktop,
  phone,
  startCheckoutWorld,
  type CheckoutWorld,
} from '../../support/worlds/checkout-world.ts';
import { narrowPhone, obstacles } from '../accessibility/obstacles.ts';

const coffee = { product: 'Coffee <beans>', quantity: 2, price: 45000 };
const cup = { product: 'Cup', price: 10000 };
const order = { amount: 100000, description: 'Collect it\non Friday', cart: [coffee, cup] };

describeInBrowser('an order at the checkout', () => {
  let world: CheckoutWorld;

  beforeAll(async () => void (world = await startCheckoutWorld()));
  afterAll(() => world?.close());
  afterEach(() => world.leave());

  const details = (page: Page) => page.locator('#details');
  const lines = (page: Page) => page.locator('#cart li').allInnerTexts();

  test.each([
    ['in the link', (address: string) => address],
    // The server then shows nothing of the invoice, and the script reads it.
    ['behind the #', (address: string) => address.replace('&invoiceAccessToken', '#invoiceAccessToken')],
  ])('has its description and cart, with the token %s', async (_, placed) => {
    const page = await world.open(placed(world.link(await world.invoice(order))));
    await details(page).waitFor();
    expect(await page.locator('#description').innerText()).toBe('Collect it\non Friday');
    expect(await lines(page)).toEqual(['Coffee <beans> × 2\nRUB\u00a0900.00', 'Cup\nRUB\u00a0100.00']);
    expect(await obstacles(page, { sizes: [narrowPhone, phone, desktop] })).toEqual([]);
  });

  test('with many lines is folded, and opens', async () => {
    const cart = Array.from({ length: 40 }, (_, index) => ({ ...cup, product: `Cup ${index}` }));
    const page = await world.open(world.link(await world.invoice({ cart, amount: 400000 })), narrowPhone);
    expect(await page.locator('#cart').isVisible()).toBe(false);
    await details(page).getByText('What you pay for').click();
    expect(await lines(page)).toHaveLength(40);
  });

  test('without description and cart shows no empty place for them', async () => {
    const page = await world.open(world.link(await world.invoice()));
    expect(await details(page).isVisible()).toBe(false);
  });
});
