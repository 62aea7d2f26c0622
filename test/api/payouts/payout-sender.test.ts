// Who sends a payout: kept with the identity and the request, demanded by the terminal, sent to the bank, and in no log.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPayoutWorld, type PayoutWorld } from '../../support/worlds/payout-world.ts';
import { refused, said } from '../../support/worlds/wallets-side.ts';

let world: PayoutWorld;
beforeAll(async () => void (world = await startPayoutWorld()));
afterAll(() => world.close());

const query = async (text: string, values: unknown[] = []) =>
  (await world.service.database.withClient((client) => client.query(text, values))).rows;

test('a payout without the sender that its terminal demands is refused, and reserves nothing', async () => {
  const merchant = await world.createMerchant();
  const [own] = await query('select bank_id from payout_terminal where party_id = $1', [merchant.partyId]);
  await query('delete from payout_terminal where party_id = $1', [merchant.partyId]);
  await world.service.banks.putPayoutTerminal({
    id: 'ASKING',
    partyId: merchant.partyId,
    bankId: own.bank_id,
    merchantId: 'M',
    descriptor: 'PAYOUTS',
    priority: 1,
    terms: { demands: { visa: ['name', 'city'] } },
  });
  const sender = { firstName: 'Пётр', lastName: 'Щукин' };
  const { wallet, identity } = await world.openWallet(merchant, { sender });
  const read = await world.get(`/wallet/v0/identities/${identity}`, merchant.apiKey);
  expect(read.body.sender).toEqual(sender);
  const { id: destination } = await world.destinationFor('4242424242424242', merchant, identity);
  const body = { wallet, destination, body: { amount: 1_000, currency: 'RUB' } };
  const pay = (more: object) => world.post('/wallet/v0/withdrawals', { ...body, ...more }, merchant.apiKey);
  expect(said(await pay({}))).toEqual(
    refused(
      'payoutSenderIncomplete',
      'The bank needs more about the sender of this payout: city. Send them as sender.',
      { fields: 'city' },
    ),
  );
  const account = (await world.get(`/wallet/v0/wallets/${wallet}/account`, merchant.apiKey)).body;
  expect(account.available).toEqual(account.own);
  expect(said(await pay({ purpose: 'GP' })).body.code).toBe('payoutPurposeNotAllowed');
  expect((await pay({ sender: { city: '東京' } })).status).toBe(400);
  expect((await pay({ sender: { city: 'Щ'.repeat(9) } })).status).toBe(400);

  const paid = await pay({ sender: { city: 'Тверь' }, externalID: 'with a sender' });
  expect(paid.status).toBe(202);
  await world.service.jobs.whenIdle();
  const { id } = paid.body;
  expect((await world.get(`/wallet/v0/withdrawals/${id}`, merchant.apiKey)).body.status).toBe('Succeeded');
  const [row] = await query(`select terms -> 'sender' as sender from withdrawal where withdrawal_id = $1`, [
    id,
  ]);
  expect(row.sender).toEqual({
    given: { ...sender, city: 'Тверь' },
    sent: {
      firstName: 'Petr',
      lastName: 'Shchukin',
      city: 'Tver',
      reference: wallet.slice(-16),
      sourceOfFunds: '05',
    },
    purpose: 'FD',
    recipient: { firstName: 'Petr', lastName: 'Shchukin' },
  });
  expect((await pay({ sender: { city: 'Тверь' }, externalID: 'with a sender' })).body.id).toBe(id);
  expect((await pay({ externalID: 'with a sender', sender: { city: 'Орёл' } })).status).toBe(409);

  // Personal data is in the rows of the identity and the withdrawal alone.
  const events = JSON.stringify(await query('select facts from event'));
  const logged = world.service.logged.join('');
  for (const secret of ['Щукин', 'Shchukin', 'Тверь', 'Tver']) {
    expect(events).not.toContain(secret);
    expect(logged).not.toContain(secret);
  }
});
