// A payment that was stepped up in the bank's report: its second charge is expected there, and its first is not.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BookEntry } from '../../../src/acquiring/adapters/http/messages.ts';
import { differencesFrom } from '../../support/checks/report-differences.ts';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';
import { invoicesUrl } from '../../support/worlds/invoices.ts';

let world: PaymentWorld;
beforeAll(async () => {
  world = await startPaymentWorld();
});
afterAll(() => world.close());

async function differencesWith(entries: readonly BookEntry[]): Promise<string[]> {
  const differences = await differencesFrom(world.service, entries);
  return differences.map((difference) => difference.class);
}

test('the second charge and its refund are expected, and the first charge is not', async () => {
  const paid = await world.pay('4242424242424242', {}, { amount: 199_935 });
  await world.service.jobs.whenIdle();
  await world.authenticate(paid, 'confirm');
  const url = `${invoicesUrl}/${paid.id}/payments/1/refunds`;
  await world.service.call('POST', url, { token: world.merchant.apiKey, body: {} });
  await world.service.jobs.whenIdle();
  const book = await world.book();
  expect(book.map(({ operationId }) => operationId.split('.').at(-1))).toEqual(['s', '100']);
  expect(await differencesWith(book)).toEqual([]);
  const first = book.map((entry) => ({ ...entry, operationId: entry.operationId.replace(/s$/, 'a') }));
  expect((await differencesWith(first)).length).toBeGreaterThan(0);
});
