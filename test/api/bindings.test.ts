import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCustomerWorld, type CustomerWorld } from '../support/customer-world.ts';
let world: CustomerWorld;
beforeAll(async () => void (world = await startCustomerWorld()));
afterAll(() => world.close());
test('first', async () => {
  const customer = await world.createCustomer();
  const made = await world.bound(customer, '4242424242424242');
  console.log(
    JSON.stringify(made.created.body),
    await world.binding(made),
    await world.customer(customer),
    JSON.stringify(await world.customerChanges(customer)),
  );
  expect(await world.differences()).toEqual([]);
});
