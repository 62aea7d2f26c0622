// What is asked now and then by everybody: what there is, and what time it is.
import { recent, type Action } from './knowledge.ts';

const processing = '/v2/processing';
const wallet = '/wallet/v0';

const always = [
  `${processing}/me`,
  `${processing}/shops`,
  `${processing}/shops/TEST`,
  `${processing}/categories`,
  `${processing}/categories/1`,
  `${processing}/webhooks`,
  `${wallet}/providers`,
  `${wallet}/providers/test`,
  `${wallet}/providers/test/identity-classes`,
  `${wallet}/providers/test/identity-classes/person`,
  `${wallet}/residences/RUS`,
  `${wallet}/currencies/RUB`,
  `${wallet}/identities`,
  `${wallet}/wallets`,
  `${wallet}/destinations`,
  `${wallet}/deposits`,
  `${wallet}/withdrawals`,
  '/sandbox/clock',
  '/sandbox/outbox',
];

export const onlookerActions: readonly Action[] = [
  {
    name: 'look around',
    weight: 1.5,
    wish: (_known, chance) => ({ method: 'GET', path: chance.oneOf(always) }),
  },
  {
    name: 'give an invoice a token',
    weight: 0.4,
    wish: (known, chance) => {
      const invoice = recent(known.invoices, chance);
      return invoice && { method: 'POST', path: `${processing}/invoices/${invoice.id}/access-tokens` };
    },
  },
  {
    name: 'look at what is not there',
    weight: 0.4,
    wish: (known, chance) => {
      const paid = recent(known.payments, chance);
      if (!paid) return undefined;
      const path = `${processing}/invoices/${paid.invoiceId}/payments/${paid.paymentId}`;
      return { method: 'GET', path: path + chance.oneOf(['/chargebacks', '/chargebacks/1', '/refunds/1']) };
    },
  },
  {
    name: 'ask for a quote',
    weight: 0.2,
    wish: (known, chance) => {
      const walletID = recent(known.wallets, chance);
      const cash = { amount: 100, currency: 'RUB' };
      return (
        walletID && {
          method: 'POST',
          path: `${wallet}/withdrawal-quotes`,
          body: { walletID, currencyFrom: 'RUB', currencyTo: 'USD', cash },
        }
      );
    },
  },
];
