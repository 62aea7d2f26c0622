// What the simulated bank reports days after its response, from its list of updates to the payment, the refund and the payout.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exchangesOf } from '../../../src/acquiring/exchange-log/store/exchange-rows.ts';
import { contradictions } from '../../../src/acquiring/exchange-log/store/notes.ts';
import { brokenInvariants } from '../../support/database/ledger.ts';
import { invoicesUrl, type CreatedInvoice } from '../../support/worlds/invoices.ts';
import { startPayoutWorld, type PayoutWorld } from '../../support/worlds/payout-world.ts';

const card = '4242424242424242';
const minute = 60_000;
const hold = { flow: { type: 'PaymentFlowHold' } };
/** Amounts of the simulated bank: approved, and changed after two minutes. */
const later = { captureFails: 99_940, refundFails: 99_941, isApprovedLate: 99_942, holdEnds: 99_943 };

let world: PayoutWorld;
beforeAll(async () => void (world = await startPayoutWorld()));
afterAll(() => world.close());

const query = async (text: string, values: unknown[] = []): Promise<any[]> =>
  (await world.service.testDatabase.database.withClient((client) => client.query(text, values))).rows;
const meanings = async (id: string) =>
  (
    await query('select what, meaning from exchange_note where operation_id like $1 order by note_key', [
      `${id}.%`,
    ])
  ).map(({ what, meaning }) => `${what} ${meaning}`);

async function watched(): Promise<void> {
  world.service.clock.advance(3 * minute);
  await world.service.bankWatch.watch();
  await world.service.jobs.whenIdle();
}

async function post({ id }: CreatedInvoice, path: string, body: object): Promise<void> {
  const url = `${invoicesUrl}/${id}/payments/1/${path}`;
  const { status, text } = await world.service.call('POST', url, { token: world.merchant.apiKey, body });
  expect(status, text).toBeLessThan(300);
  await world.service.jobs.whenIdle();
}

async function paid(amount: number, more: Record<string, unknown> = {}): Promise<CreatedInvoice> {
  const invoice = await world.pay(card, more, { amount });
  await world.service.jobs.whenIdle();
  return invoice;
}

async function waitingMetrics(): Promise<string[]> {
  const { text } = await world.service.call('GET', '/metrics');
  return text.split('\n').filter((line) => /^mandate_bank_update\w*_waiting/.test(line));
}

async function isClean(): Promise<void> {
  expect(await brokenInvariants(world.service.database)).toEqual([]);
  expect(await world.service.jobs.stuckJobs()).toEqual([]);
}

describe('an update of the bank', () => {
  test('about a capture that failed cancels the payment and takes the money from the shop', async () => {
    const before = await world.balance();
    const invoice = await paid(later.captureFails, hold);
    await post(invoice, 'capture', { reason: 'shipped' });
    expect(await world.payment(invoice)).toMatchObject({ status: 'captured' });
    await watched();
    expect(await world.payment(invoice)).toMatchObject({ status: 'cancelled' });
    expect((await world.changes(invoice)).at(-1)).toMatchObject({ reason: 'captureFailed' });
    expect(await world.balance()).toEqual(before);
    await watched();
    expect(await meanings(invoice.id)).toEqual(['captureFailed applied']);
    expect(await world.balance()).toEqual(before);
    await isClean();
  });

  test('about a refund that failed reaches the refund', async () => {
    const invoice = await paid(later.refundFails);
    const before = await world.balance();
    await post(invoice, 'refunds', {});
    expect(await world.payment(invoice)).toMatchObject({ status: 'refunded' });
    await watched();
    expect(await world.payment(invoice)).toMatchObject({ status: 'captured' });
    expect((await world.changes(invoice)).at(-1)).toMatchObject({ refundID: '100', status: 'failed' });
    expect(await world.balance()).toEqual(before);
    expect(await meanings(invoice.id)).toEqual(['refundFailed applied']);
    await isClean();
  });

  test('about a hold that ended cancels the payment', async () => {
    const invoice = await paid(later.holdEnds, hold);
    await watched();
    expect(await world.payment(invoice)).toMatchObject({ status: 'cancelled' });
    expect((await world.changes(invoice)).at(-1)).toMatchObject({ reason: 'holdEnded' });
    expect(await meanings(invoice.id)).toEqual(['holdEnded applied']);
    await isClean();
  });

  test('about a payout that came back gives the wallet its money', async () => {
    const { id: destination } = await world.destinationFor(card);
    const before = await world.account();
    const { id } = (await world.withdraw(99_928, destination)).body;
    await world.service.jobs.whenIdle();
    await watched();
    expect((await world.get(`/wallet/v0/withdrawals/${id}`)).body).toMatchObject({
      returned: { code: 'account_closed' },
    });
    expect(await world.account()).toEqual(before);
    expect(await meanings(id)).toEqual([expect.stringMatching(/^payoutReturned (applied|nothing)$/)]);
    await isClean();
  });

  test('about a charge that an older node has ended without the log is applied', async () => {
    const invoice = await paid(later.isApprovedLate);
    expect(await world.payment(invoice)).toMatchObject({ status: 'failed' });
    await query(`alter table exchange disable trigger user`);
    await query(`update exchange set state = 'begun', answer = null where aggregate_id = $1`, [invoice.id]);
    await query('alter table exchange enable trigger user');
    await watched();
    expect(await meanings(invoice.id)).toEqual(['approvedLate applied']);
    const log = await exchangesOf(world.service.database, invoice.id);
    expect(log.map(({ operationId, state }) => [operationId.slice(invoice.id.length), state])).toEqual([
      ['.1.a', 'givenUp'],
      ['.1.l', 'approved'],
    ]);
    await isClean();
  });

  test('that contradicts what is proved is kept for the operator and changes nothing', async () => {
    const invoice = await paid(later.refundFails);
    await post(invoice, 'refunds', {});
    // As if the bank had declined the refund.
    await query('alter table exchange disable trigger user');
    await query(`update exchange set state = 'declined' where aggregate_id = $1 and operation = '1.100'`, [
      invoice.id,
    ]);
    await query('alter table exchange enable trigger user');
    await watched();
    expect(await world.payment(invoice)).toMatchObject({ status: 'refunded' });
    expect(await meanings(invoice.id)).toEqual(['report contradiction', 'refundFailed contradiction']);
    const notes = await contradictions(world.service.database, { limit: 2 });
    expect(notes.map(({ operation_id }) => operation_id)).toEqual(Array(2).fill(`${invoice.id}.1.100`));
    expect(notes.map(({ heard }) => 'why' in heard && heard.why)).toContain(
      'refundFailed of an operation that was declined',
    );
    const { text } = await world.service.call('GET', '/metrics');
    expect(text).toContain('mandate_bank_contradictions 2');
  });

  test('that cannot be written waits, and does not hold up those after it', async () => {
    const [first, second] = [await paid(later.holdEnds, hold), await paid(later.holdEnds, hold)];
    await query(`create function fail_on_first() returns trigger language plpgsql as $$ begin
        raise exception 'the disk is full'; end $$`);
    await query(`create trigger fail_on_first before update on payment for each row
        when (old.invoice_id = '${first.id}' and new.status <> old.status) execute function fail_on_first()`);
    await watched();
    expect(await meanings(first.id)).toEqual(['holdEnded waits']);
    expect(await world.payment(first)).toMatchObject({ status: 'processed' });
    expect(await meanings(second.id)).toEqual(['holdEnded applied']);
    expect(await world.payment(second)).toMatchObject({ status: 'cancelled' });
    world.service.clock.advance(minute);
    expect(await waitingMetrics()).toEqual([
      'mandate_bank_updates_waiting 1',
      'mandate_bank_update_oldest_waiting_seconds 60',
    ]);
    await query('drop trigger fail_on_first on payment');
    await watched();
    expect(await meanings(first.id)).toEqual(['holdEnded applied']);
    expect(await world.payment(first)).toMatchObject({ status: 'cancelled' });
    expect(await waitingMetrics()).toEqual([
      'mandate_bank_updates_waiting 0',
      'mandate_bank_update_oldest_waiting_seconds 0',
    ]);
    await isClean();
  });
});
