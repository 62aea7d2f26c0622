// A large file: its rows are written in batches, each in one transaction of a known number of statements.
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { rowsOfBatch } from '../../../src/importing/import-cards.ts';
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

const rowCount = 10_000;

test('10,000 rows are imported in batches of five statements and a transaction', async () => {
  const rows = Array.from({ length: rowCount }, (_, number) => importRow({ externalID: `row-${number}` }));
  const sent: string[] = [];
  const query = pg.Client.prototype.query;
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...parameters: any[]) {
    const [first] = parameters;
    sent.push(String(typeof first === 'string' ? first : (first.name ?? first.text)));
    return (query as any).apply(this, parameters);
  });
  const none = { repeated: 0, conflicts: [], refused: [] };
  expect(await importRows(service, files, merchant.partyId, rows)).toEqual({ ...none, imported: rowCount });
  vi.restoreAllMocks();
  const counted = (name: string) => sent.filter((one) => one === name).length;
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
