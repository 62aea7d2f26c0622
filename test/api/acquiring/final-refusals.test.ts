// A bank that refuses for good: no payment waits for an operator, and every kopeck is in the bank's report and in the ledger.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BankResponse } from '../../../src/acquiring/domain/bank-port.ts';
import { waylay, type FaultyBank } from '../../support/bank/faulty-bank.ts';
import { notFinal } from '../../support/checks/ledger-check.ts';
import { invoicesUrl, type CreatedInvoice } from '../../support/worlds/invoices.ts';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';

const card = '4242424242424242';
const hold = { flow: { type: 'PaymentFlowHold' } };
const minute = 60_000;
/** The simulated bank declines the reversal of this amount, and refunds it. */
const notReversed = 99_918;
const declined = { outcome: 'declined', network: 'bank', code: '12' } as const;

let world: PaymentWorld;
let wayward: FaultyBank;
beforeAll(async () => {
  world = await startPaymentWorld();
  wayward = waylay(world.service.banks);
});
afterAll(() => world.close());

async function pass(ms: number): Promise<void> {
  world.service.clock.advance(ms);
  world.service.jobs.wake();
  await world.service.jobs.whenIdle();
}

async function post({ id }: CreatedInvoice, path: string, body: object): Promise<void> {
  const url = `${invoicesUrl}/${id}/payments/1/${path}`;
  const { status, text } = await world.service.call('POST', url, { token: world.merchant.apiKey, body });
  expect(status, text).toBeLessThan(300);
  await world.service.jobs.whenIdle();
}

/** The bank charges, and no answer comes until the deadline has passed. Then inquiries have the answer `later`. */
async function lost(later?: BankResponse): Promise<CreatedInvoice> {
  wayward.happens('authorise', 'answer lost');
  wayward.always('inquire', 'message lost');
  const invoice = await world.pay(card, {}, { amount: notReversed });
  await world.service.jobs.whenIdle();
  await pass(31 * minute);
  wayward.always('inquire', later);
  await pass(minute);
  return invoice;
}

/** What was sent to take the money back. */
function undoingOf({ id }: CreatedInvoice): string[] {
  const sent = wayward.sent.filter(({ operationId }) => operationId.startsWith(`${id}.1.`));
  return sent.flatMap(({ operationId, kind }) =>
    /\.[ru]$/.test(operationId) ? [`${operationId.split('.')[2]} ${kind}`] : [],
  );
}

async function atBank({ id }: CreatedInvoice): Promise<string[]> {
  const lines = (await world.book()).filter(({ operationId }) => operationId.startsWith(`${id}.`));
  return lines.map(
    ({ operationId, kind, sign, amount }) => `${operationId.split('.')[2]} ${kind} ${sign * amount}`,
  );
}

/** What the bank did and denied. */
const denied: string[] = [];

async function isClean(): Promise<void> {
  expect(await world.differences()).toEqual(denied);
  expect(await notFinal(world.service.database)).toEqual([]);
}

describe('a refused reversal', () => {
  test('of a charge without an outcome is followed by a refund under another ID, and the shop is where it was', async () => {
    const before = await world.balance();
    const invoice = await lost();
    expect(await world.payment(invoice)).toMatchObject({
      status: 'failed',
      error: { subError: { code: 'processing_deadline_reached' } },
    });
    expect(await atBank(invoice)).toEqual([`a authorise ${notReversed}`, `u refund ${-notReversed}`]);
    expect(await world.balance()).toEqual(before);
    await isClean();
  });

  test('and a refused refund: what the bank says about the charge counts', async () => {
    const before = await world.balance();
    wayward.always('refund', declined);
    const invoice = await lost();
    wayward.always('refund', undefined);
    expect(await world.payment(invoice)).toMatchObject({ status: 'captured', amount: notReversed });
    expect(await atBank(invoice)).toEqual([`a authorise ${notReversed}`]);
    expect((await world.balance()).own).toBe(before.own + notReversed);
    await isClean();
  });

  test('waits for the refund as long as its outcome is unknown', async () => {
    wayward.always('refund', 'answer lost');
    const invoice = await lost();
    expect(await world.payment(invoice)).toMatchObject({ status: 'pending' });
    wayward.always('refund', undefined);
    await pass(30 * minute);
    expect(await world.payment(invoice)).toMatchObject({ status: 'failed' });
    await isClean();
  });

  test('of a hold ends as cancelled, and the hold expires at the bank', async () => {
    const before = await world.balance();
    const invoice = await world.pay(card, hold, { amount: notReversed });
    await world.service.jobs.whenIdle();
    await post(invoice, 'cancel', { reason: 'sold out' });
    expect(await world.payment(invoice)).toMatchObject({ status: 'cancelled' });
    expect(await atBank(invoice)).toEqual(['a authorise 0']);
    expect(undoingOf(invoice)).toEqual(['r reverse']);
    expect(await world.balance()).toEqual(before);
    await isClean();
  });

  test('of a charge that the bank does not know stays open for the operator, and nothing is refunded', async () => {
    const invoice = await lost({ outcome: 'notFound' });
    expect(await world.payment(invoice)).toMatchObject({ status: 'pending' });
    await pass(minute);
    expect(new Set(undoingOf(invoice))).toEqual(new Set(['r reverse']));
    wayward.always('inquire', undefined);
    await pass(60 * minute);
    expect(await world.payment(invoice)).toMatchObject({ status: 'failed' });
    expect(await atBank(invoice)).toEqual([`a authorise ${notReversed}`, `u refund ${-notReversed}`]);
    await isClean();
  });

  test('of a hold that the bank has captured after all gives the captured part back', async () => {
    const before = await world.balance();
    const invoice = await world.pay(card, hold, { amount: 6_000 });
    await world.service.jobs.whenIdle();
    wayward.happens('capture', 'answer lost', declined);
    await post(invoice, 'capture', { reason: 'shipped', amount: 4_000, currency: 'RUB' });
    await pass(minute);
    expect(await world.payment(invoice)).toMatchObject({ status: 'cancelled' });
    expect((await world.changes(invoice)).at(-1)).toMatchObject({ reason: 'captureRefused' });
    expect(await atBank(invoice)).toEqual(['a authorise 0', 'c capture 4000', 'u refund -4000']);
    expect(await world.balance()).toEqual(before);
    denied.push(`${invoice.id}.1.c is declined in the exchange log, and in the bank's report`);
    await isClean();
  });
});

test('a refused refund is failed, and its amount can be refunded again', async () => {
  const invoice = await world.pay(card, {}, { amount: 199_100 });
  await world.service.jobs.whenIdle();
  const before = await world.balance();
  await post(invoice, 'refunds', { amount: 99_051 });
  expect((await world.changes(invoice)).at(-1)).toMatchObject({
    changeType: 'RefundStatusChanged',
    status: 'failed',
    error: { code: 'authorization_failed' },
  });
  expect(await world.balance()).toEqual(before);
  await post(invoice, 'refunds', {});
  expect(await world.payment(invoice)).toMatchObject({ status: 'refunded' });
  await isClean();
});
