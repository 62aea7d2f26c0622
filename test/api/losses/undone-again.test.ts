// A refund that undid a charge has failed at the bank, and is sent once more under an ID of its own: reconciliation expects it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BookEntry } from '../../../src/acquiring/adapters/http/messages.ts';
import { applyUpdate } from '../../../src/payments/updates/apply-update.ts';
import { waylay, type FaultyBank } from '../../support/bank/faulty-bank.ts';
import { differencesFrom } from '../../support/checks/report-differences.ts';
import { startPaymentWorld, type Paying, type PaymentWorld } from '../../support/worlds/payment-world.ts';

const card = '4242424242424242';
const minuteMs = 60_000;
const again = { outcome: 'approved', reference: '900000000010' } as const;

let world: PaymentWorld;
let bank: FaultyBank;
beforeAll(async () => {
  world = await startPaymentWorld();
  bank = waylay(world.service.banks);
});
afterAll(() => world.close());

async function pass(ms: number): Promise<void> {
  const { clock, jobs, bankWatch } = world.service;
  clock.advance(ms);
  jobs.wake();
  await jobs.whenIdle();
  await bankWatch.watch();
  jobs.wake();
  await jobs.whenIdle();
}

/** The bank reports that the refund has failed. */
async function failed({ id }: Paying, suffix: string): Promise<void> {
  const { database, clock } = world.service;
  const update = { operationId: `${id}.1.${suffix}`, what: 'refundFailed', at: clock.now() } as const;
  const log = { error: () => {} };
  await database.transaction((tx) => applyUpdate({ db: tx, log }, update, update.at));
  await pass(0);
}

const undone: readonly (readonly [first: string, repeated: string, make: () => Promise<Paying>])[] = [
  [
    'u',
    'u2',
    async () => {
      bank.happens('authorise', 'answer lost');
      bank.always('inquire', 'message lost');
      // The simulated bank does not reverse it.
      const paying = await world.pay(card, {}, { amount: 99_918 });
      await pass(0);
      await pass(31 * minuteMs);
      bank.always('inquire', undefined);
      await pass(minuteMs);
      await pass(minuteMs);
      return paying;
    },
  ],
  [
    'l',
    'l2',
    async () => {
      const paying = await world.pay(card, {}, { amount: 99_942 });
      await pass(0);
      await pass(3 * minuteMs);
      return paying;
    },
  ],
  [
    'f',
    'f2',
    async () => {
      const paying = await world.pay(card, {}, { amount: 199_945, cart: undefined });
      await pass(0);
      await world.authenticate(paying, 'confirm');
      await pass(3 * minuteMs);
      return paying;
    },
  ],
];

test.each(undone)(
  'a refund .%s that failed is expected once more, as .%s alone',
  async (first, repeated, make) => {
    const paying = await make();
    const name = `${paying.id}.1`;
    const differences = async (entries: readonly BookEntry[]) =>
      (await differencesFrom(world.service, entries))
        .filter(({ operationId }) => operationId.startsWith(name))
        .map(({ class: found, operationId }) => [found, operationId.slice(name.length + 1)]);
    const book = await world.book();
    const undoing = book.find(({ operationId }) => operationId === `${name}.${first}`);
    if (!undoing) throw new Error('the refund is not in the report');
    expect(await differences(book)).toEqual([]);

    bank.happens('refund', again);
    await failed(paying, first);
    expect(bank.sent.at(-1)).toMatchObject({ operationId: `${name}.${repeated}`, kind: 'refund' });
    expect(await differences(book)).toEqual([['missing_at_bank', repeated]]);

    // As another bank than the simulated one would list it.
    const sequence = Math.max(...book.map((entry) => entry.sequence)) + 1;
    const line: BookEntry = { ...undoing, sequence, operationId: `${name}.${repeated}` };
    expect(await differences([...book, line])).toEqual([]);
    expect(await differences([...book, { ...line, amount: line.amount - 1 }])).toEqual([
      ['amount', repeated],
    ]);
    const third = { ...line, sequence: sequence + 1, operationId: `${name}.${first}3` };
    expect(await differences([...book, line, third])).toEqual([['missing_here', `${first}3`]]);
  },
);
