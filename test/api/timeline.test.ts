// The timeline of a payment: what happened to it, why it was declined, who can help, and when the next attempt is possible.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { textIn } from '../../src/timeline/domain/text.ts';
import { readPaymentTimeline } from '../../src/timeline/payment-timeline.ts';
import { waylay, type FaultyBank } from '../support/bank/faulty-bank.ts';
import { startReceiver, type Receiver } from '../support/receivers/receiver.ts';
import { webhooksUrl } from '../support/receivers/webhooks.ts';
import { invoicesUrl, type CreatedInvoice } from '../support/worlds/invoices.ts';
import { setTradingFlag, tradingFlags } from '../support/worlds/block-merchant.ts';
import { startPaymentWorld, type PaymentWorld } from '../support/worlds/payment-world.ts';
import {
  insufficientFunds,
  recurringWorld,
  stoppedByPayer,
  type RecurringWorld,
} from '../support/worlds/recurring.ts';

const visa = '4242424242424242';
const withoutFunds = '4000000000000002';
const challenged = '4012888888881881';

type Item = {
  readonly at: string;
  readonly kind: string;
  readonly text: string;
  readonly durationMs?: number;
  readonly amount?: number;
  readonly currency?: string;
  readonly code?: string;
  readonly declineClass?: string;
  readonly id?: string;
};

let world: PaymentWorld;
let recurring: RecurringWorld;
let bank: FaultyBank;
let receiver: Receiver;
let webhookId: string;
beforeAll(async () => {
  world = await startPaymentWorld();
  recurring = recurringWorld(world);
  bank = waylay(world.service.banks);
  receiver = await startReceiver();
  const { service, merchant } = world;
  const scope = { topic: 'InvoicesTopic', shopID: 'TEST', eventTypes: ['PaymentFailed', 'PaymentRefunded'] };
  const body = { scope, url: receiver.url };
  webhookId = (await service.call('POST', webhooksUrl, { token: merchant.apiKey, body })).body.id;
});
afterAll(async () => {
  await world.close();
  await receiver.stop();
});
beforeEach(() => receiver.behave(() => 200));

type Named = Pick<CreatedInvoice, 'id'>;
const ask = ({ id }: Named, token = world.merchant.apiKey, payment = '1') =>
  world.service.call('GET', `${invoicesUrl}/${id}/payments/${payment}/timeline`, { token });
/** Read twice, because the order is always the same. */
async function timelineOf(invoice: Named, payment = '1'): Promise<Item[]> {
  const { status, body, text } = await ask(invoice, world.merchant.apiKey, payment);
  expect(status, text).toBe(200);
  expect((await ask(invoice, world.merchant.apiKey, payment)).body).toEqual(body);
  expect(body.map(({ at }: Item) => at)).toEqual(body.map(({ at }: Item) => at).toSorted());
  expect(text).not.toMatch(/payer@example|42424242|40000000|40128888/);
  return body;
}
const linesOf = (items: readonly Item[], ...kinds: string[]) =>
  items
    .filter(({ kind }) => kinds.length === 0 || kinds.includes(kind))
    .map(({ kind, text }) => `${kind}: ${text}`);
const post = async (invoice: CreatedInvoice, path: string, body: object) => {
  const url = `${invoicesUrl}/${invoice.id}/payments/1/${path}`;
  const { status, text } = await world.service.call('POST', url, { token: world.merchant.apiKey, body });
  expect(status, text).toBeLessThan(300);
  await world.service.jobs.whenIdle();
};

describe('the timeline of a payment', () => {
  test('says why it was declined, who can help, and when the payer can try again', async () => {
    const invoice = await world.paid(withoutFunds);
    const items = await timelineOf(invoice);
    expect(linesOf(items)).toEqual([
      'payment: Created by the payer, in one step.',
      expect.stringMatching(
        /^bank: Authorisation: declined with visa code 51: “Insufficient funds”, reference 9\d{11}\.$/,
      ),
      'status: Failed: The account has too little money. Time can help: retry on another day.',
      'nextAttempt: The payer can try again, until 2030-01-20T10:00:00Z.',
    ]);
    expect(items).toMatchObject([
      { amount: 6_000, currency: 'RUB' },
      { code: '51', durationMs: 0, id: `${invoice.id}.1.a` },
      { code: 'authorization_failed › insufficient_funds', declineClass: 'funds' },
      { at: items[2]?.at },
    ]);
  });

  test('says that a payer who has paid since need not try again', async () => {
    const invoice = await world.paid(withoutFunds);
    const { token: paymentToolToken } = await world.tokenize(visa);
    const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
    const url = `${invoicesUrl}/${invoice.id}/payments`;
    const made = await world.service.call('POST', url, { token: world.merchant.apiKey, body: { payer } });
    expect(made.status, made.text).toBe(201);
    await world.service.jobs.whenIdle();
    expect((await timelineOf(invoice)).at(-1)).toMatchObject({
      kind: 'nextAttempt',
      text: 'No other attempt: the invoice is paid.',
    });
    // The lines of the first payment are none of the second.
    expect(linesOf(await timelineOf(invoice, '2'), 'nextAttempt')).toEqual([]);
  });

  test('says that nothing can be tried once the invoice was due, or while the shop is blocked', async () => {
    const invoice = await world.paid(withoutFunds);
    const lastOf = async () => (await timelineOf(invoice)).at(-1)?.text;
    const words = { shop: 'the shop is blocked or suspended', party: 'the merchant is blocked or suspended' };
    for (const [of, flag] of tradingFlags) {
      await setTradingFlag(world.service, world.merchant, { of, flag }, true);
      expect(await lastOf()).toBe(`No other attempt while ${words[of]}.`);
      await setTradingFlag(world.service, world.merchant, { of, flag }, false);
    }
    const { database, timeline, merchant, clock } = { ...world.service, ...world };
    const name = { partyId: merchant.partyId, invoiceId: invoice.id, paymentId: '1' };
    const found = await timeline.payment(database, name);
    if (!found.ok) throw new Error('The payment was not found.');
    // The job that cancels the invoice has not run yet.
    const later = '2030-01-20T10:00:00.000000Z' as ReturnType<typeof clock.now>;
    const { items } = await readPaymentTimeline(timeline, database, found.value.payment, later);
    expect(textIn('en', items.at(-1)?.text ?? [])).toBe(
      'No other attempt: the invoice was due at 2030-01-20T10:00:00Z.',
    );
  });

  test('shows 3-D Secure, what the bank reports of it, and what was posted', async () => {
    const invoice = await world.pay(challenged);
    await world.service.jobs.whenIdle();
    expect(linesOf(await timelineOf(invoice), 'bank')).toEqual([
      'bank: Authorisation: the bank waits for the payer.',
    ]);
    world.service.clock.advance(3_000);
    await world.authenticate(invoice, 'confirm');
    const items = await timelineOf(invoice);
    expect(linesOf(items, 'threeDSecure', 'status', 'ledger')).toEqual([
      expect.stringMatching(/^threeDSecure: The payer has to confirm at their bank, until 2026-01-.{11}Z\.$/),
      'threeDSecure: The payer came back, or the bank decided without that.',
      'threeDSecure: The bank reports 3-D Secure: challenge, status Y, ECI 05, liability shifted.',
      'status: Authorised.',
      'status: Captured.',
      'ledger: Posted: sale, from acq.uncleared to merchant.settlement.',
    ]);
    expect(items.find(({ kind }) => kind === 'bank')?.durationMs).toBe(3_000);
  });

  test('shows the rule that refuses the next charge, the retry after it, and the receipt of the first', async () => {
    const parent = await recurring.parent();
    const invoice = await recurring.invoice(insufficientFunds);
    expect(await recurring.charged(parent, invoice)).toBe('failed');
    expect(await recurring.charged(parent, invoice)).toBe('recurrentRetryTooEarly');
    const items = await timelineOf(invoice);
    expect(linesOf(items, 'rules', 'nextAttempt')).toEqual([
      expect.stringMatching(/^rules: Allowed as a new charge by house@.*, visa@/),
      expect.stringMatching(
        /^nextAttempt: The next charge is possible\. Until then: recurrentRetryTooEarly, by rule onceADay of house@/,
      ),
    ]);
    const next = items.at(-1)?.at ?? '';
    expect(next > (items[0]?.at ?? '')).toBe(true);
    world.service.clock.set(Date.parse(next));
    world.service.jobs.wake();
    expect(await recurring.charged(parent, invoice)).toBe('failed');
    expect(linesOf(await timelineOf(invoice, '2'), 'rules')).toEqual([
      expect.stringMatching(/^rules: Allowed as a retry by house@/),
    ]);
    expect(linesOf(await timelineOf({ id: parent.invoiceID }), 'email')).toEqual([
      'email: Receipt queued.',
      'email: Receipt kept in the outbox of the sandbox.',
    ]);
  });

  test('shows a decision that stops the series, and that only the payer can help', async () => {
    const parent = await recurring.parent();
    const invoice = await recurring.invoice(stoppedByPayer);
    expect(await recurring.charged(parent, invoice)).toBe('failed');
    const items = await timelineOf(invoice);
    expect(linesOf(items, 'rules').at(1)).toMatch(
      /^rules: After the decline: every series of the card in this shop ends, by rule code R1 of visa@/,
    );
    expect(items.find(({ kind }) => kind === 'status')).toMatchObject({
      text: expect.stringMatching(/Only a new consent of the payer can help\. Do not charge\.$/),
      declineClass: 'stopped',
    });
    expect(items.at(-1)?.text).toMatch(/^No other charge by waiting: recurrentStopped, .* The payer can pay/);
  });

  test('shows a refund, its postings, and the delivery that failed and was accepted', async () => {
    const invoice = await world.paid(visa);
    world.service.clock.advance(1_000);
    receiver.behave(() => 500);
    await post(invoice, 'refunds', { reason: 'returned' });
    await world.service.webhooks.whenIdle();
    expect(linesOf(await timelineOf(invoice)).slice(-8)).toEqual([
      'refund: Refund requested: returned',
      expect.stringMatching(/^bank: Refund: approved, reference 9\d{11}\.$/),
      'status: Refunded in full.',
      expect.stringMatching(/^refund: Refunded, reference 9\d{11}, ARN \d{23}\.$/),
      'ledger: Reserved: refund, from merchant.settlement to acq.uncleared.',
      'ledger: Posted what was reserved: refund, from merchant.settlement to acq.uncleared.',
      'webhook: PaymentRefunded, attempt 1: failed with status 500.',
      'webhook: Next attempt, after 1 failed. Last failure: status 500.',
    ]);
    receiver.behave(() => 200);
    world.service.clock.advance(60_000);
    await world.service.webhooks.whenIdle();
    const items = await timelineOf(invoice);
    expect(linesOf(items, 'webhook')).toEqual([
      'webhook: PaymentRefunded, attempt 1: failed with status 500.',
      'webhook: PaymentRefunded, attempt 2: accepted.',
    ]);
    expect(items.at(-1)).toMatchObject({ code: '200', id: webhookId, durationMs: expect.any(Number) });
    // However many others the webhook had between the two attempts.
    await world.service.database.withClient((client) =>
      client.query(
        `insert into webhook_attempt (webhook_id, attempted_at, aggregate_id, position, attempt, event_type, duration_ms, status)
         select $1, $2::timestamptz, '0' || n, 8, 1, 'PaymentRefunded', 1, 200 from generate_series(1, 600) as n`,
        [webhookId, items.find(({ kind }) => kind === 'webhook')?.at],
      ),
    );
    expect(linesOf(await timelineOf(invoice), 'webhook')).toEqual(linesOf(items, 'webhook'));
  });

  test('says that it leaves out earlier attempts of very many', async () => {
    receiver.behave(() => 500);
    const invoice = await world.paid(withoutFunds);
    await world.service.webhooks.whenIdle();
    await world.service.database.withClient((client) =>
      client.query(
        `insert into webhook_attempt (webhook_id, attempted_at, aggregate_id, position, attempt, event_type, duration_ms, status, failure)
         select webhook_id, attempted_at + n * interval '1 second', aggregate_id, position, attempt + n, event_type, 1, 500, 'status 500'
         from webhook_attempt, generate_series(1, 1000) as n where aggregate_id = $1`,
        [invoice.id],
      ),
    );
    const lines = linesOf(await timelineOf(invoice), 'webhook');
    expect(lines.slice(0, 2)).toEqual([
      'webhook: Earlier attempts are not shown.',
      'webhook: PaymentFailed, attempt 2: failed with status 500.',
    ]);
    expect(lines).toHaveLength(1_002);
  });

  test('shows how long the outcome is unknown, and the answer in the end', async () => {
    bank.happens('authorise', 'message lost');
    bank.always('inquire', 'message lost');
    const invoice = await world.pay(visa);
    await world.service.jobs.whenIdle();
    world.service.clock.advance(1_000);
    const [created, unknown] = await timelineOf(invoice);
    expect(unknown).toMatchObject({
      at: created?.at,
      kind: 'bank',
      text: 'Authorisation: sent or about to be. The bank has not answered, so the outcome is unknown.',
      durationMs: 1_000,
    });
    bank.always('inquire', undefined);
    world.service.clock.advance(1_000);
    world.service.jobs.wake();
    await world.service.jobs.whenIdle();
    const known = await timelineOf(invoice);
    // The answer stands when it was heard.
    expect(Date.parse(known[1]?.at ?? '') - Date.parse(known[0]?.at ?? '')).toBe(2_000);
    expect(known[1]).toMatchObject({
      text: expect.stringMatching(/^Authorisation: approved, approval code \d{6}, reference 9\d{11}\.$/),
      durationMs: 2_000,
    });
  });

  test('shows the words of others as text', async () => {
    const invoice = await world.pay(visa, { flow: { type: 'PaymentFlowHold' } });
    await world.service.jobs.whenIdle();
    const reason = '<img src=x onerror=alert(1)> \u001b[2J\u202Eevil\u2028line';
    await post(invoice, 'cancel', { reason });
    expect(linesOf(await timelineOf(invoice), 'status')).toContain(
      'status: Cancellation started: <img src=x onerror=alert(1)> \\u{1b}[2J\\u{202e}evil\\u{2028}line',
    );
  });

  test('is not for access tokens, and not for another merchant', async () => {
    const invoice = await world.paid(withoutFunds);
    const other = await world.createMerchant();
    for (const token of [invoice.token, other.apiKey])
      expect(await ask(invoice, token)).toMatchObject({
        status: 404,
        body: { message: 'Invoice not found' },
      });
    expect(await ask(invoice, world.merchant.apiKey, '2')).toMatchObject({
      status: 404,
      body: { message: 'Payment not found' },
    });
  });

  test('is read in ten statements and a cached one', async () => {
    const parent = await recurring.parent();
    const invoice = await recurring.invoice(insufficientFunds);
    expect(await recurring.charged(parent, invoice)).toBe('failed');
    const { database, timeline, merchant } = { ...world.service, ...world };
    const names: string[] = [];
    const counted = {
      ...database,
      run: (one: { readonly name: string }, values: never) => {
        names.push(one.name);
        return database.run(one as never, values);
      },
    } as typeof database;
    const name = { partyId: merchant.partyId, invoiceId: invoice.id, paymentId: '1' };
    const found = await timeline.payment(counted, name);
    if (!found.ok) throw new Error('The payment was not found.');
    await readPaymentTimeline(timeline, counted, found.value.payment, world.service.clock.now());
    // Which terminals are paused is the eleventh, unless the node has read it within a second.
    expect(names).toEqual([
      'read_payment',
      'read_invoice',
      'read_invoice_events',
      'read_exchanges',
      'read_charge_history',
      'read_series_charge',
      'read_ledger_transfers_of',
      'read_payer_email',
      'read_webhook_deliveries',
      'read_waiting_queues_of',
    ]);
  });
});
