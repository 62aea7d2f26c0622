// A service with a bank, and the steps by which a merchant and a payer bind a card, each as a function.
import { resolveVerificationRefund } from '../../../src/customers/store/verification-refunds.ts';
import { watchVerificationRefunds } from '../../../src/customers/verification-refunds.ts';
import { bindingClearing } from '../../../src/platform/ledger/domain/account.ts';
import { readBalance } from '../../../src/platform/ledger/store/journals.ts';
import { insertShop } from '../../../src/merchants/store/parties.ts';
import type { Currency } from '../../../src/money.ts';
import { startPaymentWorld, type PaymentWorld } from './payment-world.ts';
import type { Answer, Merchant } from '../service/test-service.ts';

export const customersUrl = '/v2/processing/customers';

export type MadeCustomer = { readonly id: string; readonly token: string };
export type MadeBinding = MadeCustomer & { readonly bindingId: string; readonly created: Answer };

export type CustomerWorld = PaymentWorld & {
  createCustomer(more?: Record<string, unknown>, by?: Merchant): Promise<MadeCustomer>;
  /** A binding of that card, created but not yet decided by the bank. */
  bind(customer: MadeCustomer, cardNumber: string, more?: Record<string, unknown>): Promise<MadeBinding>;
  /** The same, once the bank has responded and no more jobs are due. */
  bound(customer: MadeCustomer, cardNumber: string): Promise<MadeBinding>;
  customer(customer: MadeCustomer): Promise<any>;
  binding(binding: MadeBinding, token?: string): Promise<any>;
  /** The changes of the customer's feed, flat. */
  customerChanges(customer: MadeCustomer): Promise<any[]>;
  withdraw(binding: MadeBinding, token?: string): Promise<Answer>;
  /** The payer's decision on the issuer's page; then the browser returns to the service. */
  authenticateBinding(binding: MadeBinding, decision: 'confirm' | 'refuse' | 'cancel'): Promise<void>;
  /** Lets time pass, and everything that falls due with it. */
  later(ms: number): Promise<void>;
  /** Another shop of the merchant, with a terminal unless `terminal` is false. */
  openShop(id: string, currency: string, more?: { terminal: boolean }): Promise<void>;
  /** The database row, for what the API does not show. */
  row(customer: { id: string }, bindingId: string): Promise<unknown>;
  /** Runs the periodic check of verification refunds. */
  watchVerificationRefunds(): Promise<void>;
  closeReturn(name: { customerId: string; bindingId: string }, reason: string): Promise<boolean>;
  /** The balance of the clearing account of verification charges, and the part that is being refunded. */
  bindingClearing(currency: string): Promise<{ own: number; returning: number }>;
  /** A value at /metrics. */
  metric(name: string): Promise<number>;
};

export async function startCustomerWorld(
  environment: Record<string, string> = {},
  bankOptions: Parameters<typeof startPaymentWorld>[1] = {},
): Promise<CustomerWorld> {
  const world = await startPaymentWorld(environment, bankOptions);
  const { service, merchant } = world;
  const token = merchant.apiKey;

  async function createCustomer(more: Record<string, unknown> = {}, by = merchant): Promise<MadeCustomer> {
    const body = { shopID: 'TEST', contactInfo: { email: 'payer@example.com' }, metadata: {}, ...more };
    const created = await service.call('POST', customersUrl, { token: by.apiKey, body });
    if (created.status !== 201)
      throw new Error(`the customer was not created: ${created.status} ${created.text}`);
    return { id: created.body.customer.id, token: created.body.customerAccessToken.payload };
  }

  async function bind(
    customer: MadeCustomer,
    cardNumber: string,
    more: Record<string, unknown> = {},
  ): Promise<MadeBinding> {
    const card = await world.tokenize(cardNumber, customer.token);
    const paymentResource = { paymentToolToken: card.token, paymentSession: card.session };
    const url = `${customersUrl}/${customer.id}/bindings`;
    const created = await service.call('POST', url, {
      token: customer.token,
      body: { paymentResource, ...more },
    });
    return { ...customer, bindingId: created.body?.id, created };
  }

  async function customerChanges({ id }: MadeCustomer): Promise<any[]> {
    const { body } = await service.call('GET', `${customersUrl}/${id}/events?limit=1000`, { token });
    return body.flatMap((event: { changes: unknown[] }) => event.changes);
  }

  const urlOf = ({ id, bindingId }: MadeBinding) => `${customersUrl}/${id}/bindings/${bindingId}`;

  return {
    ...world,
    createCustomer,
    bind,
    async bound(customer, cardNumber) {
      const made = await bind(customer, cardNumber);
      if (made.created.status !== 201) throw new Error(`the binding was not created: ${made.created.text}`);
      await service.jobs.whenIdle();
      return made;
    },
    async customer({ id }) {
      return (await service.call('GET', `${customersUrl}/${id}`, { token })).body;
    },
    async binding(binding, by = token) {
      return (await service.call('GET', urlOf(binding), { token: by })).body;
    },
    customerChanges,
    withdraw: (binding, by = token) => service.call('DELETE', urlOf(binding), { token: by }),
    async authenticateBinding(binding, decision) {
      const asked = (await customerChanges(binding)).findLast(
        ({ changeType, customerBindingID }) =>
          changeType === 'CustomerBindingInteractionRequested' && customerBindingID === binding.bindingId,
      );
      await world.decideAtIssuer(asked.userInteraction.request, decision);
      await service.call('GET', `/payer/return/customers/${binding.id}/${binding.bindingId}`);
      await service.jobs.whenIdle();
    },
    async later(ms) {
      service.clock.advance(ms);
      service.jobs.wake();
      await service.jobs.whenIdle();
    },
    async openShop(id, currency, { terminal } = { terminal: true }) {
      await service.database.run(insertShop, {
        party_id: merchant.partyId,
        livemode: false,
        url: 'https://shop.example',
        category_id: 1,
        shop_id: id,
        name: id,
        currency,
        created_at: service.clock.now(),
      });
      if (!terminal) return;
      const names = { id: 'T1', merchantId: id, descriptor: id, bankId: 'BANK', priority: 1 };
      await service.banks.putTerminal({ ...names, partyId: merchant.partyId, shopId: id });
    },
    async row({ id }, bindingId) {
      const { rows } = await service.database.withClient((client) =>
        client.query(
          `select customer.status as customer, active_binding_id as active, binding.status as binding, refund_due_at
           from customer join binding using (customer_id) where customer_id = $1 and binding_id = $2`,
          [id, bindingId],
        ),
      );
      return rows[0];
    },
    async watchVerificationRefunds() {
      await watchVerificationRefunds(service.database, service.clock.now(), service.log);
    },
    closeReturn: (name, reason) => resolveVerificationRefund(service.database, service.clock, name, reason),
    async bindingClearing(currency) {
      const account = bindingClearing({ livemode: false, currency: currency as Currency });
      const balance = await readBalance(service.database, account);
      return { own: Number(balance.own), returning: Number(balance.own - balance.available) };
    },
    async metric(name) {
      const { text } = await service.call('GET', '/metrics');
      const [, value] = new RegExp(`^${name} (\\S+)$`, 'm').exec(text) ?? [];
      if (value === undefined) throw new Error(`metric ${name} not found`);
      return Number(value);
    },
  };
}
