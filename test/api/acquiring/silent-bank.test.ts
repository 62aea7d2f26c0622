// A bank that accepts connections and says nothing: new payments avoid it, and what it may have received stays with it.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { BankRequest, Exchange, OpenLink } from '../../../src/acquiring/adapters/http/link.ts';
import { storeStop } from '../../../src/acquiring/exchange-log/store/watched-banks.ts';
import type { OperationProcessor } from '../../../src/sandbox/bank/operation-processor.ts';
import { openSimulatedBank, type SimulatedBank } from '../../../src/sandbox/bank/simulated-bank.ts';
import { openSender } from '../../../src/webhooks/delivery/http-sender.ts';
import { cardBody, paymentResourcesUrl } from '../../support/worlds/cards.ts';
import { invoicesUrl, makeInvoice } from '../../support/worlds/invoices.ts';
import { openPatientLink } from '../../support/bank/patient-link.ts';
import { startTestService, type Merchant, type TestService } from '../../support/service/test-service.ts';

const secret = 'a secret of the tests that is long enough';
const log = { warn: () => {} };
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const usual = { by: 'payer', currency: 'RUB', isHold: false, savesCard: false } as const;

let service: TestService;
let merchant: Merchant;
let banks: { first: SimulatedBank; second: SimulatedBank };
let names: { first: string; second: string };
let tests = 0;
const servers: Server[] = [];
/** The operations that a bank performed or refused, by invoice. */
const performed = new Map<string, string[]>();

/** What a link gives once its time is up. Here it is up at once, because no time is long enough for the others' answers. */
const noAnswer: Exchange = { kind: 'nothing', written: true, why: 'no answer within 30000 ms' };
/** The addresses of banks that read nothing about operations. */
const silent = new Set<string>();
/** What is lost of the next operation that is sent to a bank, by its address. */
const nextLost = new Map<string, 'message' | 'answer'>();

const openSilentLink: OpenLink = (origin, connectMs) => {
  const link = openPatientLink(origin, connectMs);
  return {
    ...link,
    async ask(request) {
      const lost = lossOf(origin, request);
      if (lost === 'message') return noAnswer;
      const exchange = await link.ask(request);
      return lost === 'answer' ? noAnswer : exchange;
    },
  };
};

function lossOf(origin: string, { method, target }: BankRequest): 'message' | 'answer' | undefined {
  if (silent.has(origin) && target.startsWith('/operations/')) return 'message';
  if (method !== 'PUT') return undefined;
  const lost = nextLost.get(origin);
  nextLost.delete(origin);
  return lost;
}

beforeAll(async () => {
  const network = { openLink: openSilentLink, openSender };
  service = await startTestService({}, undefined, undefined, network);
  const open = (name: string) =>
    openSimulatedBank({
      clock: service.clock,
      secret,
      log,
      employ: (processor) => listening(name, processor),
    });
  banks = { first: await open('first'), second: await open('second') };
});
afterAll(async () => {
  await service.close();
  await Promise.all([banks.first.stop(), banks.second.stop()]);
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});
beforeEach(async () => {
  tests += 1;
  names = { first: `FIRST_${tests}`, second: `SECOND_${tests}` };
  merchant = await service.createMerchant();
  const shop = { partyId: merchant.partyId, shopId: 'TEST', merchantId: 'M', descriptor: 'SHOP' };
  await service.banks.putBank({ id: names.first, url: banks.first.url, secret });
  await service.banks.putBank({ id: names.second, url: banks.second.url, secret });
  await service.banks.putTerminal({ ...shop, id: 'T1', bankId: names.first, priority: 1 });
  await service.banks.putTerminal({ ...shop, id: 'T2', bankId: names.second, priority: 2 });
});

function listening(bank: string, processor: OperationProcessor): OperationProcessor {
  return {
    ...processor,
    perform(id, read) {
      const [invoiceId = ''] = id.split('.');
      performed.set(invoiceId, [...(performed.get(invoiceId) ?? []), `${bank} ${id.slice(-1)}`]);
      return processor.perform(id, read);
    },
  };
}

async function pay(): Promise<string> {
  const token = merchant.apiKey;
  const invoice = await makeInvoice(service, merchant);
  const card = await service.call('POST', paymentResourcesUrl, { token, body: cardBody() });
  const payer = {
    payerType: 'PaymentResourcePayer',
    paymentToolToken: card.body.paymentToolToken,
    contactInfo: {},
  };
  const made = await service.call('POST', `${invoicesUrl}/${invoice.id}/payments`, {
    token,
    body: { payer },
  });
  expect(made.status, made.text).toBe(201);
  await service.jobs.whenIdle();
  return invoice.id;
}

async function paymentOf(invoiceId: string): Promise<{ status: string; terminal: string }> {
  const { rows } = await service.database.withClient((client) =>
    client.query(
      `select status, terms -> 'terminal' ->> 'id' as terminal from payment where invoice_id = $1`,
      [invoiceId],
    ),
  );
  return rows[0];
}

async function runDue(): Promise<void> {
  service.jobs.wake();
  await service.jobs.whenIdle();
}

const hang = ({ url }: SimulatedBank) => silent.add(url);
const speak = ({ url }: SimulatedBank) => silent.delete(url);
const isAway = () => service.banks.away().find(({ bankId }) => bankId === names.first);

test('a payment an hour: after three silent ones the next goes to the other bank, and those before do not move', async () => {
  hang(banks.first);
  // Only the jobs of new payments run, as if each had its own node.
  const silent = [await pay()];
  for (let hour = 0; hour < 2; hour++) {
    await service.database.withClient((client) =>
      client.query('update payment set wake_at = null where invoice_id = any($1)', [silent]),
    );
    service.clock.advance(hourMs);
    silent.push(await pay());
  }
  expect(isAway()).toMatchObject({ because: 'silent' });
  service.clock.advance(hourMs);
  const next = await pay();
  expect(await paymentOf(next)).toEqual({ status: 'captured', terminal: 'T2' });
  for (const id of silent)
    expect(await paymentOf(id)).toMatchObject({
      status: expect.stringMatching(/authorising|reversing/),
      terminal: 'T1',
    });
  speak(banks.first);
});

test('one silent payment and its inquiries are enough, and a metric and the readiness say since when', async () => {
  hang(banks.first);
  const silent = await pay();
  for (let times = 0; times < 2; times++) {
    service.clock.advance(4_000);
    await runDue();
  }
  expect(isAway()).toMatchObject({ because: 'silent' });
  service.clock.advance(5_000);
  expect(await paymentOf(await pay())).toEqual({ status: 'captured', terminal: 'T2' });
  const { text } = await service.call('GET', '/metrics');
  expect(text).toContain(`mandate_bank_away_seconds{bank="${names.first}"} 5`);
  const ready = await service.call('GET', '/health/ready');
  expect(ready.status).toBe(200);
  const warning = expect.stringMatching(`^bank ${names.first} is away since .*Z \\(silent\\)$`);
  expect(ready.body.warnings).toContainEqual(warning);

  // It stays with its bank, which has never received it, and is then done there once.
  expect(await paymentOf(silent)).toEqual({ status: 'authorising', terminal: 'T1' });
  speak(banks.first);
  service.clock.advance(8_000);
  await runDue();
  expect(await paymentOf(silent)).toEqual({ status: 'captured', terminal: 'T1' });
  expect(performed.get(silent)).toEqual(['first a']);
});

test('a probe changes nothing at the bank; once it is answered, one payment finds out whether the bank is back', async () => {
  hang(banks.first);
  for (let times = 0; times < 3; times++) await pay();
  const before = [...performed];
  await service.banks.probe();
  expect(await paymentOf(await pay()), 'the probe was not answered').toMatchObject({ terminal: 'T2' });
  speak(banks.first);
  await service.banks.probe();
  expect([...performed].filter(([, by]) => by.some((name) => name.startsWith('first')))).toEqual(
    before.filter(([, by]) => by.some((name) => name.startsWith('first'))),
  );
  expect(await paymentOf(await pay())).toEqual({ status: 'captured', terminal: 'T1' });
  expect(isAway()).toBeUndefined();
  const lines = service.logged.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.filter(({ level, bank }) => level === 'warn' && bank === names.first)).toEqual([
    expect.objectContaining({ msg: 'bank away', because: 'silent' }),
    expect.objectContaining({ msg: 'bank back', because: 'silent' }),
  ]);
  // Three payments waited for it, with a line of each for debugging alone.
  expect(lines.filter(({ level, err }) => level === 'warn' && err !== undefined)).toEqual([]);
});

test('a shop with one bank still uses it', async () => {
  const { partyId } = merchant;
  const only = { partyId, shopId: 'TEST_USD', merchantId: 'M', descriptor: 'SHOP', priority: 1 };
  await service.banks.putTerminal({ ...only, id: 'T3', bankId: names.first });
  hang(banks.first);
  for (let times = 0; times < 3; times++) await pay();
  expect(isAway()).toBeDefined();
  speak(banks.first);
  expect(await service.banks.terminalFor({ partyId, id: 'TEST_USD' }, usual)).toMatchObject({
    value: { id: 'T3' },
  });
});

test('an authorisation is not sent again later than three minutes after the payer paid', async () => {
  hang(banks.first);
  const silent = await pay();
  await runDue();
  speak(banks.first);
  service.clock.advance(3 * minuteMs);
  await runDue();
  expect(await paymentOf(silent)).toEqual({ status: 'failed', terminal: 'T1' });
  expect(new Set(performed.get(silent)), 'only taken back').toEqual(new Set(['first r']));
});

describe('a pending payment that is cancelled', () => {
  const cancel = (id: string) =>
    service.call('POST', `${invoicesUrl}/${id}/payments/1/cancel`, {
      token: merchant.apiKey,
      body: { reason: 'changed my mind' },
    });
  const capture = (id: string) =>
    service.call('POST', `${invoicesUrl}/${id}/payments/1/capture`, {
      token: merchant.apiKey,
      body: { reason: 'shipped' },
    });

  test('is reversed once the bank says that it was approved, and a repeat changes nothing', async () => {
    nextLost.set(banks.first.url, 'answer');
    const id = await pay();
    expect((await cancel(id)).status).toBe(202);
    expect((await cancel(id)).status).toBe(202);
    expect(await paymentOf(id)).toMatchObject({ status: 'authorising' });
    service.clock.advance(minuteMs);
    await runDue();
    expect(await paymentOf(id)).toMatchObject({ status: 'cancelled' });
    expect(performed.get(id)).toEqual(['first a', 'first r']);
    expect((await cancel(id)).body).toMatchObject({ code: 'invalidPaymentStatus' });
    expect((await capture(id)).body).toMatchObject({ code: 'invalidPaymentStatus' });
  });

  test('while the bank is being asked: its answer counts as it comes, and no capture slips in between', async () => {
    banks.first.faults.order({ kind: 'latency', curve: { shape: 'fixed', ms: 60 } });
    const token = merchant.apiKey;
    const invoice = await makeInvoice(service, merchant);
    const card = await service.call('POST', paymentResourcesUrl, { token, body: cardBody() });
    const payer = {
      payerType: 'PaymentResourcePayer',
      paymentToolToken: card.body.paymentToolToken,
      contactInfo: {},
    };
    const flow = { type: 'PaymentFlowHold', onHoldExpiration: 'cancel' };
    await service.call('POST', `${invoicesUrl}/${invoice.id}/payments`, { token, body: { payer, flow } });
    expect((await cancel(invoice.id)).status).toBe(202);
    await service.jobs.whenIdle();
    banks.first.faults.order({ kind: 'latency', curve: { shape: 'none' } });
    expect((await capture(invoice.id)).body).toMatchObject({ code: 'invalidPaymentStatus' });
    expect(await paymentOf(invoice.id)).toMatchObject({ status: 'cancelled' });
    expect(performed.get(invoice.id)).toEqual(['first a', 'first r']);
  });

  test('is not sent any more if the bank has never received it', async () => {
    nextLost.set(banks.first.url, 'message');
    const id = await pay();
    await cancel(id);
    service.clock.advance(minuteMs);
    await runDue();
    expect(await paymentOf(id)).toMatchObject({ status: 'failed' });
    expect(performed.get(id)).toEqual(['first r']);
  });
});

describe('a charge that carries network IDs', () => {
  async function bankThatDeclares(foreignNetworkIds: boolean): Promise<string> {
    const server = createServer((request, response) => {
      if (request.url !== '/abilities') return;
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ foreignNetworkIds }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
    const id = `DECLARES_${tests}_${foreignNetworkIds}`;
    await service.banks.putBank({
      id,
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      secret,
    });
    await (await service.banks.bankNamed(id))?.abilities();
    return id;
  }

  test.each([true, false])(
    'goes to another bank only if that declares foreignNetworkIds: %s',
    async (declares) => {
      const { partyId } = merchant;
      const shop = { partyId, shopId: 'TEST_EUR', merchantId: 'M', descriptor: 'SHOP' };
      const bankId = await bankThatDeclares(declares);
      await service.banks.putTerminal({ ...shop, id: 'T4', bankId: names.first, priority: 1 });
      await service.banks.putTerminal({ ...shop, id: 'T5', bankId, priority: 2 });
      const home = await service.banks.terminalFor({ partyId, id: 'TEST_EUR' }, usual);
      if (!home.ok) throw new Error('The shop has no terminal.');
      hang(banks.first);
      for (let times = 0; times < 3; times++) await pay();
      speak(banks.first);
      const now = service.clock.now();
      const other = declares ? { id: 'T5' } : undefined;
      const found = await service.banks.alternateTerminal(shop, { chargedAt: now, idsOf: home.value });
      expect(found && { id: found.id }).toEqual(other);
      const wanted = { by: 'merchant', currency: 'EUR', isHold: false, savesCard: false } as const;
      const charged = await service.banks.terminalOfCharge({ partyId, id: 'TEST_EUR' }, wanted, now);
      expect(charged).toMatchObject({ value: { id: declares ? 'T5' : 'T4' } });
      expect((await service.banks.alternateTerminal(shop))?.id, 'with the payer').toBe('T5');
    },
  );

  test('goes to another bank when that of its terminal is stopped, which is not taken for away', async () => {
    const { partyId } = merchant;
    const shop = { partyId, shopId: 'TEST_EUR', merchantId: 'M', descriptor: 'SHOP' };
    await service.banks.putTerminal({ ...shop, id: 'T4', bankId: names.first, priority: 1 });
    await service.banks.putTerminal({
      ...shop,
      id: 'T5',
      bankId: await bankThatDeclares(true),
      priority: 2,
    });
    await service.banks.putTerminal({ ...shop, shopId: 'TEST', id: 'T1', bankId: names.first, priority: 1 });
    await service.banks.putTerminal({ ...shop, shopId: 'TEST', id: 'T2', bankId: names.first, priority: 2 });
    await storeStop(service.database, names.first, 'test', service.clock.now());
    await service.banks.forget(names.first);
    const wanted = { by: 'merchant', currency: 'EUR', isHold: false, savesCard: false } as const;
    const charged = await service.banks.terminalOfCharge(
      { partyId, id: 'TEST_EUR' },
      wanted,
      service.clock.now(),
    );
    expect(charged).toMatchObject({ value: { id: 'T5' } });
    const bank = await service.banks.bankOf({ ...shop, id: 'T4', bankId: names.first });
    const { outcome } = await bank.send({
      kind: 'reverse',
      operationId: 'never.1.r',
      originalOperationId: 'never.1.a',
      terminal: { ...shop, id: 'T4', bankId: names.first },
    });
    expect(outcome).toBe('notSent');
    expect(service.banks.away().map(({ bankId }) => bankId)).not.toContain(names.first);
  });
});
