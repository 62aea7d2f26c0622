// An approved charge is written in one statement, or in a transaction if the series has changed since it was read. Both
// must have the same result.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { BankResponse } from '../../../src/acquiring/domain/bank-port.ts';
import { laterBy, type Instant } from '../../../src/clock.ts';
import { monthsAfter } from '../../../src/retry-rules/domain/calendar.ts';
import { waylay, type FaultyBank } from '../../support/bank/faulty-bank.ts';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import { invoicesUrl } from '../../support/worlds/invoices.ts';
import { insufficientFunds, recurringWorld, type Parent } from '../../support/worlds/recurring.ts';
import type { Merchant } from '../../support/service/test-service.ts';

const dayMs = 24 * 3_600_000;
const payer = { email: 'payer@example.com' };
const ways = ['in one statement', 'in a transaction'] as const;

let world: CustomerWorld;
let recurring: ReturnType<typeof recurringWorld>;
let wayward: FaultyBank;
let merchant: Merchant;
let isInOne: boolean;

beforeAll(async () => {
  world = await startCustomerWorld();
  recurring = recurringWorld(world);
  wayward = waylay(world.service.banks);
});
afterAll(() => world.close());
beforeEach(async () => void (merchant = await world.createMerchant()));
afterEach(() => void vi.restoreAllMocks());

/** Forces the transaction: the statement gets a wrong version of the series and writes nothing. */
function goes(way: (typeof ways)[number]): void {
  isInOne = false;
  const { database } = world.service;
  const { run } = database;
  vi.spyOn(database, 'run').mockImplementation(async (statement, parameters) => {
    if (statement.name !== 'approve_charge') return run(statement, parameters);
    const moved = way === 'in a transaction' ? { series_version: 0 } : {};
    const rows = await run(statement, { ...parameters, ...moved });
    isInOne = rows.length > 0;
    return rows;
  });
}

async function parentOf(contactInfo: object = payer): Promise<Parent> {
  const { id } = await recurring.invoice(4_200, {}, merchant);
  const { token: paymentToolToken } = await world.tokenize('4242424242424242', merchant.apiKey);
  const present = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo };
  const body = { payer: present, makeRecurrent: true };
  await world.service.call('POST', `${invoicesUrl}/${id}/payments`, { token: merchant.apiKey, body });
  await world.service.jobs.whenIdle();
  return { invoiceID: id, paymentID: '1' };
}

async function charge(
  parent: Parent,
  { token = merchant.apiKey, amount = 4_200, email = '', more = {} } = {},
) {
  const { id, token: ofInvoice } = await recurring.invoice(amount, {}, merchant);
  const contactInfo = email === '' ? {} : { email };
  const made = await world.service.call('POST', `${invoicesUrl}/${id}/payments`, {
    token: token === 'of the invoice' ? ofInvoice : token,
    body: {
      payer: { payerType: 'RecurrentPayer', recurrentParentPayment: parent, contactInfo },
      ...more,
    },
  });
  expect(made.status).toBe(201);
  await world.service.jobs.whenIdle();
  return { id, createdAt: made.body.createdAt as Instant };
}

async function only(text: string, values: unknown[]): Promise<any> {
  const { rows } = await world.service.database.withClient((client) => client.query(text, values));
  expect(rows).toHaveLength(1);
  return rows[0];
}
const nameOf = ({ invoiceID, paymentID }: Parent) => `${invoiceID}.${paymentID}`;
const seriesOf = (parent: Parent) => only('select * from series where series_id = $1', [nameOf(parent)]);
const lastEventOf = (parent: Parent) =>
  only('select * from event where aggregate_id = $1 order by sequence desc limit 1', [nameOf(parent)]);
const attemptOf = (invoiceId: string) =>
  only('select * from series_attempt where invoice_id = $1', [invoiceId]);
const paymentOf = async (id: string) =>
  (await world.service.call('GET', `${invoicesUrl}/${id}/payments/1`, { token: merchant.apiKey })).body;
async function addressOf(invoiceId: string): Promise<string | undefined> {
  const text = 'select * from payer_email where invoice_id = $1';
  const { rows } = await world.service.database.withClient((client) => client.query(text, [invoiceId]));
  return rows[0]?.recipient;
}

describe.each(ways)('%s', (way) => {
  test('an approval ends the attempt and the failures, counts the charge, and schedules the next advance notice', async () => {
    const parent = await parentOf();
    await charge(parent, { amount: insufficientFunds });
    expect((await seriesOf(parent)).state).toHaveProperty('failingSince');
    await world.later(dayMs);
    const before = await seriesOf(parent);

    goes(way);
    // The bank responds a second later.
    wayward.meanwhile('authorise', () => Promise.resolve(world.service.clock.advance(1_000)));
    const { id, createdAt } = await charge(parent);
    expect(isInOne).toBe(way === 'in one statement');
    const now = world.service.clock.now();
    const series = await seriesOf(parent);
    expect(series).toEqual({
      ...before,
      version: before.version + 2,
      chain: expect.not.stringMatching(before.chain),
      changed_at: now,
      state: {
        state: { name: 'active' },
        latest: before.state.latest,
        lastSuccessAt: createdAt,
        chargesMade: 1,
        noticedUntil: before.state.noticedUntil,
      },
      // The advance notice that the gap before the next charge grows too long.
      wake_at: laterBy(monthsAfter(createdAt, 6), -14 * dayMs),
    });
    const fact = { type: 'recurring_charge_succeeded', invoiceId: id, paymentId: '1', createdAt };
    expect(await lastEventOf(parent)).toMatchObject({
      sequence: series.version,
      created_at: series.changed_at,
      facts: [fact],
    });
    expect(await attemptOf(id)).toMatchObject({
      outcome: 'approved',
      ended_at: series.changed_at,
      is_retry: true,
      network: null,
      code: null,
      advice: null,
      effect: null,
      rule: null,
      pack: null,
    });
  });

  test('an approval is dated no earlier than the series’ last event', async () => {
    const parent = await parentOf();
    const { changed_at: last } = await seriesOf(parent);
    const lead = laterBy(last, 1_000);
    await world.service.database.withClient((client) =>
      client.query('update series set changed_at = $1 where series_id = $2', [lead, nameOf(parent)]),
    );
    goes(way);
    const { id } = await charge(parent);
    expect(isInOne).toBe(way === 'in one statement');
    for (const at of [(await seriesOf(parent)).changed_at, (await lastEventOf(parent)).created_at])
      expect(at).toEqual(lead);
    expect((await attemptOf(id)).ended_at).toEqual(lead);
  });

  test('an advice without effect is stored with the attempt', async () => {
    const parent = await parentOf();
    const answer: BankResponse = { outcome: 'approved', reference: '000000000001', advice: '02' };
    wayward.happens('authorise', answer);
    goes(way);
    const { id } = await charge(parent);
    expect(isInOne).toBe(way === 'in one statement');
    expect(await attemptOf(id)).toMatchObject({ outcome: 'approved', advice: '02', effect: null });
    expect((await seriesOf(parent)).state).not.toHaveProperty('notBefore');
  });

  test('an advice that stops the card is stored with its rule and stops the series', async () => {
    const parent = await parentOf();
    const answer: BankResponse = { outcome: 'approved', reference: '000000000001', advice: '03' };
    wayward.happens('authorise', answer);
    goes(way);
    const { id } = await charge(parent);
    // One statement cannot change other series of the card.
    expect(isInOne).toBe(false);
    expect(await attemptOf(id)).toMatchObject({
      outcome: 'approved',
      advice: '03',
      effect: 'stop cardInShop',
      rule: 'advice 03',
      pack: 'advice@2025-01-01.2',
    });
    expect(await seriesOf(parent)).toMatchObject({
      status: 'stopped',
      state: { state: { name: 'stopped' } },
      wake_at: null,
    });
  });

  test.each<[of: string, consent: object, given: object, to: string | undefined]>([
    ['the charge', payer, { email: 'new@example.com' }, 'new@example.com'],
    ['the consent, if the charge has none', payer, {}, 'payer@example.com'],
    [
      'the consent, if an invoice token starts the charge',
      payer,
      { email: 'stranger@example.com', token: 'of the invoice' },
      'payer@example.com',
    ],
    ['no recipient, if neither has one', {}, {}, undefined],
  ])('the receipt goes to %s', async (_, consent, given, to) => {
    const parent = await parentOf(consent);
    goes(way);
    const { id, createdAt } = await charge(parent, given);
    expect(isInOne).toBe(way === 'in one statement');
    expect(await paymentOf(id)).toMatchObject({ status: 'captured' });
    expect(await addressOf(id)).toBe(to);
    if (to === undefined) return;
    const text = 'select * from payer_email where invoice_id = $1';
    const { transactionInfo } = await paymentOf(id);
    expect(await only(text, [id])).toMatchObject({
      series_id: nameOf(parent),
      party_id: merchant.partyId,
      paid_at: createdAt,
      amount_minor: 4_200n,
      currency: 'RUB',
      reference: transactionInfo.rrn,
      approval_code: transactionInfo.approvalCode,
    });
  });

  test('no receipt is queued before the capture', async () => {
    const parent = await parentOf();
    goes(way);
    const { id } = await charge(parent, { more: { flow: { type: 'PaymentFlowHold' } } });
    expect(isInOne).toBe(way === 'in one statement');
    expect(await paymentOf(id)).toMatchObject({ status: 'processed' });
    expect((await attemptOf(id)).outcome).toBe('approved');
    expect(await addressOf(id)).toBeUndefined();
    await world.service.call('POST', `${invoicesUrl}/${id}/payments/1/capture`, {
      token: merchant.apiKey,
      body: { reason: 'sent' },
    });
    await world.service.jobs.whenIdle();
    expect(await paymentOf(id)).toMatchObject({ status: 'captured' });
    expect(await addressOf(id)).toBe('payer@example.com');
  });

  test('a charge that was recorded as lost meanwhile, and stands, ends as approved', async () => {
    const parent = await parentOf();
    const end = "update series_attempt set outcome = 'lost', ended_at = created_at where outcome = 'pending'";
    wayward.meanwhile('authorise', () =>
      world.service.database.withClient((client) =>
        client.query(`${end} and series_id = $1`, [nameOf(parent)]),
      ),
    );
    goes(way);
    const { id } = await charge(parent);
    expect(await paymentOf(id)).toMatchObject({ status: 'captured' });
    expect(await attemptOf(id)).toMatchObject({ outcome: 'approved' });
    const { version, state } = await seriesOf(parent);
    expect(state).toMatchObject({ chargesMade: 1 });
    // Version 1 started the series, version 2 the charge, version 3 is its end.
    expect(version).toBe(3);
  });
});
