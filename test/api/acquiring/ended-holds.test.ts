// A hold that has ended at the bank is no money: its reversal is approved, releases nothing, and is in no report.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BookEntry } from '../../../src/acquiring/adapters/http/messages.ts';
import { differencesFrom } from '../../support/checks/report-differences.ts';
import { brokenInvariants } from '../../support/database/ledger.ts';
import { invoicesUrl, type CreatedInvoice } from '../../support/worlds/invoices.ts';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';

/** The simulated bank ends a hold of this amount after two minutes. */
const holdEnds = 99_943;
const minute = 60_000;

let world: PaymentWorld;
beforeAll(async () => void (world = await startPaymentWorld()));
afterAll(() => world.close());

async function held(amount: number): Promise<CreatedInvoice> {
  const invoice = await world.pay('4242424242424242', { flow: { type: 'PaymentFlowHold' } }, { amount });
  await world.service.jobs.whenIdle();
  expect(await world.payment(invoice)).toMatchObject({ status: 'processed' });
  return invoice;
}

async function cancel({ id }: CreatedInvoice): Promise<void> {
  const url = `${invoicesUrl}/${id}/payments/1/cancel`;
  const body = { reason: 'out of stock' };
  const { status, text } = await world.service.call('POST', url, { token: world.merchant.apiKey, body });
  expect(status, text).toBe(202);
  await world.service.jobs.whenIdle();
}

/** At the bank alone: Mandate has not read its updates. */
async function endAtBank({ id }: CreatedInvoice): Promise<void> {
  world.service.clock.advance(3 * minute);
  const terminal = { id: 'T1', bankId: 'BANK', merchantId: 'TEST', descriptor: '' };
  const bank = await world.service.banks.bankOf(terminal);
  await bank.inquire({ operationId: `${id}.1.a`, terminal });
}

async function watch(): Promise<void> {
  await world.service.bankWatch.watch();
  await world.service.jobs.whenIdle();
}

async function linesOf({ id }: CreatedInvoice): Promise<string[]> {
  return (await world.book()).flatMap(({ operationId: one }) => (one.startsWith(id) ? [one.slice(-2)] : []));
}

async function differencesWith(entries: readonly BookEntry[]): Promise<string[]> {
  const differences = await differencesFrom(world.service, entries);
  return differences.map(({ class: found, operationId }) => `${found} ${operationId.slice(-2)}`);
}

async function isClean(): Promise<void> {
  expect(await differencesWith(await world.book())).toEqual([]);
  expect(await brokenInvariants(world.service.database)).toEqual([]);
  expect(await world.service.jobs.stuckJobs()).toEqual([]);
}

test('a hold that the bank reports as ended is cancelled, and its reversal is in no report', async () => {
  const invoice = await held(holdEnds);
  await endAtBank(invoice);
  await watch();
  expect(await world.payment(invoice)).toMatchObject({ status: 'cancelled' });
  expect(await linesOf(invoice)).toEqual(['.a']);
  await isClean();
});

test('so is one that the merchant cancels before Mandate has read the report', async () => {
  const invoice = await held(holdEnds);
  await endAtBank(invoice);
  await cancel(invoice);
  expect(await world.payment(invoice)).toMatchObject({ status: 'cancelled' });
  await watch();
  expect(await linesOf(invoice)).toEqual(['.a']);
  await isClean();
});

test('a bank may also report the reversal of a hold that has ended', async () => {
  const invoice = await held(holdEnds);
  await endAtBank(invoice);
  await watch();
  const book = await world.book();
  const hold = book.find(({ operationId }) => operationId === `${invoice.id}.1.a`);
  expect(hold).toBeDefined();
  const ids = { operationId: `${invoice.id}.1.r`, originalOperationId: `${invoice.id}.1.a` };
  const release = { ...hold!, ...ids, kind: 'reverse', sequence: book.length + 1 } as const;
  expect(await differencesWith([...book, release])).toEqual([]);
  expect(await differencesWith([...book, { ...release, amount: 1 }])).toEqual(['amount .r']);
});

test('the missing reversal of a hold that has not ended is a difference', async () => {
  const invoice = await held(6_000);
  await cancel(invoice);
  await isClean();
  const book = await world.book();
  const lost = book.filter(({ operationId }) => operationId !== `${invoice.id}.1.r`);
  expect(lost).toHaveLength(book.length - 1);
  expect(await differencesWith(lost)).toEqual(['hold_not_released .r']);
});
