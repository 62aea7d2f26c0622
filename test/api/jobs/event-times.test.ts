// Event times of one aggregate never decrease: not within a step that queries a slow bank twice, and not between nodes whose clocks
// differ. Facts, rows, log and ledger have the same times.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { epochMsOf, laterBy, type Instant } from '../../../src/clock.ts';
import { initialClaim } from '../../../src/platform/jobs/job-runner.ts';
import {
  findDestination,
  storeDestinationFact,
  storeNewDestination,
} from '../../../src/payouts/store/destinations.ts';
import { findWithdrawal, storeEnd } from '../../../src/payouts/store/withdrawals.ts';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import { timesGoingBack } from '../../support/checks/event-times.ts';
import { invoicesUrl, makeInvoice } from '../../support/worlds/invoices.ts';
import { startNode, type Node } from '../../support/service/nodes.ts';
import { startPayoutWorld, type PayoutWorld } from '../../support/worlds/payout-world.ts';
import { insufficientFunds, recurringWorld } from '../../support/worlds/recurring.ts';
import { waylay, type FaultyBank } from '../../support/bank/faulty-bank.ts';

const good = '4242424242424242';
const minute = 60_000;
const behindMs = 10_000;

let world: CustomerWorld;
let payouts: PayoutWorld;
let bank: FaultyBank;
/** A node whose clock is behind that of the first node. */
let behind: Node;
let behindBank: FaultyBank;

beforeAll(async () => {
  [world, payouts] = await Promise.all([startCustomerWorld(), startPayoutWorld()]);
  bank = waylay(world.service.banks);
  behind = await startNode(world.service, { aheadMs: -behindMs });
  behindBank = waylay(behind.banks);
});
afterAll(async () => {
  await behind.stop();
  await Promise.all([world.close(), payouts.close()]);
});
afterEach(async () => {
  const back = await timesGoingBack(world.service.database);
  if (back.length > 0) throw new Error(back.join('\n'));
});

const takes = (ms: number) => () => Promise.resolve(world.service.clock.advance(ms));

type Event = { readonly at: Instant; readonly facts: readonly any[] };

async function rowsOf(text: string, id: string): Promise<any[]> {
  return (await world.service.database.withClient((client) => client.query(text, [id]))).rows;
}

function eventsOf(id: string): Promise<Event[]> {
  return rowsOf('select created_at as at, facts from event where aggregate_id = $1 order by sequence', id);
}

async function eventWith(id: string, type: string) {
  for (const { at, facts } of await eventsOf(id)) {
    const fact = facts.find((one) => one.type === type);
    if (fact) return { at, fact };
  }
  throw new Error(`the log of ${id} has no ${type}`);
}

/** Milliseconds after the first event. */
const sinceFirst = ([first, ...others]: readonly Event[]) =>
  others.map(({ at }) => epochMsOf(at) - epochMsOf(first!.at));

function post(node: Pick<Node, 'call'>, url: string, body: object = {}) {
  return node.call('POST', url, { token: world.merchant.apiKey, body });
}

describe('times with a slow bank that is called twice in a row', () => {
  test('increase for a binding: its charge, then its refund', async () => {
    bank.meanwhile('authorise', takes(3_000));
    bank.meanwhile('reverse', takes(1_000));
    const bound = await world.bound(await world.createCustomer(), good);
    expect(await world.binding(bound)).toMatchObject({ status: 'succeeded' });
    const [, started, charged, returned] = await eventsOf(bound.id);
    expect(sinceFirst([started!, charged!, returned!])).toEqual([3_000, 4_000]);
  });

  test('increase for a payment: its late authorisation, then its reversal', async () => {
    bank.meanwhile('authorise', takes(31 * minute));
    bank.happens('authorise', { outcome: 'pending' });
    bank.meanwhile('reverse', takes(1_000));
    const paid = await world.paid(good);
    expect(await world.payment(paid)).toMatchObject({ status: 'failed' });
    const [, started, reversing, failed] = await eventsOf(paid.id);
    expect(sinceFirst([started!, reversing!, failed!])).toEqual([31 * minute, 31 * minute + 1_000]);
  });
});

describe('a node whose clock is behind', () => {
  test('pays, captures and refunds an invoice of another node with consistent times', async () => {
    const { id } = await world.pay(good, { flow: { type: 'PaymentFlowHold' } });
    await world.service.jobs.whenIdle();
    const payment = `${invoicesUrl}/${id}/payments/1`;
    expect((await post(behind, `${payment}/capture`, { reason: 'r' })).status).toBe(202);
    await behind.jobs.whenIdle();
    const refunded = await post(behind, `${payment}/refunds`);
    expect(refunded.status).toBe(201);
    await behind.jobs.whenIdle();
    expect(await world.payment({ id, token: '' })).toMatchObject({ status: 'refunded' });

    const { at, fact } = await eventWith(id, 'refund_started');
    expect(fact.refund.createdAt).toBe(at);
    expect(refunded.body.createdAt).toBe(at);
    expect(await rowsOf('select created_at as at from refund where invoice_id = $1', id)).toEqual([{ at }]);
  });

  test('starts a payment with consistent times', async () => {
    const { token } = await world.tokenize(good);
    const { id } = await makeInvoice(world.service, world.merchant);
    const payer = { payerType: 'PaymentResourcePayer', paymentToolToken: token, contactInfo: {} };
    const made = await post(behind, `${invoicesUrl}/${id}/payments`, { payer });
    expect(made.status).toBe(201);
    await behind.jobs.whenIdle();
    const { at, fact } = await eventWith(id, 'payment_started');
    expect(fact.terms.createdAt).toBe(at);
    expect(made.body.createdAt).toBe(at);
  });

  test('records a refund after another node has fulfilled the invoice', async () => {
    const { id } = await world.paid(good);
    behindBank.meanwhile('refund', async () => {
      world.service.clock.advance(1_000);
      expect((await post(world.service, `${invoicesUrl}/${id}/fulfill`, { reason: 'r' })).status).toBe(204);
    });
    expect((await post(behind, `${invoicesUrl}/${id}/payments/1/refunds`)).status).toBe(201);
    await behind.jobs.whenIdle();
    const types = (await eventsOf(id)).flatMap(({ facts }) => facts.map(({ type }) => type as string));
    expect(types.slice(-4)).toEqual([
      'refund_started',
      'invoice_fulfilled',
      'refund_succeeded',
      'payment_refunded',
    ]);
  });

  test('binds a card to a customer of another node, and revokes it', async () => {
    const customer = await world.createCustomer();
    const { token, session } = await world.tokenize(good, customer.token);
    const url = `/v2/processing/customers/${customer.id}/bindings`;
    const paymentResource = { paymentToolToken: token, paymentSession: session };
    const { body } = await post(behind, url, { paymentResource });
    await behind.jobs.whenIdle();
    world.service.clock.advance(behindMs);
    const binding = { ...customer, bindingId: body.id };
    expect(await world.binding({ ...binding, created: body })).toMatchObject({ status: 'succeeded' });
    const started = await eventWith(customer.id, 'binding_started');
    expect(started.fact.terms.createdAt).toBe(started.at);

    // An event of this customer happens on the first node, and only then is the card revoked on the other.
    await world.bound(customer, '5555555555554444');
    await behind.call('DELETE', `${url}/${body.id}`, { token: world.merchant.apiKey });
    const withdrawn = await eventWith(customer.id, 'binding_withdrawn');
    expect(withdrawn.fact.at).toBe(withdrawn.at);
  });

  test.each([
    [6_000, 'captured'],
    [insufficientFunds, 'failed'],
  ])('charges a card %i again, and the consent still matches its log', async (amount, status) => {
    const recurrentParentPayment = await recurringWorld(world).parent();
    world.service.clock.advance(behindMs / 2);
    const { id } = await recurringWorld(world).invoice(amount);
    const payer = { payerType: 'RecurrentPayer', recurrentParentPayment, contactInfo: {} };
    expect((await post(behind, `${invoicesUrl}/${id}/payments`, { payer })).status).toBe(201);
    await behind.jobs.whenIdle();
    expect(await world.payment({ id, token: '' })).toMatchObject({ status });

    const { invoiceID, paymentID } = recurrentParentPayment;
    const consent = `${invoicesUrl}/${invoiceID}/payments/${paymentID}/recurring/consent`;
    const bundle = await world.service.call('GET', consent, { token: world.merchant.apiKey });
    expect(bundle.status).toBe(200);
    expect(bundle.body.entries).toHaveLength(3);
    const [, { at: created_at }, { at: ended_at }] = bundle.body.entries;
    const attempts = 'select created_at, ended_at from series_attempt where invoice_id = $1';
    expect(await rowsOf(attempts, id)).toEqual([{ created_at, ended_at }]);
    expect((await eventWith(id, 'payment_started')).at).toBe(created_at);
  });

  test('identifies an identity of another node', async () => {
    const name = { name: 'Keyn Fawkes', provider: 'test', class: 'person' };
    const { id } = (await post(world.service, '/wallet/v0/identities', name)).body;
    const proofs = [{ type: 'RUSDomesticPassport', token: 'any' }];
    const started = await post(behind, `/wallet/v0/identities/${id}/challenges`, { type: 'esia', proofs });
    expect(started.status).toBe(202);
    expect(await eventsOf(id)).toHaveLength(2);
  });

  test('records the outcome of a destination and of a withdrawal', async () => {
    const { database: db, clock } = payouts.service;
    const payoutBank = waylay(payouts.service.banks);
    payoutBank.always('payout', { outcome: 'pending' });
    const made = await payouts.destinationFor(good);
    const { body } = await payouts.withdraw(1_000, made.id);
    await payouts.service.jobs.whenIdle();
    const now = laterBy(clock.now(), -behindMs);
    const stored = (await findDestination(db, null, made.id))!;

    const { state: _, isBlocked: __, provider: ___, ...terms } = stored.destination;
    const created = { type: 'destination_created', terms: { ...terms, id: `${terms.id}2` } } as const;
    await storeNewDestination(db, created, Buffer.alloc(32), initialClaim(clock.now()));
    const another = (await findDestination(db, null, created.terms.id))!;
    expect(await storeDestinationFact(db, another, { type: 'destination_authorized' }, now)).toBe(true);

    const withdrawal = (await findWithdrawal(db, null, body.id))!;
    const ended = { type: 'withdrawal_succeeded', reference: 'r' } as const;
    expect(await storeEnd(db, withdrawal, ended, { livemode: false, now })).toBeDefined();
    expect(await timesGoingBack(db)).toEqual([]);
  });
});

test('an operator, whose clock ignores the test clock, can end an object on it', async () => {
  bank.always('reverse', { outcome: 'unknown', why: 'no response' });
  const bound = await world.bound(await world.createCustomer(), good);
  const now = '2026-03-01T00:00:00Z';
  expect((await post(world.service, '/sandbox/clock', { now })).status).toBe(200);
  await world.bind(bound, '5555555555554444');
  await world.service.jobs.whenIdle();
  expect(await world.closeReturn({ customerId: bound.id, bindingId: bound.bindingId }, 'paid back')).toBe(
    true,
  );
  expect((await eventsOf(bound.id)).at(-1)!.facts).toMatchObject([{ type: 'binding_failed' }]);
});
