// A shop with two banks, one of them unreachable: payments go to the other, except one that may have reached the first.
import { bankOfVersion1 } from '../../support/bank/bank-of-version-1.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Bank, BankResponse, BankOperation } from '../../../src/acquiring/domain/bank-port.ts';
import { everyInvariant } from '../../../src/app/composition/invariants.ts';
import { laterBy } from '../../../src/clock.ts';
import { checkLedger } from '../../../src/platform/ledger/check-ledger.ts';
import { openSimulatedBank, type SimulatedBank } from '../../../src/sandbox/bank/simulated-bank.ts';
import type { OperationProcessor } from '../../../src/sandbox/bank/operation-processor.ts';
import { runPaymentJob, type PaymentJobDeps } from '../../../src/payments/worker.ts';
import { deleteBank } from '../../../src/acquiring/store/banks.ts';
import { statement } from '../../../src/platform/database/statement.ts';
import { cardBody, paymentResourcesUrl } from '../../support/worlds/cards.ts';
import { invoicesUrl, makeInvoice, type CreatedInvoice } from '../../support/worlds/invoices.ts';
import { startTestService, type Merchant, type TestService } from '../../support/service/test-service.ts';

const secret = 'a secret of the tests that is long enough';
const log = { warn: () => {} };
const first = { id: 'T1', bankId: 'A', merchantId: 'M1', descriptor: 'SHOP' };
const second = { id: 'T2', bankId: 'B', merchantId: 'M2', descriptor: 'SHOP' };
/** A terminal at any bank of the test. */
const at = (terminal: typeof first) => ({ ...terminal, bankId: expect.any(String) });

let service: TestService;
let merchant: Merchant;
/** A node of its own for each test, with its own bank health. */
let names: { first: string; second: string };
let banks: { first: SimulatedBank; second: SimulatedBank };
let tests = 0;

beforeAll(async () => {
  service = await startTestService();
  const open = () => openSimulatedBank({ clock: service.clock, secret, log, employ: listening });
  banks = { first: await open(), second: await open() };
});
afterAll(async () => {
  await service.close();
  await Promise.all([banks.first.stop(), banks.second.stop()]);
});
beforeEach(async () => {
  tests += 1;
  names = { first: `FIRST_${tests}`, second: `SECOND_${tests}` };
  merchant = await service.createMerchant();
  await service.banks.putBank({ id: names.first, url: banks.first.url, secret });
  await service.banks.putBank({ id: names.second, url: banks.second.url, secret });
  const shop = { partyId: merchant.partyId, shopId: 'TEST' };
  await service.banks.putTerminal({ ...shop, ...first, bankId: names.first, priority: 1 });
  await service.banks.putTerminal({ ...shop, ...second, bankId: names.second, priority: 2 });
});

/** The security codes that reached a bank, by invoice; empty if a message had none. */
const codes = new Map<string, string[]>();
function listening(processor: OperationProcessor): OperationProcessor {
  return {
    ...processor,
    perform(id, read) {
      const [invoiceId = ''] = id.split('.');
      if ('message' in read && read.message.kind === 'authorise') {
        const code = read.message.card.securityCode ?? '';
        codes.set(invoiceId, [...(codes.get(invoiceId) ?? []), code]);
      }
      return processor.perform(id, read);
    },
  };
}

async function pay(on: TestService = service, by = merchant): Promise<CreatedInvoice> {
  const token = by.apiKey;
  const invoice = await makeInvoice(on, by);
  const card = await on.call('POST', paymentResourcesUrl, { token, body: cardBody() });
  const payer = {
    payerType: 'PaymentResourcePayer',
    paymentToolToken: card.body.paymentToolToken,
    contactInfo: {},
  };
  const body = { payer, metadata: { z: 1, a: [2, 1.5] } };
  const made = await on.call('POST', `${invoicesUrl}/${invoice.id}/payments`, { token, body });
  expect(made.status, made.text).toBe(201);
  return invoice;
}

async function settled(): Promise<CreatedInvoice> {
  const invoice = await pay();
  await service.jobs.whenIdle();
  return invoice;
}

async function paymentOf(invoice: CreatedInvoice, on = service) {
  const { rows } = await on.database.withClient((client) =>
    client.query(
      'select status, version, terms, attempts, wake_at, stuck_at from payment where invoice_id = $1',
      [invoice.id],
    ),
  );
  return rows[0];
}

async function factsOf(invoice: CreatedInvoice, on = service): Promise<any[]> {
  const { rows } = await on.database.withClient((client) =>
    client.query('select facts from event where aggregate_id = $1 order by sequence', [invoice.id]),
  );
  return rows.flatMap((row) => row.facts);
}
const typesOf = (facts: any[]) => facts.map(({ type }) => type);

/** No server listens there. A port that the kernel gave could be given again. */
const nowhere = 'http://127.0.0.1:9';
const takeAway = (id: string) => service.banks.putBank({ id, url: nowhere, secret });

describe('when the first bank is unreachable', () => {
  test('a payment goes to the second bank once, with the same terms', async () => {
    await takeAway(names.first);
    const invoice = await settled();
    const { status, terms } = await paymentOf(invoice);
    expect([status, terms.terminal]).toEqual(['captured', at(second)]);
    expect(codes.get(invoice.id), 'the security code had not been sent before').toEqual(['123']);
    const facts = await factsOf(invoice);
    expect(typesOf(facts)).toEqual([
      'invoice_created',
      'payment_started',
      'payment_rerouted',
      'payment_processed',
      'payment_captured',
      'invoice_paid',
    ]);
    expect(facts[2]).toEqual({
      type: 'payment_rerouted',
      terminal: at(second),
      why: 'ECONNREFUSED',
      paymentId: '1',
    });
    const token = merchant.apiKey;
    const { text } = await service.call('GET', `${invoicesUrl}/${invoice.id}/payments/1`, { token });
    expect(text, 'the metadata is unchanged').toContain('"metadata":{"z":1,"a":[2,1.5]}');
    const events = await service.call('GET', `${invoicesUrl}/${invoice.id}/events?limit=100`, { token });
    expect(events.text, 'merchants do not see the bank').not.toContain('erout');
  });

  test('the next payments go there directly, until one probes the first bank and finds it back', async () => {
    await takeAway(names.first);
    await settled();
    const direct = await settled();
    expect((await paymentOf(direct)).terms.terminal).toEqual(at(second));
    expect(typesOf(await factsOf(direct))).not.toContain('payment_rerouted');

    service.clock.advance(10_000);
    const tried = await settled();
    expect(typesOf(await factsOf(tried)), 'the bank is still unreachable').toContain('payment_rerouted');
    await service.banks.putBank({ id: names.first, url: banks.first.url, secret });
    service.clock.advance(10_000);
    for (const times of [1, 2]) {
      const back = await settled();
      expect((await paymentOf(back)).terms.terminal, `payment ${times} after the bank is back`).toEqual(
        at(first),
      );
    }
  });

  test('and the second too, the payment waits at its bank and is queried before it is sent', async () => {
    await takeAway(names.first);
    await takeAway(names.second);
    const invoice = await settled();
    const { status, terms } = await paymentOf(invoice);
    expect([status, terms.terminal]).toEqual(['authorising', at(second)]);
    await service.banks.putBank({ id: names.second, url: banks.second.url, secret });
    await service.banks.putBank({ id: names.first, url: banks.first.url, secret });
    service.clock.advance(60_000);
    service.jobs.wake();
    await service.jobs.whenIdle();
    expect((await paymentOf(invoice)).status).toBe('captured');
    expect(codes.get(invoice.id), 'the security code had never been sent').toEqual(['123']);
  });

  test('a payment does not move to a removed terminal or to another terminal of the same bank', async () => {
    const shop = { partyId: merchant.partyId, shopId: 'TEST' };
    await service.banks.putTerminal({ ...shop, ...first, id: 'T1B', bankId: names.first, priority: 1 });
    await service.database.withClient((client) =>
      client.query(`update terminal set retired_at = now() where terminal_id = 'T2' and party_id = $1`, [
        merchant.partyId,
      ]),
    );
    await service.banks.putTerminal({ ...shop, ...first, id: 'T1', bankId: names.first, priority: 1 });
    await takeAway(names.first);
    const invoice = await settled();
    expect((await paymentOf(invoice)).terms.terminal.id).toBe('T1');
    expect(typesOf(await factsOf(invoice))).toEqual(['invoice_created', 'payment_started']);
  });
});

describe('payouts', () => {
  test('avoid an unreachable bank, and a refused payout does not use up the probe', async () => {
    const { partyId, apiKey: token } = merchant;
    const put = (id: string, bankId: string, priority: number) =>
      service.banks.putPayoutTerminal({ ...first, id, bankId, partyId, priority });
    await put('PAYS1', names.first, 1);
    await put('PAYS2', names.second, 2);
    const made = async (path: string, body: object) =>
      (await service.call('POST', path, { token, body })).body;
    const named = { name: 'A', provider: 'test', class: 'person' };
    const { id: identity } = await made('/wallet/v0/identities', named);
    const { id: wallet } = await made('/wallet/v0/wallets', { name: 'W', identity, currency: 'RUB' });
    const card = { type: 'BankCard', cardNumber: '4242424242424242', expDate: '12/30' };
    const { token: stored } = await made('/payres/v0/bank-cards', card);
    const resource = { type: 'BankCardDestinationResource', token: stored };
    const of = { name: 'D', identity, currency: 'RUB', resource };
    const { id: destination } = await made('/wallet/v0/destinations', of);
    await service.jobs.whenIdle();
    const withdraw = async (currency = 'RUB') => {
      const { id } = await made('/wallet/v0/withdrawals', {
        wallet,
        destination,
        body: { amount: 1_000, currency },
      });
      await service.jobs.whenIdle();
      const { rows } = await service.database.withClient((client) =>
        client.query(
          `select status, terms -> 'route' ->> 'bankId' as bank from withdrawal where withdrawal_id = $1`,
          [id],
        ),
      );
      return rows[0];
    };
    expect(await withdraw()).toEqual({ status: 'succeeded', bank: names.first });
    const moves = () => service.logged.filter((line) => line.includes('payout moved')).length;

    await takeAway(names.first);
    // One payout finds it out and moves on.
    expect(await withdraw()).toEqual({ status: 'succeeded', bank: names.second });
    expect(moves()).toBe(1);
    expect(await withdraw()).toEqual({ status: 'succeeded', bank: names.second });
    expect(moves(), 'the next one knows').toBe(1);
    await service.banks.putBank({ id: names.first, url: banks.first.url, secret });
    service.clock.advance(10_000);
    expect(await withdraw('USD'), 'refused').toBeUndefined();
    expect(await withdraw()).toEqual({ status: 'succeeded', bank: names.first });

    const order = (kind: string) => banks.first.faults.order({ kind, next: 1, operationKind: 'payout' });
    order('not-done');
    expect(await withdraw(), 'the first send was answered notDone').toEqual({
      status: 'succeeded',
      bank: names.second,
    });
    expect(await foundWithoutEndOfMove(), 'as 0.2.0 ends a payout that has moved').toContain('W1');
    for (const kind of ['reset-before-booking', 'error-before-booking', 'reset-after-booking']) {
      order(kind);
      expect(await withdraw(), kind).toEqual({ status: 'sending', bank: names.first });
    }
    // The bank has never received two of them, and says so. That is no proof: they stay there, and are not sent again.
    for (let times = 0; times < 3; times++) {
      service.clock.advance(60_000);
      service.jobs.wake();
      await service.jobs.whenIdle();
    }
    const { rows } = await service.database.withClient((client) =>
      client.query(
        `select status, terms -> 'route' ->> 'bankId' as bank, count(*)::int from withdrawal where party_id = $1
         group by 1, 2 order by 2, 1`,
        [partyId],
      ),
    );
    expect(rows).toEqual([
      { status: 'sending', bank: names.first, count: 2 },
      { status: 'succeeded', bank: names.first, count: 3 },
      { status: 'succeeded', bank: names.second, count: 3 },
    ]);
    const findings = await checkLedger(service.database, 'all', everyInvariant);
    expect(findings.filter(({ violations }) => violations > 0n)).toEqual([]);
  });
});

describe('a payment stays with the first bank when the bank', () => {
  test.each(['reset-before-booking', 'reset-after-booking', 'not-done', 'too-many-requests'])(
    'may have received it: %s',
    async (kind) => {
      banks.first.faults.order({ kind, next: 1, operationKind: 'authorise' });
      const invoice = await settled();
      expect(await paymentOf(invoice)).toMatchObject({
        status: 'authorising',
        terms: { terminal: at(first) },
      });
      service.clock.advance(60_000);
      service.jobs.wake();
      await service.jobs.whenIdle();
      expect(await paymentOf(invoice)).toMatchObject({ status: 'captured', terms: { terminal: at(first) } });
      // If the bank had done it already, nothing was sent again.
      expect(codes.get(invoice.id), 'the security code is sent only once').toEqual([
        kind === 'reset-after-booking' ? '123' : '',
      ]);
    },
  );
});

test('a refused request does not use up the probe of a bank', async () => {
  const token = merchant.apiKey;
  await takeAway(names.first);
  const paid = await settled();
  await service.banks.putBank({ id: names.first, url: banks.first.url, secret });
  service.clock.advance(10_000);
  const card = await service.call('POST', paymentResourcesUrl, { token, body: cardBody() });
  const payer = {
    payerType: 'PaymentResourcePayer',
    paymentToolToken: card.body.paymentToolToken,
    contactInfo: {},
  };
  const refused = await service.call('POST', `${invoicesUrl}/${paid.id}/payments`, {
    token,
    body: { payer },
  });
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalidInvoiceStatus' } });
  expect((await paymentOf(await settled())).terms.terminal).toEqual(at(first));
});

test('a bank with a payout terminal cannot be removed, and a payout terminal keeps its bank', async () => {
  await service.banks.putBank({ id: 'PAYS_OUT', url: banks.first.url, secret });
  const terminal = { ...first, id: 'P1', partyId: merchant.partyId, priority: 1 };
  await service.banks.putPayoutTerminal({ ...terminal, bankId: 'PAYS_OUT' });
  const [kept] = await service.database.run(deleteBank, { bank_id: 'PAYS_OUT' });
  expect(kept).toMatchObject({ is_deleted: false, terminals: 1n });
  await service.banks.putPayoutTerminal({ ...terminal, bankId: names.first });
  const { rows } = await service.database.withClient((client) =>
    client.query('select bank_id from payout_terminal where terminal_id = $1', ['P1']),
  );
  expect(rows).toEqual([{ bank_id: 'PAYS_OUT' }]);
});

test('a payer who reloads the return page cannot make the payment stuck', async () => {
  const token = merchant.apiKey;
  const invoice = await makeInvoice(service, merchant);
  const body = cardBody({ cardNumber: '4012888888881881' });
  const card = await service.call('POST', paymentResourcesUrl, { token, body });
  const payer = {
    payerType: 'PaymentResourcePayer',
    paymentToolToken: card.body.paymentToolToken,
    contactInfo: {},
  };
  await service.call('POST', `${invoicesUrl}/${invoice.id}/payments`, { token, body: { payer } });
  await service.jobs.whenIdle();
  await takeAway(names.first);
  for (let visit = 0; visit < 20; visit++) {
    await service.call('GET', `/payer/return/${invoice.id}/1`);
    await service.jobs.whenIdle();
  }
  expect(await paymentOf(invoice)).toMatchObject({ status: 'challenged', stuck_at: null });
  await service.banks.putBank({ id: names.first, url: banks.first.url, secret });
  service.clock.advance(3 * 3_600_000);
  service.jobs.wake();
  await service.jobs.whenIdle();
  expect(await paymentOf(invoice)).toMatchObject({ status: 'failed' });
});

describe('a job', () => {
  const away: BankResponse = { outcome: 'notSent', why: 'ECONNREFUSED', noBytesSent: true };
  const approved: BankResponse = { outcome: 'approved', reference: '900000000001' };
  const lost: BankResponse = { outcome: 'unknown', why: 'ECONNRESET' };
  let still: TestService;
  let his: Merchant;

  beforeAll(async () => {
    still = await startTestService();
    // Payments are created and claimed, and no job runner runs them.
    await still.jobs.stop();
    his = await still.createMerchant();
    await still.banks.putBank({ id: 'A', url: 'https://a.example', secret });
    await still.banks.putTerminal({
      ...first,
      partyId: his.partyId,
      shopId: 'TEST',
      bankId: 'A',
      priority: 1,
    });
  });
  afterAll(() => still.close());

  type Sent = { terminal: string; asked: string };
  function toolsWith(answer: (operation: BankOperation) => BankResponse | Promise<BankResponse>) {
    const asked: Sent[] = [];
    const bank: Bank = {
      ...bankOfVersion1,
      async send(operation) {
        asked.push({ terminal: operation.terminal.id, asked: operation.kind });
        return answer(operation);
      },
      async inquire({ terminal }) {
        asked.push({ terminal: terminal.id, asked: 'inquire' });
        return { outcome: 'notFound' };
      },
      stop: () => Promise.resolve(),
    };
    const tools: PaymentJobDeps = {
      db: still.database,
      nodeClock: still.clock,
      log: { error: () => {} },
      charging: still.charging,
      consents: still.consents,
      receipts: still.receipts,
      bankOf: () => Promise.resolve(bank),
      pauseTerminal: () => Promise.resolve(),
      heldMs: () => Promise.resolve(undefined),
      hearCharge: () => Promise.resolve(),
      isPaused: () => Promise.resolve(false),
      alternateTerminal: ({ terminal }) => Promise.resolve(terminal.id === 'T1' ? second : first),
      returnUrlOf: () => 'https://pay.example/return',
      wakeSubscription: () => Promise.resolve(),
      sendPayerEmail: () => {},
    };
    return { tools, asked };
  }
  const step = ({ tools }: ReturnType<typeof toolsWith>, invoice: CreatedInvoice, attempt: number) =>
    runPaymentJob(tools, { key: [invoice.id, '1'], clock: still.clock, attempt });

  test('that lost its claim to another node does not move the payment', async () => {
    const invoice = await pay(still, his);
    const tools = toolsWith(async () => {
      // The other node claims it after the lease has expired, and may be sending now.
      await still.database.withClient((client) =>
        client.query('update payment set attempts = attempts + 1 where invoice_id = $1', [invoice.id]),
      );
      return away;
    });
    await expect(step(tools, invoice, 1)).rejects.toThrow('ECONNREFUSED');
    expect(await paymentOf(invoice, still)).toMatchObject({ version: 1, terms: { terminal: first } });
    expect(tools.asked).toEqual([{ terminal: 'T1', asked: 'authorise' }]);
  });

  test('that moves a payment claims it again, so that a later attempt is not the first', async () => {
    const invoice = await pay(still, his);
    still.clock.advance(30_000);
    const tools = toolsWith(({ terminal }) => (terminal.id === 'T1' ? away : lost));
    await expect(step(tools, invoice, 1)).rejects.toThrow('ECONNRESET');
    const payment = await paymentOf(invoice, still);
    expect(payment).toMatchObject({ version: 2, attempts: 1, terms: { terminal: second } });
    expect(payment.wake_at).toBe(laterBy(still.clock.now(), 60_000));

    // It may have reached the second bank, so it is queried there and never sent elsewhere.
    const later = toolsWith(() => approved);
    await step(later, invoice, 2);
    expect(later.asked).toEqual([
      { terminal: 'T2', asked: 'inquire' },
      { terminal: 'T2', asked: 'authorise' },
    ]);
  });

  test('that another node has taken over and finished does not move the payment', async () => {
    const invoice = await pay(still, his);
    const other = toolsWith(() => ({ outcome: 'pending' }));
    const tools = toolsWith(async () => {
      await still.database.withClient((client) =>
        client.query('update payment set attempts = attempts + 1 where invoice_id = $1', [invoice.id]),
      );
      await step(other, invoice, 2);
      return away;
    });
    await expect(step(tools, invoice, 1)).rejects.toThrow();
    expect(await paymentOf(invoice, still)).toMatchObject({ terms: { terminal: first } });
    expect(tools.asked.map(({ terminal }) => terminal)).toEqual(['T1']);
  });

  test('is not disturbed by a request to the return address before any challenge', async () => {
    const invoice = await pay(still, his);
    const before = await paymentOf(invoice, still);
    expect((await still.call('GET', `/payer/return/${invoice.id}/1`)).status).toBe(200);
    expect((await paymentOf(invoice, still)).wake_at).toEqual(before.wake_at);
  });

  test('of a later attempt stays, although that attempt sent nothing', async () => {
    const invoice = await pay(still, his);
    const tools = toolsWith(() => away);
    await expect(step(tools, invoice, 2)).rejects.toThrow('ECONNREFUSED');
    expect(await paymentOf(invoice, still)).toMatchObject({ version: 1, terms: { terminal: first } });
  });

  test('moves a limited number of times when one bank after the other is unreachable', async () => {
    const invoice = await pay(still, his);
    const tools = toolsWith(() => away);
    await step(tools, invoice, 1);
    expect(tools.asked.length).toBe(5);
    expect((await paymentOf(invoice, still)).attempts).toBe(1);
  });
});

const forgetTriggers = statement({
  name: 'test_disable_ledger_triggers',
  parameters: {},
  row: {},
  text: 'alter table ledger_transfer disable trigger user',
});
const forgetEndOfMove = statement({
  name: 'test_forget_end_of_move',
  parameters: {},
  row: {},
  text: `delete from ledger_transfer where step like 'moved%' and completes_pending`,
});

/** The checks that fail if the money of moves stays pending. */
async function foundWithoutEndOfMove(): Promise<string[]> {
  const undone = new Error('undone');
  let found: string[] = [];
  const { database } = service.testDatabase;
  const tried = database.transaction(async (tx) => {
    await tx.run(forgetTriggers, {});
    await tx.run(forgetEndOfMove, {});
    const findings = await checkLedger(tx, 'all', everyInvariant);
    found = findings.filter(({ violations }) => violations > 0n).map(({ id }) => id);
    throw undone;
  });
  await expect(tried).rejects.toBe(undone);
  return found;
}
