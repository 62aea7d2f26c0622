// Creates rows in states that other tests pass through only briefly, so that they are recorded too.
// Runs only while histories are recorded (tools/tests/record-histories.ts).
import { describe, expect, onTestFinished, test } from 'vitest';
import { cardBody, paymentResourcesUrl } from '../support/worlds/cards.ts';
import { customersUrl, startCustomerWorld } from '../support/worlds/customer-world.ts';
import { invoicesUrl, type CreatedInvoice } from '../support/worlds/invoices.ts';
import { secret, startPaymentWorld, type PaymentWorld } from '../support/worlds/payment-world.ts';
import { startPayoutWorld } from '../support/worlds/payout-world.ts';
import { mandate } from '../support/processes/program.ts';
import { startTestService, type TestService } from '../support/service/test-service.ts';
import { waylay } from '../support/bank/faulty-bank.ts';
import { folderVariable } from './record-before-drop.ts';

const good = '4242424242424242';
const asksThePayer = '4012888888881881';
const hold = { flow: { type: 'PaymentFlowHold' } };
/** The simulated bank declines the capture of this amount. */
const captureDeclined = 99_914;
const hourMs = 3_600_000;
const declined = { outcome: 'declined', network: 'visa', code: '12' } as const;

async function statusesIn({ database }: TestService, table: string): Promise<unknown[]> {
  const { rows } = await database.withClient((client) =>
    client.query<{ status: string }>(`select distinct status from ${table} order by status`),
  );
  return rows.map(({ status }) => status);
}

async function ask({ service, merchant }: PaymentWorld, { id }: CreatedInvoice, what: string): Promise<void> {
  const url = `${invoicesUrl}/${id}/payments/1/${what}`;
  const { status, text } = await service.call('POST', url, {
    token: merchant.apiKey,
    body: { reason: 'sold out' },
  });
  expect(status, text).toBeLessThan(300);
  await service.jobs.whenIdle();
}

/** Tokenises a card from a page with a URL. */
async function entered({ service }: PaymentWorld, token: string) {
  const clientInfo = { fingerprint: 'a browser', url: 'https://shop.example/pay' };
  const body = cardBody({}, { clientInfo });
  const { paymentToolToken, paymentSession } = (
    await service.call('POST', paymentResourcesUrl, { token, body })
  ).body;
  return { paymentToolToken, paymentSession };
}

/** Runs an operator's command. */
async function decide({ testDatabase, config }: TestService, ...args: string[]): Promise<void> {
  const { code, errors } = await mandate(args, {
    MANDATE_MODE: config.mode,
    DATABASE_URL: testDatabase.url,
    MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  });
  expect(code, errors).toBe(0);
}

describe.runIf(process.env[folderVariable] !== undefined)('left unfinished', { timeout: 120_000 }, () => {
  test('payments and bindings while the bank does not answer', async () => {
    const world = await startCustomerWorld();
    onTestFinished(() => world.close());
    const { service } = world;
    const bank = waylay(service.banks);
    bank.always('inquire', 'message lost');
    bank.always('reverse', 'message lost');

    bank.happens('authorise', 'answer lost');
    await world.bound(await world.createCustomer(), good);
    await world.later(hourMs);
    bank.always('reverse', declined);
    bank.always('refund', 'message lost');
    await world.bound(await world.createCustomer(), good);
    expect(await statusesIn(service, 'binding')).toEqual(['refunding', 'reversing']);

    await world.paid(asksThePayer);
    const held = await world.paid(good, hold);
    await ask(world, held, 'cancel');
    expect(await statusesIn(service, 'payment')).toEqual(['cancelling', 'challenged']);
  });

  test('a hold released by an operator', async () => {
    const world = await startPaymentWorld();
    onTestFinished(() => world.close());
    const { service } = world;
    // The program uses the clock of the machine.
    service.clock.set(Date.now());
    const held = await world.pay(good, hold, { amount: captureDeclined });
    await service.jobs.whenIdle();
    await ask(world, held, 'capture');
    await service.database.withClient((client) =>
      client.query(
        `update payment set wake_at = null, attempts = 15, stuck_at = $1, stuck_reason = 'Error'`,
        [service.clock.now()],
      ),
    );
    await decide(service, 'payments', 'release', held.id, '1', '--reason', 'the bank declined 25');
    expect(await statusesIn(service, 'payment')).toEqual(['cancelling']);
  });

  test('all options of a consent and of a shop', async () => {
    const world = await startCustomerWorld();
    onTestFinished(() => world.close());
    const { service, merchant } = world;
    const ofShop = ['TEST', '--party', merchant.partyId];
    const fee = '2.5%+10,least=30,most=5000';
    await decide(service, 'shop', 'fees', ...ofShop, '--payment', fee, '--refund', fee);
    const flags = ['--enforce-max-gap', '--require-consent-evidence', '--needs-api-key'];
    const terms = ['--schedule', 'P1M', '--valid-until', '2030-12-31', '--contact', 'shop@example.com'];
    await decide(service, 'shop', 'recurring', ...ofShop, ...terms, ...flags.flatMap((flag) => [flag, 'no']));

    const said = { ticked: true, tickedAt: '2026-01-19T10:00:00Z', checkbox: 'agrees', locale: 'en' };
    const consents = [
      { ...said, textHash: 'a'.repeat(64), version: '3' },
      { ...said, text: 'Charge me monthly' },
    ];
    const amountRules = [
      { kind: 'fixed', amount: 6_000 },
      { kind: 'upTo', amount: 9_000 },
      { kind: 'variable', text: 'by the meter' },
    ];
    const trial = { trialEnd: '2026-03-01', amountAfterTrial: 9_000 };
    for (const [place, amountRule] of amountRules.entries()) {
      const consent = consents[place % consents.length];
      const agreed = { schedule: 'P1M', validUntil: '2029-12-31', amountRule, consent, ...trial };
      const { paymentToolToken } = await entered(world, merchant.apiKey);
      const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
      await world.paid(good, { payer, makeRecurrent: true, recurrentTerms: agreed });

      const { id, token } = await world.createCustomer();
      const { status, text } = await service.call('POST', `${customersUrl}/${id}/bindings`, {
        token,
        body: { paymentResource: await entered(world, token), recurrentTerms: agreed },
      });
      expect(status, text).toBe(201);
      await service.jobs.whenIdle();
    }
    expect(await statusesIn(service, 'binding')).toEqual(['succeeded']);
    expect(await statusesIn(service, 'payment')).toEqual(['captured']);
  });

  test('consents with a bank that returns only the required fields', async () => {
    const world = await startCustomerWorld();
    onTestFinished(() => world.close());
    const { service } = world;
    const bank = waylay(service.banks);
    const approved = { outcome: 'approved', reference: '900000000017' } as const;
    bank.happens('authorise', approved, approved, approved);
    bank.happens('reverse', approved);
    const parent = await world.paid(good, { makeRecurrent: true });
    const recurrentParentPayment = { invoiceID: parent.id, paymentID: '1' };
    const payer = { payerType: 'RecurrentPayer', recurrentParentPayment, contactInfo: {} };
    await world.paid(good, { payer });
    await world.bound(await world.createCustomer(), good);
    expect(await statusesIn(service, 'binding')).toEqual(['succeeded']);
    expect(await statusesIn(service, 'payment')).toEqual(['captured']);
  });

  test('destinations while the bank is unreachable', async () => {
    const world = await startPayoutWorld();
    onTestFinished(() => world.close());
    // No server listens there.
    await world.service.banks.putBank({ id: 'BANK', url: 'http://127.0.0.1:9', secret });
    await world.destinationFor(good);
    expect(await statusesIn(world.service, 'destination')).toEqual(['checking']);
  });

  test('identifications in live mode before the operator’s decision', async () => {
    const service = await startTestService({ MANDATE_MODE: 'live' });
    onTestFinished(() => service.close());
    const { apiKey: token } = await service.createMerchant();
    const post = async (path: string, body: object): Promise<{ id: string }> => {
      const answer = await service.call('POST', `/wallet/v0/identities${path}`, { token, body });
      if (answer.status >= 300) throw new Error(answer.text);
      return answer.body;
    };
    const identify = async () => {
      const { id } = await post('', { name: 'Keyn Fawkes', provider: 'dpl', class: 'person' });
      const proofs = [{ type: 'RUSDomesticPassport', token: 'any' }];
      await post(`/${id}/challenges`, { type: 'esia', proofs });
      return id;
    };
    await identify();
    await decide(service, 'identity', 'approve', await identify());
    await decide(service, 'identity', 'reject', await identify(), '--reason', 'the number cannot be read');
    await decide(
      service,
      'identity',
      'level',
      await identify(),
      'identified',
      '--reason',
      'seen at the office',
    );
    expect(await statusesIn(service, 'identity_challenge')).toEqual(['completed', 'failed', 'pending']);
  });
});
