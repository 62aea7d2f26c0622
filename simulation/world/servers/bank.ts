// The sandbox's simulated bank, with its messages, signatures and pages, but without sockets.
// Requests and responses wait for the scheduler, and faults happen on their way.
import type { FastifyInstance } from 'fastify';
import type { Exchange, Headers, OpenLink, BankRequest } from '../../../src/acquiring/adapters/http/link.ts';
import type { BookEntry } from '../../../src/acquiring/adapters/http/messages.ts';
import {
  isSigned,
  protocolVersion,
  replayWindowSeconds,
  sign,
  signatureHeader,
  versionHeader,
} from '../../../src/acquiring/adapters/http/signature.ts';
import { instantAt, type Clock } from '../../../src/clock.ts';
import { openFaults } from '../../../src/sandbox/bank/faults.ts';
import { interactionOf } from '../../../src/sandbox/bank/issuer.ts';
import { memoryJournal } from '../../../src/sandbox/bank/journal.ts';
import { buildBankServer } from '../../../src/sandbox/bank/server.ts';
import { openMemory, originalOf } from './bank-memory.ts';
import { openOperationProcessor } from '../../../src/sandbox/bank/operation-processor.ts';
import type { Limits } from '../../../src/sandbox/bank/state/limits.ts';
import type { Speaks } from '../../../src/sandbox/bank/state/answer.ts';
import type { Left } from '../../checks/world.ts';
import type { Faults } from '../faults.ts';
import type { Silences } from './silences.ts';
import type { Scheduler } from '../scheduler.ts';

export const bankSecret = 'a secret of the simulation that is long enough';

/** A charge of this amount is done, and for two minutes nothing is heard about it: longer than the shortest deadline. */
export const silentAbout = 199_950;
const silentMs = 2 * 60_000;
const awayMs = 60_000;
/** Long enough that a payer has given up. */
const hangMs = 5 * 60_000;

function isSilentCharge(body: Buffer | undefined): boolean {
  const { kind, amount } = JSON.parse(String(body)) as Record<string, unknown>;
  return kind === 'authorise' && amount === silentAbout;
}

function refusalOf(status: 401 | 503, error: 'unauthorised' | 'notDone'): Exchange {
  const headers: Headers = status === 503 ? { 'retry-after': '1' } : {};
  return { kind: 'answer', status, headers, body: Buffer.from(JSON.stringify({ error })) };
}

export type Challenge = { readonly ticket: string; readonly returnUrl?: string };

export type WorldBank = {
  /** The link of that node. */
  linkOf(node: string): OpenLink;
  /** All entries of the bank's report, in order. */
  book(): Promise<readonly BookEntry[]>;
  /** Challenges without a decision, each with the URL the payer's browser returns to. */
  openChallenges(): readonly Challenge[];
  /** The payer's decision at the issuer, made once. */
  decide(ticket: string, ending: 'confirm' | 'refuse' | 'cancel'): Promise<void>;
  /** Ends operations that have waited too long. */
  endOverdue(): Promise<void>;
  /** From now on every repeat is recognised. */
  forgetNothing(): void;
  close(): Promise<void>;
};

export type Leaving = Omit<Left, 'mayBeAt' | 'isProved'>;

function leftOf(bankId: string, target: string, body: Buffer | undefined): Leaving {
  const { kind, capture, initiation, notAfter } = JSON.parse(String(body)) as Record<string, unknown>;
  const operationId = target.slice(target.lastIndexOf('/') + 1);
  const isByPayer = (initiation as { readonly by?: string } | undefined)?.by === 'payer';
  const limit = typeof notAfter === 'string' ? { notAfter } : {};
  const takesMoney = kind === 'capture' || (kind === 'authorise' && capture === true);
  return { operationId, bankId, kind: String(kind), takesMoney, isByPayer, ...limit };
}

export async function openWorldBank(options: {
  bank: { readonly id: string; readonly url: string };
  /** Then a repeat is done as if it were new, as the bank says beforehand. */
  forgets: boolean;
  /** `first version`: without any addition to the protocol. */
  speaks: Speaks;
  /** How much it takes, as it declares. */
  limits: Limits;
  /** When the bank reports that a payout came back, or another update. */
  returnsAfterMs: number;
  scheduler: Scheduler;
  faults: Faults;
  /** Brings a callback to a running node. It is not repeated, so no node may rely on it. */
  callBack: (what: string, path: string, headers: Record<string, string>, body: string) => void;
  /** Called for each operation request before its first byte leaves the node. */
  isSent: (operationId: string) => Promise<void>;
  /** Called for each request about an operation. The function it returns takes what the node hears. */
  asks: Silences['asks'];
  /** Called for each message with an operation of which bytes leave the node. The function it returns says that nothing was done. */
  hasLeft: (left: Leaving) => () => void;
}): Promise<WorldBank> {
  const { bank, scheduler, faults, callBack } = options;
  /** Until then the bank is unreachable, or takes connections and says nothing. */
  let awayUntilMs = 0;
  let hangsUntilMs = 0;
  /** Until when nothing is heard about an operation, by its target. */
  const silentUntilMs = new Map<string, number>();
  const memory = openMemory(scheduler, options.forgets);
  const clock: Clock = { now: () => instantAt(scheduler.nowMs()) };
  const challenges = new Map<string, Challenge>();
  const asked = new Set<string>();
  const processor = openOperationProcessor({
    clock,
    journal: memoryJournal(),
    facts: [],
    key: Buffer.alloc(32, bank.id),
    holdMs: 7 * 24 * 3_600_000,
    returnsAfterMs: options.returnsAfterMs,
    speaks: options.speaks,
    interactionOf(waiting) {
      if (!asked.has(waiting.ticket)) {
        asked.add(waiting.ticket);
        challenges.set(waiting.ticket, waiting);
      }
      return interactionOf(bank.url, waiting);
    },
    onChanged({ operationId, callbackUrl }) {
      if (callbackUrl === undefined || faults.happens('bank callback lost')) return;
      sendCallback(originalOf(operationId), callbackUrl);
      if (faults.happens('bank callback twice')) sendCallback(originalOf(operationId), callbackUrl);
    },
  });
  const ofServer = openFaults(1);
  ofServer.order({ kind: 'limits', ...options.limits });
  const app: FastifyInstance = buildBankServer({
    processor: () => processor,
    faults: ofServer,
    clock,
    isSigned: (message, ...how) =>
      isSigned(bankSecret, { ...message, target: originalOf(message.target) }, ...how),
    bankId: bank.id,
    speaks: options.speaks,
  });
  await app.ready();

  function sendCallback(operationId: string, url: string): void {
    const path = new URL(url).pathname;
    const body = JSON.stringify({ operationId });
    const message = { method: 'POST', target: path, body: Buffer.from(body) };
    scheduler.wait({
      owner: bank.id,
      what: `calls back about ${operationId}`,
      run() {
        const headers = {
          'content-type': 'application/json',
          [versionHeader]: protocolVersion,
          [signatureHeader]: sign(bankSecret, message, Math.floor(scheduler.nowMs() / 1_000)),
        };
        callBack(`about ${operationId}`, path, headers, body);
      },
    });
  }

  /** The bank refuses an old message. */
  function isFresh(headers: BankRequest['headers']): boolean {
    const [, seconds = '0'] = /^t=(\d+),/.exec(String(headers[signatureHeader])) ?? [];
    return Math.abs(scheduler.nowMs() / 1_000 - Number(seconds)) <= replayWindowSeconds;
  }

  async function deliver({ method, target, headers, body }: BankRequest): Promise<Exchange> {
    const url = method === 'PUT' && isFresh(headers) ? memory.targetOf(target) : target;
    const answer = await app.inject({ method, url, headers, ...(body ? { payload: body } : {}) });
    const { statusCode: status, payload } = answer;
    return {
      kind: 'answer',
      status,
      headers: answer.headers as Headers,
      body: Buffer.from(memory.said(target, payload)),
    };
  }

  function linkOf(node: string): OpenLink {
    return () => ({
      ask: (question) =>
        new Promise((resolve) => {
          const what = `${bank.id} ${question.method} ${question.target}`;
          // The caller wipes the body once it has a response, so the network keeps its own copy.
          const { body } = question;
          const sent: BankRequest = body ? { ...question, body: Buffer.from(body) } : question;
          let isOver = false;
          let isHeard: (exchange: Exchange) => void = () => undefined;
          const settle = (exchange: Exchange): void => {
            if (isOver) return;
            isOver = true;
            isHeard(exchange);
            clearTimeout(timer);
            resolve(exchange);
          };
          const nothing = (why: string, written = true) => settle({ kind: 'nothing', written, why });
          const timer = setTimeout(() => nothing('no answer'), question.answerMs);

          function arrive(isRefused: (() => void) | undefined): void {
            /** What the caller hears in time proves that nothing was done. */
            const proves = () => {
              if (!isOver) isRefused?.();
            };
            if (faults.happens('bank is busy')) return sendBack(refusalOf(503, 'notDone'), proves);
            // The signature is right, and a bank may refuse it all the same, as when its clock is wrong.
            if (faults.happens('bank refuses the signature'))
              return sendBack(refusalOf(401, 'unauthorised'), proves);
            if (isRefused && !silentUntilMs.has(sent.target) && isSilentCharge(sent.body))
              silentUntilMs.set(sent.target, scheduler.nowMs() + silentMs);
            // Not awaited, because the bank may never answer.
            void deliver(sent).then((answer) => {
              // The signature of a message that was long on its way is too old, or it is more than the bank takes.
              const isUndone = answer.kind === 'answer' && [401, 429].includes(answer.status);
              return sendBack(answer, isUndone ? proves : undefined);
            });
          }
          /** `arrives`: the caller hears it. */
          function sendBack(exchange: Exchange, arrives?: () => void): void {
            scheduler.wait({
              owner: node,
              what: `hears the bank on ${what}`,
              run() {
                const isSilent = (silentUntilMs.get(sent.target) ?? 0) > scheduler.nowMs();
                if (isSilent || faults.happens('bank reply lost')) return nothing('ECONNRESET');
                if (faults.happens('bank answers nonsense')) {
                  return settle({
                    kind: 'answer',
                    status: 502,
                    headers: {},
                    body: Buffer.from('Bad gateway'),
                  });
                }
                arrives?.();
                settle(exchange);
              },
            });
          }
          scheduler.wait({
            owner: node,
            what: `sends to the bank ${what}`,
            async run() {
              const { method, target } = question;
              const operationId = target.slice(target.lastIndexOf('/') + 1);
              if (method === 'PUT') await options.isSent(operationId);
              isHeard = await options.asks(operationId);
              if (faults.happens('bank hangs')) hangsUntilMs = scheduler.nowMs() + hangMs;
              if (faults.happens('bank goes away')) awayUntilMs = scheduler.nowMs() + awayMs;
              const isAway = awayUntilMs > scheduler.nowMs();
              if (isAway || faults.happens('bank cannot be reached')) return nothing('ECONNREFUSED', false);
              if (question.isTooLate?.())
                return settle({ kind: 'nothing', written: false, why: 'too late', isTooLate: true });
              const left = method === 'PUT' ? leftOf(bank.id, target, sent.body) : undefined;
              const isRefused = left && options.hasLeft(left);
              if (hangsUntilMs > scheduler.nowMs() || faults.happens('bank request lost')) return;
              const onTheWay = { owner: 'network', what: `brings ${what}`, run: () => arrive(isRefused) };
              scheduler.wait(onTheWay);
              if (faults.happens('bank request twice')) {
                scheduler.wait({ ...onTheWay, run: () => void deliver(sent) });
              }
            },
          });
        }),
      stop: () => Promise.resolve(),
    });
  }

  return {
    linkOf,
    async book() {
      const entries = await processor.entries(0, Number.MAX_SAFE_INTEGER);
      return entries.map((entry) => ({ ...entry, operationId: originalOf(entry.operationId) }));
    },
    openChallenges: () => [...challenges.values()],
    decide(ticket, ending) {
      challenges.delete(ticket);
      return processor.endChallenge(ticket, ending);
    },
    endOverdue: () => processor.endOverdue(),
    forgetNothing: memory.forgetNothing,
    close: () => app.close(),
  };
}
