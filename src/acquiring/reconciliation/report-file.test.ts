// Report files of banks: all accepted formats, read in pieces of any size, and errors that never quote the content.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readBookFile } from './report-file.ts';
import { openCsvReader } from './csv-records.ts';
import { openJsonReader } from './json-records.ts';
import type { RecordReader } from './record-reader.ts';

let folder = '';
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'book-file-'))));
afterAll(() => rmSync(folder, { recursive: true }));

async function read(text: string): Promise<unknown[]> {
  const file = join(folder, 'book');
  writeFileSync(file, text);
  const all: unknown[] = [];
  for await (const entries of readBookFile(file)) all.push(...entries);
  return all;
}

const entry = (sequence: number, more: Record<string, unknown> = {}) => ({
  sequence,
  operationId: `inv${sequence}.1.a`,
  kind: 'authorise',
  amount: 6_000 + sequence,
  currency: 'RUB',
  sign: 1,
  at: '2026-11-21T10:00:00Z',
  cardMask: '424242******4242',
  ...more,
});
const entries = [entry(1), entry(7, { originalOperationId: 'inv7.1.a', kind: 'refund', sign: -1 }), entry(9)];
const page = (list: unknown[], more = {}) => JSON.stringify({ ...more, entries: list, next: { list: [{}] } });
const heading = 'sequence,operationId,kind,originalOperationId,amount,currency,sign,at,cardMask';
const csvLine = (one: Record<string, string | number>) =>
  heading
    .split(',')
    .map((name) => one[name] ?? '')
    .join(',');
const csv = [heading, ...entries.map((one) => csvLine(one))].join('\n') + '\n';
/** Each record continues over several lines. */
const note = 'two\nlines, a "quote" and\r\n\r\nmore';
const noted = csv
  .replace(heading, `${heading},note`)
  .replaceAll('*4242\n', `*4242,"${note.replaceAll('"', '""')}"\n`);

describe('a report file is read:', () => {
  test.each<[string, string]>([
    ['a page of the report', page(entries)],
    ['a page with spaces', JSON.stringify({ entries }, null, 2)],
    ['a page with more before the entries', page(entries, { bank: { names: ['{"entries":['] } })],
    ['pages one after another', page(entries.slice(0, 1)) + '\n' + page(entries.slice(1))],
    ['a list of pages', `[${page(entries.slice(0, 2))},${page(entries.slice(2))}]`],
    ['a list of entries', JSON.stringify(entries)],
    ['JSON lines', entries.map((one) => JSON.stringify(one)).join('\n')],
    ['CSV', csv],
    ['CSV with semicolons', csv.replaceAll(',', ';')],
    ['CSV with a byte order mark and CRLF', `\uFEFF\n${csv.replaceAll('\n', '\r\n')}\r\n`],
    ['CSV with quotes', csv.replaceAll(/[^,\n]+/g, '"$&"')],
  ])('%s', async (_, text) => expect(await read(text)).toEqual(entries));

  test('unknown fields are ignored', async () => {
    const more = { fee: { amount: 1, of: ['a', { b: '}{][' }] }, note: 'a "quoted" \\ }' };
    const read1 = (await read(page([entry(1, more)]))) as unknown[];
    expect(read1).toEqual([entry(1, more)]);
    expect(
      await read(
        `unknown;operationId;kind;amount;currency;sign;at\nx;i.1.a;authorise;5;RUB;+1;2026-11-21T10:00:00Z\n`,
      ),
    ).toEqual([
      {
        unknown: 'x',
        sequence: 1,
        operationId: 'i.1.a',
        kind: 'authorise',
        amount: 5,
        currency: 'RUB',
        sign: 1,
        at: '2026-11-21T10:00:00Z',
      },
    ]);
  });

  test('an entry with a list of its own called entries is one entry', async () => {
    const nested = entries.map((one) => ({ ...one, entries: [{ operationId: 'inner' }] }));
    expect(await read(page(nested))).toEqual(nested);
  });

  test('a quoted field of CSV with line breaks in it', async () => {
    expect(await read(noted)).toEqual(entries.map((one) => ({ ...one, note })));
  });

  test('an empty report', async () => {
    expect(await read('{"entries": []}')).toEqual([]);
    expect(await read(heading + '\n')).toEqual([]);
  });

  test.each<[string, string, () => RecordReader]>([
    ['JSON', page(entries) + '\n' + page(entries), openJsonReader],
    ['CSV', noted, openCsvReader],
  ])('%s in pieces of any size', async (_, text, open) => {
    const atOnce = open();
    const whole = [...(await atOnce.push(text)), ...(await atOnce.end())];
    expect(whole.length).toBeGreaterThan(2);
    for (let size = 1; size < 60; size++) {
      const reader = open();
      const found: unknown[] = [];
      for (let at = 0; at < text.length; at += size) {
        found.push(...(await reader.push(text.slice(at, at + size))));
      }
      found.push(...(await reader.end()));
      expect(found, `in pieces of ${size}`).toEqual(whole);
    }
  });
});

describe('a report file is refused:', () => {
  const number = '4242424242424242';
  test.each<[string, string, string]>([
    ['a page that was cut off', page(entries).slice(0, -30), 'the JSON is incomplete'],
    [
      'a page cut off between entries',
      '{"entries":[' + JSON.stringify(entry(1)) + ',',
      'the JSON is incomplete',
    ],
    ['CSV that was cut off', csv.slice(0, -2), 'the last line has no line end'],
    ['an empty file', ' \n', 'the file is empty'],
    ['an HTML page', '<html>{}</html>\n', 'no column operationId'],
    ['JSON without entries', '[1, 2, 3]', 'the JSON has no entries here'],
    ['brackets that do not match', '{"entries":[}', 'not valid JSON'],
    ['an error of the bank', '{"error":"unauthorised"}', 'entry 1: operationId is missing'],
    ['an entry with invalid JSON', '{"entries":[{"sequence":1,}]}', 'entry 1: the text is not valid JSON'],
    [
      'an amount that is not a number',
      page([entry(1), entry(2, { amount: '12,50' })]),
      'entry 2: amount does not match',
    ],
    ['an amount with a fraction', csv.replace(',6001,', ',60.01,'), 'entry 1: amount does not match'],
    ['a line with too few fields', csv.replace(',RUB', ''), 'entry 1: the line has'],
    ['a quote that does not end', csv.replace('RUB', '"RUB'), 'quotation marks do not match'],
    ['a repeated part', page(entries) + page(entries), 'entry 4: sequence 1 follows 9'],
    ['an unknown kind', page([entry(1, { kind: 'chargeback' })]), 'entry 1: kind does not match'],
    ['a whole card number', page([entry(1, { cardMask: number })]), 'entry 1: cardMask does not match'],
    ['an endless value', `{"x":"${'y'.repeat(100_000)}`, 'too large for an entry'],
    ['an amount beyond 2^53', page([entry(1, { amount: 2 ** 53 + 2 })]), 'entry 1: amount does not match'],
    ['a fraction in JSON', page([entry(1, { amount: 60.01 })]), 'entry 1: amount does not match'],
    ['lists in a list', `[${JSON.stringify(entries)}]`, 'entry 1: the JSON has no entries here'],
    ['an invalid entry before invalid JSON', '{"kind":1}{"}', 'entry 1: operationId is missing'],
    [
      'an invalid line before one that cannot be parsed',
      csv.replace(',6001,', ',60.01,').replace('inv9', '"inv9'),
      'entry 1: amount does not match',
    ],
    [
      'a quoted field that contains the rest of the file',
      csv.replace('inv7', '"inv7') + csvLine(entry(10)).replaceAll(/^10/g, '"10"'),
      'entry 2: the quotation marks do not match',
    ],
    ['a long quote without an end', `${csv}"${'10,\n'.repeat(30_000)}`, 'too long for an entry'],
    ['endless separators', csv + ','.repeat(300_000), 'too long for an entry'],
    ['an endless page', `${page(entries).slice(0, -1)},"x":[${'1,'.repeat(100_000)}`, 'too large'],
    ['an endless line', `${heading}\n${'y'.repeat(100_000)}`, 'too long for an entry'],
  ])('%s', async (_, text, problem) => {
    const failure = await read(text).then(
      () => 'it was read',
      (error: Error) => error.message,
    );
    expect(failure).toContain(problem);
    expect(failure).toContain(join(folder, 'book'));
    expect(failure).not.toContain(number);
  });

  test('a missing file', async () => {
    const all = readBookFile(join(folder, 'nowhere'));
    await expect(all.next()).rejects.toThrow(/nowhere cannot be read: ENOENT/);
  });
});
