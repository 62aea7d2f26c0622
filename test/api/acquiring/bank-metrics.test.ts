// The metrics about banks.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startPayoutWorld } from '../../support/worlds/payout-world.ts';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';

let world: PaymentWorld;

beforeAll(async () => void (world = await startPaymentWorld()));
afterAll(() => world.close());

async function metrics(): Promise<string[]> {
  return (await world.service.call('GET', '/metrics')).text.split('\n');
}

async function valueOf(name: string): Promise<number | undefined> {
  const line = (await metrics()).find((one) => one.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

const operations = (operation: string, outcome: string) =>
  valueOf(`mandate_bank_operations_total{bank="BANK",operation="${operation}",outcome="${outcome}"}`);
const oldest = () => valueOf('mandate_payment_oldest_unknown_seconds');

test('requests to a bank are counted and timed by operation and outcome', async () => {
  await world.paid('4242424242424242');
  await world.paid('4242424242424242');
  await world.paid('4000000000000002');
  await world.paid('4012888888881881');
  expect(await operations('authorise', 'approved')).toBe(2);
  expect(await operations('authorise', 'declined')).toBe(1);
  expect(await operations('authorise', 'payerNeeded')).toBe(1);
  const timed = 'mandate_bank_operation_duration_seconds_count{bank="BANK",operation="authorise"}';
  expect(await valueOf(timed)).toBe(4);
  const sum = await valueOf('mandate_bank_operation_duration_seconds_sum{bank="BANK",operation="authorise"}');
  expect(sum).toBeGreaterThan(0);
  expect(sum).toBeLessThan(60);
});

test('what waits because a bank takes no more is counted for each bank', async () => {
  expect(await valueOf('mandate_bank_waiting{bank="BANK"}')).toBe(0);
  const bank = await world.service.banks.bankNamed('BANK');
  Object.assign(bank!, { waiting: () => 3 });
  expect(await valueOf('mandate_bank_waiting{bank="BANK"}')).toBe(3);
});

test('labels name only banks, operations and outcomes', async () => {
  const lines = (await metrics()).filter((line) => line.startsWith('mandate_bank_'));
  const labels = lines.flatMap((line) =>
    [...line.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  );
  const known = {
    bank: ['BANK'],
    operation: ['authorise', 'inquire'],
    outcome: ['approved', 'declined', 'payerNeeded', 'pending'],
  };
  for (const [name = '', value] of labels.filter(([label]) => label !== 'le')) {
    expect(known, name).toHaveProperty(name);
    expect(known[name as keyof typeof known], name).toContain(value);
  }
});

test('the age of the oldest payment with an unknown outcome is shown until the bank answers', async () => {
  world.service.clock.advance(5_000);
  expect(await oldest(), 'a payment that waits for its payer is not unknown').toBe(0);
  world.bank.faults.order({ kind: 'reset-after-booking', next: 1 });
  await world.paid('4242424242424242');
  expect(await operations('authorise', 'unknown')).toBe(1);
  world.bank.faults.order({ kind: 'outage', on: true });
  world.service.clock.advance(90_000);
  expect(await oldest()).toBe(90);

  // The job is stuck by now, and the payment still waits.
  for (let attempt = 0; attempt < 40; attempt++) {
    world.service.clock.advance(600_000);
    world.service.jobs.wake();
    await world.service.jobs.whenIdle();
  }
  expect((await world.service.jobs.stuckJobs()).length).toBeGreaterThan(0);
  expect(await oldest()).toBeGreaterThan(600);

  world.bank.faults.order({ kind: 'outage', on: false });
  world.service.clock.advance(60_000);
  for (const { kind, id } of await world.service.jobs.stuckJobs()) await world.service.jobs.retry(kind, id);
  world.service.jobs.wake();
  await world.service.jobs.whenIdle();
  expect(await oldest()).toBe(0);
});

test('the age of the oldest refund and payout with an unknown outcome is shown, even if they are stuck', async () => {
  const { service, bank, merchant, destinationFor, withdraw, paid, close } = await startPayoutWorld();
  onTestFinished(() => close());
  const ages = async () => {
    const { text } = await service.call('GET', '/metrics');
    return ['refund', 'withdrawal'].map((what) =>
      Number(new RegExp(`^mandate_${what}_oldest_unknown_seconds (\\d+)$`, 'm').exec(text)?.[1]),
    );
  };
  const { id: destination } = await destinationFor('4242424242424242');
  const { id } = await paid('4242424242424242');
  expect(await ages()).toEqual([0, 0]);
  bank.faults.order({ kind: 'outage', on: true });
  await withdraw(1_000, destination);
  service.clock.advance(60_000);
  const refunds = `/v2/processing/invoices/${id}/payments/1/refunds`;
  expect((await service.call('POST', refunds, { token: merchant.apiKey, body: {} })).status).toBe(201);
  service.clock.advance(30_000);
  expect(await ages()).toEqual([30, 90]);

  for (let hour = 0; hour < 50; hour++) {
    service.clock.advance(3_600_000);
    service.jobs.wake();
    await service.jobs.whenIdle();
  }
  expect((await service.jobs.stuckJobs()).map(({ kind }) => kind).sort()).toEqual(['payment', 'withdrawal']);
  expect(await ages()).toEqual([50 * 3_600 + 30, 50 * 3_600 + 90]);
});
