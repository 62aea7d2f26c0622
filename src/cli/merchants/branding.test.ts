// mandate shop branding: how the pages for payers look.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandLine } from '../../../test/support/processes/command-line.ts';
import {
  startTestService,
  type Merchant,
  type TestService,
} from '../../../test/support/service/test-service.ts';

let service: TestService;
let merchant: Merchant;
const folder = mkdtempSync(join(tmpdir(), 'branding-'));
const png = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

const run = (...args: string[]) =>
  commandLine(['shop', 'branding', ...args, '--party', merchant.partyId], {
    DATABASE_URL: service.testDatabase.url,
    MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  });
const shown = async () => JSON.parse((await run('TEST')).output) as unknown;
function fileOf(name: string, content: Buffer): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

test('each value can be set, shown and taken away, and the others stay', { timeout: 120_000 }, async () => {
  expect(await shown()).toEqual({});
  const terms = 'https://shop.example/terms';
  await run('TEST', '--accent', '#0B6B5C', '--terms', terms);
  await run('TEST', '--logo', fileOf('logo.png', png), '--privacy', 'https://shop.example/privacy');
  expect(await shown()).toEqual({
    accent: '#0b6b5c',
    logo: 'image/png, 8 bytes',
    terms,
    privacy: 'https://shop.example/privacy',
  });
  await run('TEST', '--logo', 'none', '--accent', 'none', '--privacy', 'none');
  expect(await shown()).toEqual({ terms });
});

test('what would not work is refused with a reason, and changes nothing', { timeout: 120_000 }, async () => {
  const before = await shown();
  for (const [said, ...args] of [
    ['is too light', '--accent', '#ffcc00'],
    ['is not a colour', '--accent', 'red'],
    ['PNG, JPEG or WebP', '--logo', fileOf('logo.svg', Buffer.from('<svg/>'))],
    ['at most 8000', '--logo', fileOf('large.png', Buffer.concat([png, Buffer.alloc(8_000)]))],
    ['cannot be read', '--logo', join(folder, 'nothing.png')],
    ['is not an address', '--terms', 'javascript:alert(1)'],
    ['is not an address', '--privacy', '/privacy'],
  ] as const) {
    const refused = await run('TEST', ...(args[0] === '--accent' ? [] : ['--accent', '#000000']), ...args);
    expect([refused.code, refused.errors], args.join(' ')).toEqual([1, expect.stringContaining(said)]);
  }
  expect((await run('NONE')).code).toBe(1);
  expect(await shown()).toEqual(before);
});
