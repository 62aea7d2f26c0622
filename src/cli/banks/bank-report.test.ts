import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { systemClock } from '../../clock.ts';
import { openReport } from './bank-report.ts';

const secret = 'a secret that is long enough for a bank';
const file = fileURLToPath(import.meta.url);

const one = [{ id: 'ONE', url: 'https://one.example/bank', secret }];
const two = [...one, { id: 'TWO', url: 'https://two.example', secret }];

async function open(
  asked: { bank?: string; bankId?: string },
  all = two,
  config: { mode: 'sandbox' | 'live'; bankSecret: string | undefined } = { mode: 'live', bankSecret: secret },
): Promise<string> {
  const banks = {
    settingsOf: (id: string) => Promise.resolve(all.find((bank) => bank.id === id)),
  };
  try {
    const report = await openReport({ banks, all, config, clock: systemClock }, asked);
    await report.stop();
    return `${report.bankId} at ${report.name}${report.grows ? '' : ', finished'}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

test.each<[string, { bank: string; bankId?: string }, string]>([
  ['an ID', { bank: 'ONE' }, 'ONE at https://one.example/bank'],
  ['the address of a known bank', { bank: 'https://two.example/' }, 'TWO at https://two.example'],
  [
    'the address of an unknown bank',
    { bank: 'https://x.example/', bankId: 'ONE' },
    'ONE at https://x.example',
  ],
  ['a file', { bank: file, bankId: 'TWO' }, `TWO at ${file}, finished`],
  [
    'the address of one bank for the report of another',
    { bank: 'ONE', bankId: 'TWO' },
    'TWO at https://one.example/bank',
  ],
])('the report is found by %s', async (_, asked, report) => expect(await open(asked)).toBe(report));

test('the only bank is the default', async () => {
  expect(await open({}, one)).toBe('ONE at https://one.example/bank');
  expect(await open({}, two)).toBe(
    'There is not exactly one bank. Name the bank or a report file with --bank. Known banks: ONE, TWO.',
  );
  expect(await open({ bank: file }, one)).toBe(`ONE at ${file}, finished`);
  expect(await open({ bank: 'https://x.example' }, one)).toBe('ONE at https://x.example');
});

test.each<[string, { bank: string; bankId?: string }, string]>([
  ['an unknown name', { bank: 'THREE' }, '"THREE" is not a known bank, an address with https:// or a file'],
  ['a file without its bank', { bank: file }, 'Give it with --bank-id. Known banks: ONE, TWO.'],
  [
    'a file of an unknown bank',
    { bank: file, bankId: 'THREE' },
    'Bank THREE not found. Known banks: ONE, TWO.',
  ],
  ['an address without TLS', { bank: 'http://x.example', bankId: 'ONE' }, 'must use https'],
])('%s is refused', async (_, asked, problem) => expect(await open(asked)).toContain(problem));

test('the address of an unknown bank requires BANK_SECRET', async () => {
  const asked = { bank: 'https://x.example' };
  const without = { mode: 'live', bankSecret: undefined } as const;
  expect(await open(asked, one, without)).toContain('Set BANK_SECRET');
});

test('a sandbox accepts an address without TLS', async () => {
  const sandbox = { mode: 'sandbox', bankSecret: secret } as const;
  expect(await open({ bank: 'http://x.example' }, one, sandbox)).toBe('ONE at http://x.example');
});

test('without any bank the error says so', async () =>
  expect(await open({ bank: file }, [])).toContain('Known banks: none.'));
