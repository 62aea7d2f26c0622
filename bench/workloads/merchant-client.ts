// A merchant that sells, refunds and pays out, and remembers the bank operation IDs of what the service confirmed.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from './scenarios.ts';

export type Prepared = { readonly id: string; readonly payer: object };

export type MerchantClient = {
  /** Bank operation IDs of what the service has confirmed, in order. */
  readonly confirmed: readonly string[];
  readonly partyId: string;
  /** The wallet and destination of its payouts. */
  readonly payout: { readonly wallet: string; readonly destination: string };
  /** Continues after requests that fail. */
  sellUntil(isOver: () => boolean): Promise<void>;
  /** Creates an invoice, and a card token to pay it with. */
  prepare(): Promise<Prepared>;
  pay(prepared: Prepared): Promise<string>;
  /** Returns the invoice ID. */
  sell(): Promise<string>;
  refund(invoiceId: string): Promise<void>;
  /** The same merchant as a client of another node. */
  on(api: Api): MerchantClient;
  /** Returns those of the operations that the service reports as done. */
  knownOf(operations: readonly string[]): Promise<ReadonlySet<string>>;
};

const invoices = '/v2/processing/invoices';
const card = { cardNumber: '4242424242424242', expDate: '12/30' };
const pollMs = 10;

export async function openMerchantClient(api: Api): Promise<MerchantClient> {
  const identity = await api.call('POST', '/wallet/v0/identities', {
    name: 'Example',
    provider: 'test',
    class: 'person',
  });
  const wallet = await api.call('POST', '/wallet/v0/wallets', {
    name: 'Payouts',
    identity: identity.id,
    currency: 'RUB',
  });
  const { token } = await api.call('POST', '/payres/v0/bank-cards', { type: 'BankCard', ...card });
  const destination = await api.call('POST', '/wallet/v0/destinations', {
    name: 'Card',
    identity: identity.id,
    currency: 'RUB',
    resource: { type: 'BankCardDestinationResource', token },
  });
  const destinationUrl = `/wallet/v0/destinations/${destination.id}`;
  await until(api, destinationUrl, 'Authorized');
  const { id: partyId } = await api.call('GET', '/v2/processing/me');
  return merchantClientOn(api, {
    partyId,
    payout: { wallet: wallet.id, destination: destination.id },
    confirmed: [],
  });
}

type Known = Pick<MerchantClient, 'partyId' | 'payout'> & { readonly confirmed: string[] };

function merchantClientOn(api: Api, known: Known): MerchantClient {
  const { confirmed, payout } = known;
  const merchant: MerchantClient = {
    ...known,
    async sellUntil(isOver) {
      for (let round = 0; !isOver(); round++) {
        try {
          const id = await merchant.sell();
          if (round % 3 === 0) await merchant.refund(id);
          if (round % 4 === 0) await payOut();
        } catch {
          await sleep(pollMs);
        }
      }
    },
    async prepare() {
      const { invoice } = await api.call('POST', invoices, {
        shopID: 'TEST',
        dueDate: '2030-01-20T10:00:00Z',
        amount: 6000,
        currency: 'RUB',
        product: 'Order',
      });
      const { paymentToolToken, paymentSession } = await api.call(
        'POST',
        '/v2/processing/payment-resources',
        {
          paymentTool: { paymentToolType: 'CardData', ...card, cvv: '123' },
          clientInfo: { fingerprint: 'x' },
        },
      );
      const payer = {
        payerType: 'PaymentResourcePayer',
        paymentToolToken,
        paymentSession,
        contactInfo: {},
      };
      return { id: invoice.id, payer };
    },
    async pay({ id, payer }) {
      await api.call('POST', `${invoices}/${id}/payments`, { flow: { type: 'PaymentFlowInstant' }, payer });
      await until(api, `${invoices}/${id}/payments/1`, 'captured');
      confirmed.push(`${id}.1.a`);
      return id;
    },
    sell: async () => merchant.pay(await merchant.prepare()),
    async refund(invoiceId) {
      const url = `${invoices}/${invoiceId}/payments/1/refunds`;
      const { id } = await api.call('POST', url, { amount: 1000, currency: 'RUB', reason: 'too large' });
      await until(api, `${url}/${id}`, 'succeeded');
      confirmed.push(`${invoiceId}.1.${id}`);
    },
    on: (other) => merchantClientOn(other, known),
    async knownOf(operations) {
      const known = await Promise.all(operations.map((operation) => isDone(api, operation)));
      return new Set(operations.filter((_, index) => known[index]));
    },
  };

  async function payOut(): Promise<void> {
    const body = { amount: 100, currency: 'RUB' };
    const { id } = await api.call('POST', '/wallet/v0/withdrawals', { ...payout, body });
    await until(api, `/wallet/v0/withdrawals/${id}`, 'Succeeded');
    confirmed.push(`${id}.p`);
  }
  return merchant;
}

async function isDone(api: Api, operation: string): Promise<boolean> {
  const [aggregate = '', payment = '', what] = operation.split('.');
  const [url, wanted] =
    payment === 'p'
      ? [`/wallet/v0/withdrawals/${aggregate}`, 'Succeeded']
      : what === 'a'
        ? [`${invoices}/${aggregate}/payments/${payment}`, 'captured refunded']
        : [`${invoices}/${aggregate}/payments/${payment}/refunds/${what}`, 'succeeded'];
  const found = await api.call('GET', url).catch(() => ({ status: 'not found' }));
  return wanted.split(' ').includes(found.status);
}

async function until(api: Api, url: string, wanted: string): Promise<void> {
  for (;;) {
    const { status } = await api.call('GET', url);
    if (status === wanted) return;
    if (/^(failed|cancelled)$/i.test(status)) throw new Error(`${url} is ${status}`);
    await sleep(pollMs);
  }
}
