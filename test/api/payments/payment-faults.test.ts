// Payments on two nodes with a fault in every fifth bank message and callback; afterwards nothing is open and nothing
// differs.
//   FAULTY_PAYMENTS how many at least (100, or 150), FAULTY_SEED which (1, or SEED)
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Bank } from '../../../src/acquiring/domain/bank-port.ts';
import { openHttpBank } from '../../../src/acquiring/adapters/http/http-bank.ts';
import { faultKinds, isOfCallback } from '../../../src/sandbox/bank/faults.ts';
import { seededRandom } from '../../../src/sandbox/bank/random.ts';
import { callbackUrlOf } from '../../../src/acquiring/callbacks.ts';
import { often } from '../../support/service/campaign.ts';
import { chosenSeed } from '../../support/service/chosen-seed.ts';
import { notFinal } from '../../support/checks/ledger-check.ts';
import { invoicesUrl, makeInvoice, type CreatedInvoice } from '../../support/worlds/invoices.ts';
import { startNode, type Node } from '../../support/service/nodes.ts';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';

const usualCount = often(100, 150);
const count = Number(process.env['FAULTY_PAYMENTS'] ?? usualCount);
const seed = chosenSeed('FAULTY_SEED');
const random = seededRandom(seed);

const minute = 60_000;
const atOnce = 16;
/** The rate of each kind of fault, so that together a fifth of the messages is faulty. */
const faultyShare = 0.2;
/** Payments continue until so many faults and each kind of fault have occurred. Reaching the limit is a failure. */
const leastFaults = count / 2;
const mostPayments = count * 2;
const timeouts = { connectMs: 1_000, answerMs: 250, unattendedAnswerMs: 250 };

let world: PaymentWorld;
let nodes: readonly Node[];
const banks: Bank[] = [];
let isWell = false;
const played = new Map<string, number>();
let messages = 0;

beforeAll(async () => {
  world = await startPaymentWorld();
  countFaults();
  nodes = await Promise.all([startImpatientNode(), startImpatientNode()]);
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await Promise.all(banks.map((bank) => bank.stop()));
  await world.close();
});

/** Receives the bank's callbacks and, while faults are on, uses a shorter timeout than in production. */
async function startImpatientNode(): Promise<Node> {
  const { clock, log, vault } = world.service;
  let address = '';
  let impatient: Bank | undefined;
  const node = await startNode(world.service, {
    publicUrl: () => address,
    bankOf(bank) {
      if (isWell) return bank;
      if (impatient) return impatient;
      impatient = openHttpBank({
        url: world.bank.url,
        secret: world.bankSecret,
        clock,
        log,
        detokeniseCard: (card) => vault.detokenise(card),
        callbackUrl: callbackUrlOf(address, 'BANK'),
        timeouts,
      });
      banks.push(impatient);
      return impatient;
    },
  });
  address = await node.app.listen({ port: 0 });
  return node;
}

function countFaults(): void {
  const { faults } = world.bank;
  const { ofRequest, ofCallback } = faults;
  const counted = <Kind extends string>(kind: Kind | undefined): Kind | undefined => {
    if (kind !== undefined) played.set(kind, (played.get(kind) ?? 0) + 1);
    return kind;
  };
  faults.ofRequest = (concerned) => {
    messages++;
    return counted(ofRequest(concerned));
  };
  faults.ofCallback = () => counted(ofCallback());
}

function orderFaults(): void {
  const { faults } = world.bank;
  const ofCallbacks = faultKinds.filter(isOfCallback);
  // Callbacks are few, so the first ones are faulty in any case.
  for (const kind of ofCallbacks) faults.order({ kind, next: 1 });
  for (const kind of faultKinds) {
    const kinds = isOfCallback(kind) ? ofCallbacks.length : faultKinds.length - ofCallbacks.length;
    faults.order({ kind, rate: 1 - (1 - faultyShare) ** (1 / kinds) });
  }
  faults.order({ kind: 'latency', curve: { shape: 'lognormal', medianMs: 3, sigma: 1 } });
}

const oneOf = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
const token = () => world.merchant.apiKey;

const cards = [
  '4242424242424242',
  '4242424242424242',
  '4242424242424242',
  '5555555555554444',
  '2201382000000013',
  '586824160825533338',
  '4000000000000002',
  '4111110000000112',
  '4012888888881881',
  '4556724110260093',
];

type Made = CreatedInvoice & { readonly amount: number };

async function pay(): Promise<Made> {
  const amount = 1_000 + Math.floor(random() * 90_000);
  const [card, flow] = [oneOf(cards), oneOf(['PaymentFlowInstant', 'PaymentFlowHold'])];
  const onHoldExpiration = oneOf(['cancel', 'capture']);
  const invoice = await makeInvoice(world.service, world.merchant, { amount });
  const { token: paymentToolToken } = await world.tokenize(card);
  const body = {
    flow: { type: flow, ...(flow === 'PaymentFlowHold' ? { onHoldExpiration } : {}) },
    payer: { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} },
  };
  const url = `${invoicesUrl}/${invoice.id}/payments`;
  const made = await oneOf(nodes).call('POST', url, { token: token(), body });
  expect(made.status, made.text).toBe(201);
  return { ...invoice, amount };
}

/** What the payer or merchant may do next with a payment. */
async function goOn(invoice: Made): Promise<void> {
  const wish = random();
  const url = `${invoicesUrl}/${invoice.id}/payments/1`;
  const post = async (path: string, body: object) => {
    const answer = await oneOf(nodes).call('POST', `${url}/${path}`, { token: token(), body });
    // Concurrent requests may be refused.
    if (answer.status >= 300)
      expect(answer.body.code).toMatch(/^(invalidPaymentStatus|operationNotPermitted)$/);
  };
  const { status, amount } = (await oneOf(nodes).call('GET', url, { token: token() })).body;
  const part = 1 + Math.floor(random() * (amount - 1));
  if (status === 'pending' && wish < 0.7) await visitIssuer(invoice, oneOf(['confirm', 'confirm', 'refuse']));
  if (status === 'processed') {
    if (wish < 0.3) await post('capture', { reason: 'r' });
    else if (wish < 0.5) await post('capture', { reason: 'r', amount: part, currency: 'RUB' });
    else if (wish < 0.7) await post('cancel', { reason: 'r' });
    else if (wish < 0.8) {
      await Promise.all([post('cancel', { reason: 'r' }), post('capture', { reason: 'r' })]);
    }
  }
  if (status === 'captured' && wish < 0.2) await post('refunds', {});
  if (status === 'captured' && wish > 0.6) {
    const refund = { amount: Math.max(1, Math.floor(part / 4)) };
    await Promise.all([post('refunds', refund), ...(wish > 0.8 ? [post('refunds', refund)] : [])]);
  }
}

async function visitIssuer(invoice: Made, decision: 'confirm' | 'refuse'): Promise<void> {
  const isAsked = (await world.changes(invoice)).some(
    ({ changeType }) => changeType === 'PaymentInteractionRequested',
  );
  if (!isAsked) return;
  await world.decide(invoice, decision);
  if (random() < 0.5) await oneOf(nodes).call('GET', `/payer/return/${invoice.id}/1`);
}

async function forEach<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items[Symbol.iterator]();
  const worker = async () => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** Both nodes run what is due at the same time. */
async function pass(ms: number): Promise<void> {
  world.service.clock.advance(ms);
  for (const node of nodes) node.jobs.wake();
  await Promise.all(nodes.map((node) => node.jobs.whenIdle()));
}

const faultsPlayed = () => [...played.values()].reduce((sum, times) => sum + times, 0);
const kindsLeft = () => faultKinds.filter((kind) => !played.has(kind));

async function trade(payments: number): Promise<Made[]> {
  const invoices: Made[] = [];
  await forEach(Array.from({ length: payments }), async () => void invoices.push(await pay()));
  for (let round = 0; round < 4; round++) {
    await pass(minute);
    await forEach(invoices, goOn);
  }
  return invoices;
}

test(`${count} payments or more with a fault in every fifth message lose and duplicate nothing (FAULTY_SEED=${seed})`, async () => {
  orderFaults();
  const invoices = await trade(count);
  const isEnough = () => faultsPlayed() >= leastFaults && kindsLeft().length === 0;
  while (!isEnough() && invoices.length < mostPayments) invoices.push(...(await trade(atOnce)));
  expect(kindsLeft(), `in ${invoices.length} payments`).toEqual([]);
  expect(faultsPlayed(), `faults in ${invoices.length} payments`).toBeGreaterThanOrEqual(leastFaults);

  world.bank.faults.clear();
  isWell = true;
  // Past the longest retry delay, every challenge and every hold.
  for (const minutes of [1, 5, 10, 10, 20, 30, 72 * 60, 1, 10]) await pass(minutes * minute);

  const stories = new Map<string, number>();
  for (const invoice of invoices) {
    const { status } = await world.payment(invoice);
    stories.set(status, (stories.get(status) ?? 0) + 1);
  }
  if (count !== usualCount) {
    console.log(
      `seed ${seed}: ${invoices.length} payments, ${messages} messages`,
      Object.fromEntries(played),
      Object.fromEntries(stories),
    );
  }
  expect([...stories.keys()].sort()).toEqual(['cancelled', 'captured', 'failed', 'refunded']);
  expect(await notFinal(world.service.database)).toEqual([]);
  expect(await world.differences()).toEqual([]);
}, 600_000);
