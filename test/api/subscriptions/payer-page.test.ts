// The page on which payers look after their subscription: who may open it, what it does, and that it does it once.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findSettings, storeSettings } from '../../../src/recurring/store/settings.ts';
import type { Merchant } from '../../support/service/test-service.ts';
import { consentLinkWorld } from '../../support/worlds/consent-links.ts';
import { payerPage } from '../../support/subscriptions/payer-page.ts';
import {
  subscriptionsUrl,
  subscriptionWorld,
  type SubscriptionWorld,
} from '../../support/subscriptions/subscription-world.ts';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import { connectionBreaks } from '../../support/worlds/recurring.ts';

const good = '4242424242424242';
/** Approved for the payer, and declined as expired without them. */
const expired = '4000000000549990';
const dayMs = 86_400_000;

let world: CustomerWorld;
let subscriptions: SubscriptionWorld;
let page: ReturnType<typeof payerPage>;

beforeAll(async () => {
  world = await startCustomerWorld();
  subscriptions = subscriptionWorld(world);
  page = payerPage(world.service);
});
afterAll(() => world.close());

/** What the checkout gets, of which no secret reaches a log. */
function queryOf(to: string): URLSearchParams {
  const { pathname, searchParams, hash } = new URL(to, 'http://payer');
  expect(pathname).toBe('/checkout');
  expect([...searchParams.keys()].filter((name) => /token|url|path|email/i.test(name))).toEqual([]);
  return new URLSearchParams([...searchParams, ...new URLSearchParams(hash.slice(1))]);
}

async function started(more: Record<string, unknown> = {}, card = good, payer = {}) {
  const by = await world.createMerchant();
  const customer = await world.createCustomer(payer, by);
  await world.bound(customer, card);
  const { body } = await subscriptions.create(by, customer.id, more);
  await subscriptions.settle();
  const id: string = body.id;
  const link = await page.linkTo(by, id);
  return { by, customer, id, link, get: () => subscriptions.get(by, id) };
}
const act = (by: Merchant, id: string, verb: string, body: unknown) =>
  subscriptions.call(by, 'POST', `${subscriptionsUrl}/${id}/${verb}`, body);

async function daysLater(by: Merchant, days: number): Promise<void> {
  const { body } = await subscriptions.call(by, 'GET', '/sandbox/clock');
  await subscriptions.moveTo(by, new Date(Date.parse(body.now) + days * dayMs).toISOString());
}
async function factsOf(id: string): Promise<string[]> {
  const { rows } = await world.service.database.withClient((client) =>
    client.query(
      `select fact ->> 'type' as type from event, json_array_elements(facts) with ordinality as one (fact, place)
       where aggregate = 'subscription' and aggregate_id = $1 order by sequence, place`,
      [id],
    ),
  );
  return rows.map(({ type }: { type: string }) => type);
}

describe('a link', () => {
  test('is valid for 30 days, and then opens the page of any wrong link', async () => {
    const { by, id, link } = await started({ every: 'P1Y' });
    const { status, body } = await subscriptions.call(by, 'POST', `${subscriptionsUrl}/${id}/links`);
    expect(status).toBe(201);
    const { body: clock } = await subscriptions.call(by, 'GET', '/sandbox/clock');
    const days = (Date.parse(body.expiresAt) - Date.parse(clock.now)) / dayMs;
    expect(days).toBeGreaterThan(29.9);
    expect(days).toBeLessThanOrEqual(30);
    expect(link).toMatch(new RegExp(String.raw`/subscription/${id}/\d+\.\d+\.[\w-]{43}$`));
    expect((await page.open(link)).status).toBe(200);
    await daysLater(by, 29);
    expect((await page.open(link)).status).toBe(200);
    await daysLater(by, 1.1);
    const dead = await page.open(link);
    expect(dead.status).toBe(404);
    for (const wrong of [
      link.slice(0, -1),
      link.replace(id, 'none'),
      link.replace(/\d+(?=\.)/, (seconds) => String(Number(seconds) + dayMs)),
      `/subscription/${id}/%00`,
      `/subscription/${id}/1.1.a`,
    ])
      expect(await page.open(wrong)).toEqual(dead);
  });

  test('opens no other subscription, of the same merchant or another', async () => {
    const [one, other] = [await started(), await started()];
    const secret = one.link.split('/').at(-1);
    expect((await page.open(`/subscription/${other.id}/${secret}`)).status).toBe(404);
    const url = `${subscriptionsUrl}/${one.id}/links`;
    expect(await subscriptions.call(other.by, 'POST', url)).toMatchObject({
      status: 404,
      body: { message: 'Subscription not found' },
    });
  });

  test('that a mail scanner opens changes nothing, whatever is in its query', async () => {
    const { id, link } = await started();
    const before = await factsOf(id);
    const { token } = await page.open(link);
    await page.open(`${link}?act=end&token=${token}`);
    await subscriptions.settle();
    expect(await factsOf(id)).toEqual(before);
  });
});

test('the card is that of the payment with which the payer started, and then of the one that took over', async () => {
  const by = await world.createMerchant();
  const { body } = await subscriptions.createUnpaid(by);
  const card = async () => {
    const { html } = await page.open(await page.linkTo(by, body.id));
    return />(none|[A-Z]\w+ •••• \d{4})</.exec(html)?.[1];
  };
  expect(await card()).toBe('none');
  await subscriptions.pay(by, body.firstInvoiceID, expired);
  await subscriptions.settle();
  expect(await card()).toBe('Visa •••• 9990');
  await daysLater(by, 32);
  expect((await page.open(`${await page.linkTo(by, body.id)}?locale=en`)).html).toContain(
    'You can pay now. The card that you pay with is charged from then on.',
  );
  const { openPeriods } = await subscriptions.get(by, body.id);
  await subscriptions.pay(by, openPeriods[0].invoiceID, good, { makeRecurrent: true });
  await subscriptions.settle();
  expect(await card()).toBe('Visa •••• 4242');
});

describe('a button', () => {
  test('pauses and resumes; the merchant may resume it too, and the payer never what the merchant paused', async () => {
    const { by, id, link, get } = await started();
    expect((await page.open(link)).acts).toEqual(['newCard', 'pause', 'end']);
    expect(await page.does(link, 'pause')).toBe(link);
    expect(await get()).toMatchObject({ status: 'paused', pausedBy: 'payer' });
    expect((await page.open(link)).acts).toEqual(['resume', 'newCard', 'end']);
    await page.does(link, 'resume');
    expect(await get()).toMatchObject({ status: 'active' });
    await page.does(link, 'pause');
    expect((await act(by, id, 'resume', undefined)).status).toBe(200);
    await act(by, id, 'pause', {});
    const shown = await page.open(link);
    expect(shown.acts).toEqual(['newCard', 'end']);
    await page.click(link, 'resume', shown);
    expect(await get()).toMatchObject({ status: 'paused', pausedBy: 'merchant' });
  });

  test('ends at the end of the period, once in two tabs and by a double click, until it is taken back', async () => {
    const { by, id, link, get } = await started();
    const [tab, other] = [await page.open(link), await page.open(link)];
    await Promise.all([tab, other, tab].map((each) => page.click(link, 'end', each)));
    expect((await factsOf(id)).filter((type) => type === 'end_scheduled')).toHaveLength(1);
    expect(await get()).toMatchObject({ status: 'active', endsAfterPeriod: 1 });
    expect((await page.open(link)).acts).toEqual(['takeBack', 'newCard', 'reason']);
    await page.does(link, 'takeBack');
    expect(await get()).not.toHaveProperty('endsAfterPeriod');
    await page.does(link, 'end');
    await daysLater(by, 32);
    expect(await get()).toMatchObject({ status: 'ended', endReason: 'payer' });
    expect((await subscriptions.periods(by, id)).map(({ outcome }) => outcome)).toEqual(['paid']);
  });

  test('does not take back what the merchant ends', async () => {
    const { by, id, link, get } = await started();
    const before = await page.open(link);
    await act(by, id, 'cancel', { when: 'periodEnd' });
    expect((await page.open(link)).acts).toEqual(['newCard']);
    for (const wish of ['end', 'takeBack']) await page.click(link, wish, before);
    expect(await get()).toMatchObject({ endsAfterPeriod: 1 });
    expect((await factsOf(id)).at(-1)).toBe('end_scheduled');
  });

  test('of a page that shows an older state asks to look again', async () => {
    const { link, get } = await started();
    const old = await page.open(link);
    await page.does(link, 'pause');
    await page.does(link, 'resume');
    const to = await page.click(link, 'pause', old);
    expect(to).toBe(`${link}?locale=en&said=outdated`);
    expect((await page.open(to)).html).toContain('Something has changed since you opened the page.');
    expect(await get()).toMatchObject({ status: 'active' });
  });

  test('needs the token of its page', async () => {
    const { id, link } = await started();
    const foreign = await page.open((await started()).link);
    const before = await factsOf(id);
    const { token } = await page.open(link);
    for (const wrong of ['', '1.1.a', foreign.token, `9${token}`, token.slice(0, -1)])
      for (const wish of ['pause', 'end', 'pay', 'newCard', 'resume', 'none'])
        expect(await page.click(link, wish, { token: wrong })).toBe(link);
    expect(await factsOf(id)).toEqual(before);
  });

  test('that the shop switches off is neither shown nor works', async () => {
    const { by, id, link } = await started();
    const before = await page.open(link);
    const shop = { partyId: by.partyId, shopId: 'TEST' };
    const { database } = world.service;
    await storeSettings(database, shop, {
      ...(await findSettings(database, shop)),
      pauseByPayer: false,
      newCardByPayer: false,
    });
    expect((await page.open(link)).acts).toEqual(['end']);
    const facts = await factsOf(id);
    for (const wish of ['pause', 'newCard']) expect(await page.click(link, wish, before)).toBe(link);
    expect(await factsOf(id)).toEqual(facts);
  });
});

describe('the way to the checkout', () => {
  /** What is behind the # as well. The request for the page, which logs keep, has no secret. */
  async function pay(query: URLSearchParams, card = good) {
    const token = query.get('invoiceAccessToken') ?? '';
    const resource = await world.tokenize(card, token);
    const payer = {
      payerType: 'PaymentResourcePayer',
      paymentToolToken: resource.token,
      paymentSession: resource.session,
      contactInfo: {},
    };
    const url = `/v2/processing/invoices/${query.get('invoiceID')}/payments`;
    const body = { flow: { type: 'PaymentFlowInstant' }, payer };
    return world.service.call('POST', url, { token, body });
  }

  test('pays what is open, and the subscription continues', async () => {
    const { link, get } = await started({}, expired);
    // The card is of no more use: another one comes first.
    expect((await page.open(link)).acts).toEqual(['newCard', 'pay', 'pause', 'end']);
    const query = queryOf(await page.does(link, 'pay'));
    expect(`/${query.get('returnPath')}`).toBe(link);
    expect(query.get('email')).toBe('payer@example.com');
    expect((await pay(query)).status).toBe(201);
    await subscriptions.settle();
    expect(await get()).toMatchObject({ status: 'active', openPeriods: [] });
    expect((await page.open(link)).acts).toEqual(['newCard', 'pause', 'end']);
  });

  test('captures once, if the payer pays in two tabs while Mandate tries', async () => {
    const { by, id, link, get } = await started({}, expired);
    const query = queryOf(await page.does(link, 'pay'));
    await Promise.all([pay(query), act(by, id, 'periods/1/charge', {}), pay(query)]);
    await subscriptions.settle();
    // The try of Mandate fails. If it came first, it has kept the payer out.
    await pay(query);
    await subscriptions.settle();
    const made = await subscriptions.payments(by, query.get('invoiceID') ?? '');
    expect(made.filter(({ status }) => status === 'captured')).toHaveLength(1);
    expect(await get()).toMatchObject({ status: 'active', openPeriods: [] });
  });

  test('takes no payment while a try is at the bank', async () => {
    const { by, link, get } = await started({ items: [{ product: 'Tea', price: connectionBreaks }] });
    const [{ invoiceID, isCharging }] = (await get()).openPeriods;
    expect(isCharging).toBe(true);
    const shown = await page.open(link);
    expect(shown.acts).toEqual(['newCard', 'pause', 'end']);
    expect(shown.html).toContain('A charge is at your bank.');
    expect(await page.click(link, 'pay', shown)).toBe(link);
    const url = `/v2/processing/invoices/${invoiceID}/access-tokens?for=checkout`;
    const { payload: invoiceAccessToken } = (await subscriptions.call(by, 'POST', url)).body;
    expect(await pay(new URLSearchParams({ invoiceID, invoiceAccessToken }))).toMatchObject({
      body: { code: 'invoicePaymentPending' },
    });
    await daysLater(by, 2);
    const made = await subscriptions.payments(by, invoiceID);
    expect(made.filter(({ status }) => status === 'captured').length).toBeLessThanOrEqual(1);
    expect((await world.book()).filter((one) => one.operationId.startsWith(`${invoiceID}.`)).length).toBe(
      made.filter(({ status }) => status === 'captured').length,
    );
  });

  test('saves another card on the terms of the subscription, which is charged at once', async () => {
    const { customer, link, get } = await started({}, expired);
    const query = queryOf(await page.does(link, 'newCard'));
    expect(Object.fromEntries(query)).toMatchObject({
      customerID: customer.id,
      recurringSchedule: 'P1M',
      recurringAmountRule: 'fixed:49900',
      locale: 'en',
    });
    await world.bound({ id: customer.id, token: query.get('customerAccessToken') ?? '' }, good);
    await subscriptions.settle();
    expect(await get()).toMatchObject({ status: 'active', openPeriods: [] });
    expect((await page.open(link)).html).toContain('Visa •••• 4242');
  });

  test('asks for enough for all subscriptions that share the card', async () => {
    const { by, customer, link } = await started();
    await subscriptions.create(by, customer.id, { items: [{ product: 'Coffee', price: 99_900 }] });
    const query = queryOf(await page.does(link, 'newCard'));
    expect([query.get('recurringSchedule'), query.get('recurringAmountRule')]).toEqual([null, 'upTo:99900']);
  });
});

const nextOn = async (link: string) =>
  /Next charge<\/dt><dd>([^<]*)/
    .exec((await page.open(`${link}?locale=en`)).html)?.[1]
    ?.replaceAll('\u00a0', ' ');

describe('the next charge', () => {
  test('is not before its announcement has reached the payer, who has no address', async () => {
    const { by, link } = await started({ trialDays: 30 }, good, { contactInfo: {} });
    expect(await nextOn(link)).toMatch(/^\w+ \d+, \d{4}: RUB 499\.00$/);
    await daysLater(by, 25);
    expect(await nextOn(link)).toMatch(
      /^RUB 499\.00, not before \w+ \d+, \d{4}, and after it was announced to you$/,
    );
  });

  test('waits for another card, if the rules allow no charge of this one', async () => {
    const { by, customer, link } = await started({ trialDays: 7 }, expired);
    expect(await nextOn(link)).toMatch(/^\w+ \d+, \d{4}: RUB 499\.00$/);
    await subscriptions.create(by, customer.id, {});
    await subscriptions.settle();
    expect(await nextOn(link)).toMatch(/^RUB 499\.00 on \w+ \d+, \d{4}, if there is a card to charge$/);
  });
});

describe('new terms', () => {
  const tea = (price: number) => [{ product: 'Tea', price }];

  async function agreedTo(amount: number, more: Record<string, unknown> = {}) {
    const by = await world.createMerchant();
    const customer = await world.createCustomer({}, by);
    const recurrentTerms = { schedule: 'P1M', amountRule: { kind: 'fixed', amount } };
    await world.bind(customer, good, { recurrentTerms });
    await world.service.jobs.whenIdle();
    const { body } = await subscriptions.create(by, customer.id, { items: tea(amount), ...more });
    await subscriptions.settle();
    const id: string = body.id;
    const link = await page.linkTo(by, id);
    const consent = consentLinkWorld({ ...world, merchant: by });
    return { by, customer, id, link, consent, get: () => subscriptions.get(by, id) };
  }
  const linkIn = (to: string) => {
    const { pathname } = new URL(to, 'http://payer');
    expect(pathname).toMatch(/^\/consent\/\w+\/[\w.-]+$/);
    return { id: pathname.split('/')[2] ?? '', path: pathname };
  };

  test('of a dearer item are shown old and new, and after the consent the next period is charged', async () => {
    const { by, id, link, consent, get } = await agreedTo(49_900);
    expect((await page.open(link)).acts).toEqual(['newCard', 'pause', 'end']);
    await act(by, id, 'change', { items: tea(40_000) });
    expect((await page.open(link)).acts).toEqual(['newCard', 'pause', 'end']);
    await act(by, id, 'change', { items: tea(79_900) });
    const shown = await page.open(`${link}?locale=en`);
    expect(shown.acts).toEqual(['agree', 'newCard', 'pause', 'end']);
    const html = shown.html.replaceAll('\u00a0', ' ');
    expect(html).toContain('If you agree, the next period is charged as planned.</p>');
    expect(await nextOn(link)).toMatch(/^RUB 799\.00 on \w+ \d+, \d{4}, if you agree before$/);
    expect(html).not.toContain('what was refused');
    expect(html).toContain('<dt>Until now</dt><dd>RUB 499.00</dd><dt>New</dt><dd>RUB 799.00</dd>');
    const to = await page.does(link, 'agree');
    const { searchParams } = new URL(to, 'http://payer');
    expect(new URL(searchParams.get('returnTo') ?? '').pathname).toBe(link);
    const terms = { schedule: 'P1M', amountRule: { kind: 'fixed', amount: 79_900 } };
    expect(await consent.read(linkIn(to))).toMatchObject({ status: 'open', terms });
    expect((await consent.page({ id: '', path: to })).text).toMatch(
      new RegExp(`<a class="main" href="http[^"]*${link}">Back to your subscription`),
    );
    expect((await consent.agree(linkIn(to))).status).toBe(200);
    expect(await consent.read(linkIn(to))).toMatchObject({ status: 'done' });
    expect((await page.open(link)).acts).toEqual(['newCard', 'pause', 'end']);
    await daysLater(by, 32);
    expect(await get()).toMatchObject({ status: 'active', items: tea(79_900) });
    expect((await subscriptions.periods(by, id)).map(({ amount, outcome }) => [amount, outcome])).toEqual([
      [49_900, 'paid'],
      [79_900, 'paid'],
    ]);
  });

  test('of a dearer change that the saved card may not pay are charged once the payer agrees', async () => {
    const { by, id, link, consent, get } = await agreedTo(49_900);
    await act(by, id, 'change', { items: tea(199_900), when: 'now', credit: 'none' });
    await subscriptions.settle();
    expect(await get()).toMatchObject({ pendingChange: { failedFor: 'recurrentAmountAboveConsent' } });
    await daysLater(by, 1);
    const shown = await page.open(`${link}?locale=en`);
    expect(shown.html).toContain('If you agree, what was refused is charged at once.');
    const to = await page.does(link, 'agree');
    expect((await consent.agree(linkIn(to))).status).toBe(200);
    await subscriptions.settle();
    const paid = await get();
    expect(paid).toMatchObject({ status: 'active', items: tea(199_900) });
    expect(paid.pendingChange).toBeUndefined();
    await daysLater(by, 2);
    expect((await page.open(link)).acts).toEqual(['newCard', 'pause', 'end']);
  });

  test('of a period that was refused are charged once the payer agrees, by the page or by another link', async () => {
    const { by, id, consent, get } = await agreedTo(49_900);
    const triesOf = async (number: number) => {
      const { invoiceID } = (await subscriptions.periods(by, id))[number - 1];
      return (await subscriptions.payments(by, invoiceID)).map(({ status }) => status);
    };
    await act(by, id, 'change', { items: tea(79_900) });
    await daysLater(by, 32);
    expect(await get()).toMatchObject({
      status: 'pastDue',
      openPeriods: [{ number: 2, declineClass: 'payerPresent', isCharging: false }],
    });
    expect(await triesOf(2)).toEqual([]);
    const link = await page.linkTo(by, id);
    const shown = await page.open(`${link}?locale=en`);
    expect(shown.html).toContain('If you agree, what was refused is charged at once.');
    expect((await consent.agree(linkIn(await page.does(link, 'agree')))).status).toBe(200);
    await subscriptions.settle();
    expect(await get()).toMatchObject({ status: 'active', openPeriods: [] });
    expect(await triesOf(2)).toEqual(['captured']);
    await act(by, id, 'change', { items: tea(99_900) });
    await daysLater(by, 31);
    expect(await get()).toMatchObject({ status: 'pastDue', openPeriods: [{ number: 3 }] });
    const again = await page.linkTo(by, id);
    expect((await consent.agree(linkIn(await page.does(again, 'agree')))).status).toBe(200);
    await subscriptions.settle();
    expect(await triesOf(3)).toEqual(['captured']);
  });

  test('charge what was refused of each subscription that shares the card', async () => {
    const { by, customer, id, consent, get } = await agreedTo(49_900);
    const other = (await subscriptions.create(by, customer.id, { items: tea(30_000) })).body.id;
    await subscriptions.settle();
    await act(by, id, 'change', { items: tea(79_900) });
    await act(by, other, 'change', { items: tea(69_900), when: 'nextPeriod' });
    await daysLater(by, 32);
    const both = async () => [(await get()).status, (await subscriptions.get(by, other)).status];
    expect(await both()).toEqual(['pastDue', 'pastDue']);
    const link = await page.linkTo(by, id);
    expect((await consent.agree(linkIn(await page.does(link, 'agree')))).status).toBe(200);
    await subscriptions.settle();
    expect(await both()).toEqual(['active', 'active']);
  });

  test('charge nothing that was given up: the payer can pay it', async () => {
    const { by, id, consent, get } = await agreedTo(49_900, { ifUnpaid: 'unpaid' });
    await act(by, id, 'change', { items: tea(79_900) });
    await daysLater(by, 58);
    expect(await get()).toMatchObject({ status: 'unpaid' });
    const link = await page.linkTo(by, id);
    const shown = await page.open(`${link}?locale=en`);
    expect(shown.html).toContain('What is unpaid is not charged automatically.');
    expect((await consent.agree(linkIn(await page.does(link, 'agree')))).status).toBe(200);
    await subscriptions.settle();
    expect(await get()).toMatchObject({ status: 'unpaid' });
    expect((await page.open(link)).acts).toEqual(['pay', 'newCard', 'end']);
  });

  test('have one page, however often they are asked for, and another one when they change', async () => {
    const { by, id, link } = await agreedTo(49_900);
    await act(by, id, 'change', { items: tea(79_900) });
    const shown = await page.open(link);
    const to = await Promise.all([1, 2, 3].map(() => page.click(link, 'agree', shown)));
    expect(new Set(to).size).toBe(1);
    await act(by, id, 'change', { items: tea(89_900) });
    expect(await page.does(link, 'agree')).not.toBe(to[0]);
  });

  test('are for all subscriptions that share the card', async () => {
    const { by, customer, id, link, consent } = await agreedTo(49_900);
    await subscriptions.create(by, customer.id, { items: tea(30_000) });
    await act(by, id, 'change', { items: tea(79_900) });
    const terms = { schedule: 'P1M', amountRule: { kind: 'upTo', amount: 79_900 } };
    expect(await consent.read(linkIn(await page.does(link, 'agree')))).toMatchObject({ terms });
  });

  test('are for the dearest charge of more than a hundred', async () => {
    const { by, customer, id, link, consent } = await agreedTo(49_900);
    const add = () => subscriptions.create(by, customer.id, { items: tea(10_000), trialDays: 90 });
    const { body: oldest } = await add();
    await act(by, oldest.id, 'change', { items: [{ product: 'Tea', price: 45_000, quantity: 2 }] });
    await daysLater(by, 1);
    for (let made = 0; made < 100; made++) await add();
    await act(by, id, 'change', { items: tea(49_901) });
    const terms = { schedule: 'P1M', amountRule: { kind: 'upTo', amount: 90_000 } };
    expect(await consent.read(linkIn(await page.does(link, 'agree')))).toMatchObject({ terms });
  });

  test('are of another subscription count no more when it ends', async () => {
    const { by, customer, id, link, consent } = await agreedTo(49_900);
    const ends = (await subscriptions.create(by, customer.id, { items: tea(45_000) })).body.id;
    await subscriptions.settle();
    await act(by, ends, 'change', { items: tea(299_900) });
    await act(by, id, 'change', { items: tea(79_900) });
    const both = { amountRule: { kind: 'upTo', amount: 299_900 } };
    expect(await consent.read(linkIn(await page.does(link, 'agree')))).toMatchObject({ terms: both });
    await act(by, ends, 'cancel', { when: 'periodEnd', by: 'merchant' });
    const terms = { schedule: 'P1M', amountRule: { kind: 'fixed', amount: 79_900 } };
    expect(await consent.read(linkIn(await page.does(link, 'agree')))).toMatchObject({ terms });
  });

  test('lead to a page that is open, whatever another subscription costs or the merchant cancels', async () => {
    const { by, customer, id, link, consent } = await agreedTo(49_900);
    await act(by, id, 'change', { items: tea(79_900) });
    const first = linkIn(await page.does(link, 'agree'));
    await subscriptions.create(by, customer.id, { items: tea(30_000) });
    const second = linkIn(await page.does(link, 'agree'));
    expect(second.id).not.toBe(first.id);
    expect(await consent.read(second)).toMatchObject({ terms: { amountRule: { kind: 'upTo' } } });
    expect((await consent.cancel(second)).status).toBe(200);
    const third = linkIn(await page.does(link, 'agree'));
    expect(await consent.read(third)).toMatchObject({ status: 'open' });
    expect(linkIn(await page.does(link, 'agree'))).toEqual(third);
  });

  test('lead back to no other address', async () => {
    const { by, id, link, consent } = await agreedTo(49_900);
    await act(by, id, 'change', { items: tea(79_900) });
    const to = await page.does(link, 'agree');
    const { path } = linkIn(to);
    const ours = new URL('..', new URL(to, 'http://payer').searchParams.get('returnTo') ?? '').href;
    const others = [`${ours}../payer/return/1/1`, `${ours}1/2/3`, `${ours}1/2?3`];
    for (const returnTo of [
      ...others,
      'https://evil.example/subscription/1/2',
      'javascript:1',
      '/subscription/1/2',
    ]) {
      const query = new URLSearchParams({ locale: 'en', returnTo }).toString();
      expect((await consent.page({ id: '', path: `${path}?${query}` })).text).not.toContain(
        '<a class="main"',
      );
    }
  });

  test('are not asked for without need, or where they cannot be agreed to', async () => {
    const ending = await agreedTo(49_900);
    await act(ending.by, ending.id, 'change', { items: tea(79_900) });
    await page.does(ending.link, 'end');
    expect((await page.open(ending.link)).acts).not.toContain('agree');
    const free = await started();
    await act(free.by, free.id, 'change', { items: tea(79_900) });
    const shown = await page.open(free.link);
    expect(shown.acts).not.toContain('agree');
    expect(await page.click(free.link, 'agree', shown)).toBe(free.link);
  });
});

describe('the question after the end', () => {
  test('is answered once, or not at all', async () => {
    const { by, id, link, get } = await started();
    await page.does(link, 'end');
    const shown = await page.open(link);
    expect(await page.click(link, 'reason', shown, 'hacked')).toBe(link);
    expect(await get()).not.toHaveProperty('payerReason');
    await page.click(link, 'reason', shown, 'notUsed');
    await page.click(link, 'reason', shown, 'tooExpensive');
    expect(await get()).toMatchObject({ payerReason: 'notUsed', endsAfterPeriod: 1 });
    const answered = await page.open(`${link}?locale=en`);
    expect(answered.acts).toEqual(['takeBack', 'newCard']);
    expect(answered.html).toContain('Thank you for your answer.');
    await page.does(link, 'takeBack');
    expect(await get()).not.toHaveProperty('payerReason');
    expect((await factsOf(id)).slice(-3)).toEqual(['end_scheduled', 'payer_reason_given', 'end_taken_back']);
    expect((await page.open(link)).acts).toEqual(['newCard', 'pause', 'end']);
    await act(by, id, 'cancel', { when: 'now', by: 'payer' });
    expect((await page.open(link)).acts).toEqual(['reason']);
    await page.click(link, 'reason', await page.open(link), 'other');
    expect(await get()).toMatchObject({ status: 'ended', payerReason: 'other' });
    expect((await page.open(link)).acts).toEqual([]);
  });

  test('is not asked about what the merchant has ended', async () => {
    const { by, id, link, get } = await started();
    await act(by, id, 'cancel', { when: 'now' });
    const shown = await page.open(link);
    expect(shown.acts).toEqual([]);
    await page.click(link, 'reason', shown, 'other');
    expect(await get()).not.toHaveProperty('payerReason');
  });

  test('is the reason of no end by the merchant', async () => {
    const { by, id, link, get } = await started();
    await page.does(link, 'end');
    await page.click(link, 'reason', await page.open(link), 'other');
    await act(by, id, 'cancel', { when: 'now' });
    expect(await get()).toMatchObject({ status: 'ended', endReason: 'merchant' });
    expect(await get()).not.toHaveProperty('payerReason');
  });
});

test('what a payment has paid leads to its receipt, also after the end, and nothing else does', async () => {
  const { by, id, link, get } = await started({ trialDays: 2 });
  await daysLater(by, 3);
  const receiptsOn = ({ html }: { html: string }) =>
    [...html.matchAll(/name="receipt" value="(\d+)"/g)].map(([, number]) => number);
  // The trial cost nothing.
  expect(receiptsOn(await page.open(link))).toEqual(['2']);
  const [, paid] = await subscriptions.periods(by, id);
  const query = queryOf(await page.receipt(link, 2, await page.open(link)));
  expect(query.get('invoiceID')).toBe(paid.invoiceID);
  const read = `/v2/processing/invoices/${paid.invoiceID}`;
  const token = query.get('invoiceAccessToken') ?? '';
  expect((await world.service.call('GET', read, { token })).body).toMatchObject({ status: 'paid' });
  const nothing = [
    await page.receipt(link, 1, await page.open(link)),
    await page.receipt(link, 9, await page.open(link)),
    await page.receipt(link, 2, { token: '1.x' }),
  ];
  expect(nothing).toEqual(Array(3).fill(link));
  const open = await started({}, expired);
  const [unpaid] = await subscriptions.periods(open.by, open.id);
  const url = `${subscriptionsUrl}/${open.id}/periods/${unpaid.number}/close`;
  expect((await subscriptions.call(open.by, 'POST', url, { as: 'paidElsewhere' })).status).toBe(200);
  expect((await subscriptions.periods(open.by, open.id))[0].outcome).toBe('paid');
  expect(receiptsOn(await page.open(open.link))).toEqual([]);
  await subscriptions.call(by, 'POST', `${subscriptionsUrl}/${id}/cancel`, { when: 'now' });
  expect(await get()).toMatchObject({ status: 'ended' });
  expect(receiptsOn(await page.open(link))).toEqual(['2']);
});

test('hostile texts are shown as text, and a page of a long life is below 20 KB', async () => {
  const product = '<script>alert(1)</script>"\'&';
  const { by, link, get } = await started({
    items: [{ product, price: 49_900 }],
    every: 'P1W',
    chargeFrom: '00:00',
    chargeUntil: '00:01',
  });
  await page.does(link, 'end');
  await page.does(link, 'takeBack');
  await daysLater(by, 7 * 13);
  const again = await page.linkTo(by, (await get()).id);
  const { html } = await page.open(`${again}?locale=ru&said=%3Cb%3E`);
  expect(html).not.toContain('<script');
  expect(html).not.toContain('<b>');
  expect(html).toContain('&#60;script&#62;alert(1)');
  expect(html.match(/<li>/g)).toHaveLength(12);
  expect(Buffer.byteLength(html)).toBeLessThanOrEqual(20_000);
});
