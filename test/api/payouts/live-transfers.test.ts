// In live mode a transfer to another identity counts as a payout, so it needs limits of its currency as a payout does.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestService, type Merchant, type TestService } from '../../support/service/test-service.ts';
import { setPayoutLimits } from '../../support/worlds/payout-limits.ts';
import { refused, said } from '../../support/worlds/wallets-side.ts';

let service: TestService;
let merchant: Merchant;
beforeAll(async () => {
  service = await startTestService({ MANDATE_MODE: 'live' });
  merchant = await service.createMerchant();
});
afterAll(() => service.close());

const post = (path: string, body: unknown) =>
  service.call('POST', `/wallet/v0${path}`, { token: merchant.apiKey, body });

async function made(path: string, body: unknown): Promise<string> {
  const answer = await post(path, body);
  expect(answer.status).toBe(201);
  return answer.body.id;
}

const identity = () => made('/identities', { name: 'Keyn Fawkes', provider: 'dpl', class: 'person' });
const wallet = (of: string) => made('/wallets', { name: 'W', identity: of, currency: 'JPY' });

test('a transfer to another identity is refused in a currency without limits', async () => {
  const [one, other] = [await identity(), await identity()];
  const sender = await wallet(one);
  const transfer = (receiver: string) =>
    post('/w2w/transfers', { sender, receiver, body: { amount: 500, currency: 'JPY' } });
  const toOther = await wallet(other);

  expect(said(await transfer(toOther))).toEqual(refused('payoutCurrencyNotSet', 'Forbidden currency'));
  expect((await transfer(await wallet(one))).status).toBe(202);

  // Other currencies and levels do not count.
  await setPayoutLimits(service, merchant.partyId, { perDayMinor: 1_000n }, { currency: 'KWD' });
  await setPayoutLimits(
    service,
    merchant.partyId,
    { perDayMinor: 1_000n },
    { currency: 'JPY', level: 'partial' },
  );
  expect((await transfer(toOther)).status).toBe(422);
  await setPayoutLimits(service, merchant.partyId, { perDayMinor: 1_000n }, { currency: 'JPY' });
  expect((await transfer(toOther)).status).toBe(202);
});
