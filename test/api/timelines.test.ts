// The timelines of withdrawals, bindings and series: what happened to them, what was decided about them, and what can be done next.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { waylay, type FaultyBank } from '../support/bank/faulty-bank.ts';
import { startReceiver, type Receiver } from '../support/receivers/receiver.ts';
import { webhooksUrl } from '../support/receivers/webhooks.ts';
import { customersUrl, startCustomerWorld, type CustomerWorld } from '../support/worlds/customer-world.ts';
import { invoicesUrl, makeInvoice } from '../support/worlds/invoices.ts';
import { startPayoutWorld, type PayoutWorld } from '../support/worlds/payout-world.ts';
import { insufficientFunds, recurringWorld, stoppedByPayer } from '../support/worlds/recurring.ts';
import type { Merchant, TestService } from '../support/service/test-service.ts';

const visa = '4242424242424242';
const withoutFunds = '4000000000000002';
const challenged = '4012888888881881';

type Item = {
  readonly at: string;
  readonly kind: string;
  readonly text: string;
  readonly durationMs?: number;
  readonly code?: string;
  readonly id?: string;
};

/** Read twice, because the order is always the same. */
async function timelineAt(service: TestService, token: string, path: string): Promise<Item[]> {
  const { status, body, text } = await service.call('GET', path, { token });
  expect(status, text).toBe(200);
  expect((await service.call('GET', path, { token })).body).toEqual(body);
  expect(body.map(({ at }: Item) => at)).toEqual(body.map(({ at }: Item) => at).toSorted());
  expect(text).not.toMatch(/payer@example|42424242|40000000|40128888/);
  return body;
}
const linesOf = (items: readonly Item[]) => items.map(({ kind, text }) => `${kind}: ${text}`);

describe('the timeline of a withdrawal', () => {
  let world: PayoutWorld;
  let bank: FaultyBank;
  let receiver: Receiver;
  let stranger: Merchant;
  let destination: string;
  beforeAll(async () => {
    world = await startPayoutWorld();
    bank = waylay(world.service.banks);
    receiver = await startReceiver();
    stranger = await world.createMerchant();
    const scope = { topic: 'WithdrawalsTopic', eventTypes: ['WithdrawalSucceeded'] };
    const body = { scope, url: receiver.url, identityID: world.identity };
    const { status, text } = await world.post('/wallet/v0/webhooks', body);
    if (status !== 201) throw new Error(`the webhook was not made: ${text}`);
    destination = (await world.destinationFor(visa)).id;
  });
  afterAll(async () => {
    await world.close();
    await receiver.stop();
  });
  afterEach(() => {
    bank.always('payout', undefined);
    bank.always('inquire', undefined);
  });

  const path = (id: string) => `/wallet/v0/withdrawals/${id}/timeline`;
  const read = (id: string) => timelineAt(world.service, world.merchant.apiKey, path(id));
  async function withdrawn(amount: number): Promise<string> {
    const { status, body, text } = await world.withdraw(amount, destination);
    expect(status, text).toBe(202);
    await world.service.jobs.whenIdle();
    return body.id;
  }

  test('shows the bank, what was posted, and that the webhook arrived', async () => {
    const id = await withdrawn(1_000);
    await world.service.webhooks.whenIdle();
    const items = await read(id);
    expect(linesOf(items)).toEqual([
      'withdrawal: Created. The money is reserved in the wallet.',
      expect.stringMatching(/^bank: Payout: approved, approval code \d{6}, reference \d{12}\.$/),
      expect.stringMatching(/^status: Paid out, reference \d{12}\. On the card by 2026-01-19T10:30:00Z\.$/),
      expect.stringMatching(/^ledger: Reserved: payout, from /),
      expect.stringMatching(/^ledger: Posted what was reserved: payout, from /),
      'webhook: WithdrawalSucceeded, attempt 1: accepted.',
    ]);
    expect(items[0]).toMatchObject({ amount: 1_000, currency: 'RUB' });
  });

  test('says that an unknown payout must not be created again, and later what the bank said', async () => {
    bank.happens('payout', 'answer lost');
    bank.always('inquire', 'message lost');
    const id = await withdrawn(1_100);
    world.service.clock.advance(1_000);
    expect(linesOf(await read(id)).filter((line) => !line.startsWith('ledger'))).toEqual([
      'withdrawal: Created. The money is reserved in the wallet.',
      'bank: Payout: sent or about to be. The bank has not answered, so the outcome is unknown.',
      'nextAttempt: The bank is asked for the outcome. Until then the money stays reserved. Do not create it again.',
    ]);
    await world.service.database.withClient((client) =>
      client.query(`update withdrawal set wake_at = null, stuck_at = $2 where withdrawal_id = $1`, [
        id,
        world.service.clock.now(),
      ]),
    );
    expect(linesOf(await read(id)).at(-1)).toBe(
      'nextAttempt: The outcome is unknown, and waits for the operator. The money stays reserved. Do not create it again.',
    );
    await world.service.database.withClient((client) =>
      client.query(`update withdrawal set wake_at = $2, stuck_at = null where withdrawal_id = $1`, [
        id,
        world.service.clock.now(),
      ]),
    );
    bank.always('inquire', undefined);
    world.service.clock.advance(60_000);
    world.service.jobs.wake();
    await world.service.jobs.whenIdle();
    const items = await read(id);
    expect(linesOf(items).join('\n')).not.toMatch(/unknown|nextAttempt/);
    expect(items.find(({ kind }) => kind === 'bank')?.durationMs).toBe(61_000);
  });

  test('says why a payout failed, and who can help', async () => {
    const id = await withdrawn(99_051);
    const items = await read(id);
    expect(linesOf(items).slice(0, 3)).toEqual([
      'withdrawal: Created. The money is reserved in the wallet.',
      expect.stringMatching(/^bank: Payout: declined with \w+ code 51: /),
      'status: Failed: The account has too little money. Who can help: time. Retry on another day.',
    ]);
    expect(linesOf(items)).toContainEqual(
      expect.stringMatching(/^ledger: Released what was reserved: payout/),
    );
  });

  test('is not for another merchant', async () => {
    const id = await withdrawn(1_200);
    expect(await world.service.call('GET', path(id), { token: stranger.apiKey })).toMatchObject({
      status: 404,
    });
    expect(await world.service.call('GET', path('x'), { token: stranger.apiKey })).toMatchObject({
      status: 404,
    });
  });
});

describe('the timeline of a binding and of its series', () => {
  let world: CustomerWorld;
  let stranger: Merchant;
  beforeAll(async () => {
    world = await startCustomerWorld();
    stranger = await world.createMerchant();
  });
  afterAll(() => world.close());

  const read = (path: string) => timelineAt(world.service, world.merchant.apiKey, path);
  const ofBinding = (made: { id: string; bindingId: string }) =>
    `${customersUrl}/${made.id}/bindings/${made.bindingId}/timeline`;
  const ofCustomer = (id: string) => `${customersUrl}/${id}/recurring/timeline`;

  test('shows 3-D Secure, the charge and its way back, the series, and that it was revoked', async () => {
    const made = await world.bound(await world.createCustomer(), challenged);
    world.service.clock.advance(3_000);
    await world.authenticateBinding(made, 'confirm');
    const items = await read(ofBinding(made));
    expect(linesOf(items)).toEqual([
      'binding: Saving the card began. An amount is charged and given back at once.',
      expect.stringMatching(/^threeDSecure: The payer has to confirm at their bank, until /),
      expect.stringMatching(/^bank: Authorisation: approved, approval code \d{6}, reference \d{12}\.$/),
      expect.stringMatching(/^bank: Reversal: approved/),
      'threeDSecure: The payer came back, or the bank decided without that.',
      'threeDSecure: The bank reports 3-D Secure: challenge, status Y, ECI 05, liability shifted.',
      expect.stringMatching(
        /^status: Charged\. The bank has to confirm by .* that the payer has the money back\.$/,
      ),
      'status: The card is saved, and the payer has the money back.',
      'status: The customer can be charged, with this card.',
      expect.stringMatching(/^ledger: Posted: charge, /),
      expect.stringMatching(/^ledger: Reserved: return, /),
      expect.stringMatching(/^ledger: Posted what was reserved: return, /),
    ]);
    expect(items.find(({ kind }) => kind === 'bank')?.durationMs).toBe(3_000);
    expect(items[7]?.id).toMatch(/\./);
    await world.withdraw(made);
    expect(linesOf(await read(ofBinding(made)))).toContain(
      'status: Revoked: the card is not charged any more.',
    );
    expect(linesOf(await read(ofCustomer(made.id)))).toContain('status: The merchant ended the consent.');
  });

  test('says why a card was not saved', async () => {
    const made = await world.bound(await world.createCustomer(), withoutFunds);
    expect(linesOf(await read(ofBinding(made)))).toEqual([
      'binding: Saving the card began. An amount is charged and given back at once.',
      expect.stringMatching(/^bank: Authorisation: declined with visa code 51: /),
      'status: Failed: The account has too little money. Who can help: time. Retry on another day.',
      'nextAttempt: The payer can save a card again, with another binding.',
    ]);
    // No card of the customer was ever saved.
    expect(
      await world.service.call('GET', ofCustomer(made.id), { token: world.merchant.apiKey }),
    ).toMatchObject({ status: 404, body: { message: expect.stringMatching(/no series/) } });
  });

  test('of a customer shows each charge, its rules, and when the next is possible', async () => {
    const made = await world.bound(await world.createCustomer(), visa);
    const charge = async (amount: number) => {
      const { id } = await makeInvoice(world.service, world.merchant, { amount });
      const body = { payer: { payerType: 'CustomerPayer', customerID: made.id } };
      const token = world.merchant.apiKey;
      const { status, text } = await world.service.call('POST', `${invoicesUrl}/${id}/payments`, {
        token,
        body,
      });
      expect(status, text).toBe(201);
      await world.service.jobs.whenIdle();
      return id;
    };
    const first = await charge(6_000);
    world.service.clock.advance(86_400_000);
    const second = await charge(insufficientFunds);
    const items = await read(ofCustomer(made.id));
    const kinds = items.filter(({ kind }) => ['series', 'charge', 'bank', 'nextAttempt'].includes(kind));
    expect(linesOf(kinds)).toEqual([
      'series: The payer agreed by saving a card.',
      'charge: A charge began.',
      expect.stringMatching(/^bank: Authorisation: approved/),
      'charge: The charge is approved.',
      'charge: A charge began.',
      expect.stringMatching(/^bank: Authorisation: declined with visa code 51/),
      'charge: Declined with visa code 51. Time can help: retry on another day.',
      expect.stringMatching(
        /^nextAttempt: The next charge is possible\. Until then: recurrentRetryTooEarly, by rule onceADay of house@/,
      ),
    ]);
    expect(kinds.filter(({ kind }) => kind === 'charge').map(({ id }) => id)).toEqual([
      `${first}/1`,
      `${first}/1`,
      `${second}/1`,
      `${second}/1`,
    ]);
    expect(linesOf(items)).toContainEqual(expect.stringMatching(/^rules: Allowed by house@.*, visa@/));
    expect(linesOf(items)).toContain('email: Receipt kept in the outbox of the sandbox.');
    expect(await read(`${invoicesUrl}/${second}/payments/1/recurring/timeline`)).toEqual(items);
  });

  test('of a payment shows what stopped the series', async () => {
    const recurring = recurringWorld(world);
    const parent = await recurring.parent();
    const invoice = await recurring.invoice(stoppedByPayer);
    expect(await recurring.charged(parent, invoice)).toBe('failed');
    const lines = linesOf(await read(`${invoicesUrl}/${parent.invoiceID}/payments/1/recurring/timeline`));
    expect(lines).toContainEqual(
      expect.stringMatching(
        /^rules: Stopped: every series of the card in this shop ends, by rule code R1 of visa@/,
      ),
    );
    expect(lines.at(-1)).toMatch(/^nextAttempt: No charge by waiting: recurrentStopped, by rule /);
  });

  test('is not for another merchant or the payer', async () => {
    const made = await world.bound(await world.createCustomer(), visa);
    for (const path of [ofBinding(made), ofCustomer(made.id)])
      for (const token of [made.token, stranger.apiKey])
        expect(await world.service.call('GET', path, { token })).toMatchObject({
          status: 404,
          body: { message: expect.stringMatching(/^Customer not found/) },
        });
  });

  test('follows the webhook of the customer, for the events of this binding alone', async () => {
    const receiver = await startReceiver();
    const scope = { topic: 'CustomersTopic', shopID: 'TEST', eventTypes: ['CustomerBindingFailed'] };
    const token = world.merchant.apiKey;
    await world.service.call('POST', webhooksUrl, { token, body: { scope, url: receiver.url } });
    const customer = await world.createCustomer();
    const one = await world.bound(customer, withoutFunds);
    const other = await world.bound(customer, withoutFunds);
    await world.service.webhooks.whenIdle();
    for (const made of [one, other])
      expect(linesOf(await read(ofBinding(made))).filter((line) => line.startsWith('webhook'))).toEqual([
        'webhook: CustomerBindingFailed, attempt 1: accepted.',
      ]);
    receiver.behave(() => 500);
    const failed = await world.bound(customer, withoutFunds);
    const behind = await world.bound(customer, withoutFunds);
    const without = await world.bound(customer, challenged);
    await world.service.webhooks.whenIdle();
    const webhookLinesOf = async (made: { id: string; bindingId: string }) =>
      linesOf(await read(ofBinding(made))).filter((line) => line.startsWith('webhook'));
    expect(await webhookLinesOf(failed)).toEqual([
      'webhook: CustomerBindingFailed, attempt 1: failed with status 500.',
      'webhook: Next attempt, after 1 failed. Last failure: status 500.',
    ]);
    expect(await webhookLinesOf(behind)).toEqual([
      'webhook: Next attempt, after 1 failed. An earlier webhook event comes first. Last failure: status 500.',
    ]);
    expect(await webhookLinesOf(without)).toEqual([]);
    await receiver.stop();
  });
});
