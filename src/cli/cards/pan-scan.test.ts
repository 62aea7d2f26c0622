// mandate pan-scan, card-testing and shop strict-ids.
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandLine } from '../../../test/support/processes/command-line.ts';
import { cardBody, paymentResourcesUrl } from '../../../test/support/worlds/cards.ts';
import { makeInvoice, order, invoicesUrl } from '../../../test/support/worlds/invoices.ts';
import {
  startTestService,
  type Merchant,
  type TestService,
} from '../../../test/support/service/test-service.ts';
import { laterBy, systemClock } from '../../clock.ts';
import { putGuards } from '../../cards/store/payer-attempts.ts';

const number = '5555341244441115';
const timeout = 120_000;

let service: TestService;
let merchant: Merchant;
let folder: string;
/** Outside of the data folder. */
let files: string;
beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
  folder = mkdtempSync(join(tmpdir(), 'pan-scan-'));
  files = mkdtempSync(join(tmpdir(), 'pan-scan-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  rmSync(files, { recursive: true });
  await service.close();
});

const run = (...args: string[]) =>
  commandLine(args, {
    DATABASE_URL: service.testDatabase.url,
    MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    MANDATE_DATA: folder,
  });
const sql = (text: string, values: unknown[]) =>
  service.database.withClient((client) => client.query(text, values));

describe('pan-scan', () => {
  test('finds nothing after proper requests, and ends with 0', { timeout }, async () => {
    const { token } = await makeInvoice(service, merchant);
    const stored = await service.call('POST', paymentResourcesUrl, { token, body: cardBody() });
    expect(stored.status).toBe(201);
    const { code, output } = await run('pan-scan');
    expect([code, output]).toEqual([0, 'No card number found.\n']);
  });

  test('names every place and no number, and ends with 1', { timeout }, async () => {
    const { id } = await makeInvoice(service, merchant);
    const metadata = JSON.stringify({ note: `5555 3412 4444 1115` });
    await sql('update invoice set metadata = $2 where invoice_id = $1', [id, metadata]);
    await sql('update card set match_hash = $1', [Buffer.from(`\0\xff${number}\0`, 'latin1')]);
    mkdirSync(join(folder, 'archive'));
    writeFileSync(join(folder, 'journal'), `${'x'.repeat(65_530)}${number}`);
    writeFileSync(join(folder, 'archive', 'log.gz'), gzipSync(`a 5555-3412-4444-1115 b`));
    // Of the private PostgreSQL the log alone is text.
    for (const part of ['bin-18', 'data', 'log']) {
      mkdirSync(join(folder, 'pg', part), { recursive: true });
      writeFileSync(join(folder, 'pg', part, 'file'), number);
    }
    const { code, output } = await run('pan-scan', '--json');
    expect(code).toBe(1);
    expect(output).not.toContain('44441115');
    expect(JSON.parse(output)).toEqual([
      { place: 'table card', id: expect.stringMatching(/^card_id=\w+$/), column: 'match_hash' },
      { place: 'table invoice', id: `invoice_id=${id}`, column: 'metadata' },
      { place: `file ${join(folder, 'archive', 'log.gz')}`, id: 'byte 0', column: null },
      { place: `file ${join(folder, 'journal')}`, id: expect.stringMatching(/^byte \d+$/), column: null },
      { place: `file ${join(folder, 'pg', 'log', 'file')}`, id: 'byte 0', column: null },
    ]);
  });

  test('searches a path that is given', { timeout }, async () => {
    const other = mkdtempSync(join(tmpdir(), 'pan-scan-'));
    writeFileSync(join(other, 'dump.sql'), `insert into t values ('${number}')`);
    const { output } = await run('pan-scan', '--path', other);
    expect(output).toContain(join(other, 'dump.sql'));
    rmSync(other, { recursive: true });
  });

  test('takes no number of a card network or an event for a card', { timeout }, async () => {
    await sql('delete from invoice', []).catch(() => undefined);
    await sql('update invoice set metadata = $1', [
      JSON.stringify({ networkTransactionId: number, eventID: 4242424242424242 }),
    ]);
    const { output } = await run('pan-scan', '--json');
    expect(output).not.toContain('table invoice');
  });

  const dumps = fileURLToPath(new URL('../../../test/support/dumps', import.meta.url));
  const scan = async (path: string) => {
    const { code, output, errors } = await run('pan-scan', '--json', '--path', path);
    const found = (JSON.parse(output) as { place: string; id: string }[]).filter(({ place }) =>
      place.startsWith(`file ${path}`),
    );
    return { code, errors, ids: found.map(({ id }) => id) };
  };
  /** Nothing of the tests before. */
  const cleaned = async () => {
    await sql('update invoice set metadata = null', []);
    await sql(`update card set match_hash = '\\x00'`, []);
    rmSync(folder, { recursive: true });
    mkdirSync(folder);
  };
  const written = (name: string, bytes: Buffer | string) => {
    const file = join(mkdtempSync(join(files, 'of-')), name);
    writeFileSync(file, bytes);
    return file;
  };

  test.each([
    ['custom.dump', ['table orders, byte 0']],
    ['uncompressed.dump', [expect.stringMatching(/^table orders, byte \d+$/)]],
    ['large-objects.dump', [expect.stringMatching(/^blobs/)]],
    ['archive.tar', [expect.stringMatching(/^\d+\.dat, byte 0$/)]],
    ['directory', ['byte 0']],
  ])('opens a dump: %s', { timeout }, async (name, ids) => {
    expect(await scan(join(dumps, name))).toEqual({ code: 1, errors: '', ids });
  });

  test('opens what is compressed in each other, whatever its name is', { timeout }, async () => {
    const twice = gzipSync(gzipSync('5555.3412.4444.1115'));
    expect((await scan(written('backup', twice))).ids).toEqual(['byte 0']);
    const compressed = gzipSync(readFileSync(join(dumps, 'custom.dump')));
    expect((await scan(written('backup', compressed))).ids).toEqual(['table orders, byte 0']);
  });

  const tail = Buffer.from('tail');
  const dump = readFileSync(join(dumps, 'custom.dump'));
  test.each([
    ['zstd', Buffer.from('28b52ffd00', 'hex'), 'compressed with zstd'],
    ['zip', Buffer.from('PK\x03\x04 …', 'latin1'), 'a zip archive'],
    ['pgp', '-----BEGIN PGP MESSAGE-----', 'encrypted'],
    ['cut.gz', gzipSync('some text').subarray(0, 20), 'damaged'],
    ['more.gz', Buffer.concat([gzipSync('some text'), tail]), 'damaged'],
    ['later.dump', Buffer.concat([Buffer.from('PGDMP\x01\x63', 'latin1'), Buffer.alloc(9)]), 'version 1.99'],
    ['lz4.dump', Buffer.concat([Buffer.from('PGDMP\x01\x10\x00\x04\x08\x01\x02', 'latin1')]), 'with lz4'],
    ['cut.dump', dump.subarray(0, 900), 'cut off'],
    ['more.dump', Buffer.concat([dump.subarray(0, 1_500), tail]), ''],
  ])('says that it did not search %s, and ends with 3', { timeout }, async (name, bytes, why) => {
    await cleaned();
    const file = written(name, bytes);
    const { code, errors } = await scan(file);
    expect(errors).toContain(`not searched: file ${file}`);
    expect(errors).toContain(why);
    expect(code).toBe(3);
  });

  test('passes over no link, folder or path', { timeout }, async () => {
    await cleaned();
    const other = mkdtempSync(join(files, 'of-'));
    symlinkSync(folder, join(other, 'link'));
    expect((await scan(other)).errors).toContain(`not searched: file ${join(other, 'link')}`);
    mkdirSync(join(other, 'postgres-backup'));
    writeFileSync(join(other, 'postgres-backup', 'dump.sql'), number);
    expect((await scan(other)).ids).toEqual(['byte 0']);
    expect((await run('pan-scan', '--path', join(other, 'absent'))).code).toBe(2);
  });

  test.each([
    ['two numbers', `${number}\t${number}`],
    ['neighbouring columns', `17\t${number}\t2026`],
    ['no-break spaces', '5555\u00a03412\u00a04444\u00a01115'],
    ['narrow spaces', '5555\u202f3412\u202f4444\u202f1115'],
    ['dots', '5555.3412.4444.1115'],
    ['a line break', '5555 3412\n4444 1115'],
    ['between two pieces', `${'x'.repeat(65_533)}\u00a0${number}`],
    ['bytes of a dump', `1\t\\\\x00${Buffer.from(number).toString('hex')}\t2`],
  ])('finds a number in a file: %s', { timeout }, async (_, text) => {
    await cleaned();
    expect((await scan(written('text', text))).ids).toHaveLength(1);
  });

  test('takes no digest for a number', { timeout }, async () => {
    await cleaned();
    const lines = Array.from({ length: 20_000 }, (_, line) =>
      createHash('sha256').update(String(line)).digest('hex'),
    );
    expect((await scan(written('dump.sql', lines.map((line) => `\\\\x${line}`).join('\n')))).code).toBe(0);
  });

  test('ends with 2 if the database cannot be read', { timeout }, async () => {
    const { code } = await commandLine(['pan-scan'], {
      DATABASE_URL: 'postgresql://127.0.0.1:1/none',
      MANDATE_DATA: folder,
    });
    expect(code).toBe(2);
  });
});

test('guarded shops are listed, and a reset ends the guard', { timeout }, async () => {
  const now = systemClock.now();
  const counts = { bin: '', approved: 1n, declined: 30n };
  const shop = { party_id: merchant.partyId, shop_id: 'TEST' };
  const guard = { mode: 'challenge', since: now, until: laterBy(now, 60_000) } as const;
  await service.database.run(putGuards, { guards: [{ ...shop, ...guard, ...counts }] });
  expect(JSON.parse((await run('card-testing', 'list', '--json')).output)).toMatchObject([
    { partyId: merchant.partyId, shopId: 'TEST', mode: 'challenge', declined: 30, bin: null },
  ]);
  expect((await run('card-testing', 'list')).output).toContain('challenge');
  const party = ['--party', merchant.partyId];
  expect((await run('card-testing', 'reset', 'TEST', ...party)).output).toContain('takes cards as before');
  const again = await run('card-testing', 'reset', 'TEST', ...party);
  expect([again.code, again.errors]).toEqual([1, expect.stringContaining('is not guarded')]);
});

test('a shop becomes strict about IDs, and a wrong answer is refused', { timeout }, async () => {
  const party = ['--party', merchant.partyId];
  expect((await run('shop', 'strict-ids', 'TEST', 'yes', ...party)).output).toContain('refused');
  const body = { ...order, externalID: number };
  expect((await service.call('POST', invoicesUrl, { token: merchant.apiKey, body })).status).toBe(400);
  expect((await run('shop', 'strict-ids', 'TEST', 'no', ...party)).output).toContain('logged');
  expect((await service.call('POST', invoicesUrl, { token: merchant.apiKey, body })).status).toBe(201);
  const wrong = await run('shop', 'strict-ids', 'TEST', 'maybe', ...party);
  expect([wrong.code, wrong.errors]).toEqual([1, expect.stringContaining('"maybe"')]);
});
