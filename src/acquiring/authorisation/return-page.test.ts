import Fastify from 'fastify';
import { describe, expect, test } from 'vitest';
import { instantAt } from '../../clock.ts';
import { openWaits } from '../../platform/jobs/waits.ts';
import { addReturnPage, type PayerReturnDeps, type Returnable } from './return-page.ts';

const page = '/payer/return/I/1';

type Stored = { readonly isChallenged: boolean };

/** A payer comes back to a payment that the bank decides at that reading, counted from 1; never without one. */
async function comeBack(decidedAtRead = Number.POSITIVE_INFINITY) {
  const pauses: number[] = [];
  const expedited: unknown[] = [];
  let reads = 0;
  const returnable: Returnable<Stored> = {
    path: '/payer/return',
    table: 'payment',
    load: () => Promise.resolve({ isChallenged: ++reads < decidedAtRead }),
    chargeOf: ({ isChallenged }) => ({
      operationId: 'I.1.a',
      terminal: { bankId: 'BANK', id: 'T', merchantId: 'M', descriptor: 'SHOP' },
      state: { name: isChallenged ? 'challenged' : 'captured', isCompleted: true },
    }),
    complete: () => Promise.reject(new Error('It is complete.')),
    isWaiting: ({ isChallenged }) => isChallenged,
    onwardOf: () => undefined,
  };
  const deps: Partial<PayerReturnDeps> = {
    clock: { now: () => instantAt(0) },
    jobs: {
      expedite: (...what: unknown[]) => {
        expedited.push(what);
        return Promise.resolve();
      },
    },
    waits: openWaits({ pause: async (ms) => void pauses.push(ms), nowMs: () => 0 }),
    sendOn: async (_onward, _request, reply) => reply.send('done'),
  };
  const app = Fastify();
  addReturnPage(app, deps as PayerReturnDeps, returnable);
  const { statusCode } = await app.inject({ method: 'GET', url: page });
  await app.close();
  return { statusCode, pauses, waitedMs: pauses.reduce((sum, ms) => sum + ms, 0), expedited };
}

describe('a payer who returns from their bank', () => {
  test('waits five seconds for a slow one, and then continues without its decision', async () => {
    const { statusCode, waitedMs, pauses, expedited } = await comeBack();
    expect({ statusCode, waitedMs }).toEqual({ statusCode: 200, waitedMs: 5_000 });
    // Soon at first, and then twice a second: the database is read about a dozen times.
    expect(pauses.slice(0, 3)).toEqual([50, 100, 200]);
    expect(Math.max(...pauses)).toBe(500);
    expect(expedited).toEqual([['payment', ['I', '1']]]);
  });

  test('continues as soon as the bank has decided', async () => {
    // The second reading is the first of the wait.
    expect(await comeBack(2)).toMatchObject({ statusCode: 200, waitedMs: 0 });
    expect(await comeBack(4)).toMatchObject({ statusCode: 200, waitedMs: 150 });
  });

  test('does not wait for a payment that is decided', async () => {
    expect(await comeBack(1)).toMatchObject({ statusCode: 200, waitedMs: 0, expedited: [] });
  });
});
