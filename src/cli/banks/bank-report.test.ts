import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { systemClock } from '../../clock.ts';
import { openReport } from './bank-report.ts';

const secret = 'a secret that is long enough for a bank';
const file = fileURLToPath(import.meta.url);

const one = [{ id: 'ONE', url: 'https://one.example/bank', secret }];
const two = [...one, { id: 'TWO', url: 'https://two.example', secret }];

async function open(
  asked: { bank?: string; of?: string },
  all = two,
  config: { mode: 'sandbox' | 'live'; bankSecret: string | undefined } = { mode: 'live', bankSecret: secret },
): Promise<string> {
  const banks = {
    settingsOf: (id: string) => Promise.resolve(all.find((bank) => bank.id === id)),
  };
  try {
    const book = await openReport({ banks, all, config, clock: systemClock }, asked);
    await book.stop();
    return `${book.bankId} at ${book.name}${book.grows ? '' : ', finished'}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

test.each<[string, { bank: string; bankId?: string }, string]>([
  ['an id', { bank: 'ONE' }, 'ONE at https://one.example/bank'],
  ['an address we know', { bank: 'https://two.example/' }, 'TWO at https://two.example'],
  ['an address we do not know', { bank: 'https://x.example/', bankId: 'ONE' }, 'ONE at https://x.example'],
  ['a file', { bank: file, bankId: 'TWO' }, `TWO at ${file}, finished`],
  ['a bank’s own address for another', { bank: 'ONE', bankId: 'TWO' }, 'TWO at https://one.example/bank'],
])('%s is found', async (_, asked, book) => expect(await open(asked)).toBe(book));

test('where there is one bank, it is meant', async () => {
  expect(await open({}, one)).toBe('ONE at https://one.example/bank');
  expect(await open({}, two)).toBe('say with --bank which book; the banks are ONE, TWO');
  expect(await open({ bank: file }, one)).toBe(`ONE at ${file}, finished`);
  expect(await open({ bank: 'https://x.example' }, one)).toBe('ONE at https://x.example');
});

test.each<[string, { bank: string; bankId?: string }, string]>([
  ['nothing like it', { bank: 'THREE' }, 'THREE is no bank, no address with https:// and no file'],
  ['a file of any bank', { bank: file }, 'say with --bank-id whose book it is; the banks are ONE, TWO'],
  ['a file of no bank', { bank: file, bankId: 'THREE' }, 'there is no bank THREE; the banks are ONE, TWO'],
  ['an address in the clear', { bank: 'http://x.example', bankId: 'ONE' }, 'must use https'],
])('%s is refused', async (_, asked, problem) => expect(await open(asked)).toContain(problem));

test('an address nobody knows needs the secret it signs with', async () => {
  const asked = { bank: 'https://x.example' };
  const without = { mode: 'live', bankSecret: undefined } as const;
  expect(await open(asked, one, without)).toContain('set BANK_SECRET');
});

test('a sandbox may have its bank in the clear', async () => {
  const sandbox = { mode: 'sandbox', bankSecret: secret } as const;
  expect(await open({ bank: 'http://x.example' }, one, sandbox)).toBe('ONE at http://x.example');
});

test('without any bank there is nothing to compare with', async () =>
  expect(await open({ bank: file }, [])).toContain('the banks are none at all'));
