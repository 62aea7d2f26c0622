// A bank's own words about what it declined: merchants and webhooks have them, payers never.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exchangesOf } from '../../../src/acquiring/exchange-log/store/exchange-rows.ts';
import { customersTopic } from '../../../src/customers/webhook-events.ts';
import { invoicesTopic } from '../../../src/payments/webhook-events.ts';
import type { Topic } from '../../../src/platform/events/domain/topic.ts';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import { commandLine } from '../../support/processes/command-line.ts';
import { invoicesUrl, type CreatedInvoice } from '../../support/worlds/invoices.ts';

const withoutFunds = '4000000000000002';
const words = { code: '51', text: 'Insufficient funds' };

let world: CustomerWorld;
beforeAll(async () => void (world = await startCustomerWorld()));
afterAll(() => world.close());

const read = async (url: string, token = world.merchant.apiKey) =>
  (await world.service.call('GET', url, { token })).body;

/** The members of the last webhook event about an object. */
async function lastWebhook(topic: Topic, id: string): Promise<any> {
  const { rows } = await world.service.database.withClient((client) =>
    client.query<{ sequence: string; at: string; facts: unknown[] }>(
      'select sequence, created_at::text as at, facts from event where aggregate = $1 and aggregate_id = $2 order by sequence',
      [topic.aggregate, id],
    ),
  );
  const log = rows.map(({ sequence, facts }) => ({
    sequence: Number(sequence),
    createdAt: world.service.clock.now(),
    facts,
  }));
  return topic.webhookEventsOf(log).at(-1)?.members;
}

describe('the bank’s own words', () => {
  test('about a payment are for API keys and webhooks, and in no response to a payer', async () => {
    const invoice = await world.paid(withoutFunds);
    const url = `${invoicesUrl}/${invoice.id}/payments/1`;
    expect((await read(url)).error.bank).toEqual(words);
    const feed = `${invoicesUrl}/${invoice.id}/events?limit=100`;
    const changes = (await read(feed)).flatMap((event: any) => event.changes);
    expect(changes.find(({ status }: any) => status === 'failed').error.bank).toEqual(words);
    expect((await lastWebhook(invoicesTopic, invoice.id)).payment.error.bank).toEqual(words);

    const forPayer = await Promise.all([
      read(feed, invoice.token),
      read(url, invoice.token),
      read(`${invoicesUrl}/${invoice.id}/payments`, invoice.token),
    ]);
    expect(forPayer[1].error).toEqual({ code: 'InsufficientFunds' });
    expect(JSON.stringify(forPayer)).not.toMatch(/Insufficient funds|"51"|"bank"/);
  });

  describe.each([
    ['41', 'Lost card, pick up', 'account_stolen'],
    ['43', 'Stolen card, pick up', 'account_stolen'],
    ['91', 'Issuer or switch is inoperative', 'temporarily_unavailable'],
    ['96', 'System malfunction', 'temporarily_unavailable'],
  ])('about the decline %s', (code, text, reason) => {
    let invoice: CreatedInvoice;
    beforeAll(async () => {
      invoice = await world.pay('4242424242424242', {}, { amount: 99_000 + Number(code) });
      await world.service.jobs.whenIdle();
    });

    test('tell it apart from others with its code here, by the API and by webhook', async () => {
      const error = { code: 'authorization_failed', subError: { code: reason }, bank: { code, text } };
      expect((await read(`${invoicesUrl}/${invoice.id}/payments/1`)).error).toMatchObject(error);
      expect((await lastWebhook(invoicesTopic, invoice.id)).payment.error).toMatchObject(error);
    });

    test('are in "mandate payments show"', async () => {
      const { code: exit, output } = await commandLine(['payments', 'show', invoice.id], {
        DATABASE_URL: world.service.testDatabase.url,
        MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      });
      expect(exit).toBe(0);
      expect(output).toContain(`failure   authorization_failed, ${reason}`);
      expect(output).toMatch(new RegExp(` visa ${code}, "${text}", reference 9\\d{11}\n`));
    });

    test('are not for payers', async () => {
      const { error } = await read(`${invoicesUrl}/${invoice.id}/payments/1`, invoice.token);
      expect(error).toEqual({ code: 'PaymentRejected' });
    });
  });

  test('about a code without a text are the code alone', async () => {
    const invoice = await world.paid('4111110000000112');
    expect((await read(`${invoicesUrl}/${invoice.id}/payments/1`)).error.bank).toEqual({ code: 'Z9' });
  });

  test('about a payer who did not authenticate are the word of the protocol', async () => {
    const invoice = await world.paid('4342561111111118');
    const { error } = await read(`${invoicesUrl}/${invoice.id}/payments/1`);
    expect(error.bank).toEqual({ code: '3ds-not-finished' });
  });

  test('about a refund are for API keys and webhooks alone', async () => {
    const invoice = await world.pay('4242424242424242', {}, { amount: 500_000 });
    await world.service.jobs.whenIdle();
    const refunds = `${invoicesUrl}/${invoice.id}/payments/1/refunds`;
    const body = { amount: 99_005, currency: 'RUB' };
    await world.service.call('POST', refunds, { token: world.merchant.apiKey, body });
    await world.service.jobs.whenIdle();
    const error = {
      code: 'authorization_failed',
      message: 'authorization_failed',
      subError: { code: 'rejected_by_issuer' },
      bank: { code: '05', text: 'Do not honour' },
    };
    expect((await read(`${refunds}/100`)).error).toEqual(error);
    expect((await read(refunds))[0].error).toEqual(error);
    const changes = (await read(`${invoicesUrl}/${invoice.id}/events?limit=100`)).flatMap(
      (event: any) => event.changes,
    );
    expect(changes.at(-1).error).toEqual(error);
    expect((await lastWebhook(invoicesTopic, invoice.id)).refund.error).toEqual(error);
    const feedOfPayer = await read(`${invoicesUrl}/${invoice.id}/events?limit=100`, invoice.token);
    expect(JSON.stringify(feedOfPayer)).toContain('"refundID":"100","status":"failed"');
    expect(JSON.stringify(feedOfPayer)).not.toMatch(/Do not honour|"bank"|rejected_by_issuer/);
  });

  test('about a binding are for API keys and webhooks alone', async () => {
    const customer = await world.createCustomer();
    const binding = await world.bound(customer, withoutFunds);
    expect((await world.binding(binding)).error.bank).toEqual(words);
    expect((await lastWebhook(customersTopic, customer.id)).binding.error.bank).toEqual(words);
    const forPayer = await world.binding(binding, customer.token);
    expect(forPayer.error).toEqual({ code: 'authorization_failed', message: 'InsufficientFunds' });
    const changes = (await world.customerChanges(customer)).map(({ error }) => error?.bank);
    expect(changes).toContainEqual(words);
  });

  test('are in the exchange log with the references, once for each operation', async () => {
    const invoice = await world.paid(withoutFunds);
    const [exchange] = await exchangesOf(world.service.database, invoice.id);
    expect(exchange?.answer).toMatchObject({
      ...words,
      references: { rrn: expect.stringMatching(/^9\d{11}$/) },
    });
  });
});
