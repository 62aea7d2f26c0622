// What an operator's monitoring learns about banks.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPaymentWorld, type PaymentWorld } from '../support/payment-world.ts';

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

test('what a bank was asked and what it answered is counted and timed', async () => {
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

test('labels are names of banks, operations and outcomes, and nothing of a payment', async () => {
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

test('the age of the oldest payment a bank has said nothing about is shown, until it speaks', async () => {
  world.service.clock.advance(5_000);
  expect(await oldest(), 'one that waits for its payer is not unknown').toBe(0);
  world.bank.faults.order({ kind: 'reset-after-booking', next: 1 });
  await world.paid('4242424242424242');
  expect(await operations('authorise', 'unknown')).toBe(1);
  world.bank.faults.order({ kind: 'outage', on: true });
  world.service.clock.advance(90_000);
  expect(await oldest()).toBe(90);

  // The engine gives up after a while; it still waits.
  for (let attempt = 0; attempt < 40; attempt++) {
    world.service.clock.advance(600_000);
    world.service.engine.wake();
    await world.service.engine.settled();
  }
  expect((await world.service.engine.stuck()).length).toBeGreaterThan(0);
  expect(await oldest()).toBeGreaterThan(600);

  world.bank.faults.order({ kind: 'outage', on: false });
  world.service.clock.advance(60_000);
  for (const { table, id } of await world.service.engine.stuck()) await world.service.engine.retry(table, id);
  world.service.engine.wake();
  await world.service.engine.settled();
  expect(await oldest()).toBe(0);
});
