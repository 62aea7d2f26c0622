// A simulated bank inside a test, whose time the test controls, and a client that speaks the protocol to it.
import { onTestFinished } from 'vitest';
import { epochMsOf } from '../../../src/clock.ts';
import { openLink } from '../../../src/acquiring/adapters/http/link.ts';
import type { AuthoriseMessage, BookEntry } from '../../../src/acquiring/adapters/http/messages.ts';
import {
  protocolVersion,
  sign,
  signatureHeader,
  versionHeader,
} from '../../../src/acquiring/adapters/http/signature.ts';
import {
  openSimulatedBank,
  type SimulatedBank,
  type SimulatedBankOptions,
} from '../../../src/sandbox/bank/simulated-bank.ts';
import { testClock, type TestClock } from '../service/test-service.ts';

export const bankSecret = 'a secret that only this test knows.';

export type TestBank = SimulatedBank & BankClient & { readonly clock: TestClock };

/** Speaks to a bank at a URL; replies are returned unchanged. */
export type BankClient = {
  put(id: string, message: object): Promise<Reply>;
  get(id: string): Promise<Reply>;
  book(): Promise<BookEntry[]>;
  /** Puts, and returns the outcome with its code if it has one. */
  outcome(id: string, message: object): Promise<string>;
};
export type Reply = { readonly status: number; readonly body: any };

export async function startBank(options: Partial<SimulatedBankOptions> = {}): Promise<TestBank> {
  const clock = testClock();
  const log = { warn: () => {} };
  const bank = await openSimulatedBank({ clock, secret: bankSecret, log, ...options });
  onTestFinished(() => bank.stop());
  const now = options.clock ?? clock;
  return { ...bank, ...bankClientAt(bank.url, bankSecret, () => epochMsOf(now.now())), clock };
}

export function bankClientAt(url: string, secret: string, nowMs: () => number = Date.now): BankClient {
  const link = openLink(url, 5_000);
  onTestFinished(() => link.stop());

  async function send(method: 'GET' | 'PUT', target: string, message?: object): Promise<Reply> {
    const body = Buffer.from(message === undefined ? '' : JSON.stringify(message));
    const exchange = await link.ask({
      method,
      target,
      headers: {
        [versionHeader]: protocolVersion,
        [signatureHeader]: sign(secret, { method, target, body }, Math.floor(nowMs() / 1_000)),
        ...(message === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(message === undefined ? {} : { body }),
      answerMs: 10_000,
    });
    if (exchange.kind === 'nothing') throw new Error(exchange.why);
    return { status: exchange.status, body: JSON.parse(exchange.body.toString()) };
  }

  const put = (id: string, message: object) => send('PUT', `/operations/${id}`, message);
  return {
    put,
    get: (id) => send('GET', `/operations/${id}`),
    async book() {
      const all: BookEntry[] = [];
      for (;;) {
        const page = await send('GET', `/book?after=${all.at(-1)?.sequence ?? 0}&limit=100`);
        all.push(...page.body.entries);
        if (page.body.entries.length < 100) return all;
      }
    },
    async outcome(id, message) {
      const { body } = await put(id, message);
      return outcomeOf(body);
    },
  };
}

export function outcomeOf(body: { outcome: string; code?: string }): string {
  return body.code === undefined ? body.outcome : `${body.outcome} ${body.code}`;
}

const merchant = { id: 'SHOP', terminal: 'T1', descriptor: 'A shop' };

export function authorise(
  changes: Partial<AuthoriseMessage> = {},
  number = '4242424242424242',
): AuthoriseMessage {
  return {
    kind: 'authorise',
    merchant,
    amount: 6_000,
    currency: 'RUB',
    capture: true,
    card: { number, expiry: '2030-12', holder: 'LEXA SVOTIN', securityCode: '123' },
    initiation: { by: 'payer', storesCard: false },
    authentication: 'preferred',
    returnUrl: 'https://merchant.example/return',
    ...changes,
  };
}

export const capture = (originalOperationId: string, amount = 6_000) => ({
  kind: 'capture',
  merchant,
  originalOperationId,
  amount,
  currency: 'RUB',
});
export const refund = (originalOperationId: string, amount = 6_000) => ({
  ...capture(originalOperationId, amount),
  kind: 'refund',
});
export const reverse = (originalOperationId: string) => ({ kind: 'reverse', merchant, originalOperationId });
export const payout = (amount = 2_500, number = '4242424242424242') => ({
  kind: 'payout',
  merchant,
  amount,
  currency: 'RUB',
  card: { number },
});
export const verify = (number = '4242424242424242') => ({
  kind: 'verify',
  merchant,
  currency: 'RUB',
  card: { number },
});
