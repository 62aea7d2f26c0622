// Updates of a bank written to a real database: state, events, webhooks, ledger, and the same again.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OperationUpdate } from '../../acquiring/domain/bank-updates.ts';
import type { Currency } from '../../money.ts';
import { postJournal } from '../../../test/support/database/post-journal.ts';
import { waylay, type FaultyBank } from '../../../test/support/bank/faulty-bank.ts';
import { invoicesUrl, type CreatedInvoice } from '../../../test/support/worlds/invoices.ts';
import { startPaymentWorld, type PaymentWorld } from '../../../test/support/worlds/payment-world.ts';
import { everyInvariant } from '../../app/composition/invariants.ts';
import { checkLedger } from '../../platform/ledger/check-ledger.ts';
import { depositedFromShop } from '../../wallets/domain/wallet-postings.ts';
import { applyUpdate } from './apply-update.ts';

const card = '4242424242424242';
const hold = { flow: { type: 'PaymentFlowHold' } };

let world: PaymentWorld;
let wayward: FaultyBank;
const errors: string[] = [];
beforeAll(async () => {
  world = await startPaymentWorld();
  wayward = waylay(world.service.banks);
});
afterAll(() => world.close());

const log = { error: (...line: unknown[]) => void errors.push(String(line.at(-1))) };

async function settled(): Promise<void> {
  world.service.jobs.wake();
  await world.service.jobs.whenIdle();
}

async function told({ id }: CreatedInvoice, what: OperationUpdate['what'], suffix: string): Promise<string> {
  const { database, clock } = world.service;
  const at = clock.now();
  const update: OperationUpdate = { operationId: `${id}.1.${suffix}`, what, at };
  const { outcome } = await database.transaction((tx) => applyUpdate({ db: tx, log }, update, at));
  await settled();
  return outcome;
}

/** The simulated bank looks at its clock only when it is asked. */
async function reportedOf({ id }: CreatedInvoice): Promise<string[]> {
  const terminal = { id: 'T1', bankId: 'BANK', merchantId: 'TEST', descriptor: 'TEST SHOP' };
  const { updates } = await (await world.service.banks.bankOf(terminal)).updates(0);
  return updates.filter(({ operationId }) => operationId.startsWith(`${id}.`)).map(({ what }) => what);
}

async function paid(more: Record<string, unknown> = {}): Promise<CreatedInvoice> {
  const invoice = await world.pay(card, more);
  await settled();
  return invoice;
}

async function post({ id }: CreatedInvoice, path: string, body: object): Promise<void> {
  const url = `${invoicesUrl}/${id}/payments/1/${path}`;
  const { status, text } = await world.service.call('POST', url, { token: world.merchant.apiKey, body });
  expect(status, text).toBeLessThan(300);
  await settled();
}

async function isClean(): Promise<void> {
  const findings = await checkLedger(world.service.database, 'all', everyInvariant);
  expect(findings.filter(({ violations }) => violations > 0n)).toEqual([]);
  expect(await world.service.jobs.stuckJobs()).toEqual([]);
}

describe('an update of the bank', () => {
  test('that a capture failed cancels the payment and takes the money from the shop', async () => {
    const before = await world.balance();
    const invoice = await paid();
    expect(await told(invoice, 'captureFailed', 'a')).toBe('applied');
    expect(await world.payment(invoice)).toMatchObject({ status: 'cancelled' });
    expect((await world.changes(invoice)).at(-1)).toMatchObject({
      status: 'cancelled',
      reason: 'captureFailed',
    });
    expect(await world.balance()).toEqual(before);
    expect(await told(invoice, 'captureFailed', 'a')).toBe('nothing');
    expect(await world.balance()).toEqual(before);
    await isClean();
  });

  test('that a capture failed waits for the end of a refund', async () => {
    const before = await world.balance();
    const invoice = await paid();
    wayward.always('refund', 'message lost');
    await post(invoice, 'refunds', {});
    expect(await told(invoice, 'captureFailed', 'a')).toBe('tooEarly');
    wayward.always('refund', { outcome: 'declined', network: 'bank', code: '12' });
    expect(await told(invoice, 'captureFailed', 'a')).toBe('tooEarly');
    wayward.always('refund', undefined);
    expect((await world.changes(invoice)).at(-1)).toMatchObject({ refundID: '100', status: 'failed' });
    expect(await told(invoice, 'captureFailed', 'a')).toBe('applied');
    expect(await world.payment(invoice)).toMatchObject({ status: 'cancelled' });
    expect(await world.balance()).toEqual(before);
    await isClean();
  });

  test('that a refund failed gives the money back to the shop, and it can be refunded again', async () => {
    const invoice = await paid();
    const before = await world.balance();
    await post(invoice, 'refunds', {});
    expect(await world.payment(invoice)).toMatchObject({ status: 'refunded' });
    expect(await told(invoice, 'refundFailed', '100')).toBe('applied');
    expect(await world.payment(invoice)).toMatchObject({ status: 'captured' });
    expect((await world.changes(invoice)).at(-1)).toMatchObject({ refundID: '100', status: 'failed' });
    expect(await world.balance()).toEqual(before);
    expect(await told(invoice, 'refundFailed', '100')).toBe('nothing');
    // The simulated bank has refunded it, so it declines the second one.
    await post(invoice, 'refunds', {});
    expect((await world.changes(invoice)).at(-1)).toMatchObject({ refundID: '101', status: 'failed' });
    await isClean();
  });

  test('that a charge was approved late has it refunded under an ID of its own', async () => {
    wayward.always('authorise', 'answer lost');
    wayward.always('inquire', 'message lost');
    wayward.always('reverse', { outcome: 'approved', reference: '900000000009' });
    const invoice = await paid();
    world.service.clock.advance(31 * 60_000);
    await settled();
    for (const kind of ['authorise', 'inquire', 'reverse'] as const) wayward.always(kind, undefined);
    expect(await world.payment(invoice)).toMatchObject({ status: 'failed' });
    const before = await world.balance();
    expect(await told(invoice, 'approvedLate', 'a')).toBe('applied');
    const lines = (await world.book()).filter(({ operationId }) => operationId.startsWith(`${invoice.id}.`));
    expect(lines.map(({ operationId, sign }) => [operationId.split('.')[2], sign])).toEqual([
      ['a', 1],
      ['l', -1],
    ]);
    expect(await world.payment(invoice)).toMatchObject({ status: 'failed' });
    expect(await world.balance()).toEqual(before);
    expect(await told(invoice, 'approvedLate', 'a')).toBe('nothing');
    await isClean();
    // The refund failed days later.
    const sent = wayward.sent.length;
    const again = { outcome: 'approved', reference: '900000000010' } as const;
    wayward.happens('refund', 'message lost', again);
    expect(await told(invoice, 'refundFailed', 'l')).toBe('applied');
    expect(await told(invoice, 'refundFailed', 'l')).toBe('nothing');
    world.service.clock.advance(60_000);
    await settled();
    const messages = wayward.sent.slice(sent).map(({ operationId, kind }) => [operationId, kind]);
    const repeated = [`${invoice.id}.1.l2`, 'refund'];
    expect(messages).toEqual([repeated, repeated]);
    expect(await world.balance()).toEqual(before);
    expect(await world.payment(invoice)).toMatchObject({ status: 'failed' });
    await isClean();
    expect(await told(invoice, 'refundFailed', 'l2')).toBe('contradiction');
  });

  test('that a declined charge was approved after all gives the payer their money back', async () => {
    const before = await world.balance();
    const invoice = await world.pay(card, {}, { amount: 99_942 });
    await settled();
    expect(await world.payment(invoice)).toMatchObject({ status: 'failed' });
    world.service.clock.advance(2 * 60_000);
    expect(await reportedOf(invoice)).toEqual(['approvedLate']);
    expect(await told(invoice, 'approvedLate', 'a')).toBe('applied');
    const lines = (await world.book()).filter(({ operationId }) => operationId.startsWith(invoice.id));
    expect(lines.map(({ operationId, amount, sign }) => [operationId, amount, sign])).toEqual([
      [`${invoice.id}.1.a`, 99_942, 1],
      [`${invoice.id}.1.l`, 99_942, -1],
    ]);
    expect(await world.payment(invoice)).toMatchObject({ status: 'failed' });
    expect(await world.balance()).toEqual(before);
    expect(await told(invoice, 'approvedLate', 'a')).toBe('nothing');
    await isClean();
  });

  test('that comes before the outcome is known is kept, and has the bank asked', async () => {
    wayward.happens('authorise', 'answer lost');
    wayward.always('inquire', 'message lost');
    const invoice = await world.pay(card, {}, { amount: 99_942 });
    await settled();
    expect(await world.payment(invoice)).toMatchObject({ status: 'pending' });
    wayward.always('inquire', undefined);
    expect(await told(invoice, 'approvedLate', 'a')).toBe('tooEarly');
    expect(await world.payment(invoice)).toMatchObject({ status: 'failed' });
    world.service.clock.advance(2 * 60_000);
    expect(await reportedOf(invoice)).toEqual(['approvedLate']);
    expect(await told(invoice, 'approvedLate', 'a')).toBe('applied');
    await isClean();
  });

  test('that a hold ended cancels the payment', async () => {
    const invoice = await paid(hold);
    expect(await told(invoice, 'holdEnded', 'a')).toBe('applied');
    expect(await world.payment(invoice)).toMatchObject({ status: 'cancelled' });
    expect((await world.changes(invoice)).at(-1)).toMatchObject({ reason: 'holdEnded' });
    await isClean();
  });

  test('that contradicts what is stored changes nothing and is logged', async () => {
    errors.length = 0;
    const invoice = await paid();
    const before = await world.changes(invoice);
    expect(await told(invoice, 'captureFailed', 'c')).toBe('contradiction');
    expect(await told({ ...invoice, id: 'unknown' }, 'captureFailed', 'a')).toBe('contradiction');
    expect(await world.changes(invoice)).toEqual(before);
    expect(errors).toEqual(Array(2).fill('bank update contradicts the stored result'));
  });

  /** The last test: it books money away without a deposit. */
  test('that a capture failed is booked aside if the shop lacks the money', async () => {
    const invoice = await paid();
    const { available: minor } = await world.balance();
    const ofDeposit = { livemode: false, depositId: 'D1', walletId: 'W1', partyId: world.merchant.partyId };
    const taken = { minor: BigInt(minor), currency: 'RUB' as Currency };
    const { database, clock } = world.service;
    const deposit = depositedFromShop({ ...ofDeposit, shopId: 'TEST' }, taken);
    await database.transaction((tx) => postJournal(tx, deposit, clock.now()));
    expect(await told(invoice, 'captureFailed', 'a')).toBe('applied');
    expect(errors).toContain('capture failed, and the shop lacks the money');
    expect((await world.balance()).available).toBe(0);
    expect(await world.payment(invoice)).toMatchObject({ status: 'cancelled' });
  });
});
