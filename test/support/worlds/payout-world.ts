// A merchant with a wallet, and cards to pay out to, over the API.
import { epochMsOf } from '../../../src/clock.ts';
import { secret, startPaymentWorld, type PaymentWorld } from './payment-world.ts';
import { bankClientAt } from '../bank/simulated-bank.ts';
import type { TestDatabase } from '../database/test-database.ts';
import type { Answer, Merchant } from '../service/test-service.ts';

export type PayoutWorld = PaymentWorld & {
  readonly identity: string;
  readonly wallet: string;
  post(path: string, body: unknown, token?: string): Promise<Answer>;
  get(path: string, token?: string): Promise<Answer>;
  /** The same for another merchant. */
  openWallet(by: Merchant, more?: Record<string, unknown>): Promise<{ identity: string; wallet: string }>;
  storeCard(cardNumber: string, by?: Merchant): Promise<string>;
  /** A destination for that card, once the bank has responded. */
  destinationFor(cardNumber: string, by?: Merchant, identity?: string): Promise<any>;
  /** The response to a withdrawal. */
  withdraw(amount: number, destination: string, more?: Record<string, unknown>): Promise<Answer>;
  account(wallet?: string): Promise<{ own: number; available: number }>;
  /** What the bank has paid out. */
  book(): Promise<any[]>;
};

export const card = (cardNumber: string) => ({
  type: 'BankCard',
  cardNumber,
  expDate: '12/24',
  cardHolder: 'LEXA SVOTIN',
});

export async function startPayoutWorld(
  environment: Record<string, string> = {},
  database?: TestDatabase,
  bankOptions: Parameters<typeof startPaymentWorld>[1] = {},
): Promise<PayoutWorld> {
  const world = await startPaymentWorld(environment, bankOptions, undefined, database);
  const { service, merchant } = world;
  const post = (path: string, body: unknown, token = merchant.apiKey) =>
    service.call('POST', path, { token, body });
  const get = (path: string, token = merchant.apiKey) => service.call('GET', path, { token });

  async function made(path: string, body: unknown, token?: string): Promise<any> {
    const answer = await post(path, body, token);
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  }

  async function openWallet(by: Merchant, more: Record<string, unknown> = {}) {
    const name = { name: 'Keyn Fawkes', provider: 'test', class: 'person', ...more };
    const { id: identity } = await made('/wallet/v0/identities', name, by.apiKey);
    const wallet = { name: 'Payouts', identity, currency: 'RUB' };
    return { identity, wallet: (await made('/wallet/v0/wallets', wallet, by.apiKey)).id };
  }

  const own = await openWallet(merchant);

  async function storeCard(cardNumber: string, by = merchant): Promise<string> {
    return (await made('/payres/v0/bank-cards', card(cardNumber), by.apiKey)).token;
  }

  return {
    ...world,
    ...own,
    post,
    get,
    openWallet,
    storeCard,
    async destinationFor(cardNumber, by = merchant, identity = own.identity) {
      const token = await storeCard(cardNumber, by);
      const { id } = await made(
        '/wallet/v0/destinations',
        { name: 'Card', identity, currency: 'RUB', resource: { type: 'BankCardDestinationResource', token } },
        by.apiKey,
      );
      await service.jobs.whenIdle();
      return (await get(`/wallet/v0/destinations/${id}`, by.apiKey)).body;
    },
    withdraw: (amount, destination, more = {}) =>
      post('/wallet/v0/withdrawals', {
        wallet: own.wallet,
        destination,
        body: { amount, currency: 'RUB' },
        ...more,
      }),
    book: () => bankClientAt(world.bank.url, secret, () => epochMsOf(service.clock.now())).book(),
    async account(wallet = own.wallet) {
      const { body } = await get(`/wallet/v0/wallets/${wallet}/account`);
      return { own: body.own.amount, available: body.available.amount };
    },
  };
}
