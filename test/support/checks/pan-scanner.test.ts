// Tests the scanner: it finds what was planted, and ignores what only looks like it.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomIds } from '../../../src/ids.ts';
import { scanBytes, scanDatabase, scanLines, scanText, scanValues, type Secrets } from './pan-scanner.ts';
import { createTestDatabase, type TestDatabase } from '../database/test-database.ts';

const number = '5555555555554444';
const json = JSON.stringify({ paymentTool: { cardNumber: number, cvv: '737' } });
const secrets: Secrets = { cardNumbers: [number], securityCodes: ['737'] };

const planted: Record<string, string> = {
  plain: `paid with ${number}.`,
  'in JSON': json,
  'as a number in JSON': `{"n":${number}}`,
  'with spaces': '5555 5555 5555 4444',
  'with dashes': '5555-5555-5555-4444',
  'with dots': '5555.5555.5555.4444',
  'between characters': `card${number}card`,
  'next to other numbers': `1 ${number} 2`,
  'in URL encoding': encodeURIComponent(json).replace(/5/g, '%35'),
  'with encoded spaces': '5555%205555%205555%204444',
  'in JSON escapes': '\\u0035'.repeat(12) + '4444',
  'in base64': Buffer.from(json).toString('base64'),
  'in URL-safe base64': `token.${Buffer.from(`??>${json}`).toString('base64url')}.x`,
  'in base64 after other text': `/path/abc/${Buffer.from(json).toString('base64')}`,
  'in hex': Buffer.from(json).toString('hex'),
  'in base64 in URL encoding': encodeURIComponent(Buffer.from(`${number}\n`).toString('base64')),
  'in base64 in base64': Buffer.from(Buffer.from(json).toString('base64')).toString('base64'),
};

describe('a card number', () => {
  test.each(Object.entries(planted))('is found %s, also without being given', (_how, text) => {
    expect(scanText('here', text)).toContainEqual(expect.objectContaining({ what: 'a card number' }));
    expect(scanText('here', text, secrets)).toContainEqual(expect.objectContaining({ where: 'here' }));
  });

  test('of twelve digits, or nineteen, is found', () => {
    for (const other of ['501800000009', '4000000000000000006']) {
      expect(scanText('here', `x=${other}`), other).toHaveLength(1);
    }
  });

  test('is found in bytes, as text and as packed digits', () => {
    // No digits, which would make it a longer number.
    const around = Buffer.from('c3ff00e2', 'hex');
    expect(scanBytes('here', Buffer.concat([around, Buffer.from(number), around]))).toHaveLength(1);
    const packed = Buffer.concat([around, Buffer.from(number, 'hex'), around]);
    expect(scanBytes('here', packed, secrets)).toHaveLength(1);
  });

  test('does not appear in the report', () => {
    expect(
      JSON.stringify(Object.values(planted).map((text) => scanText('here', text, secrets))),
    ).not.toContain(number);
  });

  test.each([
    '5555555555554445',
    '9999999999999995',
    '555555******4444',
    '555555 4444',
    '42424242424242420000',
    '2026-01-19T10:00:00.123456Z 2026-01-19 10:00:00.471382+00',
    '{"amount":999999999999,"createdAt":1768816800123}',
    'sha256 4b3f4242424242424242aa11bb22cc33dd44ee55ff66778899aabbccddeeff00',
  ])('is not found in %s', (text) => expect(scanText('here', text, secrets)).toEqual([]));

  test('is not found in random data', () => {
    for (let times = 0; times < 200; times++) {
      // The same on each run, because random data may contain a code of three digits.
      const bytes = createHash('shake256', { outputLength: 200 }).update(String(times)).digest();
      expect(scanBytes('bytes', bytes, secrets)).toEqual([]);
      expect(scanText('base64', bytes.toString('base64'), secrets)).toEqual([]);
      expect(scanText('hex', bytes.subarray(0, 32).toString('hex'), secrets)).toEqual([]);
      expect(scanText('id', randomIds.next(), secrets)).toEqual([]);
    }
  });
});

describe('a security code', () => {
  const codes: Secrets = { securityCodes: ['737'] };

  test.each([
    '737',
    '{"cvv":"737"}',
    '{"cvv":737,"x":1}',
    'cvv=737&x=1',
    'the code was 737.',
    Buffer.from('737').toString('base64'),
    Buffer.from('{"cvv":"737"}').toString('base64'),
    Buffer.from('{"cvv":"737"}').toString('hex'),
    '%7B%22cvv%22%3A%22737%22%7D',
  ])('is found in %s', (text) =>
    expect(scanText('here', text, codes)).toContainEqual(
      expect.objectContaining({ what: 'a security code' }),
    ),
  );

  test.each(['17370', '10:00:00.737000Z', '7.37', '1.737', '737.5', '00:737', 'x737', 'v737'])(
    'is not found in %s',
    (text) => expect(scanText('here', text, codes)).toEqual([]),
  );
});

test('lines and values are reported by their number', () => {
  expect(scanLines('log', ['fine', json], secrets).map(({ where }) => where)).toContain('log, line 2');
  const facts = [
    { type: 'fine', at: 5n },
    { type: 'bad', payer: { note: number } },
  ];
  expect(scanValues('facts', facts)).toEqual([
    { where: 'facts, line 2', what: 'a card number', excerpt: '555555******4444' },
  ]);
});

describe('a database', () => {
  let db: TestDatabase;
  beforeAll(async () => void (db = await createTestDatabase()));
  afterAll(() => db.drop());

  const run = (text: string, values: unknown[] = []) =>
    db.database.withClient((client) => client.query(text, values));

  test('that was just created has none', async () =>
    expect(await scanDatabase(db.database, secrets)).toEqual([]));

  test('is read completely: every table, unlogged ones too, every column of every type', async () => {
    await run(`create schema aside; create unlogged table aside.planted
      (a text, b json, c bytea, d bigint, e text[], f jsonb, g numeric, h bytea)`);
    await run('insert into aside.planted values ($1, $2, $3, $4, $5, $6, $7, $8)', [
      number,
      json,
      Buffer.from(json),
      number,
      [number],
      json,
      number,
      Buffer.from(number, 'hex'),
    ]);
    const found = await scanDatabase(db.database, secrets);
    const columns = found.filter(({ what }) => what === 'a card number').map(({ where }) => where);
    expect(new Set(columns)).toEqual(
      new Set('abcdefgh'.split('').map((name) => `aside.planted.${name}, row 1`)),
    );
    expect(found.filter(({ what }) => what === 'a security code').map(({ where }) => where[14])).toEqual([
      'b',
      'c',
      'f',
    ]);
  });
});
