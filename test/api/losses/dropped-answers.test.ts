// Payments, captures and refunds over a link that loses every fiftieth answer. The bank has done each of them, once.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Bank, BankResponse } from '../../../src/acquiring/domain/bank-port.ts';
import { often } from '../../support/service/campaign.ts';
import { notFinal } from '../../support/checks/ledger-check.ts';
import { invoicesUrl, makeInvoice, type CreatedInvoice } from '../../support/worlds/invoices.ts';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';

const operations = often(400, 10_000);
/** A charge with its refund, and a hold with its capture. */
const operationsOfPair = 4;
const pairs = operations / operationsOfPair;
const lostEvery = 50;
const atOnce = 16;
const amount = 6_000;
const minuteMs = 60_000;

let world: PaymentWorld;
const sends = new Map<string, number>();
let answers = 0;
let lost = 0;

beforeAll(async () => {
  world = await startPaymentWorld();
  const { banks } = world.service;
  const { bankOf } = banks;
  Object.assign(banks, { bankOf: async (terminal: never) => losing(await bankOf(terminal)) });
});
afterAll(() => world.close());

function losing(bank: Bank): Bank {
  const unlessLost = (answer: BankResponse): BankResponse => {
    answers += 1;
    if (answers % lostEvery !== 0) return answer;
    lost += 1;
    return { outcome: 'unknown', why: 'the answer is lost' };
  };
  return {
    ...bank,
    async send(operation) {
      const { operationId } = operation;
      sends.set(operationId, (sends.get(operationId) ?? 0) + 1);
      return unlessLost(await bank.send(operation));
    },
    inquire: async (operation) => unlessLost(await bank.inquire(operation)),
  };
}

async function post(path: string, body: object): Promise<void> {
  const token = world.merchant.apiKey;
  const { status, text } = await world.service.call('POST', `${invoicesUrl}/${path}`, { token, body });
  expect(status, text).toBeLessThan(300);
}

async function pay(flow: string): Promise<CreatedInvoice> {
  const invoice = await makeInvoice(world.service, world.merchant);
  const { token: paymentToolToken } = await world.tokenize('4242424242424242');
  const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
  await post(`${invoice.id}/payments`, { flow: { type: flow }, payer });
  return invoice;
}

async function settle(): Promise<void> {
  const { clock, jobs } = world.service;
  for (let round = 0; round < 4; round++) {
    await jobs.whenIdle();
    clock.advance(minuteMs);
    jobs.wake();
  }
  await jobs.whenIdle();
}

test(`${operations} operations are each done once, and every payment has what it asked for`, async () => {
  const made: { readonly charged: CreatedInvoice; readonly held: CreatedInvoice }[] = [];
  while (made.length < pairs) {
    const begun = await Promise.all(
      Array.from({ length: Math.min(atOnce, pairs - made.length) }, async () => ({
        charged: await pay('PaymentFlowInstant'),
        held: await pay('PaymentFlowHold'),
      })),
    );
    await settle();
    for (const { charged, held } of begun) {
      await post(`${charged.id}/payments/1/refunds`, {});
      await post(`${held.id}/payments/1/capture`, { reason: 'sent' });
    }
    await settle();
    made.push(...begun);
  }
  expect(lost).toBeGreaterThanOrEqual(operations / lostEvery);

  const booked = new Map<string, number>();
  for (const { operationId } of await world.book())
    booked.set(operationId, (booked.get(operationId) ?? 0) + 1);
  const expected = made.flatMap(({ charged, held }) => [
    `${charged.id}.1.a`,
    `${charged.id}.1.100`,
    `${held.id}.1.a`,
    `${held.id}.1.c`,
  ]);
  expect([...booked.keys()].sort()).toEqual(expected.sort());
  expect(new Set(booked.values())).toEqual(new Set([1]));
  // An authorisation is asked about and never sent again; nothing is reversed for want of an answer.
  for (const [operationId, times] of sends) if (operationId.endsWith('.a')) expect(times).toBe(1);
  for (const { charged, held } of made) {
    expect(await world.payment(charged)).toMatchObject({ status: 'refunded' });
    expect(await world.payment(held)).toMatchObject({ status: 'captured', amount });
  }
  expect(await notFinal(world.service.database)).toEqual([]);
  expect(await world.differences()).toEqual([]);
});
