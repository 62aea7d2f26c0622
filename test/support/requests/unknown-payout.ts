// A payout whose outcome the bank never knows.
import type { CheckoutWorld } from '../worlds/checkout-world.ts';

const amount = 99_916;

/** Returns its ID. */
export async function unknownPayout({ service, merchant }: CheckoutWorld): Promise<string> {
  const call = async (path: string, body: object) => {
    const answer = await service.call('POST', `/wallet/v0/${path}`, { token: merchant.apiKey, body });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  const currency = 'RUB';
  const { id: identity } = await call('identities', { name: 'Ada', provider: 'test', class: 'person' });
  const { id: wallet } = await call('wallets', { name: 'Payouts', identity, currency });
  const card = { type: 'BankCard', cardNumber: '4242424242424242', expDate: '12/40', cardHolder: 'ADA' };
  const { body: saved } = await service.call('POST', '/payres/v0/bank-cards', {
    token: merchant.apiKey,
    body: card,
  });
  const resource = { type: 'BankCardDestinationResource', token: saved.token };
  const { id: destination } = await call('destinations', { name: 'Card', identity, currency, resource });
  await service.jobs.whenIdle();
  const { id } = await call('withdrawals', { wallet, destination, body: { amount, currency } });
  await service.jobs.whenIdle();
  const { body } = await service.call('GET', `/wallet/v0/withdrawals/${id}`, { token: merchant.apiKey });
  if (body.status !== 'Pending') throw new Error(`the payout is ${body.status}`);
  return id;
}
