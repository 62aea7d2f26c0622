// A merchant who sells, refunds and pays out, and remembers what he was told: each operation by its id at the bank.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from './scenarios.ts';

export type Prepared = { readonly id: string; readonly payer: object };

export type Trader = {
  /** The operations he was told are done, in order. */
  readonly told: readonly string[];
  readonly partyId: string;
  /** From where to where he pays out. */
  readonly payout: { readonly wallet: string; readonly destination: string };
  /** Goes on through answers that do not come. */
  tradeUntil(isOver: () => boolean): Promise<void>;
  /** An invoice and a card to pay it with. */
  prepare(): Promise<Prepared>;
  pay(prepared: Prepared): Promise<string>;
  /** The invoice. */
  sell(): Promise<string>;
  refund(invoiceId: string): Promise<void>;
  /** The same merchant before another node. */
  on(api: Api): Trader;
  /** Those of the operations that are done by what the service says. */
  knownOf(operations: readonly string[]): Promise<ReadonlySet<string>>;
};

const invoices = '/v2/processing/invoices';
const card = { cardNumber: '4242424242424242', expDate: '12/30' };
const pollMs = 10;

export async function openTrader(api: Api): Promise<Trader> {
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
  return traderOn(api, { partyId, payout: { wallet: wallet.id, destination: destination.id }, told: [] });
}

type Known = Pick<Trader, 'partyId' | 'payout'> & { readonly told: string[] };

function traderOn(api: Api, known: Known): Trader {
  const { told, payout } = known;
  const trader: Trader = {
    ...known,
    async tradeUntil(isOver) {
      for (let round = 0; !isOver(); round++) {
        try {
          const id = await trader.sell();
          if (round % 3 === 0) await trader.refund(id);
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
      told.push(`${id}.1.a`);
      return id;
    },
    sell: async () => trader.pay(await trader.prepare()),
    async refund(invoiceId) {
      const url = `${invoices}/${invoiceId}/payments/1/refunds`;
      const { id } = await api.call('POST', url, { amount: 1000, currency: 'RUB', reason: 'too large' });
      await until(api, `${url}/${id}`, 'succeeded');
      told.push(`${invoiceId}.1.${id}`);
    },
    on: (other) => traderOn(other, known),
    async knownOf(operations) {
      const known = await Promise.all(operations.map((operation) => isDone(api, operation)));
      return new Set(operations.filter((_, place) => known[place]));
    },
  };

  async function payOut(): Promise<void> {
    const body = { amount: 100, currency: 'RUB' };
    const { id } = await api.call('POST', '/wallet/v0/withdrawals', { ...payout, body });
    await until(api, `/wallet/v0/withdrawals/${id}`, 'Succeeded');
    told.push(`${id}.p`);
  }
  return trader;
}

async function isDone(api: Api, operation: string): Promise<boolean> {
  const [aggregate = '', payment = '', what] = operation.split('.');
  const [url, wanted] =
    payment === 'p'
      ? [`/wallet/v0/withdrawals/${aggregate}`, 'Succeeded']
      : what === 'a'
        ? [`${invoices}/${aggregate}/payments/${payment}`, 'captured refunded']
        : [`${invoices}/${aggregate}/payments/${payment}/refunds/${what}`, 'succeeded'];
  const found = await api.call('GET', url).catch(() => ({ status: 'nowhere' }));
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
