// mandate search rebuild copies what is missing, and says how much.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandLine } from '../../../test/support/processes/command-line.ts';
import { makeInvoice } from '../../../test/support/worlds/invoices.ts';
import { startTestService, type TestService } from '../../../test/support/service/test-service.ts';

let service: TestService;
beforeAll(async () => void (service = await startTestService()));
afterAll(() => service.close());

test('every invoice is copied, and a rebuild that another began is gone through again', async () => {
  const merchant = await service.createMerchant();
  await Promise.all(Array.from({ length: 3 }, () => makeInvoice(service, merchant)));
  const { database, url } = service.testDatabase;
  const rows = () =>
    database.withClient(async (client) => {
      const { rows: found } = await client.query('select count(*)::int as n from search_invoice');
      return found as unknown[];
    });
  expect(await rows()).toEqual([{ n: 0 }]);
  const environment = { DATABASE_URL: url, MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') };
  const output = 'Rebuilt the search rows of 3 invoices, and of 0 customers and series.\n';
  const rebuilt = { code: 0, output, errors: '' };
  expect(await commandLine(['search', 'rebuild'], environment)).toEqual(rebuilt);
  expect(await rows()).toEqual([{ n: 3 }]);
  expect(await commandLine(['search', 'rebuild'], environment)).toEqual(rebuilt);
});
