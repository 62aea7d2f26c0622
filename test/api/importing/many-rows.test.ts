// A large file: its rows are written in batches, each in one transaction of a known number of statements.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { rowsOfBatch } from '../../../src/importing/import-cards.ts';
import { recordStatements } from '../../support/database/sent-statements.ts';
import { often } from '../../support/service/campaign.ts';
import { importFiles, importRow, importRows, type ImportFiles } from '../../support/service/imported.ts';
import { startTestService, type Merchant, type TestService } from '../../support/service/test-service.ts';

let service: TestService;
let merchant: Merchant;
let files: ImportFiles;
beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
  files = importFiles();
});
afterAll(async () => {
  vi.restoreAllMocks();
  await files.remove();
  await service.close();
});

const none = { repeated: 0, conflicts: [], refused: [] };
const rowCount = often(2_000, 10_000);

/** The names of the statements that were sent meanwhile. */
async function statementsOf(work: () => Promise<unknown>): Promise<(name: string) => number> {
  const sent = recordStatements();
  await work();
  vi.restoreAllMocks();
  return (name) => sent.filter((one) => one === name).length;
}

test(`${rowCount} rows are imported in batches of five statements and a transaction`, async () => {
  const rows = Array.from({ length: rowCount }, (_, number) => importRow({ externalID: `row-${number}` }));
  const counted = await statementsOf(async () =>
    expect(await importRows(service, files, merchant.partyId, rows)).toEqual({ ...none, imported: rowCount }),
  );
  const batches = rowCount / rowsOfBatch;
  expect({
    taken: counted('read_imported_external_ids'),
    cards: counted('insert_retained_cards'),
    series: counted('insert_imported_series'),
    bindings: counted('insert_imported_bindings'),
    begun: counted('begin'),
    ended: counted('commit'),
    settings: counted('read_recurring_settings'),
  }).toEqual({
    taken: batches,
    cards: batches,
    series: batches,
    bindings: batches,
    begun: batches,
    ended: batches,
    settings: 1,
  });
  const { rows: made } = await service.database.withClient((client) =>
    client.query(
      `select (select count(*)::int from customer where status = 'ready') as customers,
         (select count(distinct binding_id)::int from binding where series_id is not null) as bindings,
         (select count(distinct card_token)::int from series) as cards`,
    ),
  );
  expect(made).toEqual([{ customers: rowCount, bindings: rowCount, cards: rowCount }]);
  expect(await importRows(service, files, merchant.partyId, rows.slice(-600))).toEqual({
    ...none,
    imported: 0,
    repeated: 600,
  });
});

test('two cards of each customer, one after the other, take few batches more than one card of each', async () => {
  const { contactInfo: _, ...second } = importRow({
    card: { cardNumber: '5555555555554444', expDate: '11/31' },
  });
  const networkTransactionID = { kind: 'mcTrace', value: 'MCC0123450105' };
  const firstPayment = { ...second.firstPayment, networkTransactionID };
  const rows = Array.from({ length: 500 }, (_unused, number) => [
    importRow({ externalID: `pair-${number}` }),
    { ...second, firstPayment, externalID: `pair-${number}-b`, customerExternalID: `pair-${number}` },
  ]).flat();
  const counted = await statementsOf(async () =>
    expect(await importRows(service, files, merchant.partyId, rows)).toEqual({ ...none, imported: 1_000 }),
  );
  // Of 250 rows at least half are imported, and the others are the first of the next batch.
  expect(counted('insert_imported_bindings')).toBeLessThanOrEqual(1_000 / (rowsOfBatch / 2));
  const { rows: active } = await service.database.withClient((client) =>
    client.query(
      `select count(*)::int from customer c join binding b on b.binding_id = c.active_binding_id and b.customer_id = c.customer_id
       where b.external_id like 'pair-%-b'`,
    ),
  );
  expect(active).toEqual([{ count: 500 }]);
});
