// The bank and the way to it. The bank is the sandbox's simulated one, with its messages, signatures and pages, but without
// sockets: what is sent to it and what it answers are things that wait. What goes wrong goes wrong on the way.
import type { FastifyInstance } from 'fastify';
import type { Exchange, Headers, OpenLink, BankRequest } from '../../../src/acquiring/adapters/http/link.ts';
import type { BookEntry } from '../../../src/acquiring/adapters/http/messages.ts';
import {
  isSigned,
  protocolVersion,
  sign,
  signatureHeader,
  versionHeader,
} from '../../../src/acquiring/adapters/http/signature.ts';
import { instantAt, type Clock } from '../../../src/clock.ts';
import { openFaults } from '../../../src/sandbox/bank/faults.ts';
import { interactionOf } from '../../../src/sandbox/bank/issuer.ts';
import { memoryJournal } from '../../../src/sandbox/bank/journal.ts';
import { buildBankServer } from '../../../src/sandbox/bank/server.ts';
import { openTeller } from '../../../src/sandbox/bank/operation-processor.ts';
import type { Faults } from '../faults.ts';
import type { Scheduler } from '../scheduler.ts';

export const bankSecret = 'a secret of the simulation that is long enough';

const awayMs = 60_000;

export type Challenge = { readonly ticket: string; readonly returnUrl?: string };

export type WorldBank = {
  /** For a node of that name. */
  linkOf(node: string): OpenLink;
  /** All of it, in order. */
  book(): Promise<readonly BookEntry[]>;
  /** Challenges whose payer has not come yet, with where his browser goes then. */
  openChallenges(): readonly Challenge[];
  /** What a payer does at his issuer, who comes once. */
  decide(ticket: string, ending: 'confirm' | 'refuse' | 'cancel'): Promise<void>;
  /** Ends what has waited for too long. */
  endOverdue(): Promise<void>;
  close(): Promise<void>;
};

export async function openWorldBank(options: {
  bank: { readonly id: string; readonly url: string };
  scheduler: Scheduler;
  faults: Faults;
  /** Brings a callback to a node that is up. It is not repeated: nobody may count on it. */
  callBack: (what: string, path: string, headers: Record<string, string>, body: string) => void;
  /** Of each message that asks it to do something, before the first byte leaves the node. */
  isSent: (operationId: string) => Promise<void>;
}): Promise<WorldBank> {
  const { bank, scheduler, faults, callBack } = options;
  /** Until then nobody can reach it. */
  let awayUntilMs = 0;
  const clock: Clock = { now: () => instantAt(scheduler.nowMs()) };
  const challenges = new Map<string, Challenge>();
  const asked = new Set<string>();
  const teller = openTeller({
    clock,
    journal: memoryJournal(),
    facts: [],
    key: Buffer.alloc(32, bank.id),
    holdMs: 7 * 24 * 3_600_000,
    interactionOf(waiting) {
      if (!asked.has(waiting.ticket)) {
        asked.add(waiting.ticket);
        challenges.set(waiting.ticket, waiting);
      }
      return interactionOf(bank.url, waiting);
    },
    onChanged({ operationId, callbackUrl }) {
      if (callbackUrl === undefined || faults.happens('bank callback lost')) return;
      sendCallback(operationId, callbackUrl);
      if (faults.happens('bank callback twice')) sendCallback(operationId, callbackUrl);
    },
  });
  const app: FastifyInstance = buildBankServer({
    teller: () => teller,
    faults: openFaults(1),
    clock,
    isSigned: (...message) => isSigned(bankSecret, ...message),
    bankId: bank.id,
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

  async function deliver({ method, target, headers, body }: BankRequest): Promise<Exchange> {
    const answer = await app.inject({ method, url: target, headers, ...(body ? { payload: body } : {}) });
    const { statusCode: status, rawPayload } = answer;
    return { kind: 'answer', status, headers: answer.headers as Headers, body: rawPayload };
  }

  function linkOf(node: string): OpenLink {
    return () => ({
      ask: (question) =>
        new Promise((resolve) => {
          const what = `${bank.id} ${question.method} ${question.target}`;
          // The caller wipes what it has sent when it is answered; copies that are still on their way are the network's.
          const { body } = question;
          const sent: BankRequest = body ? { ...question, body: Buffer.from(body) } : question;
          let isOver = false;
          const settle = (exchange: Exchange): void => {
            if (isOver) return;
            isOver = true;
            clearTimeout(timer);
            resolve(exchange);
          };
          const nothing = (why: string, written = true) => settle({ kind: 'nothing', written, why });
          const timer = setTimeout(() => nothing('no answer'), question.answerMs);

          async function arrive(): Promise<void> {
            if (faults.happens('bank is busy')) {
              const text = Buffer.from(JSON.stringify({ error: 'notDone' }));
              return sendBack({ kind: 'answer', status: 503, headers: { 'retry-after': '1' }, body: text });
            }
            sendBack(await deliver(sent));
          }
          function sendBack(exchange: Exchange): void {
            scheduler.wait({
              owner: node,
              what: `hears the bank on ${what}`,
              run() {
                if (faults.happens('bank reply lost')) return nothing('ECONNRESET');
                if (faults.happens('bank answers nonsense')) {
                  return settle({
                    kind: 'answer',
                    status: 502,
                    headers: {},
                    body: Buffer.from('Bad gateway'),
                  });
                }
                settle(exchange);
              },
            });
          }
          scheduler.wait({
            owner: node,
            what: `sends to the bank ${what}`,
            async run() {
              const { method, target } = question;
              if (method === 'PUT') await options.isSent(target.slice(target.lastIndexOf('/') + 1));
              if (faults.happens('bank goes away')) awayUntilMs = scheduler.nowMs() + awayMs;
              const isAway = awayUntilMs > scheduler.nowMs();
              if (isAway || faults.happens('bank cannot be reached')) return nothing('ECONNREFUSED', false);
              if (faults.happens('bank request lost')) return;
              const onTheWay = { owner: 'network', what: `brings ${what}`, run: arrive };
              scheduler.wait(onTheWay);
              if (faults.happens('bank request twice')) {
                scheduler.wait({ ...onTheWay, run: async () => void (await deliver(sent)) });
              }
            },
          });
        }),
      stop: () => Promise.resolve(),
    });
  }

  return {
    linkOf,
    book: () => teller.entries(0, Number.MAX_SAFE_INTEGER),
    openChallenges: () => [...challenges.values()],
    decide(ticket, ending) {
      challenges.delete(ticket);
      return teller.endChallenge(ticket, ending);
    },
    endOverdue: () => teller.endOverdue(),
    close: () => app.close(),
  };
}
