// mandate shop three-d-secure: when the payers of a shop are authenticated.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandLine } from '../../../test/support/processes/command-line.ts';
import {
  startTestService,
  type Merchant,
  type TestService,
} from '../../../test/support/service/test-service.ts';

let service: TestService;
let merchant: Merchant;
beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
});
afterAll(() => service.close());

const run = (...args: string[]) =>
  commandLine(['shop', 'three-d-secure', ...args, '--party', merchant.partyId], {
    DATABASE_URL: service.testDatabase.url,
    MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  });

test('the wish of a shop can be chosen and shown', { timeout: 120_000 }, async () => {
  expect((await run('TEST')).output).toBe('whenTheBankSays\n');
  expect((await run('TEST', 'always')).output).toBe('always\n');
  expect((await run('TEST')).output).toBe('always\n');
  const wrong = await run('TEST', 'sometimes');
  expect([wrong.code, wrong.errors]).toEqual([1, expect.stringContaining('"sometimes" is not a choice')]);
  expect((await run('NONE', 'never')).code).toBe(1);
});
