// The consent behind recurring charges: terms, evidence, revocation and what the payer can read.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { laterBy, type Instant } from '../../../src/clock.ts';
import { verifyBundle } from '../../../src/recurring/consent-bundle.ts';
import { sealKeysOf } from '../../../src/recurring/consent-seal.ts';
import { findWithoutEvidence } from '../../../src/recurring/store/missing-evidence.ts';
import { escaped } from '../../../src/receipts/domain/receipt.ts';
import type { RecurringSettings } from '../../../src/recurring/domain/settings.ts';
import { storeSettings } from '../../../src/recurring/store/settings.ts';
import { cardBody, paymentResourcesUrl } from '../../support/worlds/cards.ts';
import { invoicesUrl, makeInvoice } from '../../support/worlds/invoices.ts';
import { withoutTables } from '../../support/database/database-away.ts';
import { commandLine } from '../../support/processes/command-line.ts';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';
import {
  declinedWith,
  insufficientFunds,
  recurringWorld,
  type Parent,
  type RecurringWorld,
} from '../../support/worlds/recurring.ts';
import type { Merchant } from '../../support/service/test-service.ts';

let world: PaymentWorld;
let recurring: RecurringWorld;
let merchant: Merchant;

beforeAll(async () => {
  world = await startPaymentWorld();
  recurring = recurringWorld(world);
});
afterAll(() => world.close());
beforeEach(async () => {
  world.service.clock.set(Date.UTC(2026, 0, 19, 10));
  merchant = await world.createMerchant();
});

const day = 24 * 3_600_000;
const agreed = {
  schedule: 'P1M',
  validUntil: '2026-12-31',
  amountRule: { kind: 'upTo', amount: 200_000 },
  consent: {
    ticked: true,
    tickedAt: '2026-01-19T09:59:00Z',
    text: 'I agree to be charged every month.',
    checkbox: 'recurring',
    locale: 'en',
  },
};

/** Without its style. */
const shownText = (html: string) => html.replace(/<style>.*?<\/style>/s, '').replace(/<[^>]*>/g, '');

async function startPayment(recurrentTerms: object | undefined, more: object = {}) {
  const invoice = await makeInvoice(world.service, merchant);
  const { token: paymentToolToken } = await world.tokenize('4242424242424242', merchant.apiKey);
  const payer = {
    payerType: 'PaymentResourcePayer',
    paymentToolToken,
    contactInfo: { email: 'payer@example.com' },
  };
  const body = { payer, makeRecurrent: true, ...(recurrentTerms ? { recurrentTerms } : {}), ...more };
  const url = `${invoicesUrl}/${invoice.id}/payments`;
  const answer = await world.service.call('POST', url, { token: merchant.apiKey, body });
  await world.service.jobs.whenIdle();
  return { answer, parent: { invoiceID: invoice.id, paymentID: '1' }, invoice };
}
const parentWith = async (terms?: object) => (await startPayment(terms)).parent;
const read = (parent: Parent, what: string) =>
  world.service.call('GET', `${invoicesUrl}/${parent.invoiceID}/payments/${parent.paymentID}/${what}`, {
    token: merchant.apiKey,
  });
const withdraw = (parent: Parent) =>
  world.service.call(
    'POST',
    `${invoicesUrl}/${parent.invoiceID}/payments/${parent.paymentID}/recurring/withdraw`,
    {
      token: merchant.apiKey,
      body: { reason: 'asked us by phone' },
    },
  );
const charge = (parent: Parent, amount?: number) => recurring.charge(parent, amount, { by: merchant });
const set = (settings: RecurringSettings) =>
  storeSettings(world.service.database, { partyId: merchant.partyId, shopId: 'TEST' }, settings);
const changesOf = async (parent: Parent): Promise<any[]> =>
  (await read(parent, 'recurring/events?limit=100')).body.flatMap((event: any) => event.changes);

const webhookEventsOf = async (parent: Parent): Promise<string[]> =>
  (await read(parent, 'recurring/events?limit=100')).body.flatMap(({ createdAt, changes }: any) =>
    changes
      .filter(({ changeType }: any) => changeType === 'NoticeDue')
      .map(({ notice }: any) => `${createdAt.slice(0, 10)} ${notice}`),
  );
async function noticesUntil(parent: Parent, now: string): Promise<string[]> {
  const moved = await world.service.call('POST', '/sandbox/clock', { token: merchant.apiKey, body: { now } });
  expect(moved.status).toBe(200);
  return webhookEventsOf(parent);
}

describe('checking whether a charge is allowed', () => {
  test('returns what creating the charge would return', async () => {
    const parent = await parentWith(agreed);
    expect((await read(parent, 'recurring')).body).toEqual({
      mayCharge: true,
      warnings: [],
      status: 'active',
      rootPayment: parent,
      latestParent: parent,
      card: { paymentSystem: 'visa', lastDigits: '4242', goodUntil: '2031-01-01T12:00:00.000000Z' },
      terms: { schedule: 'P1M', validUntil: '2026-12-31', amountRule: { kind: 'upTo', amount: 200_000 } },
      seriesID: `${parent.invoiceID}.${parent.paymentID}`,
      consentEvidence: 'attestedByMerchant',
      amountBinds: true,
      consentedAt: world.service.clock.now(),
      lastSuccessAt: world.service.clock.now(),
      chargesMade: 0,
    });
    const failedAt = world.service.clock.now();
    expect(await recurring.charged(parent, insufficientFunds, { by: merchant })).toBe('failed');
    world.service.clock.advance(3_600_000);
    const { code, retryAfter, rule, rulePack } = (await charge(parent)).body;
    expect(retryAfter).toBe(laterBy(failedAt, 22.75 * 3_600_000));
    expect((await read(parent, 'recurring')).body).toMatchObject({
      mayCharge: false,
      refusal: { code, retryAfter, rule, rulePack },
      failingSince: failedAt,
    });
  });

  test('works for every payment of a series and no other', async () => {
    const parent = await parentWith();
    const made = await charge(parent, 100);
    await world.service.jobs.whenIdle();
    const charged = { invoiceID: made.body.invoiceID, paymentID: '1' };
    expect((await read(charged, 'recurring')).body).toMatchObject({ rootPayment: parent, chargesMade: 1 });
    const { parent: plain } = await startPayment(undefined, { makeRecurrent: false });
    expect((await read(plain, 'recurring')).status).toBe(404);
  });
});

describe('the terms', () => {
  test('come from the payment, else the shop, else the defaults', async () => {
    await set({ terms: { schedule: 'P1W', validUntil: '2027-06-30' } });
    const terms = async (parent: Parent) => (await read(parent, 'recurring')).body.terms;
    expect(await terms(await parentWith({ schedule: 'P1Y' }))).toEqual({ schedule: 'P1Y' });
    expect(await terms(await parentWith())).toEqual({ schedule: 'P1W', validUntil: '2027-06-30' });
    // The evidence does not contain the schedule.
    const { consent } = agreed;
    expect(await terms(await parentWith({ consent }))).toEqual({ schedule: 'P1W', validUntil: '2027-06-30' });
    await set({});
    expect(await terms(await parentWith())).toEqual({ schedule: 'as agreed with the merchant' });
  });

  test.each([
    [{ validUntil: '2026-02-30' }, 'recurrentTerms.validUntil'],
    [{ validUntil: '9999-99-99' }, 'recurrentTerms.validUntil'],
    [{ schedule: ' \n' }, 'recurrentTerms.schedule'],
    [{ schedule: 'card 4242424242424242' }, 'recurrentTerms.schedule'],
    [{ schedule: 'card 4242 4242 4242 4242' }, 'recurrentTerms.schedule'],
    [{ schedule: '600000000007' }, 'recurrentTerms.schedule'],
    [{ amountRule: { kind: 'variable', text: '4242-4242.42424242' } }, 'recurrentTerms.amountRule.text'],
    [{ consent: { ...agreed.consent, text: 'my 4242 4242 4242 4242 12 30' } }, 'recurrentTerms.consent'],
    [{ trialEnd: '2026-02-30' }, 'recurrentTerms.trialEnd'],
    [{ firstChargeOn: '2026-02-30' }, 'recurrentTerms.firstChargeOn'],
    [{ charges: -1 }, 'recurrentTerms.charges'],
    [{ charges: 1.5 }, 'recurrentTerms.charges'],
    [{ amountAfterTrial: 100 }, 'recurrentTerms.amountAfterTrial'],
    [{ consent: { ticked: true, tickedAt: '2026-01-01T00:00:00Z' } }, 'recurrentTerms.consent'],
    [{ consent: { ...agreed.consent, ticked: false } }, 'recurrentTerms.consent.ticked'],
  ])('that contradict each other are refused: %o', async (terms, where) => {
    const { answer } = await startPayment(terms);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalidRequest' } });
    expect(answer.body.message).toContain(where);
  });

  test.each([' ', 'card 4242 4242 4242 4242'])('of a shop cannot have the schedule %j', async (schedule) => {
    const { partyId: party } = merchant;
    const line = ['shop', 'recurring', 'TEST', '--party', party, '--schedule', schedule];
    expect(await commandLine(line, {})).toMatchObject({
      code: 1,
      errors: expect.stringContaining('--schedule must not '),
    });
  });

  test.each([
    ['29900', 'Unknown --amount-rule.'],
    ['fixed:299.00', 'Unknown --amount-rule.'],
    ['variable:card 4242 4242 4242 4242', '--amount-rule must not contain a card number.'],
  ])('of a shop cannot have the amount rule %j', async (rule, error) => {
    const { partyId: party } = merchant;
    const line = ['shop', 'recurring', 'TEST', '--party', party, '--amount-rule', rule];
    const { code, errors } = await commandLine(line, {});
    expect([code, errors]).toEqual([1, expect.stringContaining(error)]);
    expect(errors).not.toMatch(/4242|299\.00/);
  });

  test('are only accepted with a payment that saves the card', async () => {
    const { answer } = await startPayment(agreed, { makeRecurrent: false });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalidRequest' } });
  });

  test('without a consent are reported while the series can be charged', async () => {
    const [shown, missing, ended] = [await parentWith(agreed), await parentWith(), await parentWith()];
    await recurring.charged(missing, 100, { by: merchant });
    await withdraw(ended);
    const ask = (shopId?: string) =>
      findWithoutEvidence(world.service.database, { partyId: merchant.partyId, shopId, limit: 10 });
    const line = {
      seriesId: `${missing.invoiceID}.1`,
      shopId: 'TEST',
      consentedAt: world.service.clock.now(),
      chargesMade: 1,
    };
    expect(await ask()).toEqual([line]);
    expect(await ask('TEST')).toEqual([line]);
    expect(await ask('TEST_USD')).toEqual([]);
    expect((await read(shown, 'recurring')).body.consentEvidence).toBe('attestedByMerchant');
  });

  test('allow charges through their last day, and not after it', async () => {
    const parent = await parentWith({ schedule: 'P1D', validUntil: world.service.clock.now().slice(0, 10) });
    // The shop sells in RUB, so its day ends in Moscow.
    const midnight = Date.parse(`${world.service.clock.now().slice(0, 10)}T20:59:59.999Z`);
    world.service.clock.set(midnight);
    expect(await recurring.charged(parent, 100, { by: merchant })).toBe('captured');
    world.service.clock.advance(1);
    expect(await charge(parent)).toMatchObject({ status: 400, body: { code: 'recurrentConsentExpired' } });
  });
});

describe('the last representable day', () => {
  test('is accepted as the end of a consent and of a trial', async () => {
    const ever = '9999-12-31';
    const parent = await parentWith({ schedule: 'P999Y', validUntil: ever, trialEnd: ever });
    expect((await read(parent, 'recurring')).body).toMatchObject({
      mayCharge: true,
      terms: { validUntil: ever, trialEnd: ever },
    });
    expect(await noticesUntil(parent, '2026-02-19T10:00:00Z')).toEqual([]);
    expect(await recurring.charged(parent, 100, { by: merchant })).toBe('captured');
    expect((await read(parent, 'receipt')).body.text).toContain('until 9999-12-31');
  });
});

describe('a shop setting can require', () => {
  test('a consent for each saved card', async () => {
    await set({ requireConsentEvidence: true });
    const { answer } = await startPayment({ schedule: 'P1M' });
    expect(answer).toMatchObject({ status: 400, body: { code: 'operationNotPermitted' } });
    expect((await startPayment(agreed)).answer.status).toBe(201);
  });

  test('an API key for recurring charges', async () => {
    await set({ needsApiKey: true });
    const parent = await parentWith();
    const invoice = await recurring.invoice(100, {}, merchant);
    const body = { payer: { payerType: 'RecurrentPayer', recurrentParentPayment: parent, contactInfo: {} } };
    const url = `${invoicesUrl}/${invoice.id}/payments`;
    const byToken = await world.service.call('POST', url, { token: invoice.token, body });
    expect(byToken).toMatchObject({ status: 400, body: { code: 'operationNotPermitted' } });
    await set({});
    expect((await world.service.call('POST', url, { token: invoice.token, body })).status).toBe(201);
    await world.service.jobs.whenIdle();
  });

  test('at most six months between charges', async () => {
    const parent = await parentWith();
    world.service.clock.set(Date.parse('2026-07-20T12:00:00Z'));
    await set({ enforceMaxGap: true });
    expect(await charge(parent)).toMatchObject({ body: { code: 'recurrentParentStale' } });
    await set({});
    expect(await charge(parent)).toMatchObject({ status: 201, body: { warnings: ['recurrentGapExceeded'] } });
    await world.service.jobs.whenIdle();
  });
});

describe('withdrawing', () => {
  test('by the merchant takes effect immediately, and a repeat changes nothing', async () => {
    const parent = await parentWith();
    expect((await withdraw(parent)).status).toBe(204);
    expect(await charge(parent)).toMatchObject({ status: 400, body: { code: 'recurrentConsentRevoked' } });
    expect((await withdraw(parent)).status).toBe(204);
    const withdrawals = (await changesOf(parent)).filter(
      ({ changeType }) => changeType === 'ConsentWithdrawn',
    );
    expect(withdrawals).toEqual([
      { changeType: 'ConsentWithdrawn', by: 'merchant', reason: 'asked us by phone' },
    ]);
  });

  test('by the payer needs one button and no script, and opening the link changes nothing', async () => {
    const parent = await parentWith();
    const { text } = (await read(parent, 'receipt')).body;
    const link = new URL(/open (\S+)/.exec(text)![1]!).pathname;
    const page = await world.service.call('GET', link);
    expect(page).toMatchObject({ status: 200, text: expect.stringContaining('<form method="post">') });
    expect(page.text).not.toContain('<script');
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    expect(await recurring.charged(parent, 100, { by: merchant })).toBe('captured');

    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    for (const _ of ['once', 'again']) {
      const ended = await world.service.call('POST', link, { headers, body: '' });
      expect(ended).toMatchObject({ status: 303, headers: { location: '?' } });
      expect((await world.service.call('GET', link)).text).toContain('Ended');
    }
    expect(await charge(parent)).toMatchObject({ status: 400, body: { code: 'recurrentConsentRevoked' } });
    const withdrawals = (await changesOf(parent)).filter(
      ({ changeType }) => changeType === 'ConsentWithdrawn',
    );
    expect(withdrawals).toEqual([{ changeType: 'ConsentWithdrawn', by: 'payer' }]);
  });

  test('by the payer after the consent has ended shows that it has ended and changes nothing', async () => {
    const parent = await parentWith({ schedule: 'P1M', validUntil: '2026-02-28' });
    const { text } = (await read(parent, 'receipt')).body;
    const link = new URL(/open (\S+)/.exec(text)![1]!).pathname;
    await withdraw(parent);
    world.service.clock.set(Date.UTC(2026, 5, 1));
    for (const before of ['GET', 'POST'] as const) {
      await world.service.call(before, link);
      const page = await world.service.call('GET', link);
      expect(page).toMatchObject({ status: 200, text: expect.stringContaining('Ended') });
      expect(page.text).not.toContain('<form');
    }
    const types = (await changesOf(parent)).map(({ changeType }) => changeType);
    expect(types.filter((type) => type === 'ConsentWithdrawn')).toHaveLength(1);
  });

  test('by the payer is in the language of the browser, whatever that of the receipt is', async () => {
    await set({ language: 'en' });
    const parent = await parentWith();
    const { text } = (await read(parent, 'receipt')).body;
    const link = new URL(/open (\S+)/.exec(text)![1]!).pathname;
    const headers = { 'accept-language': 'ru-RU,ru;q=0.9' };
    const question = await world.service.call('GET', link, { headers });
    expect(question.text).toContain('<html lang="ru"');
    expect(question.text).toContain('>Прекратить списания</button>');
    const { location } = (await world.service.call('POST', link, { headers })).headers;
    const ended = await world.service.call('GET', `${link}${String(location)}`, { headers });
    expect(ended.text).toContain('<html lang="ru"');
    const chosen = await world.service.call('POST', `${link}?locale=ru`);
    expect(chosen.headers).toMatchObject({ location: '?locale=ru' });
    expect(ended.text).toContain('4242, больше ничего не спишут');
    for (const page of [question, ended]) expect(shownText(page.text)).not.toMatch(/card|charge/i);
  });

  test('with an invalid link is refused in the language of the browser', async () => {
    const parent = await parentWith({ ...agreed, consent: { ...agreed.consent, locale: 'ru' } });
    const { text } = (await read(parent, 'receipt')).body;
    const cut = new URL(/откройте (\S+)/.exec(text)![1]!).pathname.slice(0, -2);
    for (const link of [cut, '/recurring/withdraw/nothing/at-all']) {
      for (const method of ['GET', 'POST'] as const) {
        const inRussian = await world.service.call(method, link, {
          headers: { 'accept-language': 'ru-RU,ru;q=0.9,en;q=0.8' },
        });
        expect(inRussian).toMatchObject({ status: 404, text: expect.stringContaining('Ссылка не найдена') });
        expect(inRussian.text).toContain('<html lang="ru"');
        const inEnglish = await world.service.call(method, link);
        expect(inEnglish).toMatchObject({ status: 404, text: expect.stringContaining('Link not found') });
        expect(inEnglish.text).toContain('<html lang="en"');
      }
    }
  });

  test('by the payer works after the consent has expired or the network has stopped the series', async () => {
    const ended = await parentWith({ schedule: 'P1M', validUntil: '2026-02-28' });
    const stopped = await parentWith();
    expect(await recurring.charged(stopped, declinedWith(41), { by: merchant })).toBe('failed');
    const links = await Promise.all(
      [ended, stopped].map(
        async (parent) => new URL(/open (\S+)/.exec((await read(parent, 'receipt')).body.text)![1]!).pathname,
      ),
    );
    world.service.clock.set(Date.UTC(2026, 5, 1));
    const said = ['Your agreement with TEST has run out.', 'The charges by TEST have stopped.'];
    for (const [index, link] of links.entries()) {
      for (const asked of ['', '?kept=true']) {
        const { text } = await world.service.call('GET', `${link}${asked}`);
        expect(text).toContain(said[index]);
        expect(text).not.toMatch(/may charge|will no longer/);
      }
      expect((await world.service.call('POST', link)).status).toBe(303);
    }
    for (const parent of [ended, stopped]) {
      expect((await read(parent, 'recurring')).body.status).toBe('withdrawn');
      expect(await charge(parent)).toMatchObject({ body: { code: 'recurrentConsentRevoked' } });
    }
  });

  test('by the payer needs neither the invoice nor the look of the shop', async () => {
    const parent = await parentWith();
    const { text } = (await read(parent, 'receipt')).body;
    const link = new URL(/open (\S+)/.exec(text)![1]!).pathname;
    await withoutTables(world.service, ['invoice', 'branding'], async () => {
      const question = await world.service.call('GET', link);
      expect(question).toMatchObject({ status: 200, text: expect.stringContaining('<form method="post">') });
      expect((await world.service.call('POST', link)).status).toBe(303);
      const ended = await world.service.call('GET', link);
      expect(ended).toMatchObject({ status: 200, text: expect.stringContaining('Ended') });
    });
  });

  test('by the payer leads to the page that says how it stands, also where the database fails', async () => {
    const parent = await parentWith();
    const { text } = (await read(parent, 'receipt')).body;
    const link = new URL(/open (\S+)/.exec(text)![1]!).pathname;
    await withoutTables(world.service, ['series'], async () => {
      expect((await world.service.call('POST', link)).status).toBe(303);
      expect((await world.service.call('GET', link)).text).toContain('One moment, please');
    });
    expect((await world.service.call('GET', link)).text).toContain('<form method="post">');
  });

  test('with a forged link is refused', async () => {
    const parent = await parentWith();
    const { text } = (await read(parent, 'receipt')).body;
    const link = new URL(/open (\S+)/.exec(text)![1]!).pathname;
    const wrong = link.slice(0, -1) + (link.endsWith('A') ? 'B' : 'A');
    const another = link.replace(parent.invoiceID, (await parentWith()).invoiceID);
    for (const each of [wrong, another, `${link}x`]) {
      expect((await world.service.call('POST', each)).status).toBe(404);
    }
    expect((await read(parent, 'recurring')).body.status).toBe('active');
  });
});

describe('the bundle', () => {
  test('contains the consent and every charge, without the card, and verifies', async () => {
    const parent = await parentWith(agreed);
    await recurring.charged(parent, 100, { by: merchant });
    await withdraw(parent);
    const { text, body } = await read(parent, 'recurring/consent');
    expect(verifyBundle(text)).toMatchObject({ ok: true });
    expect(verifyBundle(JSON.stringify(body, null, 2) + '\n')).toMatchObject({ ok: true });
    const [started] = body.entries[0].facts;
    expect(started.terms.mandate).toMatchObject({
      evidence: 'attestedByMerchant',
      consent: { text: agreed.consent.text, textHash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      payer: { ip: '127.0.0.1', fingerprint: 'a browser' },
      payment: { amountMinor: 6_000, currency: 'RUB', eci: '05', reference: expect.any(String) },
    });
    expect(body.entries.flatMap((entry: any) => entry.facts.map(({ type }: any) => type))).toEqual([
      'series_started',
      'recurring_charge_started',
      'recurring_charge_succeeded',
      'consent_withdrawn',
    ]);
    expect(text).not.toContain('v1.');
    expect(verifyBundle(text, ['A'.repeat(43)])).toEqual({
      ok: false,
      why: 'The bundle is sealed with another key.',
    });
  });

  test('with a change anywhere does not verify: all of 10,000 changes are detected', async () => {
    const parent = await parentWith(agreed);
    for (const amount of [100, insufficientFunds]) await recurring.charged(parent, amount, { by: merchant });
    const { text } = await read(parent, 'recurring/consent');
    let state = 7;
    const random = (below: number) => (state = (state * 48_271) % 2_147_483_647) % below;
    const characters = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ "{}[]:,-_.';
    const unfound: string[] = [];
    for (let each = 0; each < 10_000; each++) {
      const place = random(text.length);
      const character = characters[random(characters.length)]!;
      const [before, after] = [text.slice(0, place), text.slice(place)];
      const tampered = [
        before + character + after.slice(1),
        before + character + after,
        before + after.slice(1),
      ][each % 3]!;
      if (tampered !== text && verifyBundle(tampered).ok) unfound.push(`${place}: ${character}`);
    }
    expect(unfound).toEqual([]);
  });

  test('with entries rehashed, removed or reordered does not verify', async () => {
    const parent = await parentWith(agreed);
    await recurring.charged(parent, 100, { by: merchant });
    const { body } = await read(parent, 'recurring/consent');
    const { entries } = body;
    const changes = [
      { ...body, entries: entries.slice(1) },
      { ...body, entries: entries.slice(0, -1) },
      { ...body, entries: [entries[1], entries[0], ...entries.slice(2)] },
      { ...body, entries: [] },
      { ...body, shopId: 'ANOTHER' },
      { ...body, extra: true },
    ];
    for (const changed of changes) expect(verifyBundle(JSON.stringify(changed)).ok).toBe(false);
  });

  test('verifies before and after a key rotation, and so do revocation links', async () => {
    const parent = await parentWith(agreed);
    const linkOf = async (of: Parent) =>
      new URL(/open (\S+)/.exec((await read(of, 'receipt')).body.text)![1]!).pathname;
    const [before, linkBefore] = [(await read(parent, 'recurring/consent')).text, await linkOf(parent)];
    const keyVersion = await world.service.keyring.rotate('consent_seal');
    const [after, linkAfter] = [(await read(parent, 'recurring/consent')).text, await linkOf(parent)];
    const keys = await sealKeysOf(world.service.keyring);
    expect(keys.map((key) => key.keyVersion)).toEqual(
      Array.from({ length: keyVersion }, (_, place) => place + 1),
    );
    const [older, newest] = keys.slice(-2).map(({ publicKey }) => publicKey);
    expect([before, after].map((text) => JSON.parse(text).publicKey)).toEqual([older, newest]);
    for (const text of [before, after]) {
      expect(
        verifyBundle(
          text,
          keys.map(({ publicKey }) => publicKey),
        ),
      ).toMatchObject({ ok: true });
    }
    expect(verifyBundle(before, [newest!])).toMatchObject({ ok: false });

    expect(linkAfter).not.toBe(linkBefore);
    const [ofKeyVersion, secret] = linkBefore.split('/').at(-1)!.split('.');
    const withoutGeneration = linkBefore.replace(`/${ofKeyVersion}.${secret}`, `/${secret}`);
    const ofOtherKeyVersion = linkBefore.replace(`${ofKeyVersion}.${secret}`, `${keyVersion}.${secret}`);
    const unknown = linkBefore.replace(`${ofKeyVersion}.${secret}`, `${keyVersion + 1}.${secret}`);
    expect((await world.service.call('GET', ofOtherKeyVersion)).status).toBe(404);
    expect((await world.service.call('GET', unknown)).status).toBe(404);
    const links = [linkBefore, linkAfter, ...(ofKeyVersion === '1' ? [withoutGeneration] : [])];
    for (const link of links) expect((await world.service.call('GET', link)).status).toBe(200);
  });

  test('is not sealed if its log was changed', async () => {
    const parent = await parentWith(agreed);
    await world.service.testDatabase.database.withClient(async (client) => {
      await client.query('alter table event disable trigger event_is_append_only');
      await client.query(
        `update event set facts = replace(facts::text, '2026-12-31', '2027-12-31')::json where aggregate_id = $1`,
        [`${parent.invoiceID}.1`],
      );
      await client.query('alter table event enable trigger event_is_append_only');
    });
    expect((await read(parent, 'recurring/consent')).status).toBe(500);
  });
});

describe('the printable page', () => {
  test('shows what the bundle contains, in one file without scripts', async () => {
    const parent = await parentWith({
      ...agreed,
      trialEnd: '2026-02-28',
      amountAfterTrial: 49_900,
      firstChargeOn: '2026-03-01',
      charges: 10,
      consent: { ...agreed.consent, text: 'I agree <b>to be charged</b> & so on.' },
    });
    await recurring.charged(parent, 123_456, { by: merchant });
    await recurring.charged(parent, insufficientFunds, { by: merchant });
    await withdraw(parent);
    const { status, body } = await read(parent, 'recurring/consent/sheet');
    expect(status).toBe(200);
    const page: string = body.html;
    for (const said of [
      'every month',
      'until 2026-12-31',
      'up to RUB\u00a02,000.00',
      '2026-02-28',
      'RUB\u00a0499.00',
      '<th scope="row">First charge after the consent</th><td>2026-03-01</td>',
      '<th scope="row">Charges after the consent</th><td>10</td>',
      'I agree &#60;b&#62;to be charged&#60;/b&#62; &#38; so on.',
      'payer@example.com',
      '127.0.0.1',
      'RUB\u00a060.00',
      'RUB\u00a01,234.56',
      'visa •• 4242',
      'Charge approved',
      'Charge failed',
      'visa 51',
      'by the merchant: asked us by phone',
      'by the payer, 20',
    ]) {
      expect(page).toContain(said);
    }
    expect(page).not.toMatch(/<script|<link|<img|\son\w+=|http-equiv|url\(/i);
    expect(page).not.toContain('42424242');
    const bundle = (await read(parent, 'recurring/consent')).body;
    expect(page).toContain(bundle.publicKey);
    expect(page).toContain(bundle.entries.at(-1).hash);
  });

  test('is created by the command line from a valid bundle only', async () => {
    const parent = await parentWith(agreed);
    const { text } = await read(parent, 'recurring/consent');
    const folder = await mkdtemp(join(tmpdir(), 'mandate-consent-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, 'consent.json');
    await writeFile(file, text);
    const printed = await commandLine(['consent', 'print', file], {});
    expect(printed).toMatchObject({ code: 0, output: expect.stringContaining(agreed.consent.text) });
    await writeFile(file, text.replace('every month', 'every year'));
    const refused = await commandLine(['consent', 'print', file], {});
    expect(refused).toMatchObject({
      code: 1,
      output: '',
      errors: expect.stringContaining('is not a valid consent bundle'),
    });
  });
});

describe('advance notices', () => {
  test('announce the end of a trial seven days before', async () => {
    const parent = await parentWith({ schedule: 'P1M', trialEnd: '2026-02-28', amountAfterTrial: 49_900 });
    expect((await read(parent, 'recurring')).body.terms).toMatchObject({
      trialEnd: '2026-02-28',
      amountAfterTrial: 49_900,
    });
    expect((await read(parent, 'receipt')).body.text).toContain('Trial: until 2026-02-28, then RUB 499.00');
    expect(await noticesUntil(parent, '2026-03-10T00:00:00Z')).toEqual(['2026-02-21 trialEnding']);
    const changes = await changesOf(parent);
    expect(changes.at(-1)).toEqual({
      changeType: 'NoticeDue',
      notice: 'trialEnding',
      about: '2026-02-28T21:00:00.000000Z',
    });
  });

  test.each([
    ['P1Y', ['2026-07-05 gapNearing', '2027-01-05 rareChargeNearing']],
    ['P9M', ['2026-07-05 gapNearing', '2026-10-05 rareChargeNearing']],
    ['P27W', ['2026-07-05 gapNearing', '2026-07-13 rareChargeNearing']],
    ['P180D', ['2026-07-05 gapNearing']],
    ['P3M', ['2026-07-05 gapNearing']],
  ])('announce a rare charge, %s, fourteen days before', async (schedule, notices) => {
    expect(await noticesUntil(await parentWith({ schedule }), '2027-01-20T00:00:00Z')).toEqual(notices);
  });

  test('announce card expiry, a growing gap and the end of the consent once each', async () => {
    const parent = await parentWith({ schedule: 'P1M', validUntil: '2027-03-31' });
    const url = '/sandbox/clock';
    for (const now of ['2027-05-01T00:00:00Z', '2031-02-01T00:00:00Z']) {
      const moved = await world.service.call('POST', url, { token: merchant.apiKey, body: { now } });
      expect(moved.status).toBe(200);
    }
    expect(await webhookEventsOf(parent)).toEqual([
      '2026-07-05 gapNearing',
      '2027-03-17 consentEnding',
      '2027-03-28 consentEnding',
      '2027-03-31 consentEnded',
      '2030-11-02 cardExpiring',
      '2030-12-02 cardExpiring',
      '2030-12-25 cardExpiring',
    ]);
  });
});

test('announce the gap once after each charge', async () => {
  const parent = await parentWith({ schedule: 'P1M' });
  world.service.clock.set(Date.UTC(2026, 4, 31, 10));
  expect(await recurring.charged(parent, 100, { by: merchant })).toBe('captured');
  expect(await noticesUntil(parent, '2027-12-01T00:00:00Z')).toEqual(['2026-11-16 gapNearing']);
  // A failed charge does not count.
  const failing = insufficientFunds;
  expect(await recurring.charged(parent, failing, { by: merchant })).toBe('failed');
  expect(await noticesUntil(parent, '2028-01-01T00:00:00Z')).toEqual(['2026-11-16 gapNearing']);
  expect(await recurring.charged(parent, 100, { by: merchant })).toBe('captured');
  expect(await noticesUntil(parent, '2029-01-01T00:00:00Z')).toEqual([
    '2026-11-16 gapNearing',
    '2028-06-17 gapNearing',
  ]);
});

describe('the receipt', () => {
  test.each(['en', 'ru'])('in %s has the marker, the schedule and the lifetime', async (language) => {
    const parent = await parentWith(agreed);
    const made = await charge(parent, 123_456);
    await world.service.jobs.whenIdle();
    for (const payment of [parent, { invoiceID: made.body.invoiceID, paymentID: '1' }]) {
      const { status, body } = await read(payment, `receipt?language=${language}`);
      expect(status).toBe(200);
      for (const receipt of [body.text, body.html]) {
        expect(receipt).toContain('recurring transaction');
        expect(receipt).toMatch(/every month|каждый месяц/);
        expect(receipt).toContain('until 2026-12-31');
        expect(receipt).toContain('4242');
        expect(receipt).not.toContain('424242');
      }
    }
  });

  test('of each charge says which charges were agreed', async () => {
    const parent = await parentWith({ ...agreed, firstChargeOn: '2026-02-19', charges: 10 });
    const { body } = await charge(parent, 123_456);
    await world.service.jobs.whenIdle();
    for (const payment of [parent, { invoiceID: body.invoiceID, paymentID: '1' }])
      expect((await read(payment, 'receipt')).body.text).toContain('Agreed charges: 10, from 2026-02-19\n');
    const { terms } = (await read(parent, 'recurring')).body;
    expect(terms).toMatchObject({ firstChargeOn: '2026-02-19', charges: 10 });
  });

  test.each(['<monthly>', ' monthly'])('exists whatever terms were agreed, %j', async (schedule) => {
    const later = 'by the meter, <1000 from 2026-01-19 to 2027-01-18, +7 495 123-45-67';
    const amountRule = { kind: 'variable', text: later };
    const { status, body } = await read(await parentWith({ schedule, amountRule }), 'receipt');
    expect(status).toBe(200);
    expect(body.text).toContain(`Schedule: ${schedule.trim()}\n`);
    expect(body.text).toContain(`Later amounts: ${later}\n`);
    expect(body.html).toContain(escaped(later));
  });

  test('exists if the shop has a schedule that is no longer accepted', async () => {
    await set({ terms: { schedule: ' ' } });
    const { status, body } = await read(await parentWith(), 'receipt');
    expect(status).toBe(200);
    expect(body.text).toContain('Schedule: as agreed with the merchant\n');
  });

  test('exists only for captured recurring payments', async () => {
    const parent = await parentWith();
    const failed = await charge(parent, insufficientFunds);
    await world.service.jobs.whenIdle();
    expect((await read({ invoiceID: failed.body.invoiceID, paymentID: '1' }, 'receipt')).status).toBe(404);
    const { parent: plain } = await startPayment(undefined, { makeRecurrent: false });
    expect((await read(plain, 'receipt')).status).toBe(404);
  });
});

test('declines with the payer present count towards the limit of nine a day', async () => {
  const parent = await parentWith();
  for (let times = 0; times < 9; times++) {
    const invoice = await makeInvoice(world.service, merchant, {
      amount: insufficientFunds + times * 100_000,
    });
    const body = cardBody();
    const card = await world.service.call('POST', paymentResourcesUrl, { token: merchant.apiKey, body });
    const payer = {
      payerType: 'PaymentResourcePayer',
      paymentToolToken: card.body.paymentToolToken,
      contactInfo: {},
    };
    const url = `${invoicesUrl}/${invoice.id}/payments`;
    await world.service.call('POST', url, { token: merchant.apiKey, body: { payer } });
    await world.service.jobs.whenIdle();
  }
  expect(await charge(parent)).toMatchObject({
    body: {
      code: 'recurrentRetryLimitReached',
      rule: 'declinesOfCardIn24Hours',
      retryAfter: laterBy(world.service.clock.now() as Instant, day),
    },
  });
});
