// A subscription that the payer starts with a payment: until it is captured, and what later periods charge.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { storeSettings } from '../../../src/recurring/store/settings.ts';
import type { Merchant } from '../../support/service/test-service.ts';
import { consentLinkWorld } from '../../support/worlds/consent-links.ts';
import { insufficientFunds } from '../../support/worlds/recurring.ts';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import {
  subscriptionsUrl,
  subscriptionWorld,
  type SubscriptionWorld,
} from '../../support/subscriptions/subscription-world.ts';

const visa = '4242424242424242';
const challenged = '4012888888881881';
/** Expired, unless the payer is present. */
const expiredAlone = '4000000000549990';
const invoices = '/v2/processing/invoices';

let world: CustomerWorld;
let subscriptions: SubscriptionWorld;

beforeAll(async () => {
  world = await startCustomerWorld();
  subscriptions = subscriptionWorld(world);
});
afterAll(() => world.close());

async function created(more: Record<string, unknown> = {}) {
  const by = await world.createMerchant();
  const made = await subscriptions.createUnpaid(by, more);
  expect(made.status, made.text).toBe(201);
  const id: string = made.body.id;
  const invoiceId: string = made.body.firstInvoiceID;
  const act = (path: string, body?: object) =>
    subscriptions.call(by, 'POST', `${subscriptionsUrl}/${id}/${path}`, body);
  const pay = async (card = visa, body: Record<string, unknown> = {}, invoice = invoiceId) => {
    const paid = await subscriptions.pay(by, invoice, card, body);
    await subscriptions.settle();
    return paid;
  };
  return {
    by,
    id,
    invoiceId,
    act,
    pay,
    get: () => subscriptions.get(by, id),
    invoice: (of = invoiceId) => subscriptions.invoice(by, of),
    periods: () => subscriptions.periods(by, id),
    outcomes: async () => (await subscriptions.periods(by, id)).map(({ outcome }) => outcome),
    payments: (of = invoiceId) => subscriptions.payments(by, of),
  };
}

async function hoursLater(hours: number, by: Merchant) {
  const { body } = await subscriptions.call(by, 'GET', '/sandbox/clock');
  await subscriptions.moveTo(by, new Date(Date.parse(body.now) + hours * 3_600_000).toISOString());
}
const daysLater = (days: number, by: Merchant) => hoursLater(days * 24, by);

describe('the first payment', () => {
  test('starts it, is the one of the first period, and its card is charged for the next', async () => {
    const { by, invoiceId, pay, get, invoice, periods, payments } = await created();
    expect(await get()).toMatchObject({ status: 'incomplete', openPeriods: [], firstInvoiceID: invoiceId });
    // What the checkout shows next to its box.
    expect(await invoice()).toMatchObject({
      status: 'unpaid',
      amount: 49_900,
      makeRecurrent: true,
      recurrentTerms: { schedule: 'P1M', amountRule: { kind: 'fixed', amount: 49_900 } },
    });
    await pay();
    expect(await get()).toMatchObject({ status: 'active' });
    expect(await periods()).toMatchObject([
      { number: 1, kind: 'regular', outcome: 'paid', amount: 49_900, invoiceID: invoiceId },
    ]);
    await daysLater(32, by);
    const [, second, ...others] = await periods();
    expect(others).toEqual([]);
    expect(second).toMatchObject({ number: 2, outcome: 'paid', amount: 49_900 });
    const [payment] = await payments(second.invoiceID);
    expect(payment).toMatchObject({
      status: 'captured',
      payer: {
        payerType: 'RecurrentPayer',
        recurrentParentPayment: { invoiceID: invoiceId, paymentID: '1' },
      },
    });
    expect(await payments()).toHaveLength(1);
    expect(await world.differences()).toEqual([]);
  });

  test('may be declined before, and is authenticated at the bank', async () => {
    const { by, pay, get, payments } = await created();
    await pay('4000000000000051');
    expect(await get()).toMatchObject({ status: 'incomplete' });
    await pay(challenged);
    expect(await get()).toMatchObject({ status: 'incomplete' });
    const { body: events } = await subscriptions.call(
      by,
      'GET',
      `${invoices}/${(await get()).firstInvoiceID}/events?limit=100`,
    );
    const asked = events
      .flatMap(({ changes }: { changes: any[] }) => changes)
      .find(({ changeType }: { changeType: string }) => changeType === 'PaymentInteractionRequested');
    await world.decideAtIssuer(asked.userInteraction.request, 'confirm');
    await world.service.call('GET', `/payer/return/${(await get()).firstInvoiceID}/2`);
    await subscriptions.settle();
    expect((await payments()).map(({ status }) => status)).toEqual(['failed', 'captured']);
    expect(await get()).toMatchObject({ status: 'active' });
  });

  test('starts it when its hold is captured, with what was captured', async () => {
    const { act, pay, get, periods, by, invoiceId } = await created();
    await pay(visa, { flow: { type: 'PaymentFlowHold', onHoldExpiration: 'cancel' } });
    expect(await get()).toMatchObject({ status: 'incomplete' });
    // A hold longer than the wait for the payment keeps it.
    await hoursLater(30, by);
    expect(await get()).toMatchObject({ status: 'incomplete' });
    const cancelled = await act('cancel', { when: 'now' });
    expect([cancelled.status, cancelled.body.code]).toEqual([400, 'subscriptionChargePending']);
    const captured = await subscriptions.call(by, 'POST', `${invoices}/${invoiceId}/payments/1/capture`, {
      amount: 40_000,
      currency: 'RUB',
      reason: 'a part',
    });
    expect(captured.status, captured.text).toBe(202);
    await subscriptions.settle();
    expect(await get()).toMatchObject({ status: 'active' });
    expect(await periods()).toMatchObject([{ number: 1, outcome: 'paid', amount: 40_000 }]);
  });

  test('of another amount pays a trial, or a first price', async () => {
    const { by, pay, get, periods, invoice } = await created({ trialDays: 7, firstAmount: 100 });
    expect(await invoice()).toMatchObject({
      amount: 100,
      recurrentTerms: { amountRule: { amount: 49_900 }, amountAfterTrial: 49_900 },
    });
    await pay();
    expect(await get()).toMatchObject({ status: 'trialing' });
    await daysLater(8, by);
    expect((await periods()).map(({ kind, outcome, amount }) => [kind, outcome, amount])).toEqual([
      ['trial', 'paid', 100],
      ['regular', 'paid', 49_900],
    ]);
    const dear = await created({ firstAmount: 60_000 });
    await dear.pay();
    expect(await dear.periods()).toMatchObject([{ outcome: 'paid', amount: 60_000 }]);
  });

  test.each([
    [
      'trial and number',
      { trialDays: 7, firstAmount: 100, periods: 6 },
      { firstChargeOn: '2026-01-26', charges: 6 },
    ],
    ['number', { periods: 6 }, { firstChargeOn: '2026-02-19', charges: 5 }],
    ['one period', { periods: 1 }, { charges: 0 }],
    ['an end by date', { endsOn: '2026-04-19' }, { firstChargeOn: '2026-02-19', charges: 2 }],
    ['an end before the second period', { endsOn: '2026-02-10' }, { charges: 0 }],
    ['no end', {}, { firstChargeOn: '2026-02-19' }],
    [
      'free days before the anchor',
      { trialDays: 2, firstAmount: 1, anchorDay: 1, periods: 3 },
      { firstChargeOn: '2026-02-01', charges: 3 },
    ],
    [
      'paid days before it',
      { trialDays: 2, firstAmount: 1, anchorDay: 1, firstPeriod: 'full', periods: 3 },
      { firstChargeOn: '2026-01-21', charges: 4 },
    ],
  ])('says when the next charge is and how many follow: %s', async (_, more, said) => {
    const { by, pay, invoice, periods } = await created(more);
    const { recurrentTerms } = await invoice();
    const { firstChargeOn, charges } = recurrentTerms;
    expect({ firstChargeOn, charges }).toEqual({ firstChargeOn: undefined, charges: undefined, ...said });
    await pay();
    await daysLater(220, by);
    const [, ...charged] = (await periods()).filter(({ amount }) => amount > 0);
    if (charges !== undefined) expect(charged).toHaveLength(charges);
    expect(charged[0]?.startsOn).toBe(firstChargeOn);
  });

  test('says at least as many charges as follow when the payer pays on the day after the creation', async () => {
    const { by, pay, invoice, periods } = await created({ anchorDay: 19, firstPeriod: 'full', periods: 3 });
    const { recurrentTerms } = await invoice();
    expect(recurrentTerms).toMatchObject({ firstChargeOn: '2026-02-19', charges: 3 });
    await hoursLater(20, by);
    await pay();
    await daysLater(220, by);
    const [, ...charged] = (await periods()).filter(({ amount }) => amount > 0);
    expect(charged).toHaveLength(3);
    expect(charged[0]?.startsOn).toBe('2026-02-19');
  });

  test('without a consent starts it, and then only the payer can pay', async () => {
    const { by, id, invoiceId, act, get, pay, outcomes, periods } = await created();
    const customerID = await subscriptions.readyCustomer(by);
    const payer = { payerType: 'CustomerPayer', customerID };
    await subscriptions.call(by, 'POST', `${invoices}/${invoiceId}/payments`, { payer });
    await subscriptions.settle();
    expect(await get()).toMatchObject({ id, status: 'active' });
    const dearer = { items: [{ product: 'Two teas', price: 79_900 }], when: 'now' };
    expect((await act('preview', dearer)).body).toMatchObject({ refusal: 'customerNotReady' });
    await daysLater(32, by);
    expect(await get()).toMatchObject({ status: 'pastDue', openPeriods: [{ declineClass: 'newCard' }] });
    await pay(visa, {}, (await periods())[1].invoiceID);
    await daysLater(30, by);
    expect(await outcomes()).toEqual(['paid', 'paid', 'paid']);
  });

  test.each([
    ['unpaid', { status: 'unpaid', openPeriods: [{ declineClass: 'newCard' }] }, ['paid', 'unpaid']],
    ['end', { status: 'ended', endReason: 'unpaid', openPeriods: [] }, ['paid', 'unpaid']],
    ['pause', { status: 'paused', pausedBy: 'dunning', openPeriods: [] }, ['paid', 'unpaid']],
  ] as const)('without a card after the trial it is as agreed: %s', async (trialWithoutCard, then, all) => {
    for (const agreed of [{ trialWithoutCard, ifUnpaid: 'unpaid' }, { ifUnpaid: trialWithoutCard }]) {
      const { by, invoiceId, get, outcomes } = await created({ trialDays: 7, firstAmount: 100, ...agreed });
      expect(await get()).toMatchObject({ trialWithoutCard, ifUnpaid: agreed.ifUnpaid });
      const customerID = await subscriptions.readyCustomer(by);
      const payer = { payerType: 'CustomerPayer', customerID };
      await subscriptions.call(by, 'POST', `${invoices}/${invoiceId}/payments`, { payer });
      await subscriptions.settle();
      expect(await get()).toMatchObject({ status: 'trialing' });
      await daysLater(8, by);
      expect(await get()).toMatchObject(then);
      expect(await outcomes()).toEqual(all);
    }
  });

  test('without a consent no charge waits for its announcement', async () => {
    const { by, invoiceId, get } = await created();
    const customerID = await subscriptions.readyCustomer(by);
    const payer = { payerType: 'CustomerPayer', customerID };
    await subscriptions.call(by, 'POST', `${invoices}/${invoiceId}/payments`, { payer });
    await subscriptions.settle();
    const duties = { announceEachHours: 168 };
    await storeSettings(world.service.database, { partyId: by.partyId, shopId: 'TEST' }, { duties });
    await daysLater(32, by);
    expect(await get()).toMatchObject({ status: 'pastDue', openPeriods: [{ declineClass: 'newCard' }] });
  });
});

describe('without it', () => {
  test('the subscription ends after a day, and its invoice cannot be paid', async () => {
    const { by, pay, get, invoice, outcomes } = await created();
    await hoursLater(25, by);
    expect(await get()).toMatchObject({ status: 'ended', endReason: 'firstPaymentMissing' });
    expect(await invoice()).toMatchObject({ status: 'cancelled' });
    const late = await pay();
    expect([late.status, late.body.code]).toEqual([400, 'invalidInvoiceStatus']);
    expect(await outcomes()).toEqual([]);
  });

  test('it is cancelled at once, and its invoice with it', async () => {
    const { act, pay, get, invoice } = await created();
    const cancelled = await act('cancel', { when: 'periodEnd', by: 'payer' });
    expect(cancelled.body).toMatchObject({ status: 'ended', endReason: 'payer' });
    expect(await invoice()).toMatchObject({ status: 'cancelled' });
    expect((await pay()).status).toBe(400);
    expect(await get()).toMatchObject({ status: 'ended' });
  });

  test('it is not cancelled while the payer is at the bank', async () => {
    const { by, act, pay, get } = await created();
    await pay(challenged);
    const cancelled = await act('cancel', { when: 'now' });
    expect([cancelled.status, cancelled.body.code]).toEqual([400, 'subscriptionChargePending']);
    expect(await get()).toMatchObject({ status: 'incomplete' });
    // The payer closes the page.
    await hoursLater(26, by);
    expect(await get()).toMatchObject({ status: 'ended', endReason: 'firstPaymentMissing' });
  });
});

describe('later', () => {
  test('the payer pays what has failed with another card, which is charged from then on', async () => {
    const { by, pay, get, periods, payments } = await created();
    await pay(expiredAlone);
    await daysLater(32, by);
    const failed = await get();
    expect(failed).toMatchObject({ status: 'pastDue', openPeriods: [{ declineClass: 'newCard' }] });
    const { invoiceID } = failed.openPeriods[0];
    expect(await subscriptions.invoice(by, invoiceID)).toMatchObject({ makeRecurrent: true });
    await pay(visa, {}, invoiceID);
    expect(await get()).toMatchObject({ status: 'active', openPeriods: [] });
    await daysLater(31, by);
    const [, , third] = await periods();
    expect(third).toMatchObject({ number: 3, outcome: 'paid' });
    expect(await payments(third.invoiceID)).toMatchObject([
      { payer: { recurrentParentPayment: { invoiceID, paymentID: '2' } } },
    ]);
  });

  test('a payer who pays a dearer period agrees to its price, and the next one is charged', async () => {
    const { by, act, pay, get, periods, invoice } = await created({ trialDays: 7, firstAmount: 100 });
    await pay();
    const items = [{ product: 'Tea', price: 60_000 }];
    expect((await act('change', { items, when: 'nextPeriod' })).status).toBe(200);
    await daysLater(20, by);
    const refused = await get();
    expect(refused).toMatchObject({ status: 'pastDue', openPeriods: [{ number: 2 }] });
    const [{ invoiceID }] = refused.openPeriods;
    const { recurrentTerms } = await invoice(invoiceID);
    expect(recurrentTerms).toEqual({ schedule: 'P1M', amountRule: { kind: 'fixed', amount: 60_000 } });
    await pay(visa, {}, invoiceID);
    expect(await get()).toMatchObject({ status: 'active' });
    await daysLater(40, by);
    const [, , third] = await periods();
    expect(third).toMatchObject({ number: 3, outcome: 'paid', amount: 60_000 });
  });

  test('a payer who agrees to the price of a refused period by a link is charged for it at once', async () => {
    const { by, invoiceId, act, pay, get, periods, payments } = await created();
    await pay();
    const amount = 60_000;
    await act('change', { items: [{ product: 'Tea', price: amount }], when: 'nextPeriod' });
    await daysLater(32, by);
    expect(await get()).toMatchObject({ status: 'pastDue', openPeriods: [{ declineClass: 'payerPresent' }] });
    const consent = consentLinkWorld({ ...world, merchant: by });
    const terms = { schedule: 'P1M', amountRule: { kind: 'fixed', amount } };
    expect((await consent.agree(await consent.made(`${invoiceId}.1`, { terms }))).status).toBe(200);
    await subscriptions.settle();
    expect(await get()).toMatchObject({ status: 'active', openPeriods: [] });
    const [, second] = await periods();
    expect(await payments(second.invoiceID)).toMatchObject([{ status: 'captured', amount }]);
  });

  test('a payer who pays for a dearer change agrees to its price, and the next period is charged', async () => {
    const { by, act, pay, get, periods, invoice, payments } = await created();
    await pay(expiredAlone);
    await daysLater(1, by);
    const { body } = await act('change', { items: [{ product: 'Tea', price: 60_000 }], when: 'now' });
    const { invoiceID } = body.pendingChange;
    await subscriptions.settle();
    expect(await invoice(invoiceID)).toMatchObject({
      recurrentTerms: { schedule: 'P1M', amountRule: { kind: 'fixed', amount: 60_000 } },
    });
    await pay(visa, {}, invoiceID);
    expect(await get()).not.toHaveProperty('pendingChange');
    // Theirs is the only one: the saved card was not charged for more than they had agreed to.
    expect(await payments(invoiceID)).toMatchObject([{ id: '1', status: 'captured' }]);
    await daysLater(40, by);
    const [, second] = await periods();
    expect(second).toMatchObject({ number: 2, outcome: 'paid', amount: 60_000 });
    expect((await payments(second.invoiceID)).at(-1)).toMatchObject({
      payer: { recurrentParentPayment: { invoiceID, paymentID: '1' } },
    });
  });

  test('a refund of the first payment ends nothing', async () => {
    const { by, invoiceId, pay, get, outcomes } = await created();
    await pay();
    const refund = `${invoices}/${invoiceId}/payments/1/refunds`;
    const refunded = await subscriptions.call(by, 'POST', refund, { amount: 49_900, currency: 'RUB' });
    expect(refunded.status, refunded.text).toBe(201);
    await subscriptions.settle();
    await daysLater(32, by);
    expect(await outcomes()).toEqual(['paid', 'paid']);
    expect(await get()).toMatchObject({ status: 'active' });
  });

  test('the merchant revokes the consent, and it ends', async () => {
    const { by, invoiceId, pay, get, outcomes } = await created();
    await pay();
    const revoke = `${invoices}/${invoiceId}/payments/1/recurring/withdraw`;
    const revoked = await subscriptions.call(by, 'POST', revoke, { reason: 'by phone' });
    expect(revoked.status, revoked.text).toBe(204);
    await subscriptions.settle();
    expect(await get()).toMatchObject({ status: 'ended', endReason: 'merchant' });
    expect(await outcomes()).toEqual(['paid']);
  });

  test('a charge for lack of funds is retried', async () => {
    const { by, pay, get, periods, payments } = await created({
      firstAmount: 100,
      items: [{ product: 'Tea', price: insufficientFunds }],
    });
    await pay();
    await daysLater(32, by);
    expect(await get()).toMatchObject({ status: 'pastDue', openPeriods: [{ declineClass: 'funds' }] });
    await daysLater(2, by);
    const [, second] = await periods();
    expect((await payments(second.invoiceID)).length).toBeGreaterThan(1);
  });
});

describe('is refused', () => {
  test.each<[string, Record<string, unknown>]>([
    ['Send either `customerID` or `shopID`.', { shopID: undefined }],
    ['Send either `customerID` or `shopID`.', { customerID: 'C1' }],
    [
      '`firstAmount` needs `shopID` instead of `customerID`.',
      { shopID: undefined, customerID: 'C1', firstAmount: 1 },
    ],
    ['The first period is free. Send `firstAmount`', { trialDays: 7 }],
    ['`trialWithoutCard` needs `trialDays`.', { trialWithoutCard: 'end' }],
    ['trialWithoutCard', { trialDays: 7, trialWithoutCard: 'never' }],
    ['`zone` "Europe/Nowhere" is unknown', { timeZone: 'Europe/Nowhere' }],
  ])('%s', async (message, more) => {
    const answer = await subscriptions.createUnpaid(world.merchant, more);
    expect([answer.status, answer.body.code]).toEqual([400, 'invalidRequest']);
    expect(answer.body.message).toContain(message);
  });

  test('if the shop is unknown', async () => {
    const answer = await subscriptions.createUnpaid(world.merchant, { shopID: 'NONE' });
    expect([answer.status, answer.body.code]).toEqual([400, 'invalidShopID']);
  });

  test('a repeat is the same one, with the same invoice', async () => {
    const first = await subscriptions.createUnpaid(world.merchant, { externalID: 'F-1' });
    const again = await subscriptions.createUnpaid(world.merchant, { externalID: 'F-1' });
    expect([again.status, again.body]).toEqual([201, first.body]);
    const other = await subscriptions.createUnpaid(world.merchant, { externalID: 'F-1', firstAmount: 5 });
    expect([other.status, other.body.id]).toEqual([409, first.body.id]);
  });
});
