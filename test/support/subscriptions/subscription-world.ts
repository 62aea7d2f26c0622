// The steps of a merchant who sells subscriptions, on a world with customers.
import type { Answer, Merchant } from '../service/test-service.ts';
import type { CustomerWorld } from '../worlds/customer-world.ts';

export const subscriptionsUrl = '/v2/processing/subscriptions';
const visa = '4242424242424242';

export type SubscriptionWorld = ReturnType<typeof subscriptionWorld>;

export function subscriptionWorld(world: CustomerWorld) {
  const { service } = world;
  const call = (merchant: Merchant, method: 'GET' | 'POST', path: string, body?: unknown): Promise<Answer> =>
    service.call(method, path, { token: merchant.apiKey, ...(body === undefined ? {} : { body }) });

  return {
    call,
    /** A merchant whose customer has a saved card. */
    async readyCustomer(merchant: Merchant, card = visa): Promise<string> {
      const customer = await world.createCustomer({}, merchant);
      const binding = await world.bound(customer, card);
      const { body } = await call(merchant, 'GET', `/v2/processing/customers/${customer.id}`);
      if (body.status !== 'ready') throw new Error(`The card was not saved: ${binding.created.text}`);
      return customer.id;
    },
    create(merchant: Merchant, customerID: string, more: Record<string, unknown> = {}): Promise<Answer> {
      const items = [{ product: 'Tea', price: 49_900 }];
      const body = { customerID, items, every: 'P1M', timeZone: 'Europe/Moscow', ...more };
      return call(merchant, 'POST', subscriptionsUrl, body);
    },
    /** One that the payer starts with a payment. */
    createUnpaid(merchant: Merchant, more: Record<string, unknown> = {}): Promise<Answer> {
      const items = [{ product: 'Tea', price: 49_900 }];
      const body = { shopID: 'TEST', items, every: 'P1M', timeZone: 'Europe/Moscow', ...more };
      return call(merchant, 'POST', subscriptionsUrl, body);
    },
    /** As the payer does on the page of the checkout. */
    async pay(
      merchant: Merchant,
      invoiceId: string,
      card = visa,
      more: Record<string, unknown> = {},
    ): Promise<Answer> {
      const { token } = await world.tokenize(card, merchant.apiKey);
      const contactInfo = { email: 'payer@example.com' };
      const payer = { payerType: 'PaymentResourcePayer', paymentToolToken: token, contactInfo };
      return call(merchant, 'POST', `/v2/processing/invoices/${invoiceId}/payments`, { payer, ...more });
    },
    /** Runs what is due at this time. */
    async settle(): Promise<void> {
      for (let turn = 0; turn < 4; turn++) {
        service.jobs.wake();
        await service.jobs.whenIdle();
      }
    },
    async moveTo(merchant: Merchant, now: string): Promise<void> {
      const moved = await call(merchant, 'POST', '/sandbox/clock', { now });
      if (moved.status !== 200) throw new Error(`The test clock did not move: ${moved.text}`);
    },
    async get(merchant: Merchant, id: string): Promise<any> {
      return (await call(merchant, 'GET', `${subscriptionsUrl}/${id}`)).body;
    },
    /** Oldest first. */
    async periods(merchant: Merchant, id: string): Promise<any[]> {
      return (await call(merchant, 'GET', `${subscriptionsUrl}/${id}/periods`)).body.toReversed();
    },
    async invoice(merchant: Merchant, id: string): Promise<any> {
      return (await call(merchant, 'GET', `/v2/processing/invoices/${id}`)).body;
    },
    async payments(merchant: Merchant, invoiceId: string): Promise<any[]> {
      return (await call(merchant, 'GET', `/v2/processing/invoices/${invoiceId}/payments`)).body;
    },
  };
}
