// The requests of a merchant's server, the same to the service and to the floor.
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import type { Contender } from '../harness/processes.ts';
import type { Work } from '../harness/load.ts';

export type Scenario = {
  readonly name: string;
  /** Runs once for each contender, before the clock runs. */
  prepare(api: Api): Promise<Work>;
  /** Whether the floor has it too. */
  readonly hasFloor: boolean;
  /** Whether it waits for the bank, so that the bank's latency counts. */
  readonly asksBank?: true;
};

export type Api = {
  call(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<any>;
  /** When clients poll a status; before the bank can have responded, polling is useless. */
  polling: { readonly firstAfterMs: number; readonly everyMs: number };
  close(): Promise<void>;
};

/** Often, so that latencies are measured precisely. */
export const eagerPolling = { firstAfterMs: 0, everyMs: 4 };
const paths = {
  invoices: '/v2/processing/invoices',
  cards: '/v2/processing/payment-resources',
  customers: '/v2/processing/customers',
};
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

export function openApi({ url, apiKey }: Pick<Contender, 'url' | 'apiKey'>): Api {
  const agent = new Agent({ connections: 256, pipelining: 1 });
  const { origin } = new URL(url);
  return {
    polling: eagerPolling,
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
      return text === '' ? undefined : JSON.parse(text);
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
  await untilStatus(api, `${paths.invoices}/${id}/payments/1`, 'captured');
  return id;
}

async function untilStatus(api: Api, path: string, wanted: string): Promise<void> {
  const { firstAfterMs, everyMs } = api.polling;
  if (firstAfterMs > 0) await sleep(firstAfterMs);
  for (;;) {
    const { status, error, failure } = await api.call('GET', path);
    if (status === wanted) return;
    if (/^failed$/i.test(status)) throw new Error(`${path} failed: ${JSON.stringify(error ?? failure)}`);
    await sleep(everyMs);
  }
}

async function charge(api: Api, more: object = {}): Promise<string> {
  const { paymentToolToken, paymentSession } = await api.call('POST', paths.cards, card);
  const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, paymentSession, contactInfo };
  return pay(api, { payer, ...more });
}

/** A new one each time, because the number of cards that one customer may bind is limited. Returns its ID. */
export async function readyCustomer(api: Api): Promise<string> {
  const person = { shopID: 'TEST', contactInfo };
  const { customer } = await api.call('POST', paths.customers, person);
  const { paymentToolToken, paymentSession } = await api.call('POST', paths.cards, card);
  const paymentResource = { paymentToolToken, paymentSession };
  const { id } = await api.call('POST', `${paths.customers}/${customer.id}/bindings`, { paymentResource });
  await untilStatus(api, `${paths.customers}/${customer.id}/bindings/${id}`, 'succeeded');
  return customer.id;
}

/** Withdrawals from so many wallets in turn, each with its own destination. */
async function withdrawFrom(api: Api, wallets: number): Promise<Work> {
  const pairs: { wallet: string; destination: string }[] = [];
  for (let number = 0; number < wallets; number++) {
    const person = { name: 'Keyn Fawkes', provider: 'test', class: 'person' };
    const { id: identity } = await api.call('POST', '/wallet/v0/identities', person);
    const { id: wallet } = await api.call('POST', '/wallet/v0/wallets', {
      name: 'Payouts',
      identity,
      currency: 'RUB',
    });
    const { token } = await api.call('POST', '/payres/v0/bank-cards', {
      type: 'BankCard',
      cardNumber: '4242424242424242',
      expDate: '12/30',
      cardHolder: 'JOHN DOE',
    });
    const { id: destination } = await api.call('POST', '/wallet/v0/destinations', {
      name: 'Card',
      identity,
      currency: 'RUB',
      resource: { type: 'BankCardDestinationResource', token },
    });
    await untilStatus(api, `/wallet/v0/destinations/${destination}`, 'Authorized');
    pairs.push({ wallet, destination });
  }
  let next = 0;
  return async () => {
    const pair = pairs[next++ % pairs.length];
    const body = { amount: 100, currency: 'RUB' };
    const { id } = await api.call('POST', '/wallet/v0/withdrawals', { ...pair, body });
    await untilStatus(api, `/wallet/v0/withdrawals/${id}`, 'Succeeded');
  };
}

/** Enough that no two clients charge one series at the same time. More clients create more. */
const parentsMade = 192;
const sellers = 16;

/** Recurring charges, each of the series that was charged longest ago. */
async function chargeParents(api: Api): Promise<Work> {
  const parents: string[] = [];
  const sell = async () => {
    for (let made = 0; made < parentsMade / sellers; made++)
      parents.push(await charge(api, { makeRecurrent: true }));
  };
  await Promise.all(Array.from({ length: sellers }, sell));
  return async () => {
    const parent = parents.shift() ?? (await charge(api, { makeRecurrent: true }));
    await chargeAgain(api, parent);
    parents.push(parent);
  };
}

function chargeAgain(api: Api, invoiceID: string): Promise<string> {
  const recurrentParentPayment = { invoiceID, paymentID: '1' };
  return pay(api, { payer: { payerType: 'RecurrentPayer', recurrentParentPayment, contactInfo } });
}

/** Returns the invoice ID. */
export function sellOnce(api: Api): Promise<string> {
  return charge(api);
}

/** Returns the invoice IDs of a series of so many payments, its parent first. */
export async function sellInSeries(api: Api, payments: number): Promise<string[]> {
  const invoices = [await charge(api, { makeRecurrent: true })];
  while (invoices.length < payments) invoices.push(await chargeAgain(api, invoices[0] as string));
  return invoices;
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'charge',
    hasFloor: true,
    asksBank: true,
    prepare: async (api) => () => charge(api),
  },
  { name: 'recurring', hasFloor: true, asksBank: true, prepare: chargeParents },
  { name: 'binding', hasFloor: true, prepare: async (api) => () => readyCustomer(api) },
  { name: 'withdrawal', hasFloor: true, prepare: (api) => withdrawFrom(api, 32) },
  { name: 'hot-wallet', hasFloor: true, prepare: (api) => withdrawFrom(api, 1) },
  {
    name: 'reads',
    hasFloor: true,
    async prepare(api) {
      const id = await charge(api);
      return () => api.call('GET', `${paths.invoices}/${id}/payments/1`);
    },
  },
];

export function scenarioNamed(wanted: string): Scenario {
  const found = scenarios.find(({ name }) => name === wanted);
  if (!found)
    throw new Error(
      `Unknown scenario "${wanted}". Use one of: ${scenarios.map(({ name }) => name).join(', ')}.`,
    );
  return found;
}
