// How often callbacks about one operation lead to inquiries.
import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Banks } from './banks.ts';
import { addBankCallbackRoutes, callbackLimit } from './callbacks.ts';
import type { TakenCallback } from './exchange-log/take-callback.ts';

let app: FastifyInstance;
let nowMs: number;
/** Each run of the job of an open operation is an inquiry. */
let expedited: string[];
let state: TakenCallback;
beforeEach(() => {
  app = fastify();
  nowMs = 0;
  expedited = [];
  state = 'open';
  const bank = {
    verifyCallback: (headers: Record<string, unknown>, body: Buffer) =>
      headers['signed'] === 'yes' ? body.toString() : undefined,
  };
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  addBankCallbackRoutes(app, {
    banks: { bankNamed: () => Promise.resolve(bank) } as unknown as Pick<Banks, 'bankNamed'>,
    limit: callbackLimit(() => nowMs),
    jobs: { expedite: (_table, [id = '']) => Promise.resolve(void expedited.push(id)) },
    jobOfOperation: (operationId) => ['payment', [operationId]],
    take: () => Promise.resolve(state),
    onEnded: () => Promise.resolve(),
  });
});
afterEach(() => app.close());

async function call(operationId: string, signed = 'yes') {
  const headers = { 'content-type': 'application/json', signed };
  const url = '/bank/callbacks/BANK';
  const { statusCode, headers: answered } = await app.inject({
    method: 'POST',
    url,
    headers,
    payload: operationId,
  });
  return [statusCode, answered['retry-after']].filter((one) => one !== undefined).join(' ');
}
const flood = async (operationId: string, signed?: string) => {
  const statuses: string[] = [];
  for (let times = 0; times < 20; times++) statuses.push(await call(operationId, signed));
  return statuses;
};

test('a flood of callbacks about an open operation expedites its job a few times', async () => {
  expect(await flood('a')).toEqual([...Array<string>(3).fill('204'), ...Array<string>(17).fill('429 10')]);
  expect(expedited).toEqual(['a', 'a', 'a']);
  nowMs = 5_000;
  expect(await call('a')).toBe('429 5');
  nowMs = 11_000;
  expect([await call('a'), await call('a')]).toEqual(['204', '429 9']);
});

test('other operations are not held up', async () => {
  await flood('a');
  expect(await call('b')).toBe('204');
  expect(expedited.at(-1)).toBe('b');
});

test('callbacks without a signature count for nothing', async () => {
  expect(new Set(await flood('a', 'no'))).toEqual(new Set(['401']));
  expect(await call('a')).toBe('204');
  expect(expedited).toEqual(['a']);
});

test('one about an operation with its outcome, too soon, is repeated after a minute', async () => {
  state = 'tooSoon';
  expect(await call('a')).toBe('429 60');
});
