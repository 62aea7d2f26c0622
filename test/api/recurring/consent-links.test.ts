// Consent links over the API and their page. A series gets new terms only by a payer who ticks the box and confirms with their bank,
// and whose verification charge is refunded.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { verifyBundle } from '../../../src/recurring/consent-bundle.ts';
import { consentLinkWorld, dearer } from '../../support/worlds/consent-links.ts';
import { customersUrl, startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import { invoicesUrl } from '../../support/worlds/invoices.ts';
import {
  recurringWorld,
  stoppedByPayer,
  type Parent,
  type RecurringWorld,
} from '../../support/worlds/recurring.ts';

const challenged = '4012888888881881';
const day = 24 * 3_600_000;

let world: CustomerWorld;
let recurring: RecurringWorld;
let links: ReturnType<typeof consentLinkWorld>;
let token: string;

beforeAll(async () => {
  world = await startCustomerWorld();
  recurring = recurringWorld(world);
  links = consentLinkWorld(world);
  token = world.merchant.apiKey;
});
afterAll(() => world.close());
// After every test: no money of a payer is left, neither in the ledger nor at the bank.
afterEach(async () => {
  await world.service.jobs.whenIdle();
  const found = await world.differences();
  if (found.length > 0) throw new Error(found.join('\n'));
});

const urlOf = ({ invoiceID, paymentID }: Parent) =>
  `${invoicesUrl}/${invoiceID}/payments/${paymentID}/recurring`;
const get = async (url: string) => (await world.service.call('GET', url, { token })).body;
const changesOf = async (parent: Parent): Promise<string[]> =>
  (await get(`${urlOf(parent)}/events?limit=100`)).flatMap(({ changes }: any) =>
    changes.map(({ changeType }: any) => changeType),
  );

/** A series that began with a payment, and a link for it. */
async function ofPayment(card?: string, more: Record<string, unknown> = {}) {
  const parent = await recurring.parent(card);
  if (card === challenged) await world.authenticate({ id: parent.invoiceID, token }, 'confirm');
  const { seriesID } = await get(urlOf(parent));
  return { parent, seriesID, link: await links.made(seriesID, more) };
}

describe('a link', () => {
  test('is created for a series, with an address for the payer and seven days to agree', async () => {
    const parent = await recurring.parent();
    const { seriesID } = await get(urlOf(parent));
    const { status, body } = await links.create(seriesID, { externalID: 'raise-1', language: 'ru' });
    expect({ status, body }).toEqual({
      status: 201,
      body: {
        id: expect.any(String),
        externalID: 'raise-1',
        seriesID,
        status: 'open',
        url: expect.stringMatching(/^http.*\/consent\/\w+\/1\.[\w-]{43}$/),
        terms: dearer,
        createdAt: world.service.clock.now(),
        expiresAt: expect.any(String),
        language: 'ru',
      },
    });
    expect(Date.parse(body.expiresAt) - Date.parse(body.createdAt)).toBe(7 * day);
    expect(await links.read(body)).toEqual(body);
  });

  test('is the same for a repeat under its external ID, and another request conflicts', async () => {
    const { seriesID } = await ofPayment();
    const first = await links.create(seriesID, { externalID: 'raise-2' });
    expect((await links.create(seriesID, { externalID: 'raise-2' })).body).toEqual(first.body);
    const other = { externalID: 'raise-2', terms: { ...dearer, schedule: 'P1W' } };
    expect(await links.create(seriesID, other)).toMatchObject({
      status: 409,
      body: { externalID: 'raise-2', id: first.body.id },
    });
  });

  test('expires with the last day of its terms in the zone of the shop, because after it they allow nothing', async () => {
    const { seriesID } = await ofPayment();
    const today = world.service.clock.now().slice(0, 10);
    const { body } = await links.create(seriesID, { terms: { ...dearer, validUntil: today } });
    expect(body.expiresAt).toBe(`${today}T21:00:00.000000Z`);
  });

  test.each([
    ['an amount that is missing', { terms: { schedule: 'P1M' } }, /terms/],
    ['a day that does not exist', { terms: { ...dearer, validUntil: '2030-02-31' } }, /terms\.validUntil/],
    ['a last day in the past', { terms: { ...dearer, validUntil: '2020-01-01' } }, /validUntil has passed/],
    ['an end in the past', { expiresAt: '2020-01-01T00:00:00Z' }, /expiresAt is in the past/],
    ['an end after 30 days', { expiresAt: '2099-01-01T00:00:00Z' }, /more than 30 days/],
  ])('is refused for %s', async (_, more, message) => {
    const { seriesID } = await ofPayment();
    expect(await links.create(seriesID, more)).toMatchObject({
      status: 400,
      body: { code: 'invalidRequest', message: expect.stringMatching(message) },
    });
  });

  test('is refused for a series of another party, and one that was revoked', async () => {
    const { parent, seriesID } = await ofPayment();
    const stranger = await world.createMerchant();
    expect(await links.create(seriesID, {}, stranger.apiKey)).toMatchObject({
      status: 404,
      body: { message: 'Series of recurring charges not found' },
    });
    await world.service.call('POST', `${urlOf(parent)}/withdraw`, { token, body: { reason: 'no' } });
    expect((await links.create(seriesID)).body).toMatchObject({ code: 'recurrentConsentRevoked' });
  });

  test('is found by its own party alone, and its page by the whole address alone', async () => {
    const { link } = await ofPayment();
    const stranger = await world.createMerchant();
    const url = `/v2/processing/consent-links/${link.id}`;
    expect(await world.service.call('GET', url, { token: stranger.apiKey })).toMatchObject({
      status: 404,
      body: { message: 'Consent link not found' },
    });
    const wrong = { ...link, path: `${link.path.slice(0, -1)}_` };
    expect((await links.page(wrong)).status).toBe(404);
    expect(await world.service.call('POST', wrong.path, { body: {} })).toMatchObject({ status: 404 });
    expect(await links.state(wrong)).toEqual({ view: 'dead' });
  });
});

describe('the page', () => {
  test.each([
    [{ email: 'payer@example.com' }, /open the link in the receipt, or tell TEST\./],
    [{}, /at any time: tell TEST\./],
  ])('for a customer with the contact %j promises only what will come', async (contactInfo, stop) => {
    const customer = await world.createCustomer({ contactInfo });
    await world.bound(customer, '4242424242424242');
    const { seriesID } = await get(`${customersUrl}/${customer.id}/recurring`);
    const { text } = await links.page(await links.made(seriesID));
    expect(/id="consent-stop"[^>]*>([^<]*)</.exec(text)?.[1]).toMatch(stop);
  });

  test('shows the old and the new terms, and nothing of it runs from elsewhere', async () => {
    const { link } = await ofPayment();
    const { status, text, headers } = await links.page(link);
    expect(status).toBe(200);
    for (const part of [
      'Until now',
      'as agreed with the shop',
      'RUB 599.00',
      'every month',
      'card ending in 4242',
    ])
      expect(text.replaceAll('\u00a0', ' ')).toContain(part);
    expect(text).toMatch(
      /<input id="consent" type="checkbox" required aria-describedby="[^"]*" autocomplete="off">/,
    );
    expect(headers['content-security-policy']).toMatch(
      /default-src 'none'; script-src 'sha256-.*frame-ancestors 'none'/,
    );
    expect(headers['cache-control']).toBe('no-store');
    const russian = await world.service.call('GET', `${link.path}?locale=ru`, {});
    expect(russian.text).toContain('Новые условия');
  });

  test.each([
    ['without a tick', { ticked: false }],
    ['without its time', { tickedAt: 'now' }],
    ['in an unknown language', { locale: 'xx' }],
    ['with a card number', { fingerprint: 'of 4242 4242 4242 4242 12/30' }],
  ])('begins nothing %s', async (_, more) => {
    const { link } = await ofPayment();
    expect((await links.submit(link, more)).status).toBe(400);
    expect((await links.read(link)).status).toBe('open');
  });

  test('begins nothing for terms that are not the ones it shows', async () => {
    const { link } = await ofPayment();
    expect((await links.submit(link, { textHash: 'a'.repeat(64) })).status).toBe(409);
    expect((await links.read(link)).status).toBe('open');
  });
});

describe('a payer who agrees', () => {
  test('leaves no card number that their browser calls itself', async () => {
    const { parent, link } = await ofPayment(challenged);
    expect((await links.agree(link, 'A browser/4242424242424242')).status).toBe(200);
    await links.confirm(link);
    const bundle = await world.service.call('GET', `${urlOf(parent)}/consent`, { token });
    expect(bundle.text).toContain('userAgent');
    expect(bundle.text).not.toContain('4242424242424242');
  });

  test('renews the consent of a payment with complete evidence, and the small charge is refunded', async () => {
    const { parent, seriesID, link } = await ofPayment(challenged);
    const answer = await links.agree(link);
    expect(answer).toMatchObject({ status: 200, body: { view: 'waiting' } });
    expect(await links.read(link)).toMatchObject({ status: 'authenticating' });
    expect(await links.state(link)).toMatchObject({
      view: 'challenge',
      interaction: { url: expect.any(String) },
    });
    expect((await get(urlOf(parent))).terms).not.toHaveProperty('amountRule');

    await links.confirm(link);
    const done = await links.read(link);
    expect(done).toMatchObject({ status: 'done' });
    expect(await links.state(link)).toEqual({ view: 'done' });
    expect(await get(urlOf(parent))).toMatchObject({
      seriesID,
      terms: dearer,
      consentEvidence: 'attestedByMerchant',
    });
    expect(await changesOf(parent)).toEqual(['SeriesStarted', 'ConsentRenewed']);

    const bundle = await world.service.call('GET', `${urlOf(parent)}/consent`, { token });
    const verified = verifyBundle(bundle.text);
    const renewed: any = verified.ok && verified.bundle.entries[1]?.facts[0];
    const { consent, payer, payment } = renewed.mandate;
    const { text, textHash, ...rest } = consent;
    expect(rest).toEqual({
      ticked: true,
      tickedAt: '2026-01-01T10:00:00.000000Z',
      checkbox: 'consent',
      locale: 'en',
      link: link.id,
      receivedAt: expect.any(String),
      userAgent: 'A browser/1.0',
    });
    expect(text.replaceAll('\u00a0', ' ')).toMatch(
      /^I agree that TEST charges .*Amount: Until now as agreed.*New RUB 599\.00/s,
    );
    expect(textHash).toMatch(/^[0-9a-f]{64}$/);
    expect(payer).toMatchObject({ ip: '127.0.0.1', fingerprint: 'a browser' });
    expect(payment).toMatchObject({
      amountMinor: 1_000,
      currency: 'RUB',
      eci: '05',
      reference: expect.any(String),
    });

    const { customerID, customerBindingID } = done.binding;
    await world.later(1);
    const [email] = await get(`/sandbox/outbox?invoiceID=${customerID}`);
    expect(email).toMatchObject({
      to: 'payer@example.com',
      subject: 'New terms: recurring transaction, TEST',
    });
    for (const line of [
      'Schedule: every month',
      'Amount: RUB 0.00',
      'Later amounts: RUB 599.00',
      '/recurring/withdraw/',
    ])
      expect(email.text).toContain(line);
    const own = (await world.book()).filter(({ operationId }) => operationId.startsWith(`${customerID}.`));
    expect(own).toMatchObject([
      { kind: 'authorise', amount: 1_000 },
      { kind: 'reverse', amount: 1_000 },
    ]);
    // The customer only carried the check: no card is saved for it.
    expect(await get(`${customersUrl}/${customerID}`)).toMatchObject({ status: 'unready' });
    expect(await get(`${customersUrl}/${customerID}/bindings/${customerBindingID}`)).toMatchObject({
      status: 'succeeded',
      isActive: false,
      withdrawnAt: expect.any(String),
      consentLinkID: link.id,
    });
    expect(await recurring.charged(parent, 59_900)).toBe('captured');
    // The copy of the card that was charged with the payer present is good for nothing else.
    const { paymentResource } = await get(`${customersUrl}/${customerID}/bindings/${customerBindingID}`);
    const { paymentToolToken, paymentSession } = paymentResource;
    const used = await world.service.call('POST', `${customersUrl}/${customerID}/bindings`, {
      token,
      body: { paymentResource: { paymentToolToken, paymentSession } },
    });
    expect(used.body).toMatchObject({ code: 'invalidPaymentToolToken' });
  });

  test('leaves receipts of earlier payments with the terms of then', async () => {
    const { parent, link } = await ofPayment(challenged);
    const receiptOf = async ({ invoiceID, paymentID }: Parent) =>
      (await get(`${invoicesUrl}/${invoiceID}/payments/${paymentID}/receipt`)).text;
    const charge = async (): Promise<Parent> => {
      const { invoiceID, id } = (await recurring.charge(parent)).body;
      await world.service.jobs.whenIdle();
      return { invoiceID, paymentID: id };
    };
    const first = await charge();
    const before = [await receiptOf(parent), await receiptOf(first)];
    await links.agree(link);
    await links.confirm(link);
    expect([await receiptOf(parent), await receiptOf(first)]).toEqual(before);
    expect(await receiptOf(await charge())).toContain('every month');
    expect(before.join()).not.toContain('every month');
  });

  test('renews the consent of a customer, whose saved card stays', async () => {
    const customer = await world.createCustomer();
    const binding = await world.bound(customer, '4242424242424242');
    const url = `${customersUrl}/${customer.id}`;
    const { seriesID } = await get(`${url}/recurring`);
    const link = await links.made(seriesID);
    await links.agree(link);
    expect(await links.read(link)).toMatchObject({ status: 'done', binding: { customerID: customer.id } });
    expect(await get(`${url}/recurring`)).toMatchObject({ mayCharge: true, seriesID, terms: dearer });
    expect(await world.binding(binding)).toMatchObject({ isActive: true });
  });

  test('confirms the new amount with their bank', async () => {
    const sent: any[] = [];
    const { bankOf } = world.service.banks;
    Object.assign(world.service.banks, {
      bankOf: async (terminal: never) => {
        const real = await bankOf(terminal);
        return {
          ...real,
          send(operation: any) {
            sent.push(operation);
            return real.send(operation);
          },
        };
      },
    });
    const { link } = await ofPayment();
    const trial = {
      amountRule: { kind: 'fixed', amount: 100 },
      trialEnd: '2030-01-01',
      amountAfterTrial: 79_900,
    };
    const { link: withTrial } = await ofPayment(undefined, { terms: { ...dearer, ...trial } });
    sent.length = 0;
    await links.agree(link);
    await links.agree(withTrial);
    Object.assign(world.service.banks, { bankOf });
    const largest = sent.flatMap(({ authenticationAmount }) => authenticationAmount?.minor ?? []);
    expect(largest).toEqual([59_900n, 79_900n]);
    expect(sent[0]).toMatchObject({
      kind: 'authorise',
      amount: { minor: 1_000n, currency: 'RUB' },
      authentication: 'required',
      authenticationAmount: { minor: 59_900n, currency: 'RUB' },
      initiation: { by: 'payer', storesCard: true },
    });
  });

  test('begins one check, however often and in however many tabs they submit', async () => {
    const { parent, link } = await ofPayment(challenged);
    const answers = await Promise.all(Array.from({ length: 5 }, () => links.submit(link)));
    await world.service.jobs.whenIdle();
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const { binding } = await links.read(link);
    expect(await get(`${customersUrl}/${binding.customerID}/bindings`)).toHaveLength(1);
    await links.confirm(link);
    expect((await links.submit(link)).body).toEqual({ view: 'done' });
    expect(await changesOf(parent)).toEqual(['SeriesStarted', 'ConsentRenewed']);
  });
});

describe('the old consent stands', () => {
  const oldTermsOf = async (parent: Parent) => (await get(urlOf(parent))).terms;

  test('when the payer refuses at their bank, and they can try again', async () => {
    const { parent, link } = await ofPayment(challenged);
    const before = await oldTermsOf(parent);
    await links.agree(link);
    await links.confirm(link, 'refuse');
    expect(await links.read(link)).toMatchObject({
      status: 'open',
      error: { code: 'preauthorization_failed' },
    });
    expect(await links.state(link)).toEqual({ view: 'form', problem: 'unconfirmed' });
    expect(await oldTermsOf(parent)).toEqual(before);
    const first = (await links.read(link)).binding;
    await links.agree(link);
    await links.confirm(link);
    const { status, binding } = await links.read(link);
    expect([status, binding.customerID]).toEqual(['done', first.customerID]);
  });

  test('when they leave the bank’s page, and the link opens again', async () => {
    const { parent, link } = await ofPayment(challenged);
    await links.agree(link);
    await world.later(15 * 60_000);
    expect(await links.read(link)).toMatchObject({ status: 'open' });
    expect(await changesOf(parent)).toEqual(['SeriesStarted']);
  });

  test('when the link has expired or was cancelled', async () => {
    const { parent, link } = await ofPayment();
    const other = await links.made((await get(urlOf(parent))).seriesID);
    expect((await links.cancel(other)).body).toMatchObject({
      status: 'cancelled',
      cancelledAt: expect.any(String),
    });
    expect((await links.cancel(other)).body).toMatchObject({ status: 'cancelled' });
    expect((await links.submit(other)).body).toEqual({ view: 'cancelled' });
    await world.later(7 * day);
    expect((await links.submit(link)).body).toEqual({ view: 'expired' });
    expect(await changesOf(parent)).not.toContain('ConsentRenewed');
  });

  test('when it is revoked while the payer confirms: the money goes back and nothing is renewed', async () => {
    const { parent, link } = await ofPayment(challenged);
    await links.agree(link);
    await world.service.call('POST', `${urlOf(parent)}/withdraw`, { token, body: { reason: 'no' } });
    await links.confirm(link);
    expect(await links.read(link)).toMatchObject({ status: 'cancelled', error: { code: 'consent_revoked' } });
    expect(await changesOf(parent)).toEqual(['SeriesStarted', 'ConsentWithdrawn']);
  });

  test('when the payer has agreed to another link since', async () => {
    const { parent, seriesID, link } = await ofPayment(challenged, {
      terms: { ...dearer, amountRule: { kind: 'fixed', amount: 99_900 } },
    });
    const newer = await links.made(seriesID);
    await links.agree(link);
    await world.later(1_000);
    await links.agree(newer);
    await links.confirm(newer);
    await links.confirm(link);
    expect(await links.read(newer)).toMatchObject({ status: 'done' });
    expect(await links.read(link)).toMatchObject({ status: 'open', error: { code: 'consent_revoked' } });
    expect(await oldTermsOf(parent)).toEqual(dearer);
  });

  test('when the bank stops the series while the payer confirms', async () => {
    const { parent, link } = await ofPayment(challenged);
    await links.agree(link);
    await world.later(1_000);
    expect(await recurring.charged(parent, stoppedByPayer)).toBe('failed');
    await links.confirm(link);
    expect(await links.read(link)).toMatchObject({ status: 'open', error: { code: 'consent_revoked' } });
    expect(await get(urlOf(parent))).toMatchObject({ status: 'stopped', mayCharge: false });
  });

  test('when the card of the series is deleted while the payer confirms', async () => {
    // After the stop of the test before.
    await world.later(1_000);
    const { parent, link } = await ofPayment(challenged);
    await world.later(3 * 3_600_000);
    expect(await recurring.charged(parent, stoppedByPayer)).toBe('failed');
    await links.agree(link);
    // A stopped series needs no card.
    await world.later(60_000);
    await links.confirm(link);
    expect(await links.read(link)).toMatchObject({ status: 'open', error: { code: 'consent_revoked' } });
    expect(await get(urlOf(parent))).toMatchObject({ status: 'stopped', mayCharge: false });
  });

  test('and a link cannot be cancelled while the payer confirms, or after that', async () => {
    const { link } = await ofPayment(challenged);
    await links.agree(link);
    expect(await links.cancel(link)).toMatchObject({
      status: 400,
      body: { code: 'invalidConsentLinkStatus' },
    });
    await links.confirm(link);
    expect((await links.cancel(link)).body).toMatchObject({ code: 'invalidConsentLinkStatus' });
  });
});

test('an attempt that was begun is finished by another node', async () => {
  const { parent, link } = await ofPayment();
  const { run } = world.service.jobs;
  // The node that began it dies before it asks the bank.
  Object.assign(world.service.jobs, { run: () => {} });
  await links.submit(link);
  Object.assign(world.service.jobs, { run });
  expect(await links.read(link)).toMatchObject({ status: 'authenticating' });
  await world.later(61_000);
  expect(await links.read(link)).toMatchObject({ status: 'done' });
  expect(await changesOf(parent)).toContain('ConsentRenewed');
});
