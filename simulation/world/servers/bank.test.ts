// The bank of a world never answers some charges, and no world waits for them.
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  protocolVersion,
  sign,
  signatureHeader,
  versionHeader,
} from '../../../src/acquiring/adapters/http/signature.ts';
import type { Exchange } from '../../../src/acquiring/adapters/http/link.ts';
import type { Faults } from '../faults.ts';
import type { Scheduler } from '../scheduler.ts';
import { toItsEnd } from '../stillness.ts';
import { bankSecret, openWorldBank } from './bank.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const answerMs = 45_000;
const nowMs = Date.UTC(2026, 0, 19, 10);

/** Everything happens at once, without faults. */
async function worldWithBank() {
  const problems: unknown[] = [];
  const bank = await openWorldBank({
    bank: { id: 'BANK', url: 'http://bank.example' },
    forgets: false,
    speaks: 'today',
    limits: {},
    returnsAfterMs: 120_000,
    scheduler: {
      nowMs: () => nowMs,
      wait({ what, run }) {
        const running = run();
        if (running) toItsEnd(what, running, () => setImmediate()).catch((error) => problems.push(error));
      },
    } as Scheduler,
    faults: { happens: () => false } as unknown as Faults,
    callBack: () => undefined,
    isSent: () => Promise.resolve(),
    asks: () => Promise.resolve(() => undefined),
    hasLeft: () => () => undefined,
  });
  return { bank, problems };
}

const silentCard = '4000000000003600';

function charge(operationId: string, card: string, initiation: Record<string, unknown>) {
  const target = `/operations/${operationId}`;
  const message = {
    kind: 'authorise',
    merchant: { id: 'M', terminal: 'T', descriptor: 'TEA' },
    amount: 6_000,
    currency: 'RUB',
    capture: true,
    card: { number: card, expiry: '2030-12' },
    initiation,
    authentication: 'none',
  };
  const body = Buffer.from(JSON.stringify(message));
  const headers = {
    'content-type': 'application/json',
    [versionHeader]: protocolVersion,
    [signatureHeader]: sign(bankSecret, { method: 'PUT', target, body }, nowMs / 1_000),
  };
  return { method: 'PUT', target, headers, body, answerMs } as const;
}

function networkIdIn(exchange: Exchange): string {
  if (exchange.kind !== 'answer') throw new Error(`the bank answered ${exchange.kind}`);
  return (JSON.parse(String(exchange.body)) as { networkTransactionId: string }).networkTransactionId;
}

test('a charge that the bank never answers is done, and others are answered', async () => {
  const { bank, problems } = await worldWithBank();
  const { ask } = bank.linkOf('node 1')('http://bank.example', 1_000);
  const byPayer = { by: 'payer', storesCard: true };
  const rootNetworkTransactionId = networkIdIn(await ask(charge('first', silentCard, byPayer)));
  const heard: string[] = [];
  const again = { by: 'merchant', reason: 'recurring', rootNetworkTransactionId };
  void ask(charge('silent', silentCard, again)).then(({ kind }) => heard.push(kind));
  expect(await ask(charge('other', '4242424242424242', byPayer))).toMatchObject({ status: 200 });
  expect(problems).toEqual([]);
  expect(heard).toEqual([]);
  expect((await bank.book()).map(({ operationId }) => operationId)).toEqual(['first', 'silent', 'other']);
  await vi.advanceTimersByTimeAsync(answerMs);
  expect(heard).toEqual(['nothing']);
  await bank.close();
});
