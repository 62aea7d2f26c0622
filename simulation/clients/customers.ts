// Requests about customers and their bindings.
import { externalId, recent, type Action } from './knowledge.ts';

const customers = '/v2/processing/customers';

export const customerActions: readonly Action[] = [
  {
    name: 'create a customer',
    weight: 2,
    wish: (known, chance) => ({
      method: 'POST',
      path: customers,
      body: {
        shopID: chance.oneOf(['TEST', 'TEST', 'TEST_USD']),
        contactInfo: { email: `customer-${known.customers.length + 1}@example.com` },
        metadata: {},
        ...externalId(known, chance),
      },
      learn: ({ customer, customerAccessToken }) =>
        known.customers.push({ id: customer.id, token: customerAccessToken.payload }),
    }),
  },
  {
    name: 'bind a card',
    weight: 4,
    wish: (known, chance) => {
      const customer = recent(known.customers, chance);
      const card = recent(known.cards, chance);
      if (!customer || !card) return undefined;
      return {
        method: 'POST',
        path: `${customers}/${customer.id}/bindings`,
        body: { paymentResource: { paymentToolToken: card.token, paymentSession: card.session } },
        learn: ({ id }) => known.bindings.push({ customerId: customer.id, id }),
      };
    },
  },
  {
    name: 'withdraw a binding',
    weight: 1,
    wish: (known, chance) => {
      const binding = recent(known.bindings, chance);
      return (
        binding && { method: 'DELETE', path: `${customers}/${binding.customerId}/bindings/${binding.id}` }
      );
    },
  },
  {
    name: 'delete a customer',
    weight: 0.4,
    wish: (known, chance) => {
      const customer = recent(known.customers, chance);
      return customer && { method: 'DELETE', path: `${customers}/${customer.id}` };
    },
  },
  {
    name: 'give a customer a token',
    weight: 0.3,
    wish: (known, chance) => {
      const customer = recent(known.customers, chance);
      return customer && { method: 'POST', path: `${customers}/${customer.id}/access-tokens` };
    },
  },
  {
    name: 'look at a customer',
    weight: 1.5,
    wish: (known, chance) => {
      const customer = recent(known.customers, chance);
      const what = chance.oneOf([
        '',
        '/bindings',
        '/events?limit=100',
        '/payment-methods',
        '/recurring',
        '/recurring/timeline',
      ]);
      const token = chance.isTrue(0.3) ? { token: customer?.token ?? '' } : {};
      return customer && { method: 'GET', path: `${customers}/${customer.id}${what}`, ...token };
    },
  },
  {
    name: 'look at a binding',
    weight: 0.6,
    wish: (known, chance) => {
      const binding = recent(known.bindings, chance);
      const what = chance.oneOf(['', '', '/consent', '/timeline']);
      return (
        binding && {
          method: 'GET',
          path: `${customers}/${binding.customerId}/bindings/${binding.id}${what}`,
        }
      );
    },
  },
];
