// mandate import: from a key pair to imported cards, as an operator and a sender type it.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandLine } from '../../../test/support/processes/command-line.ts';
import { startTestService, type TestService } from '../../../test/support/service/test-service.ts';
import { goodCard, importFiles, importRow, textOf } from '../../../test/support/service/imported.ts';

const masterKey = Buffer.alloc(32, 7).toString('base64');
const files = importFiles();
const at = (name: string) => join(files.folder, name);
let service: TestService;
let party: string;
let environment: Record<string, string>;
beforeAll(async () => {
  service = await startTestService({ MANDATE_MASTER_KEY: masterKey });
  ({ partyId: party } = await service.createMerchant());
  environment = { DATABASE_URL: service.testDatabase.url, MANDATE_MASTER_KEY: masterKey };
});
afterAll(async () => {
  await files.remove();
  await service.close();
});

const run = (...words: string[]) => commandLine(['import', ...words], environment);
const cards = (file: string, ...more: string[]) =>
  run('cards', file, '--party', party, '--key', files.keyFile, ...more);

async function bindings(): Promise<number> {
  const { rows } = await service.database.withClient((client) =>
    client.query('select count(*)::int as count from binding'),
  );
  return rows[0].count;
}

test('a key pair is made, rows are encrypted to it, and imported once', async () => {
  const key = await run('key', '--out', at('own.pem'));
  expect(key).toMatchObject({ code: 0, errors: expect.stringContaining('own.pem') as string });
  expect(key.output).toMatch(/^[\w-]{43}\n$/);
  expect(statSync(at('own.pem')).mode & 0o777).toBe(0o600);

  const rows = [importRow({ externalID: 'cli-1' }), importRow({ externalID: 'cli-2', shopID: 'NONE' })];
  writeFileSync(at('rows'), textOf(rows));
  const encrypted = await run('encrypt', at('rows'), '--to', key.output.trim(), '--out', at('own.sealed'));
  expect(encrypted).toMatchObject({ code: 0, errors: '' });
  expect(readFileSync(at('own.sealed'), 'latin1')).not.toContain(goodCard);

  const own = [at('own.sealed'), '--party', party, '--key', at('own.pem')];
  const refused = 'Line 2 is refused: shopID is unknown.\n';
  const before = await bindings();
  expect(await run('cards', ...own, '--dry-run')).toEqual({
    code: 1,
    output: `Would import 1 rows.\n${refused}`,
    errors: '',
  });
  expect(await bindings()).toBe(before);
  expect(await run('cards', ...own)).toMatchObject({ code: 1, output: `Imported 1 rows.\n${refused}` });
  expect(await run('cards', ...own)).toMatchObject({
    output: `Imported 0 rows.\n1 rows were imported before and are unchanged.\n${refused}`,
  });
  const { output } = await run('cards', ...own, '--json');
  expect(JSON.parse(output)).toEqual({
    imported: 0,
    repeated: 1,
    conflicts: [],
    refused: [{ line: 2, reason: 'shopID is unknown' }],
  });
  expect(await bindings()).toBe(before + 1);
});

describe('nothing is written', () => {
  /** What a command says that failed, printed nothing and imported nothing. */
  const failed = async (ended: Promise<{ code: number; output: string; errors: string }>) => {
    const before = await bindings();
    const { errors, ...rest } = await ended;
    expect({ ...rest, made: (await bindings()) - before }).toEqual({ code: 1, output: '', made: 0 });
    expect(errors).not.toContain(goodCard);
    return errors;
  };

  test('from a file whose last byte is missing', async () => {
    const path = await files.seal([importRow({ externalID: 'cut' })], 'cut.sealed');
    writeFileSync(path, readFileSync(path).subarray(0, -1));
    expect(await failed(cards(path))).toMatch(/was encrypted to another key, or is damaged/);
  });

  test('from a file whose last chunk is damaged, though those before hold more rows than a batch', async () => {
    const rows = Array.from({ length: 600 }, (_, number) => importRow({ externalID: `damaged-${number}` }));
    const path = await files.seal(rows, 'damaged.sealed');
    const bytes = readFileSync(path);
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 30) ^ 1, bytes.length - 30);
    writeFileSync(path, bytes);
    expect(await failed(cards(path))).toMatch(/is damaged or cut off, after \d+ bytes/);
  });

  test('with another key, or none', async () => {
    const path = await files.seal([importRow({ externalID: 'keyed' })]);
    await run('key', '--out', at('other.pem'));
    const other = (key: string) => run('cards', path, '--party', party, '--key', key);
    expect(await failed(other(at('other.pem')))).toMatch(/encrypted to another key/);
    expect(await failed(other(at('none.pem')))).toMatch(/--key ".*none\.pem" cannot be read/);
    expect(await failed(other(path))).toMatch(/has no private key/);
  });

  test('from rows that are not encrypted, or a file that is missing', async () => {
    writeFileSync(at('plain'), textOf([importRow({ externalID: 'plain' })]));
    expect(await failed(cards(at('plain')))).toMatch(/was not written by "mandate import encrypt"/);
    expect(await failed(cards(at('missing')))).toMatch(/File .*missing not found/);
  });

  test('for a merchant that does not exist', async () => {
    const path = await files.seal([importRow({ externalID: 'whose' })]);
    expect(await failed(run('cards', path, '--party', 'NONE', '--key', files.keyFile))).toMatch(
      /Party NONE not found/,
    );
  });
});

describe('mandate import encrypt', () => {
  test('refuses a wrong public key, and rows that are missing, and leaves no file', async () => {
    const wrong = await run('encrypt', at('rows'), '--to', 'short', '--out', at('new.sealed'));
    expect(wrong.errors).toMatch(/--to is not a public key/);
    const missing = await run('encrypt', at('nowhere'), '--to', files.publicText, '--out', at('new.sealed'));
    expect(missing.errors).toMatch(/File .*nowhere not found/);
    expect(existsSync(at('new.sealed'))).toBe(false);
  });

  test('overwrites no file', async () => {
    writeFileSync(at('rows'), textOf([importRow()]));
    writeFileSync(at('taken'), 'mine');
    const { errors } = await run('encrypt', at('rows'), '--to', files.publicText, '--out', at('taken'));
    expect(errors).toMatch(/--out ".*taken" exists already/);
    expect((await run('key', '--out', at('taken'))).errors).toMatch(/exists already/);
    expect(readFileSync(at('taken'), 'utf8')).toBe('mine');
  });
});
