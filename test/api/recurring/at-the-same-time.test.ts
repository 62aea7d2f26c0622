// A stop of the card, a renewal and the card's job at the same time, in an order that each test fixes.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { cardNeeds } from '../../../src/app/card-needs.ts';
import { runCardJob } from '../../../src/cards/worker.ts';
import type { BankResponse } from '../../../src/acquiring/domain/bank-port.ts';
import { laterBy } from '../../../src/clock.ts';
import type { Currency } from '../../../src/money.ts';
import { countWaiting, stayOpen } from '../../support/database/waiting.ts';
import { consentLinkWorld } from '../../support/worlds/consent-links.ts';
import { startCustomerWorld, type CustomerWorld } from '../../support/worlds/customer-world.ts';
import { invoicesUrl } from '../../support/worlds/invoices.ts';
import { recurringWorld, type Parent, type RecurringWorld } from '../../support/worlds/recurring.ts';

const challenged = '4012888888881881';
const minute = 60_000;
const day = 24 * 60 * minute;

let world: CustomerWorld;
let recurring: RecurringWorld;
let links: ReturnType<typeof consentLinkWorld>;

beforeAll(async () => {
  world = await startCustomerWorld();
  recurring = recurringWorld(world);
  links = consentLinkWorld(world);
});
afterAll(() => world.close());
// After the stops of the test before.
beforeEach(() => world.later(1_000));
afterEach(() => void vi.restoreAllMocks());

const urlOf = ({ invoiceID, paymentID }: Parent) =>
  `${invoicesUrl}/${invoiceID}/payments/${paymentID}/recurring`;
const ask = async (method: 'GET' | 'POST', url: string, body?: object) =>
  (await world.service.call(method, url, { token: world.merchant.apiKey, ...(body ? { body } : {}) })).body;
const changesOf = async (parent: Parent): Promise<string[]> =>
  (await ask('GET', `${urlOf(parent)}/events?limit=100`)).flatMap(({ changes }: any) =>
    changes.map(({ changeType }: any) => changeType),
  );

async function parentOf(recurrentTerms: object = {}): Promise<Parent> {
  const { id: invoiceID } = await recurring.invoice(4_200);
  const { token: paymentToolToken } = await world.tokenize(challenged, world.merchant.apiKey);
  const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
  await ask('POST', `${invoicesUrl}/${invoiceID}/payments`, { payer, makeRecurrent: true, recurrentTerms });
  await world.service.jobs.whenIdle();
  await world.authenticate({ id: invoiceID, token: world.merchant.apiKey }, 'confirm');
  return { invoiceID, paymentID: '1' };
}

async function handlesOf({ invoiceID }: Parent): Promise<{ token: string }[]> {
  const text = 'select card_token as token from series where series_id = $1';
  const { database } = world.service;
  return (await database.withClient((client) => client.query(text, [`${invoiceID}.1`]))).rows;
}

/** A final decline of the card with the payer present. The job of the series has not run yet. */
async function stopCard(parent: Parent, now = world.service.clock.now()): Promise<void> {
  const { database, charging } = world.service;
  const [handles] = await handlesOf(parent);
  const { partyId } = world.merchant;
  const amount = { minor: 100n, currency: 'RUB' as Currency };
  const payment = { invoiceId: `stop ${parent.invoiceID}`, paymentId: '1', partyId, shopId: 'TEST', amount };
  const answer: BankResponse & { outcome: 'declined' } = { outcome: 'declined', network: 'visa', code: '43' };
  await database.transaction((tx) =>
    charging.recordDecline(tx, { ...payment, livemode: false, token: String(handles?.token) }, answer, now),
  );
}

/** Resolves when it waits for the row of the series, however long it takes to come there. */
async function untilItWaits(work: Promise<unknown>): Promise<void> {
  let isOver = false;
  work.finally(() => (isOver = true)).catch(() => undefined);
  await world.service.database.withClient(async (client) => {
    while ((await client.query(countWaiting)).rows[0].count < 1) {
      if (isOver) throw new Error('nothing waited for the row of the series');
      await new Promise(setImmediate);
    }
  });
}

/** Renews, and does something else before the renewal is committed. */
function beforeCommitOfRenewal(alsoDo: () => Promise<void>): void {
  const { consents } = world.service;
  const { renew } = consents;
  vi.spyOn(consents, 'renew').mockImplementation(async (tx, ...given) => {
    const renewed = await renew(tx, ...given);
    await tx.run(stayOpen, {});
    await alsoDo();
    return renewed;
  });
}

async function agreedLink(parent: Parent) {
  const { seriesID } = await ask('GET', urlOf(parent));
  const link = await links.made(seriesID);
  await links.agree(link);
  return link;
}

describe('a stop of the card', () => {
  test('refuses a charge that was decided before it and not made yet', async () => {
    const parent = await parentOf();
    const { banks } = world.service;
    const { pausedUntil } = banks;
    vi.spyOn(banks, 'pausedUntil').mockImplementationOnce(async (...given) => {
      // The rules have allowed the charge, and its statement comes next.
      await stopCard(parent);
      return pausedUntil(...given);
    });
    expect(await recurring.charge(parent)).toMatchObject({
      status: 400,
      body: { code: 'recurrentStopped', rule: 'code 43' },
    });
    expect(await changesOf(parent)).toEqual(['SeriesStarted']);
  });

  test('stands against a renewal to which the payer agreed before it', async () => {
    const parent = await parentOf();
    const link = await agreedLink(parent);
    world.service.clock.advance(1_000);
    const { consents } = world.service;
    const { renew } = consents;
    vi.spyOn(consents, 'renew').mockImplementationOnce(async (tx, ...given) => {
      await tx.run(stayOpen, {});
      // The stop is committed, and the job of the series has not written it into its log.
      await stopCard(parent);
      return renew(tx, ...given);
    });
    await links.confirm(link);
    expect(await links.read(link)).toMatchObject({ status: 'open', error: { code: 'consent_revoked' } });
    expect(await changesOf(parent)).not.toContain('ConsentRenewed');
    await world.later(1);
    expect(await ask('GET', urlOf(parent))).toMatchObject({ status: 'stopped', mayCharge: false });
  });

  test('stands against a renewal that is written while it waits for the series', async () => {
    const parent = await parentOf();
    const link = await agreedLink(parent);
    world.service.clock.advance(1_000);
    const stoppedAt = world.service.clock.now();
    world.service.clock.advance(1_000);
    let stop: Promise<void> | undefined;
    beforeCommitOfRenewal(async () => {
      stop = stopCard(parent, stoppedAt);
      await untilItWaits(stop);
    });
    await links.confirm(link);
    await stop;
    expect(await links.read(link)).toMatchObject({ status: 'done' });
    expect(await ask('GET', urlOf(parent))).toMatchObject({ mayCharge: false });
    expect(await recurring.charge(parent)).toMatchObject({ body: { code: 'recurrentStopped' } });
    await world.later(1);
    expect((await changesOf(parent)).slice(-2)).toEqual(['ConsentRenewed', 'SeriesStopped']);
  });

  test('is lifted by a renewal to which the payer agreed after it', async () => {
    const parent = await parentOf();
    await stopCard(parent);
    world.service.clock.advance(1_000);
    const link = await agreedLink(parent);
    await links.confirm(link);
    expect(await links.read(link)).toMatchObject({ status: 'done' });
    expect(await recurring.charged(parent)).toBe('captured');
  });
});

test('the job of a card does not delete it while the consent is renewed', async () => {
  const { clock } = world.service;
  const today = laterBy(clock.now(), day).slice(0, 10);
  // Midnight in Moscow is at 21:00.
  clock.set(Date.parse(`${today}T19:00:00Z`));
  const parent = await parentOf({ validUntil: today });
  await world.later(120 * minute - 5_000);
  const link = await agreedLink(parent);
  // By the clock of the node with the job, the consent has ended.
  const ended = laterBy(clock.now(), 5_000);
  const text = 'select card_id from card where retained_for::text like $1';
  const { database, consents } = world.service;
  const { rows } = await database.withClient((client) => client.query(text, [`%${parent.invoiceID}%`]));
  let job: Promise<void> | undefined;
  beforeCommitOfRenewal(async () => {
    job = runCardJob(database, cardNeeds(consents), [rows[0].card_id], ended);
    await untilItWaits(job);
  });
  await links.confirm(link);
  await job;
  expect(await links.read(link)).toMatchObject({ status: 'done' });
  expect(await recurring.charged(parent)).toBe('captured');
});
