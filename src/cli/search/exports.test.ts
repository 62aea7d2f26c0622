// mandate export orders for a merchant what the API does, and saves a whole file or none.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/support/database/test-cluster.ts';
import { commandLine } from '../../../test/support/processes/command-line.ts';
import {
  startTestService,
  type Merchant,
  type TestService,
} from '../../../test/support/service/test-service.ts';
import { makeInvoice } from '../../../test/support/worlds/invoices.ts';

let service: TestService;
let merchant: Merchant;
const temporary = temporaryFolder();
const whole = ['--since', '2026-01-01T00:00:00Z', '--until', '2026-12-31T00:00:00Z'];
beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
  for (const amount of [100, 200]) await makeInvoice(service, merchant, { amount });
});
afterAll(async () => {
  await service.close();
  await temporary.remove();
});

const run = (...args: string[]) =>
  commandLine(['export', ...args], {
    DATABASE_URL: service.testDatabase.url,
    MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  });
const party = () => ['--party', merchant.partyId];
async function ordered(...more: string[]): Promise<string> {
  const { output, errors, code } = await run(
    'order',
    'invoices',
    ...party(),
    '--shop',
    'TEST',
    ...whole,
    ...more,
  );
  expect(code, errors).toBe(0);
  await service.search.whenIdle();
  // The command is not on the clock of the test.
  service.clock.set(Date.now() + 60_000);
  service.jobs.wake();
  await service.jobs.whenIdle();
  return output.trim();
}

test('an export is ordered, listed and saved, once to a file', async () => {
  const id = await ordered('--filter', 'invoiceAmountFrom=150');
  const { output } = await run('list', ...party());
  expect(output).toMatch(new RegExp(`${id} +invoices +TEST +ready +1 +operator`));
  const [listed] = JSON.parse((await run('list', ...party(), '--json')).output);
  expect(listed).toMatchObject({ id, of: 'invoices', shopId: 'TEST', status: 'ready', rows: 1 });
  const out = join(temporary.folder, 'invoices.csv');
  expect(await run('save', id, ...party(), '--out', out)).toMatchObject({
    code: 0,
    output: `Saved 1 rows to ${out}.\n`,
  });
  expect(readFileSync(out, 'utf8')).toMatch(/^createdAt,createdAtLocal,shopID,.*\r\n.*,200,2\.00,/);
  expect((await run('save', id, ...party(), '--out', out)).errors).toContain('exists');
});

test('a filter that is a list is split at its commas, and repeating it adds', async () => {
  const made = await Promise.all([300, 400, 500].map((amount) => makeInvoice(service, merchant, { amount })));
  const [first, second, third] = made.map(({ id }) => id);
  const order = (what: string, ...filters: string[]) =>
    run('order', what, ...party(), ...whole, ...filters.flatMap((filter) => ['--filter', filter]));
  const { output, errors } = await order('payments', `invoiceIDs=${first},${second}`, `invoiceIDs=${third}`);
  const { rows } = await service.testDatabase.database.withClient((client) =>
    client.query('select terms from export where export_id = $1', [output.trim()]),
  );
  expect(rows, errors).toMatchObject([{ terms: { filters: { invoiceIDs: [first, second, third] } } }]);
  const twice = await order('invoices', `invoiceID=${first}`, `invoiceID=${second}`);
  expect(twice).toMatchObject({ code: 1, errors: expect.stringContaining('invoiceID takes one value') });
});

test('an order takes columns and shops, and no card number', async () => {
  const id = await ordered('--column', 'invoiceID', '--column', 'amount', '--except-shop', 'TEST_USD');
  const out = join(temporary.folder, 'columns.csv');
  await run('save', id, ...party(), '--out', out);
  expect(readFileSync(out, 'utf8')).toMatch(/^invoiceID,amount\r\n/);
  const refused = await run(
    'order',
    'invoices',
    ...party(),
    ...whole,
    '--filter',
    'externalID=5555341244441115',
  );
  expect(refused).toMatchObject({
    code: 1,
    errors: expect.stringContaining('must not contain a card number'),
  });
  expect(refused.errors).not.toContain('5555341244441115');
});

test('an export is cancelled until it is ready', async () => {
  const id = await ordered();
  expect(await run('cancel', id, ...party())).toMatchObject({
    code: 1,
    errors: expect.stringContaining('is ready or has failed'),
  });
  expect(await run('cancel', 'none', ...party())).toMatchObject({
    code: 1,
    errors: expect.stringContaining('not found'),
  });
  const { output } = await run('order', 'invoices', ...party(), ...whole);
  expect(await run('cancel', output.trim(), ...party())).toMatchObject({
    code: 0,
    output: `Export ${output.trim()} is cancelled.\n`,
  });
});

test('a file that is not as it was made is not saved', async () => {
  const id = await ordered();
  const out = join(temporary.folder, 'damaged.csv');
  await service.testDatabase.database.withClient((client) =>
    client.query(`update export set sha256 = repeat('0', 64) where export_id = $1`, [id]),
  );
  const { code, errors } = await run('save', id, ...party(), '--out', out);
  expect({ code, errors }).toMatchObject({ code: 1, errors: expect.stringContaining('is not the one') });
  expect([out, `${out}.part`].filter(existsSync)).toEqual([]);
  writeFileSync(`${out}.part`, 'of another program');
  expect((await run('save', id, ...party(), '--out', out)).code).toBe(1);
  expect(readFileSync(`${out}.part`, 'utf8')).toBe('of another program');
});

test('in live mode, an order and a download are logged with who made them', async () => {
  const settings = {
    MANDATE_MODE: 'live',
    BANK_SECRET: 'a secret of the tests that is long enough',
    MANDATE_MASTER_KEY: 'xIRmjtfwL9GGfTQrmVrYsTugHVIGYTJIdyaakdofOPk=',
  };
  const live = await startTestService(settings);
  const inLive = (...args: string[]) =>
    commandLine(['export', ...args], { ...settings, DATABASE_URL: live.testDatabase.url });
  const out = join(temporary.folder, 'live.csv');
  try {
    const of = ['--party', (await live.createMerchant()).partyId];
    const ordered = await inLive('order', 'withdrawals', ...of, ...whole);
    const id = ordered.output.trim();
    await live.search.whenIdle();
    live.clock.set(Date.now() + 60_000);
    live.jobs.wake();
    await live.jobs.whenIdle();
    const saved = await inLive('save', id, ...of, '--out', out);
    const logged = [ordered, saved].map(({ errors }) => JSON.parse(errors.split('\n')[0] ?? '') as object);
    const facts = { level: 'info', export: id, party: of[1], by: expect.stringMatching(/.@./) };
    expect(logged).toMatchObject([
      { ...facts, kind: 'withdrawals', msg: 'export ordered' },
      { ...facts, msg: 'export downloaded' },
    ]);
  } finally {
    await live.close();
  }
});

describe('a wrong argument is named', () => {
  test.each([
    [['order', 'cards', '--party', 'P', '--since', '1d'], /"cards" cannot be exported/],
    [['order', 'payments', '--party', 'P', '--since', '1d'], /Party P not found/],
    [['order', 'withdrawals', '--party', 'OWN', '--shop', 'TEST', '--since', '1d'], /shopIDs/],
    [['order', 'payments', '--party', 'OWN', '--since', '1d', '--column', 'x'], /columns.*use createdAt/],
    [['order', 'payments', '--party', 'OWN', '--shop', 'S', '--since', '1d'], /Shop not found/],
    [['order', 'payments', '--party', 'OWN', '--shop', 'TEST', '--since', 'x'], /--since is "x"/],
    [['order', 'payments', '--party', 'OWN', '--shop', 'TEST', '--since', '400d'], /366 days/],
    [
      ['order', 'payments', '--party', 'OWN', '--shop', 'TEST', '--since', '1d', '--filter', 'x'],
      /--filter is "x"/,
    ],
    [
      ['order', 'payments', '--party', 'OWN', '--shop', 'TEST', '--since', '1d', '--filter', 'x=1'],
      /filters/,
    ],
    [['save', 'E', '--party', 'OWN', '--out', '/nowhere/x'], /Export E not found/],
    [['list', '--party', 'P'], /Party P not found/],
  ])('%j', async (args, says) => {
    const given = args.map((arg) => (arg === 'OWN' ? merchant.partyId : arg));
    const { code, errors } = await run(...given);
    expect({ code, errors }).toMatchObject({ code: 1, errors: expect.stringMatching(says) });
  });
});
