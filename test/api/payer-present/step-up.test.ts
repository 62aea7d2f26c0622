// An issuer declines a charge for lack of a challenge: the same payment is authorised once more, with one.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exchangesOf } from '../../../src/acquiring/exchange-log/store/exchange-rows.ts';
import type { Bank } from '../../../src/acquiring/domain/bank-port.ts';
import { resolvePayment, type ResolutionDeps } from '../../../src/payments/resolve-payment.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { waylay, type FaultyBank, type Mishap } from '../../support/bank/faulty-bank.ts';
import { invoicesUrl } from '../../support/worlds/invoices.ts';
import { startPaymentWorld, type Paying, type PaymentWorld } from '../../support/worlds/payment-world.ts';

const visa = '4242424242424242';
const mastercard = '5555555555554444';
const asksThePayer = '4012888888881881';
/** The simulated bank declines it until a challenge is demanded. */
const wantsChallenge = { amount: 199_935, cart: undefined };
const hold = { flow: { type: 'PaymentFlowHold' } };

const terminal = { id: 'T1', bankId: 'BANK', merchantId: 'TEST', descriptor: 'TEST SHOP' };

let world: PaymentWorld;
let bank: FaultyBank;
beforeAll(async () => {
  world = await startPaymentWorld();
  bank = waylay(world.service.banks);
});
afterAll(() => world.close());

const query = async (text: string, values: unknown[] = []) =>
  (await world.service.database.withClient((client) => client.query(text, values))).rows;

async function factsOf({ id }: { id: string }, type: string): Promise<object[]> {
  const text = `select fact from event, json_array_elements(facts) as fact
    where aggregate_id = $1 and fact ->> 'type' = $2`;
  return (await query(text, [id, type])).map(({ fact }) => fact);
}

async function pay(
  card: string,
  more: Record<string, unknown> = {},
  invoice: object = wantsChallenge,
): Promise<Paying> {
  const paid = await world.pay(card, more, { ...invoice });
  expect(paid.created, paid.created.text).toMatchObject({ status: 201 });
  await world.service.jobs.whenIdle();
  return paid;
}

const sentFor = ({ id }: { id: string }) =>
  bank.sent
    .filter(({ operationId }) => operationId.startsWith(`${id}.`))
    .map(({ operationId }) => operationId.slice(id.length + 1));
const bookedFor = async ({ id }: { id: string }) =>
  (await world.book()).filter(({ operationId }) => operationId.startsWith(`${id}.`));

describe('a charge that the issuer wants challenged', () => {
  test.each([visa, mastercard, asksThePayer])('is paid by card %s after one challenge', async (card) => {
    const paid = await pay(card);
    expect(await world.payment(paid)).toMatchObject({ id: '1', status: 'pending' });
    expect(sentFor(paid)).toEqual(['1.a', '1.s']);
    await world.authenticate(paid, 'confirm');
    expect(await world.payment(paid)).toMatchObject({ status: 'captured' });
    expect(sentFor(paid)).toEqual(['1.a', '1.s']);
    const kinds = (await world.changes(paid)).map(({ changeType }) => changeType);
    expect(kinds.filter((kind) => kind === 'PaymentStarted')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'PaymentInteractionRequested')).toHaveLength(1);
    expect(await bookedFor(paid)).toMatchObject([{ operationId: `${paid.id}.1.s`, amount: 199_935 }]);
  });

  test('fails if the payer refuses the challenge, and is not tried a third time', async () => {
    const paid = await pay(visa);
    await world.authenticate(paid, 'refuse');
    expect(await world.payment(paid)).toMatchObject({
      status: 'failed',
      error: { code: 'preauthorization_failed', subError: { code: 'three_ds_failed' } },
    });
    expect(sentFor(paid)).toEqual(['1.a', '1.s']);
  });

  test('is declined for good where the issuer declines it again', async () => {
    const paid = await pay(visa, {}, { amount: 199_101 });
    expect(await world.payment(paid)).toMatchObject({
      status: 'failed',
      error: { declineClass: 'payerPresent' },
    });
    expect(sentFor(paid)).toEqual(['1.a', '1.s']);
  });

  test('is declined at once where 3-D Secure is not wanted', async () => {
    const paid = await pay(visa, { threeDSecure: 'never' });
    expect(await world.payment(paid)).toMatchObject({
      status: 'failed',
      error: { declineClass: 'payerPresent' },
    });
    expect(sentFor(paid)).toEqual(['1.a']);
  });

  test('can be held, captured and refunded: the bank knows what follows from the second charge', async () => {
    const paid = await pay(visa, hold);
    await world.authenticate(paid, 'confirm');
    expect(await world.payment(paid)).toMatchObject({ status: 'processed' });
    const token = world.merchant.apiKey;
    const url = `${invoicesUrl}/${paid.id}/payments/1`;
    const captured = await world.service.call('POST', `${url}/capture`, { token, body: { reason: 'sent' } });
    expect(captured.status, captured.text).toBe(202);
    await world.service.jobs.whenIdle();
    const body = { amount: 100_000, currency: 'RUB' };
    expect((await world.service.call('POST', `${url}/refunds`, { token, body })).status).toBe(201);
    await world.service.jobs.whenIdle();
    expect(await world.payment(paid)).toMatchObject({ status: 'captured' });
    expect(sentFor(paid)).toEqual(['1.a', '1.s', '1.c', '1.100']);
    expect((await bookedFor(paid)).map(({ operationId }) => operationId.split('.').at(-1))).toEqual([
      's',
      'c',
      '100',
    ]);
  });

  test('has a row for each charge in the exchange log, before the second is sent', async () => {
    const paid = await pay(visa);
    const rows = async () =>
      (await exchangesOf(world.service.database, paid.id)).map(({ operationId, state }) => [
        operationId.slice(paid.id.length + 1),
        state,
      ]);
    expect(await rows()).toEqual([
      ['1.a', 'declined'],
      ['1.s', 'challenged'],
    ]);
    await world.authenticate(paid, 'confirm');
    expect(await rows()).toEqual([
      ['1.a', 'declined'],
      ['1.s', 'approved'],
    ]);
  });

  test('of a saved card counts as one attempt of the payer', async () => {
    const paid = await pay(visa);
    const { rows } = await world.service.database.withClient((client) =>
      client.query<{ attempted_at: string }>(`select attempted_at from payment where invoice_id = $1`, [
        paid.id,
      ]),
    );
    expect(rows).toHaveLength(1);
    await world.authenticate(paid, 'confirm');
  });
});

describe('a response that is lost', () => {
  test('of the first charge leads to the same step-up', async () => {
    bank.happens('authorise', 'answer lost');
    const paid = await pay(visa);
    await world.service.jobs.whenIdle();
    world.service.clock.advance(10_000);
    world.service.jobs.wake();
    await world.service.jobs.whenIdle();
    expect(sentFor(paid)).toEqual(['1.a', '1.s']);
    await world.authenticate(paid, 'confirm');
    expect(await world.payment(paid)).toMatchObject({ status: 'captured' });
  });

  test.each(['answer lost', 'message lost'] as const)(
    'of the second charge (%s) sends it once',
    async (mishap) => {
      bank.happens('authorise', { outcome: 'declined', network: 'visa', code: '1A' }, mishap);
      const paid = await pay(visa);
      world.service.clock.advance(10_000);
      world.service.jobs.wake();
      await world.service.jobs.whenIdle();
      const times = mishap === 'answer lost' ? 1 : 2;
      expect(sentFor(paid)).toEqual(['1.a', ...Array.from({ length: times }, () => '1.s')]);
      await world.authenticate(paid, 'confirm');
      expect(await world.payment(paid)).toMatchObject({ status: 'captured' });
      expect(await bookedFor(paid)).toHaveLength(1);
    },
  );

  test('of the second charge is not followed by another bank, and after three minutes by no send', async () => {
    const noBytes = { outcome: 'notSent', why: 'refused', noBytesSent: true } as const;
    bank.happens('authorise', { outcome: 'declined', network: 'visa', code: '1A' }, noBytes);
    const paid = await pay(visa);
    expect(sentFor(paid)).toEqual(['1.a', '1.s']);
    world.service.clock.advance(3 * 60_000);
    world.service.jobs.wake();
    await world.service.jobs.whenIdle();
    expect(sentFor(paid)).toEqual(['1.a', '1.s', '1.r']);
    expect(await world.payment(paid)).toMatchObject({ status: 'failed' });
    expect(await bookedFor(paid)).toEqual([]);
  });
});

describe('a late approval of the first charge', () => {
  const approvedLate = { amount: 199_945, cart: undefined };
  const minute = 60_000;
  const suffixes = async (paid: Paying) =>
    (await bookedFor(paid)).map(({ operationId, kind, sign }) => [operationId.split('.').at(-1), kind, sign]);

  async function watched(): Promise<void> {
    world.service.clock.advance(3 * minute);
    await world.service.bankWatch.watch();
    world.service.jobs.wake();
    await world.service.jobs.whenIdle();
  }

  async function isClean(paid: Paying): Promise<void> {
    expect(await world.differences()).toEqual([]);
    expect(await world.service.jobs.stuckJobs()).toEqual([]);
    const open = await query('select operation from charge_undo where invoice_id = $1', [paid.id]);
    expect(open).toEqual([]);
    const noted = await query('select heard from exchange_note where operation_id = $1 and meaning = $2', [
      `${paid.id}.1.a`,
      'contradiction',
    ]);
    expect(noted).toEqual([]);
  }

  test('is refunded, and the payment stays captured', async () => {
    const balance = await world.balance();
    const paid = await pay(visa, {}, approvedLate);
    await world.authenticate(paid, 'confirm');
    const taken = await world.balance();
    expect(taken).not.toEqual(balance);
    await watched();
    expect(await world.payment(paid)).toMatchObject({ status: 'captured' });
    expect(sentFor(paid)).toEqual(['1.a', '1.s', '1.f']);
    expect(await suffixes(paid)).toEqual([
      ['s', 'authorise', 1],
      ['a', 'authorise', 1],
      ['f', 'refund', -1],
    ]);
    expect(await world.balance()).toEqual(taken);
    await watched();
    expect(sentFor(paid)).toEqual(['1.a', '1.s', '1.f']);
    await isClean(paid);
  });

  test('is released where it is held, also while the payment waits for its payer', async () => {
    const paid = await pay(visa, hold, approvedLate);
    await watched();
    expect(await world.payment(paid)).toMatchObject({ status: 'pending' });
    expect(sentFor(paid)).toEqual(['1.a', '1.s', '1.f']);
    await world.authenticate(paid, 'confirm');
    expect(await world.payment(paid)).toMatchObject({ status: 'processed' });
    expect(await suffixes(paid)).toEqual([
      ['a', 'authorise', 0],
      ['f', 'reverse', 0],
      ['s', 'authorise', 0],
    ]);
    await isClean(paid);
  });

  test.each(['answer lost', 'message lost'] as const)(
    'is undone once if its refund is lost (%s)',
    async (mishap) => {
      const paid = await pay(visa, {}, approvedLate);
      await world.authenticate(paid, 'confirm');
      bank.happens('refund', mishap, { outcome: 'pending' });
      await watched();
      for (let times = 0; times < 3; times++) {
        world.service.clock.advance(minute);
        world.service.jobs.wake();
        await world.service.jobs.whenIdle();
      }
      expect((await suffixes(paid)).filter(([suffix]) => suffix === 'f')).toHaveLength(1);
      await isClean(paid);
    },
  );

  test.each(['callback', 'report'])('that a %s makes known is undone as well', async (way) => {
    const { banks } = world.service;
    const { bankNamed } = banks;
    const paid = await pay(visa, {}, approvedLate);
    await world.authenticate(paid, 'confirm');
    const real = await bankNamed('BANK');
    if (!real) throw new Error('there is no bank');
    const abilities = { ...(await real.abilities()), hasUpdates: false };
    const fake: Bank = {
      ...real,
      abilities: () => Promise.resolve(abilities),
      async inquire(operation) {
        const answer = await real.inquire(operation);
        const isFirst = operation.operationId === `${paid.id}.1.a`;
        return isFirst ? { outcome: 'approved', reference: '900000000001' } : answer;
      },
    };
    Object.assign(banks, { bankNamed: () => Promise.resolve(fake) });
    try {
      world.service.clock.advance(3 * minute);
      await fake.inquire({ operationId: `${paid.id}.1.a`, terminal: { ...terminal } });
      if (way === 'callback') expect(await world.callback(`${paid.id}.1.a`)).toBe(204);
      else await world.service.bankWatch.watch();
    } finally {
      Object.assign(banks, { bankNamed });
    }
    world.service.jobs.wake();
    await world.service.jobs.whenIdle();
    expect(sentFor(paid)).toEqual(['1.a', '1.s', '1.f']);
    expect(
      await query('select from exchange_note where operation_id = $1 and meaning = $2', [
        `${paid.id}.1.a`,
        'contradiction',
      ]),
    ).toEqual([]);
    await watched();
    expect(sentFor(paid)).toEqual(['1.a', '1.s', '1.f']);
    await isClean(paid);
  });
});

test('an older version cannot read a payment that is stepped up, so it cannot ask about the wrong charge', async () => {
  const paid = await pay(visa);
  const { rows } = await world.service.database.withClient((client) =>
    client.query<{ terms: Record<string, unknown> }>(`select terms from payment where invoice_id = $1`, [
      paid.id,
    ]),
  );
  expect(rows[0]?.terms).not.toHaveProperty('deadline');
  expect(rows[0]?.terms).toHaveProperty('isSteppedUp', true);
  await world.authenticate(paid, 'confirm');
});

test('the bank’s report and the ledger agree once everything is final', async () => {
  await pay(visa, {}, { amount: 6_000 });
  expect(await world.differences()).toEqual([]);
});

/** They stand at the simulated bank, so these come last. */
describe('an undoing that the bank refuses', () => {
  const declined = { outcome: 'declined', network: 'bank', code: '12' } as const;
  async function stuckUndo(mishap: Mishap = declined): Promise<{ paid: Paying; id: string }> {
    const paid = await pay(visa, {}, { amount: 199_945, cart: undefined });
    await world.authenticate(paid, 'confirm');
    bank.happens('refund', mishap, mishap);
    world.service.clock.advance(3 * 60_000);
    await world.service.bankWatch.watch();
    world.service.jobs.wake();
    await world.service.jobs.whenIdle();
    return { paid, id: `${paid.id}/1/f` };
  }
  const resolve = ({ id }: Paying, why: string, db: Database = world.service.database) => {
    const { clock, banks } = world.service;
    const deps = { db, clock, banks } as unknown as ResolutionDeps;
    return resolvePayment(deps, { invoiceId: id, paymentId: '1' }, 'undone', why);
  };
  const stickAgain = ({ id }: Paying) =>
    query('update charge_undo set wake_at = null, stuck_at = now() where invoice_id = $1', [id]);

  test('waits for an operator, with an event, and ends as they say', async () => {
    const { paid, id } = await stuckUndo();
    const stuck = async () =>
      (await world.service.jobs.stuckJobs()).map((job) => [job.kind, job.id, job.reason]);
    expect(await stuck()).toEqual([['charge_undo', id, 'the bank declined with code 12']]);
    expect(await factsOf(paid, 'payment_undo_refused')).toMatchObject([{ code: '12', operation: 'f' }]);
    expect(await world.service.jobs.retry('charge_undo', id)).toBe(true);
    world.service.jobs.wake();
    await world.service.jobs.whenIdle();
    expect(await factsOf(paid, 'payment_undo_refused')).toHaveLength(1);
    await stickAgain(paid);
    await resolve(paid, 'the bank wrote so');
    expect(await factsOf(paid, 'payment_undone')).toMatchObject([{ settledBecause: 'the bank wrote so' }]);
    expect(await world.service.jobs.stuckJobs()).toEqual([]);
    expect(await world.payment(paid)).toMatchObject({ status: 'captured' });
    await expect(resolve(paid, 'again')).rejects.toThrow(/is stuck/);
  });

  test('is not ended by an operator while a retry sends it', async () => {
    const { paid } = await stuckUndo();
    const { database } = world.service;
    const raced: Database = {
      ...database,
      async run(statement, values) {
        const rows = await database.run(statement, values);
        if (statement.name === 'find_charge_undo' && rows.length > 0)
          await query('update charge_undo set stuck_at = null where invoice_id = $1', [paid.id]);
        return rows;
      },
    };
    await expect(resolve(paid, 'by hand', raced)).rejects.toThrow(/is stuck/);
    expect(await factsOf(paid, 'payment_undone')).toEqual([]);
    await stickAgain(paid);
    await resolve(paid, 'by hand');
  });

  test.each([
    [declined, 'it is approved after it was declined'],
    ['message lost', 'it is approved after an operator recorded the outcome'],
  ] as const)(
    'that the bank does once an operator has ended it is for the operator (%s)',
    async (mishap, why) => {
      const { paid, id } = await stuckUndo(mishap);
      const { jobs } = world.service;
      await stickAgain(paid);
      expect(await jobs.retry('charge_undo', id)).toBe(true);
      bank.meanwhile('refund', async () => {
        await stickAgain(paid);
        await resolve(paid, 'by hand');
      });
      bank.happens('refund', { outcome: 'approved', reference: '900000000012' });
      jobs.wake();
      await jobs.whenIdle();
      expect(await factsOf(paid, 'payment_undone')).toMatchObject([{ settledBecause: 'by hand' }]);
      const text = 'select heard from exchange_note where operation_id = $1 and meaning = $2';
      const notes = await query(text, [`${paid.id}.1.f`, 'contradiction']);
      expect(notes).toMatchObject([{ heard: { why } }]);
    },
  );
});
