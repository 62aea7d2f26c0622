// A node that creates an object runs its job immediately, without reading it again. What it passes on must equal what a read would
// return: versions, states, and what JSON does to values.
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { loadBinding } from '../../../src/customers/store/bindings.ts';
import { loadPayment, type NewPayment } from '../../../src/payments/store/payments.ts';
import { findPendingCharge } from '../../../src/recurring/store/attempts.ts';
import type { PayerEmail } from '../../../src/receipts/domain/payer-email.ts';
import { findPayerEmail } from '../../../src/receipts/store/payer-emails.ts';
import { storeSettings } from '../../../src/recurring/store/settings.ts';
import { findWithdrawal } from '../../../src/payouts/store/withdrawals.ts';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import { startPayoutWorld, type PayoutWorld } from '../../support/worlds/payout-world.ts';
import { recurringWorld } from '../../support/worlds/recurring.ts';
import type { TestService } from '../../support/service/test-service.ts';

const visa = '4242424242424242';
const metadata = { of: [1, null, 'text', { deep: true }] };

let world: CustomerWorld;
let payouts: PayoutWorld;
beforeAll(async () => {
  [world, payouts] = await Promise.all([startCustomerWorld(), startPayoutWorld()]);
});
afterAll(() => Promise.all([world.close(), payouts.close()]));
afterEach(() => void vi.restoreAllMocks());

/** What is passed on when an object of that table is created. The job does not run, so the row stays as it was created. */
async function handedOn(service: TestService, table: string, make: () => Promise<unknown>) {
  const run = vi.spyOn(service.jobs, 'run').mockImplementation(() => {});
  await make();
  const [call] = run.mock.calls.filter(([of]) => of === table);
  run.mockRestore();
  if (!call) throw new Error(`nothing of ${table} was passed on`);
  const [, key, , known] = call;
  expect(known).toBeDefined();
  return { key: key as [string, string], known };
}

test('a payment and its charge in the series are passed on as read', async () => {
  const recurring = recurringWorld(world);
  await storeSettings(
    world.service.database,
    { partyId: world.merchant.partyId, shopId: 'TEST' },
    { language: 'ru', contact: 'help@shop.example' },
  );
  const parent = await recurring.parent();
  const { database } = world.service;
  const { key, known } = await handedOn(world.service, 'payment', () =>
    recurring.charge(parent, 4_200, { body: { metadata, externalID: 'a charge' } }),
  );
  const [invoiceId, paymentId] = key;
  const { stored, pendingCharge } = known as NewPayment;
  expect(stored).toStrictEqual(await loadPayment(database, { invoiceId, paymentId }));
  const { payer } = stored.payment;
  const seriesId = 'seriesId' in payer ? payer.seriesId : '';
  expect(pendingCharge).toStrictEqual(await findPendingCharge(database, seriesId, { invoiceId, paymentId }));
});

test('a receipt is passed on as read', async () => {
  const recurring = recurringWorld(world);
  const parent = await recurring.parent();
  const { database, jobs } = world.service;
  const emails: { known: PayerEmail; key: readonly string[] }[] = [];
  const { run } = jobs;
  vi.spyOn(jobs, 'run').mockImplementation((...work) => {
    const [table, key, , known] = work;
    if (table === 'payer_email') emails.push({ key, known: known as PayerEmail });
    else run(...work);
  });
  await recurring.charged(parent);
  const [{ key: [invoiceId = '', paymentId = ''], known } = { key: [], known: undefined }] = emails;
  expect(known).toStrictEqual(await findPayerEmail(database, { invoiceId, paymentId }));
});

test('a binding is passed on as read', async () => {
  const customer = await world.createCustomer();
  const recurrentTerms = {
    schedule: 'P1M',
    consent: { ticked: true, tickedAt: '2026-01-01T00:00:00Z', text: 'I agree.' },
  };
  const { key, known } = await handedOn(world.service, 'binding', () =>
    world.bind(customer, visa, { externalID: 'a binding', recurrentTerms }),
  );
  const [customerId, bindingId] = key;
  expect(known).toStrictEqual(await loadBinding(world.service.database, { customerId, bindingId }));
});

test('a withdrawal is passed on as read', async () => {
  const { id: destination } = await payouts.destinationFor(visa);
  const { key, known } = await handedOn(payouts.service, 'withdrawal', () =>
    payouts.withdraw(1_000, destination, { metadata, externalID: 'a withdrawal' }),
  );
  expect(known).toStrictEqual(await findWithdrawal(payouts.service.database, null, key[0]));
});
