// mandate payments list and show: an operator finds a payment whose bank is silent, and reads why and what to do.
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { commandLine } from '../../../test/support/processes/command-line.ts';
import { waylay, type FaultyBank } from '../../../test/support/bank/faulty-bank.ts';
import { invoicesUrl, makeInvoice, type CreatedInvoice } from '../../../test/support/worlds/invoices.ts';
import { startPaymentWorld, type PaymentWorld } from '../../../test/support/worlds/payment-world.ts';

const card = '4242424242424242';
const silence = { lastFailure: 'OutcomeUnknown: message lost' };

let world: PaymentWorld;
let bank: FaultyBank;
beforeAll(async () => {
  world = await startPaymentWorld();
  // The commands use the clock of the machine. It stands still, because after ten seconds a job counts as late.
  vi.useFakeTimers({ toFake: ['Date'] });
  world.service.clock.set(Date.now());
  bank = waylay(world.service.banks);
});
afterAll(async () => {
  await world.close();
  vi.useRealTimers();
});
/** Every payment becomes final, so that no test lists those of another. */
afterEach(async () => {
  for (const kind of ['authorise', 'capture', 'refund', 'reverse', 'inquire'] as const)
    bank.always(kind, undefined);
  await sql(
    `update payment set wake_at = $1, stuck_at = null where wake_at is not null or stuck_at is not null`,
    ago(1_000),
  );
  world.service.clock.set(Date.now());
  await runJobs();
  if ((await waiting()).length > 0) throw new Error('A payment of this test still waits.');
});

const run = async (...args: string[]) => {
  const ended = await commandLine(['payments', ...args], {
    DATABASE_URL: world.service.testDatabase.url,
    MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  });
  expect(ended.output + ended.errors).not.toContain(card);
  return ended;
};
const waiting = async (...args: string[]) =>
  JSON.parse((await run('list', '--waiting', '--json', ...args)).output) as any[];
const show = async (...args: string[]) => {
  const { code, output, errors } = await run('show', ...args);
  expect({ code, errors }).toEqual({ code: 0, errors: '' });
  return output;
};
const details = async (id: string) => JSON.parse(await show(id, '--json'));
const ago = (ms: number) => new Date(Date.now() - ms);
const sql = (text: string, ...values: unknown[]) =>
  world.service.database.withClient((client) => client.query(text, values));

async function runJobs(): Promise<void> {
  world.service.jobs.wake();
  await world.service.jobs.whenIdle();
}

/** A payment with an outcome that only the bank knows. */
async function silent(): Promise<CreatedInvoice> {
  bank.always('authorise', 'message lost');
  bank.always('inquire', 'message lost');
  const invoice = await world.pay(card);
  await world.service.jobs.whenIdle();
  return invoice;
}

/** As the job runner leaves a payment after the last failure. */
async function getStuck({ id }: CreatedInvoice): Promise<void> {
  await sql(
    `update payment set wake_at = null, attempts = 15, stuck_at = now(), stuck_reason = 'OutcomeUnknown: message lost'
     where invoice_id = $1`,
    id,
  );
}

async function post(invoice: CreatedInvoice, path: string, body: object): Promise<void> {
  const url = `${invoicesUrl}/${invoice.id}/payments/1/${path}`;
  const { status, text } = await world.service.call('POST', url, { token: world.merchant.apiKey, body });
  expect(status, text).toBeLessThan(300);
  await world.service.jobs.whenIdle();
}

describe('a payment whose outcome is unknown', () => {
  test('is listed from the first request that the bank does not answer', async () => {
    const invoice = await silent();
    expect(await waiting()).toEqual([
      expect.objectContaining({
        ...silence,
        id: `${invoice.id}/1`,
        partyId: world.merchant.partyId,
        shopId: 'TEST',
        state: 'authorising',
        status: 'pending',
        bankId: 'BANK',
        attempts: 1,
        waitingSince: (await world.payment(invoice)).createdAt,
        nextTryAt: expect.any(String),
        stuckSince: null,
      }),
    ]);
    const shown = await show(invoice.id);
    expect(shown).toMatch(/tries +1 of 15\nlast failure +OutcomeUnknown: message lost\n/);
    expect(shown).toMatch(new RegExp(`${invoice.id}\\.1\\.a +charge .* UNKNOWN\n`));
    expect(shown).toMatch(new RegExp(`${invoice.id}\\.1\\.a +begun +[-T:\\d]{19} +[-T:\\d]{19}`));
    expect(shown).toContain('Mandate queries it automatically and does nothing twice.');
    expect(shown).toContain('Check the bank: mandate bank check BANK');
    expect(shown).toContain('visa, ends with 4242');
  });

  test('is shown with the words of the bank that declined it, and the reference there', async () => {
    const invoice = await world.paid('4000000000000002');
    expect(await show(invoice.id)).toMatch(/ visa 51, "Insufficient funds", reference 9\d{11}\n/);
    const { exchangeLog } = await details(invoice.id);
    expect(exchangeLog[0].answer).toMatchObject({ code: '51', text: 'Insufficient funds' });
  });

  test('is shown with the timeline that the merchant reads', async () => {
    const invoice = await world.paid('4000000000000002');
    const url = `${invoicesUrl}/${invoice.id}/payments/1/timeline`;
    const { body } = await world.service.call('GET', url, { token: world.merchant.apiKey });
    expect((await details(invoice.id)).timeline).toEqual(body);
    const [, lines = ''] = (await show(invoice.id)).split('\nTimeline\n');
    expect(lines.split('\n').slice(1, 1 + body.length)).toEqual(
      body.map(({ at, text }: any) =>
        expect.toSatisfy((line: string) => line.startsWith(`  ${at.slice(0, 19)}`) && line.endsWith(text)),
      ),
    );
  });

  test('is not listed once the bank has answered', async () => {
    const invoice = await silent();
    bank.always('inquire', undefined);
    bank.always('authorise', undefined);
    world.service.clock.advance(2_000);
    await runJobs();
    expect(await waiting()).toEqual([]);
    expect(await details(`${invoice.id}/1`)).toMatchObject({
      payment: { state: 'captured', waitingSince: null, lastFailure: null },
      exchanges: [{ operationId: `${invoice.id}.1.a`, outcome: 'approved', approval: expect.anything() }],
      exchangeLog: [{ operationId: `${invoice.id}.1.a`, state: 'approved', amountMinor: expect.any(Number) }],
      bankReports: [],
      nextSteps: ['Nothing: the payment is final.'],
    });
  });

  test('is shown with the reference of its bank, and with what the bank reported later', async () => {
    const invoice = await world.paid(card);
    await sql(
      `insert into exchange_note values ('BANK', 'update 9', $1 || '.1.a', 'captureFailed', '{"why":"it is late"}',
         'contradiction', now())`,
      invoice.id,
    );
    const shown = await show(invoice.id);
    expect(shown).toMatch(new RegExp(`${invoice.id}\\.1\\.a +approved .* reference [A-Za-z0-9]{12} SIM`));
    expect(shown).toMatch(/captureFailed .* contradiction: it is late\n/);
    expect(await details(`${invoice.id}/1`)).toMatchObject({ bankReports: [{ what: 'captureFailed' }] });
    await sql('delete from exchange_note where note_key = $1', 'update 9');
  });

  test('is listed while the bank answers that it has not finished, without the failure before', async () => {
    const invoice = await silent();
    bank.always('inquire', { outcome: 'pending' });
    world.service.clock.advance(2_000);
    await runJobs();
    expect(await waiting()).toMatchObject([{ id: `${invoice.id}/1`, lastFailure: null }]);
  });

  test('is listed when it is stuck, with the outcomes that an operator can record', async () => {
    const invoice = await silent();
    await getStuck(invoice);
    expect(await waiting()).toMatchObject([{ ...silence, stuckSince: expect.any(String), nextTryAt: null }]);
    const shown = await show(`${invoice.id}/1`);
    expect(shown).toContain(`mandate jobs retry payment ${invoice.id}/1\n`);
    expect(shown).toContain(`mandate payments resolve ${invoice.id} 1 --as failed --reason "…"\n`);
    expect(shown).not.toContain('--as captured');
  });

  test('is listed if no node runs its job, and what to do says so', async () => {
    // Without a callback, which would make this service run the job.
    const invoice = await world.pay(card, {}, { amount: 99_926 });
    await runJobs();
    await sql(
      `update payment set status = 'reversing', state = '{"failure":["timeout"]}', captured_minor = null,
         wake_at = $2, attempts = 0 where invoice_id = $1`,
      invoice.id,
      ago(60_000),
    );
    expect(await waiting()).toMatchObject([{ id: `${invoice.id}/1`, attempts: 0 }]);
    expect(await show(invoice.id)).toContain('Its job is due, and no node runs it.');
    await sql(
      `update payment set status = 'captured', state = '{"approval":{"reference":"1"},"refundsMade":0}',
         captured_minor = amount_minor, wake_at = null where invoice_id = $1`,
      invoice.id,
    );
  });

  test('is listed when the test clock of its merchant was moved', async () => {
    const invoice = await silent();
    // A merchant of its own: the service remembers the clock of the other for a second.
    await sql(`insert into test_clock (party_id, offset_ms) values ('AHEAD', $1)`, 30 * 24 * 3_600_000);
    const move = `update payment set party_id = $2, wake_at = wake_at + $3::interval where invoice_id = $1`;
    await sql(move, invoice.id, 'AHEAD', '30 days');
    expect(await waiting()).toMatchObject([{ ...silence, id: `${invoice.id}/1`, partyId: 'AHEAD' }]);
    await sql(move, invoice.id, world.merchant.partyId, '-30 days');
    await sql('delete from test_clock');
  });

  test('is listed when the bank stops answering while the payer confirms', async () => {
    const invoice = await world.pay('4012888888881881');
    await world.service.jobs.whenIdle();
    expect(await waiting()).toEqual([]);
    expect(await show(invoice.id)).toContain('the payer has to confirm at their bank, until');
    bank.always('inquire', 'message lost');
    world.service.clock.advance(16_000);
    await runJobs();
    expect(await waiting()).toMatchObject([{ ...silence, state: 'challenged' }]);
    bank.always('inquire', undefined);
    await world.authenticate(invoice, 'confirm');
    await runJobs();
  });
});

describe('an operation after the authorisation', () => {
  test('a capture is listed, and its operation shown', async () => {
    const invoice = await world.pay(card, { flow: { type: 'PaymentFlowHold' } });
    await world.service.jobs.whenIdle();
    expect(await waiting()).toEqual([]);
    expect(await show(invoice.id)).toContain('the merchant captures or cancels the hold, until');
    bank.always('capture', 'message lost');
    await post(invoice, 'capture', { reason: 'shipped' });
    expect(await waiting()).toMatchObject([{ ...silence, state: 'capturing', status: 'processed' }]);
    await getStuck(invoice);
    const shown = await show(`${invoice.id}.1.c`);
    expect(shown).toMatch(/\.1\.a +authorise .* approved, reference \w+\n.*\.1\.c +capture .* UNKNOWN\n/);
    expect(shown).toContain('--as captured');
    expect(shown).toContain('--as cancelled');
    expect(shown).not.toContain('payments release');
    bank.always('capture', undefined);
  });

  test('a refund is listed, and its operation shown', async () => {
    await world.paid(card);
    const invoice = await world.paid(card);
    bank.always('refund', 'message lost');
    await post(invoice, 'refunds', { reason: 'returned' });
    expect(await waiting()).toMatchObject([{ ...silence, state: 'refunding', status: 'captured' }]);
    expect(await show(invoice.id, '1')).toMatch(/\.1\.100 +refund .* UNKNOWN\n/);
    bank.always('refund', undefined);
  });
});

describe('the lists', () => {
  test('have the longest waiting first, up to a limit, of a merchant and shop', async () => {
    const first = await silent();
    world.service.clock.advance(5);
    const second = await silent();
    const ids = (rows: { id: string }[]) => rows.map(({ id }) => id);
    const all = [`${first.id}/1`, `${second.id}/1`];
    expect(ids(await waiting())).toEqual(all);
    expect(ids(await waiting('--limit', '1'))).toEqual(all.slice(0, 1));
    expect(ids(await waiting('--shop', 'TEST', '--party', world.merchant.partyId))).toEqual(all);
    expect(await waiting('--shop', 'TEST_USD')).toEqual([]);
    const { output } = await run('list', '--waiting', '--limit', '1');
    expect(output).toContain('There are more. List up to 1000 with --limit.');
    expect(output).toContain(`See why, and what to do, with "mandate payments show ${first.id}/1".`);
  });

  test('without --waiting have payments in every state, the newest first', async () => {
    await world.paid(card);
    await world.paid('4000000000000002');
    const { output } = await run('list', '--json');
    const rows = JSON.parse(output) as { id: string; state: string }[];
    expect(rows.map(({ id }) => id)).toEqual(
      rows
        .map(({ id }) => id)
        .toSorted()
        .toReversed(),
    );
    expect(rows.map(({ state }) => state)).toEqual(expect.arrayContaining(['captured', 'failed']));
    const all = rows.length;
    expect(JSON.parse((await run('list', '--json', '--limit', '2')).output)).toEqual(rows.slice(0, 2));
    expect(JSON.parse((await run('list', '--json', '--since', '1h', '--shop', 'TEST')).output)).toHaveLength(
      all,
    );
    const future = await run('list', '--since', '2099-01-01T00:00:00Z');
    expect(future.output).toBe(
      'No payment of an invoice created since 2099-01-01T00:00:00Z. List older ones with --since.\n',
    );
  });

  test.each([
    [['list', '--limit', '0'], '--limit is "0". Use a whole number from 1 to 1000.'],
    [['list', '--since', 'x'], '--since is "x". Use a date-time, or how long ago: 30m, 24h, 7d.'],
    [['list', '--waiting', '--since', '1h'], 'Give either --waiting or --since.'],
    [['list', '--party', 'NONE'], 'Party NONE not found.'],
    [['show', 'NONE'], 'Invoice NONE not found, or without a payment.'],
  ])('refuse %j', async (words, message) => {
    const { code, errors } = await run(...words);
    expect({ code, errors }).toEqual({ code: 1, errors: expect.stringContaining(message) });
  });

  test('say when no payment waits', async () =>
    expect((await run('list', '--waiting')).output).toBe('No payment waits for a bank.\n'));
});

describe('a recurring charge', () => {
  async function charged(root: CreatedInvoice, amount: number): Promise<CreatedInvoice> {
    const { merchant, service } = world;
    const invoice = await makeInvoice(service, merchant, { amount });
    const payer = {
      payerType: 'RecurrentPayer',
      recurrentParentPayment: { invoiceID: root.id, paymentID: '1' },
      contactInfo: {},
    };
    const made = await service.call('POST', `${invoicesUrl}/${invoice.id}/payments`, {
      token: merchant.apiKey,
      body: { payer },
    });
    expect(made.status, made.text).toBe(201);
    await service.jobs.whenIdle();
    return invoice;
  }

  test('shows what the rules decided, and from when it may be tried next', async () => {
    const root = await world.paid(card, { makeRecurrent: true });
    const { merchant, service } = world;
    const invoice = await charged(root, 99_051);
    const shown = await details(invoice.id);
    expect(shown.recurring).toMatchObject({
      seriesId: `${root.id}.1`,
      decided: { isRetry: false, outcome: 'declined', network: 'visa', code: '51' },
      now: { mayCharge: false, refusal: { code: 'recurrentRetryTooEarly', retryAfter: expect.any(String) } },
    });
    const text = await show(invoice.id);
    expect(text).toMatch(/outcome +declined visa 51\n/);
    expect(text).toMatch(/now +refused: recurrentRetryTooEarly, by rule onceADay of /);
    expect(text).toContain(
      `next charge    from ${shown.recurring.now.refusal.retryAfter.slice(0, 19)}Z (in `,
    );
    expect(text).toContain('declined: authorization_failed, insufficient_funds');
    const other = await service.call('GET', `${invoicesUrl}/${invoice.id}`, { token: merchant.apiKey });
    expect(other.body.status).toBe('unpaid');
  });

  test('shows that its terminal is paused, as the check of the merchant does', async () => {
    const root = await world.paid(card, { makeRecurrent: true });
    const invoice = await charged(root, 99_058);
    const shown = await details(invoice.id);
    expect(shown.recurring.now).toMatchObject({
      mayCharge: false,
      refusal: { code: 'recurrentTerminalPaused', retryAfter: expect.any(String) },
    });
    expect(await show(invoice.id)).toMatch(
      /now +refused: recurrentTerminalPaused, by rule terminalPaused of /,
    );
  });
});
