// Cards of a former provider in live mode: real numbers, and real money.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { customersUrl } from '../../support/worlds/customer-world.ts';
import { importFiles, importRow, importRows, type ImportFiles } from '../../support/service/imported.ts';
import { startTestService, type Merchant, type TestService } from '../../support/service/test-service.ts';

let service: TestService;
let merchant: Merchant;
let files: ImportFiles;
beforeAll(async () => {
  service = await startTestService({ MANDATE_MODE: 'live' });
  merchant = await service.createMerchant();
  files = importFiles();
});
afterAll(async () => {
  await files.remove();
  await service.close();
});

test('a card that is none of the test cards becomes a customer that deals in real money', async () => {
  const card = { cardNumber: '4539578763621486', expDate: '12/30' };
  const report = await importRows(service, files, merchant.partyId, [
    importRow({ externalID: 'live', card }),
  ]);
  expect(report).toEqual({ imported: 1, repeated: 0, conflicts: [], refused: [] });
  const { body } = await service.call('GET', `${customersUrl}?externalID=live`, { token: merchant.apiKey });
  expect(body).toMatchObject({ status: 'ready' });
  const { rows } = await service.database.withClient((client) =>
    client.query(
      `select binding.terms::text like '%"live"%' as bound, facts::text like '%"live"%' as logged
       from binding join series using (series_id) join event on aggregate_id = binding.customer_id`,
    ),
  );
  expect(rows).toEqual([{ bound: true, logged: true }]);
});
