// An export of many shops looks through each of them once, whatever the others have, and its file is whole.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exportSources } from '../../../src/app/sources/export-sources.ts';
import { runningFrom } from '../../../src/clock.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { runExportJob } from '../../../src/search/exports/worker.ts';
import { readExport } from '../../support/requests/exports.ts';
import { startTestService, type Merchant, type TestService } from '../../support/service/test-service.ts';

let service: TestService;
let merchant: Merchant;
beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
  await service.search.whenIdle();
});
afterAll(() => service.close());

const query = async (text: string, values?: unknown[]) =>
  (await service.testDatabase.database.withClient((client) => client.query(text, values))).rows as any[];

const shopIds = Array.from({ length: 20 }, (_, n) => `SHOP${String(n).padStart(2, '0')}`);
const [fullShop = ''] = shopIds;

/** One shop has many payments that fit, and each of the others one among many that do not. */
const writePayments = () =>
  query(
    `insert into search_payment (party_id, shop_id, invoice_id, payment_id, created_at, status, flow, amount_minor)
     select $1, shop, shop || 'I' || n, '1', timestamptz '2026-01-05 00:00:00Z' + n * interval '1 minute', 'captured',
       case when shop = $3 or n = 7 then 'hold' else 'instant' end, 100
     from unnest($2::text[]) as shop
     cross join lateral generate_series(1, case when shop = $3 then 2100 else 50 end) as n`,
    [merchant.partyId, shopIds, fullShop],
  );

async function pendingOf(shops: readonly string[]): Promise<string> {
  const id = service.ports.ids.next();
  const terms = {
    of: 'payments',
    shopIds: shops,
    from: '2026-01-01T00:00:00.000000Z',
    to: '2026-12-31T00:00:00.000000Z',
    filters: { paymentFlow: 'hold' },
    timeZone: 'UTC',
    delimiter: ',',
    hasByteOrderMark: false,
  };
  await query(
    `insert into export (party_id, export_id, slot, terms, made_by, created_at) values ($1, $2, 1, $3, 'test', $4)`,
    [merchant.partyId, id, JSON.stringify(terms), service.clock.now()],
  );
  return id;
}

/** Says of which shops each page is. */
function watched(database: Database, hear: (shops: unknown) => void): Database {
  return {
    ...database,
    run(statement, parameters) {
      if (statement.name === 'read_payments_to_export')
        hear((parameters as { readonly shop_ids?: unknown }).shop_ids);
      return database.run(statement, parameters);
    },
    transaction: (work, kind) => database.transaction((tx) => work(watched(tx, hear)), kind),
  };
}

test('an export of many shops reads them one after the other, and each row once', async () => {
  await writePayments();
  const id = await pendingOf(shopIds);
  const pages: unknown[] = [];
  await runExportJob(
    {
      db: watched(service.database, (shops) => void pages.push(shops)),
      log: service.log,
      keys: service.keyring,
      sources: exportSources,
      isStopping: () => false,
    },
    {
      key: [merchant.partyId, id],
      clock: runningFrom(service.clock.now(), service.clock),
      leaseMoved: () => {},
    },
  );
  expect(pages).toEqual([fullShop, fullShop, ...shopIds]);
  const { rows } = await readExport(service, merchant.apiKey, id);
  const fitting = await query(
    `select invoice_id from search_payment where party_id = $1 and flow = 'hold'
     order by shop_id, created_at desc, invoice_id desc`,
    [merchant.partyId],
  );
  expect(fitting).toHaveLength(2_119);
  expect(rows.map(({ invoiceID }) => invoiceID)).toEqual(fitting.map(({ invoice_id }) => invoice_id));
});
