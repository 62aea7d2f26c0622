// mandate payments: an operator resolves stuck payments while the service runs.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { invoicesUrl, type CreatedInvoice } from '../../../test/support/worlds/invoices.ts';
import { everyInvariant } from '../../app/composition/invariants.ts';
import { checkLedger } from '../../platform/ledger/check-ledger.ts';
import { openSimulatedBank } from '../../sandbox/bank/simulated-bank.ts';
import { secret, startPaymentWorld, type PaymentWorld } from '../../../test/support/worlds/payment-world.ts';
import { commandLine } from '../../../test/support/processes/command-line.ts';
import { applyUpdate } from '../../payments/updates/apply-update.ts';
import { setTradingFlag } from '../../../test/support/worlds/block-merchant.ts';
import { waylay, type FaultyBank } from '../../../test/support/bank/faulty-bank.ts';

const card = '4242424242424242';
const hold = { flow: { type: 'PaymentFlowHold' } };
const because = ['--reason', 'the clearing file of 3 May'];

let world: PaymentWorld;
let wayward: FaultyBank;
beforeAll(async () => {
  world = await startPaymentWorld();
  // The commands use the clock of the machine.
  world.service.clock.set(Date.now());
  wayward = waylay(world.service.banks);
});
afterAll(() => world.close());

const run = (...args: string[]) =>
  commandLine(args, {
    DATABASE_URL: world.service.testDatabase.url,
    MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  });

async function post(invoice: CreatedInvoice, path: string, body: object): Promise<void> {
  const url = `${invoicesUrl}/${invoice.id}/payments/1/${path}`;
  const { status, text } = await world.service.call('POST', url, { token: world.merchant.apiKey, body });
  expect(status, text).toBeLessThan(300);
  await world.service.jobs.whenIdle();
}

/** As the job runner leaves a payment after the last failure. */
async function getStuck({ id }: CreatedInvoice): Promise<void> {
  const { rowCount } = await world.service.database.withClient((client) =>
    client.query(
      `update payment set wake_at = null, attempts = 15, stuck_at = $2, stuck_reason = 'Error: no'
       where invoice_id = $1 and wake_at is not null`,
      [id, world.service.clock.now()],
    ),
  );
  expect(rowCount).toBe(1);
}

async function settled(): Promise<void> {
  world.service.jobs.wake();
  await world.service.jobs.whenIdle();
}

async function held(amount = 6_000): Promise<CreatedInvoice> {
  const invoice = await world.pay(card, hold, { amount });
  await settled();
  return invoice;
}

async function differencesOf({ id }: CreatedInvoice): Promise<string[]> {
  return (await world.differences()).filter((difference) => difference.includes(id));
}

async function isClean(): Promise<void> {
  const findings = await checkLedger(world.service.database, 'all', everyInvariant);
  expect(findings.filter(({ violations }) => violations > 0n)).toEqual([]);
  expect(await world.service.jobs.stuckJobs()).toEqual([]);
}

describe('a capture that the bank never received', () => {
  test(
    'can be released: the hold is released, and the merchant gets the reason',
    { timeout: 120_000 },
    async () => {
      const before = await world.balance();
      const invoice = await held();
      wayward.always('capture', 'message lost');
      await post(invoice, 'capture', { reason: 'shipped' });
      await getStuck(invoice);

      const released = await run('payments', 'release', invoice.id, '1', '--reason', 'the bank declined 25');
      wayward.always('capture', undefined);
      expect(released).toMatchObject({ code: 0, errors: '' });
      world.service.clock.set(Date.now());
      await settled();
      expect(await world.payment(invoice)).toMatchObject({ status: 'cancelled', amount: 6_000 });
      expect((await world.changes(invoice)).at(-1)).toEqual({
        changeType: 'PaymentStatusChanged',
        paymentID: '1',
        status: 'cancelled',
        reason: 'the bank declined 25',
      });
      const byPayer = await world.service.call('GET', `${invoicesUrl}/${invoice.id}/events?limit=100`, {
        token: invoice.token,
      });
      expect(byPayer.status).toBe(200);
      expect(byPayer.text).toContain('cancelled');
      expect(byPayer.text).not.toContain('declined 25');
      expect(await world.balance()).toEqual(before);
      expect(await differencesOf(invoice)).toEqual([]);
      await isClean();
    },
  );

  test('cannot be released before it is stuck, or without a reason', { timeout: 120_000 }, async () => {
    const invoice = await held();
    const early = await run('payments', 'release', invoice.id, '1', ...because);
    expect(early).toMatchObject({ code: 1 });
    expect(early.errors).toContain('has no stuck job');
    expect((await run('payments', 'release', invoice.id, '1', '--reason', ' ')).errors).toContain(
      '--reason is empty',
    );
    await post(invoice, 'cancel', { reason: 'r' });
    await isClean();
  });
});

test(
  'a payment that the bank has captured cannot be released, and becomes captured',
  { timeout: 120_000 },
  async () => {
    const invoice = await held();
    wayward.always('capture', 'answer lost');
    await post(invoice, 'capture', { reason: 'shipped' });
    await getStuck(invoice);
    const refused = await run('payments', 'release', invoice.id, '1', ...because);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.errors).toContain('The bank has captured the payment.');
    expect(await world.payment(invoice)).toMatchObject({ status: 'processed' });
    wayward.always('capture', undefined);
    world.service.clock.set(Date.now());
    await settled();
    expect(await world.payment(invoice)).toMatchObject({ status: 'captured' });
    expect(await differencesOf(invoice)).toEqual([]);
    await isClean();
  },
);

describe('an outcome that no bank reports can be resolved:', () => {
  test('a capture as captured, which pays the invoice', { timeout: 120_000 }, async () => {
    const before = await world.balance();
    const invoice = await held();
    wayward.always('capture', 'answer lost');
    await post(invoice, 'capture', { reason: 'shipped', amount: 5_000, currency: 'RUB' });
    await getStuck(invoice);
    const wrong = await run('payments', 'resolve', invoice.id, '1', '--as', 'failed', ...because);
    expect(wrong.errors).toContain('cannot be resolved as failed. Use captured or cancelled.');
    await getStuck(invoice);
    wayward.always('capture', undefined);
    const right = await run('payments', 'resolve', invoice.id, '1', '--as', 'captured', ...because);
    expect(right).toMatchObject({ code: 0, errors: '' });
    expect(right.output).toContain('the payment is captured');
    expect(await world.payment(invoice)).toMatchObject({ status: 'captured', amount: 5_000 });
    expect((await world.changes(invoice)).at(-1)).toMatchObject({ status: 'paid' });
    expect((await world.balance()).available).toBe(before.available + 5_000);
    expect(await differencesOf(invoice)).toEqual([]);
    await isClean();
  });

  test.each([
    ['cancelling', 'cancel', { reason: 'r' }, 'reverse', 'cancelled'],
    ['capturing', 'capture', { reason: 'r' }, 'capture', 'cancelled'],
  ] as const)(
    'a hold that is %s as cancelled',
    { timeout: 120_000 },
    async (_state, path, body, kind, as) => {
      const before = await world.balance();
      const invoice = await held();
      wayward.always(kind, 'message lost');
      await post(invoice, path, body);
      await getStuck(invoice);
      wayward.always(kind, undefined);
      expect(await run('payments', 'resolve', invoice.id, '1', '--as', as, ...because)).toMatchObject({
        code: 0,
      });
      expect(await world.payment(invoice)).toMatchObject({ status: 'cancelled' });
      expect(await world.balance()).toEqual(before);
      await isClean();
    },
  );

  test('a charge unknown to the bank as failed', { timeout: 120_000 }, async () => {
    const before = await world.balance();
    wayward.always('authorise', 'message lost');
    const invoice = await world.paid(card);
    await getStuck(invoice);
    wayward.always('authorise', undefined);
    const { code } = await run('payments', 'resolve', invoice.id, '1', '--as', 'failed', ...because);
    expect(code).toBe(0);
    expect(await world.payment(invoice)).toMatchObject({
      status: 'failed',
      error: { code: 'authorization_failed', subError: { code: 'processing_deadline_reached' } },
    });
    expect(await world.balance()).toEqual(before);
    await isClean();
  });

  test('a late approval that the bank does not undo as failed', { timeout: 120_000 }, async () => {
    const before = await world.balance();
    const invoice = await world.pay(card, {}, { amount: 99_942 });
    await settled();
    wayward.always('refund', { outcome: 'declined', network: 'bank', code: '12' });
    world.service.clock.advance(2 * 60_000);
    const terminal = { id: 'T1', bankId: 'BANK', merchantId: 'TEST', descriptor: 'TEST SHOP' };
    const { updates } = await (await world.service.banks.bankOf(terminal)).updates(0);
    const update = updates.find(({ operationId }) => operationId === `${invoice.id}.1.a`);
    if (!update) throw new Error('the bank reports nothing');
    const { database, clock } = world.service;
    const log = { error: () => expect.unreachable() };
    expect((await world.book()).map(({ operationId }) => operationId)).toContain(update.operationId);
    await database.transaction((tx) => applyUpdate({ db: tx, log }, update, clock.now()));
    await settled();
    world.service.clock.set(Date.now());
    await getStuck(invoice);
    const shown = await run('payments', 'show', `${invoice.id}/1`);
    expect(shown.output).toContain(`mandate payments resolve ${invoice.id} 1 --as failed`);
    const wrong = await run('payments', 'resolve', invoice.id, '1', '--as', 'cancelled', ...because);
    expect(wrong.errors).toContain('Use failed.');
    await getStuck(invoice);
    const { code } = await run('payments', 'resolve', invoice.id, '1', '--as', 'failed', ...because);
    wayward.always('refund', undefined);
    expect(code).toBe(0);
    expect(await world.payment(invoice)).toMatchObject({ status: 'failed' });
    expect(await world.balance()).toEqual(before);
    expect((await run('payments', 'show', `${invoice.id}/1`)).output).toContain('the clearing file of 3 May');
    const again = await run('payments', 'resolve', invoice.id, '1', '--as', 'failed', ...because);
    expect(again.errors).toContain('has no stuck job');
    await isClean();
  });

  test.each([
    ['succeeded', 'refunded', 'succeeded'],
    ['failed', 'captured', 'failed'],
  ])('a refund as %s', { timeout: 120_000 }, async (as, status, ofRefund) => {
    const invoice = await world.paid(card);
    const before = await world.balance();
    wayward.always('refund', as === 'succeeded' ? 'answer lost' : 'message lost');
    await post(invoice, 'refunds', {});
    await getStuck(invoice);
    wayward.always('refund', undefined);
    expect((await run('payments', 'resolve', invoice.id, '1', '--as', as, ...because)).code).toBe(0);
    expect(await world.payment(invoice)).toMatchObject({ status });
    const { body } = await world.service.call('GET', `${invoicesUrl}/${invoice.id}/payments/1/refunds`, {
      token: world.merchant.apiKey,
    });
    expect(body).toEqual([expect.objectContaining({ status: ofRefund })]);
    expect((await world.balance()).available).toBe(before.available - (as === 'succeeded' ? 6_000 : 0));
    expect(await differencesOf(invoice)).toEqual([]);
    await isClean();
  });
});

test('a reconciliation finds resolved payments equal', { timeout: 120_000 }, async () => {
  const { code, output, errors } = await run('reconcile', '--bank', 'BANK');
  expect(errors).toBe('');
  expect(output).toContain('equal');
  expect(code).toBe(0);
});

describe('a refund by an operator', () => {
  const refund = (id: string, ...more: string[]) => run('payments', 'refund', id, '1', ...more);
  const complaint = ['--reason', 'complaint 4711'];

  async function sold(): Promise<CreatedInvoice> {
    const invoice = await world.pay(card, {}, { amount: 6_000 });
    await settled();
    return invoice;
  }

  async function refundsOf({ id }: CreatedInvoice): Promise<{ amount: number; status: string }[]> {
    const url = `${invoicesUrl}/${id}/payments/1/refunds`;
    return (await world.service.call('GET', url, { token: world.merchant.apiKey })).body;
  }

  test('is sent once for each reason, reaches the merchant and is logged as theirs', async () => {
    const invoice = await sold();
    const part = await refund(invoice.id, '--amount', '1000', ...complaint);
    expect(part).toMatchObject({ code: 0, errors: '' });
    expect(part.output).toContain(`Refund 100 of ${invoice.id}/1, 1000 RUB, has started.`);
    world.service.clock.set(Date.now());
    await settled();
    const again = await refund(invoice.id, '--amount', '1000', ...complaint);
    expect(again).toMatchObject({ code: 0, output: expect.stringContaining('It was not repeated.') });
    const other = await refund(invoice.id, '--amount', '999', ...complaint);
    expect(other).toMatchObject({ code: 1, errors: expect.stringContaining('another amount, 1000') });

    expect((await refund(invoice.id, '--reason', 'the shop has closed')).code).toBe(0);
    world.service.clock.set(Date.now());
    await settled();
    expect(await refundsOf(invoice)).toMatchObject([
      { amount: 1_000, status: 'succeeded', reason: 'complaint 4711' },
      { amount: 5_000, status: 'succeeded', reason: 'the shop has closed' },
    ]);
    expect(await world.payment(invoice)).toMatchObject({ status: 'refunded' });
    const { rows } = await world.service.database.withClient((client) =>
      client.query<{ by: boolean }>(
        `select (fact ->> 'byOperator')::bool as by from event, json_array_elements(facts) as fact
         where aggregate_id = $1 and fact ->> 'type' = 'refund_started'`,
        [invoice.id],
      ),
    );
    expect(rows).toEqual([{ by: true }, { by: true }]);
    const shown = await run('payments', 'show', `${invoice.id}/1`);
    expect(shown.output).toMatch(/refund +1000 RUB .* approved; by an operator: complaint 4711/);
    expect(await differencesOf(invoice)).toEqual([]);
    await isClean();
  });

  test('is refused where the bank declares no refunds', async () => {
    const invoice = await sold();
    const { clock, banks } = world.service;
    const abilities = { kinds: ['authorise', 'reverse'] };
    const log = { warn: () => {} };
    const unable = await openSimulatedBank({ clock, secret, log, abilities });
    try {
      await banks.putBank({ id: 'BANK', url: unable.url, secret });
      const refused = await refund(invoice.id, ...complaint);
      expect(refused).toMatchObject({ code: 1, errors: expect.stringContaining('"kind refund"') });
      expect(await refundsOf(invoice)).toEqual([]);
    } finally {
      await banks.putBank({ id: 'BANK', url: world.bank.url, secret });
      await unable.stop();
    }
  });

  test('works for a shop that is blocked, and not above what is left or the balance', async () => {
    const invoice = await sold();
    const tooMuch = await refund(invoice.id, '--amount', '6001', ...complaint);
    expect(tooMuch).toMatchObject({ code: 1, errors: expect.stringContaining('Refund at most 6000') });
    expect((await refund(invoice.id, '--amount', '0', ...complaint)).errors).toContain('--amount is 0');
    expect((await refund(invoice.id, '--reason', ' ')).errors).toContain('--reason is empty');
    expect((await refund('1Cg2mCUVy4m', ...complaint)).errors).toContain('Payment 1Cg2mCUVy4m/1 not found');
    expect(await refundsOf(invoice)).toEqual([]);

    const blocked = (value: boolean) =>
      setTradingFlag(world.service, world.merchant, { of: 'shop', flag: 'is_blocked' }, value);
    await blocked(true);
    try {
      expect((await refund(invoice.id, ...complaint)).code).toBe(0);
    } finally {
      await blocked(false);
    }
    world.service.clock.set(Date.now());
    await settled();
    expect(await refundsOf(invoice)).toMatchObject([{ amount: 6_000, status: 'succeeded' }]);
    await isClean();
  });
});
