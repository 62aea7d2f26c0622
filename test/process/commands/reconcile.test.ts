// mandate reconcile with a bank in another process and with files.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { invoicesUrl } from '../../support/worlds/invoices.ts';
import { startPaymentWorld, type PaymentWorld } from '../../support/worlds/payment-world.ts';
import { commandLine } from '../../support/processes/command-line.ts';
import { mandate } from '../../support/processes/program.ts';
import { bankClientAt } from '../../support/bank/simulated-bank.ts';
import { temporaryFolder } from '../../support/database/test-cluster.ts';

const secret = 'what the bank and the service sign with';
const { folder, remove } = temporaryFolder();
const card = '4242424242424242';

let world: PaymentWorld;
let bankUrl = '';
let stopBank: () => void;

beforeAll(async () => {
  const { PATH = '', HOME = '' } = process.env;
  const environment = { PATH, HOME, MANDATE_DATA: folder, BANK_SECRET: secret };
  const child = spawn(process.execPath, [inject('builtProgram'), 'bank'], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  stopBank = () => child.kill('SIGKILL');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  bankUrl = (JSON.parse(line) as { address: string }).address;

  world = await startPaymentWorld();
  // Both processes use the clock of the machine.
  world.service.clock.set(Date.now());
  await world.service.banks.putBank({ id: 'BANK', url: bankUrl, secret });
  const sold = await world.paid(card);
  await world.service.call('POST', `${invoicesUrl}/${sold.id}/payments/1/refunds`, {
    token: world.merchant.apiKey,
    body: { amount: 1_500, currency: 'RUB' },
  });
  // The refund's job has run, so that the refund is the second line of the bank's report.
  await world.service.jobs.whenIdle();
  await world.paid(card, { flow: { type: 'PaymentFlowHold' } });
  await world.paid('4000000000000002');
}, 120_000);
afterAll(async () => {
  await world.close();
  stopBank();
  await remove();
});

/** Without the progress lines, which a slow machine prints. */
const run = async (
  args: readonly string[],
  more: Record<string, string> = {},
  by: typeof commandLine | typeof mandate = commandLine,
) => {
  const { errors, ...ended } = await by(['reconcile', ...args], {
    DATABASE_URL: world.service.testDatabase.url,
    MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    ...more,
  });
  return { ...ended, errors: errors.replace(/^\w+: \d+ lines\n/gm, '') };
};

test.each([
  ['of the tests', commandLine],
  ['of its own', mandate],
])('in a process %s, a report without differences ends with 0', { timeout: 120_000 }, async (_, by) => {
  const { code, output, errors } = await run(['--bank', 'BANK'], {}, by);
  expect(errors).toBe('');
  expect(output).toMatch(/^Report of bank BANK, .*: 3 lines\.\n3 equal, 0 in progress, 0 at the edge/);
  expect(code).toBe(0);
});

test('a difference in a file is printed as JSON and ends with 1', { timeout: 120_000 }, async () => {
  const entries = await bankClientAt(bankUrl, secret).book();
  const wrong = JSON.stringify({ entries }).replace('"amount":1500', '"amount":1600');
  const { code, output, errors } = await run(['--bank', written(wrong), '--bank-id', 'BANK', '--json']);
  expect(errors).toBe('');
  expect(code).toBe(1);
  expect(JSON.parse(output)).toEqual({
    bankId: 'BANK',
    book: expect.stringContaining('book.json'),
    period: { to: expect.stringMatching(/^20\d\d-/) },
    lines: 3,
    linesOutside: 0,
    equal: 2,
    open: 0,
    edge: 0,
    sums: [{ class: 'amount', currency: 'RUB', number: 1, atStakeMinor: '-100' }],
    differences: [
      {
        class: 'amount',
        operationId: expect.stringMatching(/^\w+\.1\.100$/),
        atStakeMinor: -100,
        currency: 'RUB',
        means: 'Reported with another amount.',
        advice: expect.any(String),
        ours: expect.objectContaining({
          kind: 'refund',
          minor: 1_500,
          object: 'refund',
          status: 'succeeded',
        }),
        line: expect.objectContaining({ kind: 'refund', minor: 1_600, sequence: 2 }),
      },
    ],
  });
});

test('a mistake of the bank is printed as text', { timeout: 120_000 }, async () => {
  const { id } = await world.pay(card, {}, { amount: 199_917 });
  await world.service.jobs.whenIdle();
  const { code, output, errors } = await run(['--bank', bankUrl]);
  expect(errors).toBe('');
  expect(output).toMatch(/ 5 lines\.\n4 equal, .* 1 different\.\n/);
  expect(output).toMatch(/\nduplicate +1 +\+199917 RUB\n/);
  expect(output).toContain('duplicate: The bank reports the operation again.\nHave the bank remove');
  expect(output).toContain(`\n${id}.1.a  +199917 RUB\n  here  payment ${id}.1 of party `);
  expect(output).toMatch(/, captured: authorise \+199917 RUB by BANK\n {2}bank {2}line 5, \S+: authorise /);
  expect(code).toBe(1);
});

test.each<[string, () => string[], RegExp]>([
  [
    'no program listens',
    () => ['--bank', 'http://127.0.0.1:9', '--bank-id', 'BANK'],
    /cannot be read: ECONNREFUSED/,
  ],
  ['a truncated file', () => ['--bank', written('{"entries":[')], /the JSON is incomplete/],
  [
    'an invalid time',
    () => ['--bank', 'BANK', '--from', 'yesterday'],
    /--from is "yesterday"\. Use 2026-11-20/,
  ],
  ['an unknown option', () => ['--bank', 'BANK', '--fix'], /Unknown option "--fix"/],
])('a comparison that cannot run ends with 2: %s', { timeout: 120_000 }, async (_, args, problem) => {
  const { code, output, errors } = await run(args(), { BANK_SECRET: secret });
  expect(errors).toMatch(problem);
  expect([code, output]).toEqual([2, '']);
});

test('--help has an example and ends with 0', { timeout: 120_000 }, async () => {
  const { code, output } = await run(['--help']);
  expect(code).toBe(0);
  expect(output).toContain('mandate reconcile --bank');
  expect(output).toMatch(/2 if it could\s+not compare/);
});

function written(text: string): string {
  const file = join(folder, 'book.json');
  writeFileSync(file, text);
  return file;
}
