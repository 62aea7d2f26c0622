// A number that is no test card may be a real one, entered by mistake: a sandbox keeps another in its place.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { numberHash } from '../../../src/cards/card-hash.ts';
import { cardBody, paymentResourcesUrl } from '../../support/worlds/cards.ts';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';
import { startTestService } from '../../support/service/test-service.ts';

const unlisted = '5454545454545454';
const standIn = '4111111111111111';

let world: PaymentWorld;
beforeAll(async () => void (world = await startPaymentWorld()));
afterAll(() => world.close());

async function enter(cardNumber: string) {
  const body = cardBody({ cardNumber });
  return world.service.call('POST', paymentResourcesUrl, { token: world.merchant.apiKey, body });
}

test('the vault holds the stand-in; mask, network and hashes are those of the entered number', async () => {
  const { status, body } = await enter(unlisted);
  expect({ status, details: body.paymentToolDetails }).toMatchObject({
    status: 201,
    details: { bin: '545454', lastDigits: '5454', paymentSystem: 'mastercard' },
  });
  const token = body.paymentToolToken as string;
  const { vault, database, keyring } = world.service;
  expect((await vault.detokenise({ token })).number).toBe(standIn);
  const key = keyring.newest('card_fingerprint').secret;
  const { partyId } = world.merchant;
  expect(await vault.cards.numberHash(database, partyId, token)).toEqual(numberHash(key, unlisted));
  expect(vault.cards.fingerprint(unlisted).hash).toEqual(numberHash(key, unlisted));
  expect((await vault.detokenise({ token })).securityCode).toBeUndefined();
  expect(Object.keys(await vault.detokenise({ token })).sort()).toEqual(['expiry', 'holder', 'number']);
});

test('a copy of such a card shows and compares the entered number too', async () => {
  const { vault, database, clock } = world.service;
  const { body } = await enter(unlisted);
  const token = body.paymentToolToken as string;
  const { partyId } = world.merchant;
  const clientInfo = { fingerprint: 'again', ip: '192.0.2.7' };
  const copy = await vault.cards.tokeniseAgain(database, { partyId, token, clientInfo }, clock.now());
  expect(copy?.card).toEqual({
    bin: '545454',
    lastDigits: '5454',
    mask: '545454******5454',
    paymentSystem: 'mastercard',
  });
  expect(copy?.fingerprint).toEqual(vault.cards.fingerprint(unlisted));
  expect(copy?.cardMatchHash).toEqual(
    await vault.cards.cardMatchHash({ number: unlisted, expiry: '2030-12' }),
  );
  const again = copy?.token ?? '';
  expect((await vault.detokenise({ token: again })).number).toBe(standIn);
  expect(await vault.cards.numberHash(database, partyId, again)).toEqual(
    vault.cards.fingerprint(unlisted).hash,
  );
});

test('a listed number is kept', async () => {
  const { body } = await enter('5555555555554444');
  expect((await world.service.vault.detokenise({ token: body.paymentToolToken })).number).toBe(
    '5555555555554444',
  );
});

test('a payment with an unlisted number is declined as any outside the table', async () => {
  const invoice = await world.paid(unlisted);
  expect(await world.payment(invoice)).toMatchObject({ status: 'failed' });
});

test.each([
  ['refused with BANK_URL', {}, 400, unlisted],
  ['taken with SANDBOX_REAL_CARDS', { SANDBOX_REAL_CARDS: 'on' }, 201, unlisted],
  ['taken with BANK_URL if it is listed', {}, 201, '4242424242424242'],
])('an unlisted number is %s', async (_, more, status, cardNumber) => {
  const service = await startTestService({ BANK_URL: 'http://127.0.0.1:9', ...more });
  onTestFinished(() => service.close());
  const { apiKey: token } = await service.createMerchant();
  const made = await service.call('POST', paymentResourcesUrl, { token, body: cardBody({ cardNumber }) });
  expect(made.status).toBe(status);
  if (status === 400) expect(made.body.message).toContain('SANDBOX_REAL_CARDS=on');
  const stored = await service.call('POST', '/payres/v0/bank-cards', { token, body: { cardNumber } });
  expect(stored.status < 300).toBe(status < 300);
  if (status === 201 && cardNumber === unlisted)
    expect((await service.vault.detokenise({ token: made.body.paymentToolToken })).number).toBe(unlisted);
});
