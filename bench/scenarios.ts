// What a merchant's server does, as requests: the same to the service and to the floor.
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import type { Contender } from './processes.ts';
import type { Work } from './load.ts';

export type Scenario = {
  readonly name: string;
  /** Once for each contender, before the clock runs. */
  prepare(api: Api): Promise<Work>;
  /** What the floor does too. */
  readonly hasFloor: boolean;
};

export type Api = {
  call(method: 'GET' | 'POST', path: string, body?: object): Promise<any>;
  close(): Promise<void>;
};

const pollMs = 4;
const paths = { invoices: '/v2/processing/invoices', cards: '/v2/processing/payment-resources' };
const card = {
  paymentTool: {
    paymentToolType: 'CardData',
    cardNumber: '4242424242424242',
    expDate: '12/30',
    cvv: '123',
    cardHolder: 'JOHN DOE',
  },
  clientInfo: { fingerprint: 'bench' },
};
const contactInfo = { email: 'payer@example.com' };
const order = {
  shopID: 'TEST',
  dueDate: '2030-01-20T10:00:00Z',
  amount: 6000,
  currency: 'RUB',
  product: 'Order',
};

export function openApi({ url, apiKey }: Contender): Api {
  const agent = new Agent({ connections: 256, pipelining: 1 });
  const { origin } = new URL(url);
  return {
    async call(method, path, body) {
      const { statusCode, body: answer } = await agent.request({
        origin,
        path,
        method,
        headers: {
          authorization: `Bearer ${apiKey}`,
          'x-request-id': 'bench',
          ...(body ? { 'content-type': 'application/json' } : {}),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      const text = await answer.text();
      if (statusCode >= 300) throw new Error(`${method} ${path}: ${statusCode} ${text}`);
      return JSON.parse(text);
    },
    close: () => agent.close(),
  };
}

async function makeInvoice(api: Api): Promise<string> {
  const { invoice } = await api.call('POST', paths.invoices, order);
  return invoice.id;
}

async function pay(api: Api, more: object): Promise<string> {
  const id = await makeInvoice(api);
  await api.call('POST', `${paths.invoices}/${id}/payments`, {
    flow: { type: 'PaymentFlowInstant' },
    ...more,
  });
  for (;;) {
    const { status, error } = await api.call('GET', `${paths.invoices}/${id}/payments/1`);
    if (status === 'captured') return id;
    if (status === 'failed') throw new Error(`the payment failed: ${JSON.stringify(error)}`);
    await sleep(pollMs);
  }
}

async function charge(api: Api, more: object = {}): Promise<string> {
  const { paymentToolToken, paymentSession } = await api.call('POST', paths.cards, card);
  const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, paymentSession, contactInfo };
  return pay(api, { payer, ...more });
}

/** So that no two clients charge one series at once, nor a client the same one twice in a row. */
const parentsMade = 64;

/** Charges without the payer, each of the series that has rested longest. */
async function chargeParents(api: Api): Promise<Work> {
  const payments = Array.from({ length: parentsMade }, () => charge(api, { makeRecurrent: true }));
  const parents = await Promise.all(payments);
  return async () => {
    const invoiceID = parents.shift();
    if (invoiceID === undefined) throw new Error(`more than ${parentsMade} charges at once`);
    const payer = {
      payerType: 'RecurrentPayer',
      recurrentParentPayment: { invoiceID, paymentID: '1' },
      contactInfo,
    };
    await pay(api, { payer });
    parents.push(invoiceID);
  };
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'charge',
    hasFloor: true,
    prepare: async (api) => () => charge(api),
  },
  { name: 'recurring', hasFloor: true, prepare: chargeParents },
  {
    name: 'reads',
    hasFloor: true,
    async prepare(api) {
      const id = await charge(api);
      return () => api.call('GET', `${paths.invoices}/${id}/payments/1`);
    },
  },
];
