// What merchants do all the time: sell, hold, capture, cancel, refund, charge again, bind cards and pay out.
import { cardBody } from '../../test/support/worlds/cards.ts';
import { Stopped, type Client } from './client.ts';

const good = '4242424242424242';
const declined = '4000000000000002';
const processing = '/v2/processing';
const hold = { flow: { type: 'PaymentFlowHold', onHoldExpiration: 'cancel' } };

export type Trading = { stop(): Promise<void> };

/** Each trader repeats all trades in turn until the client stops. */
export async function startTrading(client: Client, traders: number): Promise<Trading> {
  const { call, leaves } = client;
  const post = (path: string, body: unknown) => call('POST', path, body);
  const wallets = await openWallets(post);

  async function pay(card: string, more: object): Promise<string | undefined> {
    const amount = 1_000 + Math.floor(Math.random() * 80_000);
    const terms = { shopID: 'TEST', dueDate: '2035-01-20T10:00:00Z', currency: 'RUB', product: 'Order' };
    const made = await post(`${processing}/invoices`, { ...terms, amount });
    const stored = await post(`${processing}/payment-resources`, cardBody({ cardNumber: card }));
    if (!made || !stored) return undefined;
    const payments = `${processing}/invoices/${made.invoice.id}/payments`;
    const contactInfo = { email: 'payer@example.com' };
    const payer = {
      payerType: 'PaymentResourcePayer',
      paymentToolToken: stored.paymentToolToken,
      contactInfo,
    };
    const paid = await post(payments, { flow: { type: 'PaymentFlowInstant' }, payer, ...more });
    return paid ? `${payments}/${paid.id}` : undefined;
  }
  /** The payment if it has reached that status, otherwise undefined. */
  async function paid(more: object, status: string): Promise<string | undefined> {
    const payment = await pay(good, more);
    return payment && (await leaves(payment, 'pending')) === status ? payment : undefined;
  }

  const trades: readonly (() => Promise<unknown>)[] = [
    async function sellAndGiveBack() {
      const payment = await paid({}, 'captured');
      for (const amount of payment ? [100, 200] : []) {
        const refund = await post(`${payment}/refunds`, { amount, currency: 'RUB', reason: 'r' });
        if (refund) await leaves(`${payment}/refunds/${refund.id}`, 'pending');
      }
    },
    async function holdAndCapture() {
      const payment = await paid(hold, 'processed');
      const part = Math.random() < 0.5 ? {} : { amount: 900, currency: 'RUB' };
      if (payment) await post(`${payment}/capture`, { reason: 'r', ...part });
    },
    async function captureAndCancelAtOnce() {
      const payment = await paid(hold, 'processed');
      const ends = payment ? ['cancel', 'capture'] : [];
      await Promise.all(ends.map((what) => post(`${payment}/${what}`, { reason: 'r' })));
    },
    () => pay(declined, {}),
    async function chargeAgain() {
      const [, , , , invoiceID, , paymentID] =
        (await paid({ makeRecurrent: true }, 'captured'))?.split('/') ?? [];
      const recurrentParentPayment = { invoiceID, paymentID };
      const payer = { payerType: 'RecurrentPayer', recurrentParentPayment, contactInfo: {} };
      for (let charges = invoiceID === undefined ? 2 : 0; charges < 2; charges++) await pay(good, { payer });
    },
    async function bindAndCharge() {
      const contactInfo = { email: 'payer@example.com' };
      const made = await post(`${processing}/customers`, { shopID: 'TEST', contactInfo, metadata: {} });
      const stored = await post(`${processing}/payment-resources`, cardBody());
      if (!made || !stored) return;
      const { paymentToolToken, paymentSession } = stored;
      const bindings = `${processing}/customers/${made.customer.id}/bindings`;
      const binding = await post(bindings, { paymentResource: { paymentToolToken, paymentSession } });
      if (!binding || (await leaves(`${bindings}/${binding.id}`, 'pending')) !== 'succeeded') return;
      await pay(good, { payer: { payerType: 'CustomerPayer', customerID: made.customer.id } });
      if (Math.random() < 0.3) await call('DELETE', `${bindings}/${binding.id}`);
    },
    async function payOut() {
      const { sender, receiver, destination } = wallets;
      const body = { amount: 1_000 + Math.floor(Math.random() * 5_000), currency: 'RUB' };
      const made = await post('/wallet/v0/withdrawals', { wallet: sender, destination, body });
      await post('/wallet/v0/w2w/transfers', { sender, receiver, body });
      if (made) await leaves(`/wallet/v0/withdrawals/${made.id}`, 'Pending');
    },
  ];

  async function trader(first: number): Promise<void> {
    for (let turn = first; client.isRunning; turn++) {
      await trades[turn % trades.length]!().catch((error: unknown) => {
        if (!(error instanceof Stopped)) throw error;
      });
    }
  }
  const running = Promise.all(Array.from({ length: traders }, (_, first) => trader(first)));
  return {
    async stop() {
      client.stop();
      await running;
    },
  };
}

async function openWallets(post: (path: string, body: unknown) => Promise<any>) {
  const { id: identity } = await post('/wallet/v0/identities', {
    name: 'T',
    provider: 'test',
    class: 'person',
  });
  const open = async (name: string) =>
    (await post('/wallet/v0/wallets', { name, identity, currency: 'RUB' })).id as string;
  const [sender, receiver] = [await open('Sender'), await open('Receiver')];
  const card = { type: 'BankCard', cardNumber: good, expDate: '12/30', cardHolder: 'T' };
  const { token } = await post('/payres/v0/bank-cards', card);
  const resource = { type: 'BankCardDestinationResource', token };
  const { id: destination } = await post('/wallet/v0/destinations', {
    name: 'Card',
    identity,
    currency: 'RUB',
    resource,
  });
  return { identity, sender, receiver, destination };
}
