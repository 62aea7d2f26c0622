// The file of an export is of one moment and whole or not there, whatever happens while it is written. It expires, and only its own
// link fetches it.
import { EventEmitter, once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { laterBy, runningFrom } from '../../../src/clock.ts';
import { exportSources } from '../../../src/app/sources/export-sources.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { statement } from '../../../src/platform/database/statement.ts';
import type { LeasedJob } from '../../../src/platform/jobs/job-table.ts';
import {
  deleteExport,
  findExport,
  findPiece,
  rescheduleExport,
  storeExportEnd,
  storePiece,
  storeRun,
} from '../../../src/search/exports/exports.store.ts';
import { runExportJob, type ExportJobDeps } from '../../../src/search/exports/worker.ts';
import { exportsUrl, fetchExport, readExport, wholeYear } from '../../support/requests/exports.ts';
import { invoicesUrl } from '../../support/worlds/invoices.ts';
import { startTestService, type Merchant, type TestService } from '../../support/service/test-service.ts';

const invoices = 2_500;
const asked = { of: 'invoices', shopID: 'TEST' };

let service: TestService;
let merchant: Merchant;
beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
  // Several of one time, so that the ID decides.
  await query(
    `insert into invoice (invoice_id, party_id, shop_id, version, status, created_at, due_date, amount_minor, currency, product, metadata)
     select 'I' || n, $1, 'TEST', 1, 'unpaid', timestamptz '2026-01-01' + n / 7 * interval '1 second', '2030-01-01', n, 'RUB', repeat('p', 900), '{}'
     from generate_series(1, ${invoices}) as n`,
    [merchant.partyId],
  );
  await service.search.whenIdle();
});
afterAll(() => service.close());

const query = async (text: string, values?: unknown[]) =>
  (await service.testDatabase.database.withClient((client) => client.query(text, values))).rows as any[];
const token = () => merchant.apiKey;
const call = (method: 'GET' | 'POST', path: string, body?: object) =>
  service.call(method, path, { token: token(), ...(body ? { body } : {}) });
const rescind = (id: string) => call('POST', `${invoicesUrl}/${id}/rescind`, { reason: 'no' });
const piecesOf = (id: string) =>
  query('select run, number from export_piece where export_id = $1 order by 1, 2', [id]);
const jobDeps = (more: Partial<ExportJobDeps> = {}): ExportJobDeps => ({
  db: service.database,
  log: service.log,
  keys: service.keyring,
  sources: exportSources,
  isStopping: () => false,
  ...more,
});

/** The source of invoices, with something done before each page. */
const sourcesWith = (before: (page: number, tx: Database) => Promise<unknown>): ExportJobDeps['sources'] => {
  let pages = 0;
  const { invoices: source } = exportSources;
  const page: typeof source.page = async (...given) => {
    await before((pages += 1), given[0]);
    return source.page(...given);
  };
  return { ...exportSources, invoices: { ...source, page } };
};

/** As the limit on statements does it, and at once. */
const cancelNow = statement({
  name: 'cancel_now',
  parameters: {},
  row: {},
  text: 'select pg_cancel_backend(pg_backend_pid()), pg_sleep(10)',
});

/** A database in which the statement of this name is cancelled. */
const cancelling = (db: Database, name: string): Database => ({
  ...db,
  run: async (asked, parameters) => {
    if (asked.name === name) await db.run(cancelNow, {});
    return db.run(asked, parameters);
  },
  transaction: (work, of) => db.transaction((tx) => work(cancelling(tx, name)), of),
});

type Run = Partial<ExportJobDeps> & Partial<Pick<LeasedJob, 'leaseMoved'>>;
const run = (id: string, { leaseMoved = () => {}, ...more }: Run = {}) =>
  runExportJob(jobDeps(more), {
    key: [merchant.partyId, id],
    clock: runningFrom(service.clock.now(), service.clock),
    leaseMoved,
  });

/** Without the nodes' own job: the test runs it. */
async function ordered(more: object = {}): Promise<string> {
  await service.jobs.whenIdle();
  const id = service.ports.ids.next();
  await query(
    `insert into export (party_id, export_id, slot, terms, made_by, created_at)
     select $1, $2, 3, $3::json, 'test', now()`,
    [
      merchant.partyId,
      id,
      JSON.stringify({
        of: 'invoices',
        shopId: 'TEST',
        from: '2026-01-01T00:00:00.000000Z',
        to: '2026-12-31T00:00:00.000000Z',
        filters: {},
        timeZone: 'UTC',
        delimiter: ',',
        hasByteOrderMark: false,
        ...more,
      }),
    ],
  );
  return id;
}

describe('a file', () => {
  test('is of one moment: rows that change, come or go from its filter meanwhile are as they were', async () => {
    const id = await ordered({ filters: { invoiceStatus: 'unpaid' } });
    await run(id, {
      sources: sourcesWith(async (page) => {
        if (page === 1) return;
        // One that is written already, one that is not yet, and a new one.
        await rescind(`I${invoices - page}`);
        await rescind(`I${page}`);
        await call('POST', invoicesUrl, {
          shopID: 'TEST',
          dueDate: '2030-01-20T10:00:00Z',
          amount: 1,
          currency: 'RUB',
          product: 'new',
        });
        await service.search.whenIdle();
      }),
    });
    const { rows } = await readExport(service, token(), id);
    expect(rows.map(({ invoiceID }) => invoiceID)).toEqual(
      Array.from({ length: invoices }, (_, index) => index + 1)
        .toSorted((one, other) => secondOf(other) - secondOf(one) || (`I${one}` < `I${other}` ? 1 : -1))
        .map((n) => `I${n}`),
    );
    expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(['unpaid']));
    const { rows: later } = await fetchExport(service, merchant, {
      ...asked,
      filters: { invoiceStatus: 'unpaid' },
    });
    expect(later).toHaveLength(invoices - 4 + 2);
  });

  test('is begun again after a run that ended early, and nothing of that run is in it', async () => {
    const id = await ordered();
    const killed = run(id, {
      sources: sourcesWith(async (page) => {
        if (page === 3) throw new Error('killed');
      }),
    });
    await expect(killed).rejects.toThrow('killed');
    expect(await piecesOf(id)).toEqual([{ run: 1, number: 1 }]);
    const half = await call('GET', `${exportsUrl}/${id}`);
    expect(half.body).toMatchObject({ status: 'running', rows: 2000 });
    expect(half.body.url ?? half.body.sha256).toBeUndefined();
    await run(id);
    const { body } = await readExport(service, token(), id);
    expect(body.rows).toBe(Number((await query('select count(*) as n from search_invoice'))[0].n));
    expect(new Set((await piecesOf(id)).map((piece) => piece.run))).toEqual(new Set([2]));
  });

  test('has nothing of a run that continues after its lease, when another has begun', async () => {
    const id = await ordered();
    await run(id, {
      sources: sourcesWith(async (page) => {
        if (page === 3) await run(id);
      }),
    });
    const { body } = await readExport(service, token(), id);
    expect(body.status).toBe('ready');
    expect(new Set((await piecesOf(id)).map((piece) => piece.run))).toEqual(new Set([2]));
  });

  test('has nothing of a run that continues while another one is still at it', async () => {
    const id = await ordered();
    const signals = new EventEmitter();
    const [begun, mayContinue] = [once(signals, 'begun'), once(signals, 'continue')];
    let second: Promise<void> | undefined;
    await run(id, {
      sources: sourcesWith(async (page) => {
        if (page !== 2) return;
        const waits = sourcesWith(async () => {
          signals.emit('begun');
          await mayContinue;
        });
        second = run(id, { sources: waits });
        await begun;
      }),
    });
    const between = await piecesOf(id);
    signals.emit('continue');
    await second;
    expect(between).toEqual([]);
    await readExport(service, token(), id);
    expect(new Set((await piecesOf(id)).map((piece) => piece.run))).toEqual(new Set([2]));
  });

  test('is written, ended and put off by its last run alone', async () => {
    const { database: db } = service;
    const id = await ordered();
    const found = async () => (await findExport(db, merchant.partyId, id))!;
    const at = laterBy(service.clock.now(), 60_000);
    const of = await found();
    expect(await storeRun(db, of, at)).toBe(1);
    expect(await storeRun(db, of, at)).toBeUndefined();
    expect(await storeRun(db, await found(), at)).toBe(2);
    const piece = { number: 1, keyVersion: 1, content: Buffer.from('x'), rows: 1n, bytes: 1n };
    const row = async () => (await query('select * from export where export_id = $1', [id]))[0];
    const before = await row();
    expect(await storePiece(db, { of, run: 1, leasedUntil: at }, piece)).toBe(false);
    expect(await storeExportEnd(db, of, 1, { failure: 'tooWide', expiresAt: at })).toBe(false);
    await rescheduleExport(db, of, 1, laterBy(at, 1_000));
    expect(await row()).toEqual(before);
    expect(await storePiece(db, { of, run: 2, leasedUntil: at }, piece)).toBe(true);
    expect(await findPiece(db, { ...of, run: 1 }, 1)).toBeUndefined();
    expect(await findPiece(db, await found(), 1)).toBeDefined();
    await deleteExport(db, await found());
  });

  test.each([1, 3])(
    'knows the lease of its row when it fails on page %s, so that it can be stuck',
    async (last) => {
      const id = await ordered();
      const leases: string[] = [];
      const failed = run(id, {
        leaseMoved: (until) => void leases.push(until),
        sources: sourcesWith(async (page) => {
          service.clock.advance(1_000);
          if (page === last) throw new Error('no');
        }),
      });
      await expect(failed).rejects.toThrow('no');
      const [row] = await query('select wake_at from export where export_id = $1', [id]);
      expect(leases.at(-1)).toBe(row.wake_at);
      await run(id);
      await readExport(service, token(), id);
    },
  );

  test('is left to another node by one that stops', async () => {
    const id = await ordered();
    let isStopping = false;
    await run(id, {
      isStopping: () => isStopping,
      sources: sourcesWith(async (page) => void (isStopping = page === 2)),
    });
    const [row] = await query('select wake_at <= $2 as is_due, sha256 from export where export_id = $1', [
      id,
      service.clock.now(),
    ]);
    expect(row).toEqual({ is_due: true, sha256: null });
    service.jobs.wake();
    await service.jobs.whenIdle();
    await readExport(service, token(), id);
  });

  test('is not begun while rows may lack, because everything is copied again', async () => {
    await query(`update search_position set rebuild_after = ''`);
    const id = await ordered();
    await run(id);
    expect((await call('GET', `${exportsUrl}/${id}`)).body.status).toBe('pending');
    await service.search.whenIdle();
    await run(id);
    await readExport(service, token(), id);
  });

  test('has no more rows than a file may have', async () => {
    const id = await ordered();
    const { invoices: source } = exportSources;
    const many: ExportJobDeps['sources'] = {
      ...exportSources,
      // Every page is as large as a whole file.
      invoices: {
        ...source,
        page: async () => ({ rows: { length: 5_000_001, map: () => [] } as unknown as [], last: undefined }),
      },
    };
    await run(id, { sources: many });
    const { body } = await call('GET', `${exportsUrl}/${id}`);
    expect(body).toMatchObject({ status: 'failed', error: 'tooManyRows' });
    expect(body.url).toBeUndefined();
  });

  test('fails if a search takes too long, and nothing of it is left', async () => {
    const id = await ordered();
    let before: unknown[] = [];
    await run(id, {
      sources: sourcesWith(async (page, tx) => {
        if (page < 3) return;
        before = await piecesOf(id);
        await tx.run(cancelNow, {});
      }),
    });
    expect(before).toEqual([{ run: 1, number: 1 }]);
    const { body } = await call('GET', `${exportsUrl}/${id}`);
    expect(body).toMatchObject({ status: 'failed', error: 'tooWide', rows: 0, bytes: 0 });
    expect(await piecesOf(id)).toEqual([]);
  });

  test.each(['begin_export_run', 'insert_export_piece', 'end_export_run', 'read_search_freshness'])(
    'does not fail for good because %s takes too long',
    async (name) => {
      const id = await ordered();
      await expect(run(id, { db: cancelling(service.database, name) })).rejects.toThrow(
        'canceling statement',
      );
      expect((await call('GET', `${exportsUrl}/${id}`)).body.error).toBeUndefined();
      await run(id);
      await readExport(service, token(), id);
    },
  );

  test('keeps what an earlier run has written until a new one has begun', async () => {
    const id = await ordered();
    const killed = run(id, {
      sources: sourcesWith(async (page) => {
        if (page === 3) throw new Error('killed');
      }),
    });
    await expect(killed).rejects.toThrow('killed');
    await expect(run(id, { db: cancelling(service.database, 'delete_export_pieces') })).rejects.toThrow();
    expect((await findExport(service.database, merchant.partyId, id))?.run).toBe(1);
    await run(id);
    await readExport(service, token(), id);
  });
});

const secondOf = (n: number) => Math.floor(n / 7);

test('a party has three at a time, whatever others have, and however many are ordered at once', async () => {
  await service.jobs.whenIdle();
  await query(`update search_position set rebuild_after = ''`);
  const other = await service.createMerchant();
  const order = (by: string) =>
    service.call('POST', exportsUrl, { token: by, body: { ...wholeYear, ...asked } });
  const answers = await Promise.all(Array.from({ length: 6 }, () => order(token())));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 202, 202, 400, 400, 400]);
  for (const { status, body } of answers) if (status === 400) expect(body.code).toBe('tooManyExports');
  expect((await order(other.apiKey)).status).toBe(202);
  await service.search.whenIdle();
  service.clock.advance(6_000);
  service.jobs.wake();
  await service.jobs.whenIdle();
  expect((await order(token())).status).toBe(202);
  await service.jobs.whenIdle();
});

test('a party has a hundred files until they expire', async () => {
  const other = await service.createMerchant();
  await query(
    `insert into export (party_id, export_id, slot, terms, made_by, created_at, sha256, expires_at)
     select $1, 'E' || n, 1, '{}', 'test', now(), repeat('0', 64), '2030-01-01' from generate_series(1, 100) as n`,
    [other.partyId],
  );
  const order = () =>
    service.call('POST', exportsUrl, { token: other.apiKey, body: { ...wholeYear, ...asked } });
  expect((await order()).body.code).toBe('tooManyExports');
  await query(`delete from export where party_id = $1 and export_id = 'E7'`, [other.partyId]);
  expect((await order()).status).toBe(202);
  await service.jobs.whenIdle();
});

describe('a link', () => {
  const pathOf = ({ body }: { body: any }) => new URL(body.url).pathname;
  const textOf = async (path: string) => (await service.call('GET', path)).status;

  test('fetches its own file, for ten minutes, and is in no log', async () => {
    const [one, other] = [
      await fetchExport(service, merchant, asked),
      await fetchExport(service, merchant, asked),
    ];
    const path = pathOf(one);
    const [, , partyId, id = '', signed = ''] = path.split('/');
    expect(await textOf(path)).toBe(200);
    expect(await textOf(path.replace(id, other.body.id))).toBe(404);
    expect(await textOf(path.replace(partyId ?? '', 'P'))).toBe(404);
    for (let at = 0; at < signed.length; at++) {
      const changed = signed.slice(0, at) + (signed[at] === '1' ? '2' : '1') + signed.slice(at + 1);
      expect(await textOf(path.replace(signed, changed)), changed).toBe(404);
    }
    for (const text of ['x', '', '.', '..', `${signed}A`, '9'.repeat(3_000)])
      expect(await textOf(path.replace(signed, encodeURIComponent(text))), text).toBe(404);
    service.clock.advance(599_999);
    expect(await textOf(path)).toBe(200);
    service.clock.advance(1);
    expect(await textOf(path)).toBe(404);
    expect(await textOf(pathOf(await call('GET', `${exportsUrl}/${id}`)))).toBe(200);
    expect(service.logged.join('')).not.toContain(signed);
    expect(service.logged.filter((line) => line.includes('export downloaded')).at(-1)).toContain(id);
  });

  test('is of no use once the file has expired by the test clock, and nothing is left of it', async () => {
    const { body } = await fetchExport(service, merchant, asked);
    const now = new Date(Date.parse(body.expiresAt) - 1_000).toISOString();
    expect((await call('POST', '/sandbox/clock', { now })).status).toBe(200);
    await service.jobs.whenIdle();
    expect((await call('GET', `${exportsUrl}/${body.id}`)).status).toBe(200);
    await call('POST', '/sandbox/clock', { now: body.expiresAt });
    await service.jobs.whenIdle();
    expect(await call('GET', `${exportsUrl}/${body.id}`)).toMatchObject({ status: 404 });
    expect(await textOf(pathOf({ body }))).toBe(404);
    expect(await piecesOf(body.id)).toEqual([]);
    expect(await findExport(service.database, merchant.partyId, body.id)).toBeUndefined();
  });
});

test('what is stored of a file cannot be read without the keys, nor moved into another', async () => {
  const other = await service.createMerchant();
  const [one, two] = [
    await fetchExport(service, other, asked),
    await fetchExport(service, other, { ...asked, shopID: 'TEST_USD' }),
  ];
  const [{ content }] = await query('select content from export_piece where export_id = $1', [one.body.id]);
  expect(content.includes(Buffer.from('invoiceID'))).toBe(false);
  await query('update export_piece set content = $2 where export_id = $1', [two.body.id, content]);
  await expect(readExport(service, other.apiKey, two.body.id)).rejects.toThrow();
});
