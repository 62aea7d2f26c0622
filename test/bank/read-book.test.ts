// Reading a transaction report over HTTP, from the simulated bank and from faulty servers.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openBookReader, type BookReaderOptions } from '../../src/acquiring/adapters/http/read-report.ts';
import type { BookEntry } from '../../src/acquiring/adapters/http/messages.ts';
import { authorise, bankSecret, startBank } from '../support/bank/simulated-bank.ts';
import { testClock } from '../support/service/test-service.ts';

async function read(options: Partial<BookReaderOptions>, after = 0): Promise<BookEntry[]> {
  const usual = { url: '', secret: bankSecret, clock: testClock(), pausesMs: [1, 1] };
  const reader = openBookReader({ ...usual, ...options });
  onTestFinished(() => reader.stop());
  const all: BookEntry[] = [];
  for await (const entries of reader.entriesAfter(after)) all.push(...entries);
  return all;
}

test('the whole report is read in pages, and later the new entries', async () => {
  const bank = await startBank();
  const put = (n: number) => bank.put(`inv${n}.1.a`, authorise({ amount: n }));
  for (let n = 1; n <= 205; n++) await put(n);
  const all = await read({ url: bank.url });
  expect(all).toEqual(await bank.book());
  expect(all.map(({ amount }) => amount)).toEqual(Array.from({ length: 205 }, (_, n) => n + 1));
  await put(206);
  expect((await read({ url: bank.url }, 205)).map(({ amount }) => amount)).toEqual([206]);
  expect(await read({ url: bank.url }, 206)).toEqual([]);
});

const entry = (sequence: number) => ({
  sequence,
  operationId: `inv${sequence}.1.a`,
  kind: 'authorise',
  amount: 1,
  currency: 'RUB',
  sign: 1,
  at: '2026-01-19T10:00:00Z',
  cardMask: '424242******4242',
});
type Answer = readonly [status: number, body: unknown];

/** Sends the responses in turn, and then repeats the last one. */
async function serve(...answers: readonly Answer[]): Promise<{ url: string; heard: string[] }> {
  const heard: string[] = [];
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const [status, body] = answers[Math.min(heard.length, answers.length - 1)] ?? [500, ''];
    heard.push(request.url ?? '');
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard };
}

describe('a temporary failure is retried', () => {
  test.each([500, 503, 429])('after status %i', async (status) => {
    const { url, heard } = await serve([status, ''], [status, ''], [200, { entries: [entry(1)] }]);
    expect(await read({ url: `${url}/base/` })).toEqual([entry(1)]);
    expect(heard).toEqual(Array.from({ length: 3 }, () => '/base/book?after=0&limit=100'));
  });
  test('a limited number of times', async () => {
    const { url, heard } = await serve([500, '']);
    await expect(read({ url })).rejects.toThrow(
      `The transaction report at ${url} cannot be read: status 500`,
    );
    expect(heard).toHaveLength(3);
  });
  test('when no server listens', async () => {
    await expect(read({ url: 'http://127.0.0.1:9' })).rejects.toThrow(/cannot be read: ECONNREFUSED/);
  });
});

describe('reading stops at', () => {
  test('a wrong secret', async () => {
    const bank = await startBank();
    const secret = 'another secret, which is long enough.';
    await expect(read({ url: bank.url, secret })).rejects.toThrow(
      /rejected the signature\. Check the bank secret/,
    );
  });
  test.each<[string, Answer[], string]>([
    ['a 404', [[404, '']], 'status 404'],
    ['invalid JSON', [[200, '<html>']], 'the response does not match the bank protocol'],
    ['no entries', [[200, {}]], 'the response does not match the bank protocol'],
    ['an entry without an amount', [[200, { entries: [{ ...entry(1), amount: undefined }] }]], 'entries/0'],
    ['an amount that is text', [[200, { entries: [{ ...entry(1), amount: '1' }] }]], 'entries/0/amount'],
    [
      'a page that does not advance',
      [[200, { entries: [entry(2), entry(1)] }]],
      'is out of order: sequence 1 follows 2',
    ],
    [
      'the same page repeatedly',
      [[200, { entries: Array.from({ length: 100 }, (_, n) => entry(n + 1)) }]],
      'is out of order: sequence 1 follows 100',
    ],
  ])('%s', async (_, answers, problem) => {
    const { url } = await serve(...answers);
    await expect(read({ url })).rejects.toThrow(problem);
  });
  test('a remote bank without https, unless plain HTTP is allowed', () => {
    const options = { url: 'http://bank.example', secret: bankSecret, clock: testClock() };
    expect(() => openBookReader(options)).toThrow('must use https');
    expect(() => openBookReader({ ...options, allowPlainHttp: true })).not.toThrow();
  });
});
