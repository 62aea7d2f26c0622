// An export has the columns that were chosen, can be cancelled until it is ready, and leaves lines about who ordered and fetched it.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { laterBy, runningFrom } from '../../../src/clock.ts';
import { exportSources } from '../../../src/app/sources/export-sources.ts';
import { columnNames } from '../../../src/search/exports/export-lines.ts';
import { runExportJob, type ExportJobDeps } from '../../../src/search/exports/worker.ts';
import { exportsUrl, fetchExport, readExport, wholeYear } from '../../support/requests/exports.ts';
import { makeInvoice } from '../../support/worlds/invoices.ts';
import { startTestService, type Merchant, type TestService } from '../../support/service/test-service.ts';

let service: TestService;
let merchant: Merchant;
beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
  for (const amount of [100, 250]) {
    service.clock.advance(1_000);
    await makeInvoice(service, merchant, { amount, product: '=1+1' });
  }
  await service.search.whenIdle();
});
afterAll(() => service.close());

const ofInvoices = { of: 'invoices', shopID: 'TEST' };
const order = (asked: object, by = merchant.apiKey) =>
  service.call('POST', exportsUrl, { token: by, body: { ...wholeYear, ...asked } });
const read = (id: string, by = merchant.apiKey) => service.call('GET', `${exportsUrl}/${id}`, { token: by });
const cancel = (id: string, by = merchant.apiKey) =>
  service.call('POST', `${exportsUrl}/${id}/cancel`, { token: by });
const query = async (text: string, values?: unknown[]) =>
  (await service.testDatabase.database.withClient((client) => client.query(text, values))).rows as any[];
const later = () => laterBy(service.clock.now(), 7 * 86_400_000);
/** One that no job takes. */
async function pending(slot: number): Promise<string> {
  await service.jobs.whenIdle();
  const id = service.ports.ids.next();
  const terms = {
    of: 'invoices',
    shopId: 'TEST',
    from: '2026-01-01T00:00:00.000000Z',
    to: '2026-12-31T00:00:00.000000Z',
    filters: {},
    timeZone: 'UTC',
    delimiter: ',',
    hasByteOrderMark: false,
  };
  await query(
    `insert into export (party_id, export_id, slot, terms, made_by, created_at) values ($1, $2, $3, $4, 'test', $5)`,
    [merchant.partyId, id, slot, JSON.stringify(terms), service.clock.now()],
  );
  return id;
}

describe('the columns of a file', () => {
  const headingOf = ({ text }: { readonly text: string }) => text.split('\r\n')[0];

  test('are those that were chosen, in that order', async () => {
    const columns = ['amountDecimal', 'invoiceID', 'product', 'currency'];
    const file = await fetchExport(service, merchant, { ...ofInvoices, columns });
    expect(headingOf(file)).toBe(columns.join(','));
    const whole = await fetchExport(service, merchant, ofInvoices);
    expect(file.rows).toEqual(
      whole.rows.map((row) => Object.fromEntries(columns.map((name) => [name, row[name]]))),
    );
    expect(file.rows.map(({ amountDecimal, product }) => [amountDecimal, product])).toEqual([
      ['2.50', "'=1+1"],
      ['1.00', "'=1+1"],
    ]);
  });

  test('are all if none are chosen', async () => {
    const file = await fetchExport(service, merchant, ofInvoices);
    expect(headingOf(file)).toBe(columnNames(exportSources.invoices).join(','));
  });

  test.each([
    [[], /columns.*size/],
    [['invoiceID', 'cardNumber'], /columns.*use createdAt, .*invoiceID.* alone/],
    [['invoiceID', 'invoiceID'], /columns.*once/],
    [['paymentID'], /columns/],
    ['invoiceID', /columns/],
  ])('are refused as %j', async (columns, message) => {
    const { status, body } = await order({ ...ofInvoices, columns });
    expect([status, body.code, body.message]).toEqual([
      400,
      'invalidRequest',
      expect.stringMatching(message),
    ]);
  });
});

test('a file has an MD5 besides its SHA-256', async () => {
  const { body, text } = await fetchExport(service, merchant, ofInvoices);
  expect(body.md5).toBe(createHash('md5').update(text).digest('hex'));
});

describe('a cancelled export', () => {
  test('has no file, frees its place at once, and is deleted after seven days', async () => {
    const ids = [await pending(1), await pending(2), await pending(3)];
    expect((await order(ofInvoices)).body.code).toBe('tooManyExports');
    const [id = ''] = ids;
    const { status, body } = await cancel(id);
    expect([status, body.status, body.error, body.url]).toEqual([200, 'cancelled', undefined, undefined]);
    expect(await cancel(id)).toMatchObject({ status: 200, body });
    expect((await order(ofInvoices)).status).toBe(202);
    await service.jobs.whenIdle();
    expect((await read(id)).body).toEqual(body);
    for (const other of ids.slice(1)) expect((await cancel(other)).body.status).toBe('cancelled');
    expect(Date.parse(body.expiresAt) - Date.parse(body.createdAt)).toBeGreaterThanOrEqual(7 * 86_400_000);
  });

  test('is none of the hundred that a party keeps', async () => {
    const [{ kept }] = await query(
      `select count(*)::int as kept from export where party_id = $1 and failure is distinct from 'cancelled'`,
      [merchant.partyId],
    );
    for (let n = kept; n < 100; n++) {
      const id = await pending(1);
      if (n === 99) await cancel(id);
      else
        await query(`update export set failure = 'tooWide', expires_at = $2 where export_id = $1`, [
          id,
          later(),
        ]);
    }
    expect((await order(ofInvoices)).status).toBe(202);
    await service.jobs.whenIdle();
    expect((await order(ofInvoices)).body.code).toBe('tooManyExports');
    await query(`delete from export where failure = 'tooWide'`);
  });

  test('is not written on by the run that was at it', async () => {
    const id = await pending(1);
    const { invoices: source } = exportSources;
    const sources: ExportJobDeps['sources'] = {
      ...exportSources,
      invoices: {
        ...source,
        page: async (...given) => {
          expect((await cancel(id)).body.status).toBe('cancelled');
          return source.page(...given);
        },
      },
    };
    const deps = {
      db: service.database,
      log: service.log,
      keys: service.keyring,
      sources,
      isStopping: () => false,
    };
    await runExportJob(deps, {
      key: [merchant.partyId, id],
      clock: runningFrom(service.clock.now(), service.clock),
      leaseMoved: () => {},
    });
    expect((await read(id)).body).toMatchObject({ status: 'cancelled', rows: 0, bytes: 0 });
    expect(await query('select from export_piece where export_id = $1', [id])).toEqual([]);
  });

  test('is not one that is ready, of another party, or of another kind than the key may see', async () => {
    const { body } = await fetchExport(service, merchant, ofInvoices);
    expect(await cancel(body.id)).toMatchObject({ status: 400, body: { code: 'exportIsOver' } });
    await readExport(service, merchant.apiKey, body.id);
    const id = await pending(1);
    const other = await service.createMerchant();
    const payments = await service.apiKeys.create({
      partyId: merchant.partyId,
      name: 'n',
      scopes: ['payments:read'],
    });
    for (const by of [other.apiKey, payments]) expect((await cancel(id, by)).status).toBe(404);
    expect((await read(id)).body.status).toBe('pending');
    await cancel(id);
  });
});

test('the log says who ordered, was refused, cancelled and fetched', async () => {
  const linesSince = (before: number) =>
    service.logged
      .slice(before)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => String(msg).startsWith('export') && msg !== 'export ready');
  const keyId = (await query('select key_id from api_key where party_id = $1', [merchant.partyId]))[0].key_id;
  const who = { party: merchant.partyId, by: keyId, level: 'info' };
  const cancelled = await pending(1);
  const before = service.logged.length;
  await cancel(cancelled);
  await order({ ...ofInvoices, columns: ['none'] });
  await order({ ...ofInvoices, shopID: 'NONE' });
  const { id } = (await order(ofInvoices)).body;
  await service.jobs.whenIdle();
  await cancel(id);
  const { url } = (await read(id)).body;
  const path = new URL(url).pathname;
  await service.call('GET', path);
  await service.call('GET', `${path.slice(0, -1)}${path.endsWith('A') ? 'B' : 'A'}`);
  service.clock.advance(600_000);
  await service.call('GET', path);
  const lines = linesSince(before);
  expect(lines).toMatchObject([
    { ...who, msg: 'export cancelled', export: cancelled },
    { ...who, msg: 'export refused', kind: 'invoices', code: 'invalidRequest' },
    { ...who, msg: 'export refused', kind: 'invoices', code: 'shopNotFound' },
    { ...who, msg: 'export ordered', export: id, kind: 'invoices' },
    { ...who, msg: 'export cancellation refused', export: id, code: 'exportIsOver' },
    { ...who, msg: 'export downloaded', export: id },
    { msg: 'export download refused' },
    { msg: 'export download refused' },
  ]);
  expect(lines.at(-1)?.['export']).toBeUndefined();
});
