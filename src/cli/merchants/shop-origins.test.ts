// mandate shop origins: the sites that may embed a shop's checkout.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeInvoice } from '../../../test/support/worlds/invoices.ts';
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
  commandLine(['shop', 'origins', ...args, '--party', merchant.partyId], {
    DATABASE_URL: service.testDatabase.url,
    MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  });

test(
  'origins can be added and removed, and a running service uses them; an invalid one is refused',
  { timeout: 120_000 },
  async () => {
    const add = ['--add', 'https://Shop.example/', '--add', 'http://localhost:3000'];
    expect((await run('TEST', ...add)).output).toBe('https://shop.example\nhttp://localhost:3000\n');
    expect((await run('TEST', '--remove', 'http://localhost:3000')).output).toBe('https://shop.example\n');
    expect(JSON.parse((await run('TEST', '--json')).output)).toEqual(['https://shop.example']);
    const { id } = await makeInvoice(service, merchant);
    const policy = async () =>
      (await service.call('GET', `/checkout?invoiceID=${id}`)).headers['content-security-policy'];
    await expect.poll(policy, { timeout: 30_000 }).toContain('frame-ancestors https://shop.example http://');
    const { code, errors } = await run('TEST', '--add', 'https://shop.example/pay');
    expect([code, errors]).toEqual([
      1,
      expect.stringContaining('"https://shop.example/pay" is not an origin'),
    ]);
  },
);
