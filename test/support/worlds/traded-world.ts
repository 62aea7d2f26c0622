// A bank and a service with a few hundred payments and payouts of every kind. Some lost responses, some were reversed or refunded, and
// some are still in progress, in part since yesterday.
import { openBookReader, type ReportReader } from '../../../src/acquiring/adapters/http/read-report.ts';
import type { BookEntry } from '../../../src/acquiring/adapters/http/messages.ts';
import { seededRandom } from '../../../src/sandbox/bank/random.ts';
import { invoicesUrl, type CreatedInvoice } from './invoices.ts';
import type { PaymentWorld } from './payment-world.ts';
import { startPayoutWorld } from './payout-world.ts';

const good = '4242424242424242';
const declined = '4000000000000002';
const challenged = '4012888888881881';
const hold = { flow: { type: 'PaymentFlowHold', onHoldExpiration: 'cancel' } };
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const neverCaptured = 199_900;
/** The bank does not report the outcome of this payout, so it stays in progress. */
const neverPaidOut = 99_916;

export type TradedWorld = PaymentWorld & {
  /** The bank's transaction report, over HTTP. */
  openBook(): ReportReader;
  /** All of it, as it is now. */
  readBook(): Promise<BookEntry[]>;
};

export async function startTradedWorld(): Promise<TradedWorld> {
  const world = await startPayoutWorld();
  const { service, merchant, bank } = world;
  const { clock, jobs, banks } = service;
  const token = merchant.apiKey;
  const random = seededRandom(7);
  const amount = () => 1_000 + Math.floor(random() * 80_000);

  /** A second ID for the same bank: its shop's payments stand in the same report, but do not belong to BANK. */
  const own = await banks.settingsOf('BANK');
  if (!own) throw new Error('the world has no bank');
  await banks.putBank({ ...own, id: 'OTHER' });
  await banks.putTerminal({
    id: 'T0',
    merchantId: 'TEST_USD',
    descriptor: 'ELSEWHERE',
    partyId: merchant.partyId,
    shopId: 'TEST_USD',
    bankId: 'OTHER',
    priority: 0,
  });

  const many = async <T>(times: number, life: (n: number) => Promise<T>): Promise<T[]> => {
    // The circuit breaker of the bank closes again.
    clock.advance(minuteMs);
    const all = await Promise.all(Array.from({ length: times }, (_, n) => life(n)));
    await jobs.whenIdle();
    return all;
  };
  const post = async ({ id }: CreatedInvoice, what: string, body: Record<string, unknown>) => {
    const url = `${invoicesUrl}/${id}/payments/1/${what}`;
    const answer = await service.call('POST', url, { token, body: { reason: 'r', ...body } });
    if (answer.status >= 300) throw new Error(`${what} was refused: ${answer.text}`);
    return answer.body;
  };
  const later = async (ms: number) => {
    // A bank that was unavailable gets one request at a time, and the others a minute later.
    for (const step of [ms, minuteMs, minuteMs]) {
      clock.advance(step);
      jobs.wake();
      await jobs.whenIdle();
    }
  };

  const visa = (await world.destinationFor(good)).id as string;
  const refusing = (await world.destinationFor(declined)).id as string;
  const payOut = async (minor: number, destination = visa) => {
    const answer = await world.withdraw(minor, destination);
    if (answer.status !== 202) throw new Error(`a payout was refused: ${answer.status} ${answer.text}`);
  };

  // Yesterday: captures that the bank never received, and payouts of unknown outcome.
  const stuck = await many(12, () => world.pay(good, hold, { amount: neverCaptured }));
  bank.faults.order({ kind: 'error-before-booking', operationKind: 'capture', rate: 1 });
  await Promise.all(stuck.map((one) => post(one, 'capture', {})));
  await jobs.whenIdle();
  bank.faults.clear();
  await service.database.withClient((client) =>
    client.query(
      `update payment set wake_at = null, attempts = 15, stuck_at = $1, stuck_reason = 'Error' where status = 'capturing'`,
      [clock.now()],
    ),
  );
  await many(4, () => payOut(neverPaidOut));
  await later(25 * hourMs);

  // Sold with lost responses, then queried until the outcome is known.
  for (const kind of ['reset-after-booking', 'error-before-booking', 'garbage-after-booking'] as const)
    bank.faults.order({ kind, next: 8, operationKind: 'authorise' });
  const sold = await many(110, () => world.pay(good, {}, { amount: amount() }));
  await later(minuteMs / 2);
  await many(24, () => world.pay(good, {}, { amount: amount(), shopID: 'TEST_EUR', currency: 'EUR' }));
  await many(16, () => world.pay(good, {}, { amount: amount(), shopID: 'TEST_USD', currency: 'USD' }));

  // Paid out, or not.
  bank.faults.order({ kind: 'reset-after-booking', next: 4, operationKind: 'payout' });
  await many(24, (n) => payOut(1_000 + n, n % 4 === 3 ? refusing : visa));
  await later(2 * minuteMs);

  // Held: left so, captured in full and in part, cancelled.
  const held = await many(80, () => world.pay(good, hold, { amount: amount() }));
  bank.faults.order({ kind: 'reset-after-booking', next: 5, operationKind: 'capture' });
  bank.faults.order({ kind: 'error-after-booking', next: 5, operationKind: 'reverse' });
  await Promise.all(
    held.flatMap((one, n) => {
      if (n % 4 === 0) return [];
      if (n % 4 === 1) return [post(one, 'cancel', {})];
      return [post(one, 'capture', n % 4 === 2 ? {} : { amount: 900, currency: 'RUB' })];
    }),
  );
  await later(2 * minuteMs);

  // Declined by the issuer or by the payer, or confirmed by the payer.
  await many(20, (n) => world.pay(declined, n % 2 ? hold : {}, { amount: amount() }));
  const asked = await many(9, () => world.pay(challenged, {}, { amount: amount() }));
  for (const [n, one] of asked.entries()) await world.authenticate(one, n % 2 ? 'refuse' : 'confirm');

  // The outcome stayed unknown for too long, so the charge is reversed. In half of them the bank had done nothing.
  for (const kind of ['error-after-booking', 'error-before-booking'] as const) {
    bank.faults.order({ kind, next: 16, operationKind: 'authorise' });
    await many(16, (n) => world.pay(good, n % 2 ? hold : {}, { amount: amount() }));
    bank.faults.order({ kind: 'error-before-booking', operationKind: 'inquire', rate: 1 });
    await later(hourMs);
    bank.faults.clear();
  }
  // If the circuit is still open, one request closes it. Otherwise the first refunds would be its trials, and fail as planned.
  await many(1, () => world.pay(good, {}, { amount: amount() }));

  // Refunded: in full, in parts, declined by the bank, and one after another.
  bank.faults.order({ kind: 'reset-after-booking', next: 4, operationKind: 'refund' });
  await Promise.all(sold.slice(0, 24).map((one) => post(one, 'refunds', {})));
  await Promise.all(sold.slice(24, 60).map((one) => post(one, 'refunds', { amount: 300, currency: 'RUB' })));
  await later(2 * minuteMs);
  await Promise.all(sold.slice(24, 40).map((one) => post(one, 'refunds', { amount: 400, currency: 'RUB' })));
  await jobs.whenIdle();
  const large = await many(14, () => world.pay(good, {}, { amount: 150_000 }));
  await Promise.all(large.map((one) => post(one, 'refunds', { amount: 99_051, currency: 'RUB' })));
  await jobs.whenIdle();

  // In progress: payers who have not decided, and refunds without a response.
  await many(8, () => world.pay(challenged, {}, { amount: amount() }));
  bank.faults.order({ kind: 'reset-after-booking', next: 3, operationKind: 'refund' });
  bank.faults.order({ kind: 'reset-before-booking', next: 3, operationKind: 'refund' });
  await Promise.all(sold.slice(60, 66).map((one) => post(one, 'refunds', { amount: 500, currency: 'RUB' })));
  await jobs.whenIdle();

  const openBook = () => openBookReader({ ...own, clock });
  return {
    ...world,
    openBook,
    async readBook() {
      const reader = openBook();
      const all: BookEntry[] = [];
      for await (const entries of reader.entriesAfter(0)) all.push(...entries);
      await reader.stop();
      return all;
    },
  };
}
