// Sends the messages of the conformance checks, correct or with deliberate errors.
// It keeps every outcome, so that the last check can compare.
import { epochMsOf, systemClock } from '../../clock.ts';
import { randomText } from '../../ids.ts';
import { openPace, type Limits } from '../adapters/http/flow/pace.ts';
import { openLink, type Exchange } from '../adapters/http/link.ts';
import { parseMessage } from '../adapters/http/responses.ts';
import type { BookEntry, OperationKind } from '../adapters/http/messages.ts';
import { abilitiesOfVersion1, type Abilities } from '../domain/abilities.ts';
import { abilitiesOf } from '../adapters/http/read-capabilities.ts';
import { protocolVersion, sign, signatureHeader, versionHeader } from '../adapters/http/signature.ts';
import { messagesFor } from './messages.ts';

export type ProbeOptions = {
  readonly url: string;
  readonly secret: string;
  readonly currency: string;
  readonly cards: {
    readonly approved: string;
    readonly other: string;
    readonly declined: string;
    readonly challenged: string;
  };
};

export type Answer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };

/** Deliberate errors of a request. */
export type Tampering = {
  readonly secret?: string;
  readonly unsigned?: true;
  readonly secondsLate?: number;
  readonly signedTarget?: string;
  readonly signedBody?: string;
  readonly version?: string;
};

export type ObservedOperation = {
  readonly kind: OperationKind;
  readonly outcome: string;
  readonly movesMoney: boolean;
};

export type Probe = ReturnType<typeof openProbe>;

const connectMs = 5_000;
const answerMs = 30_000;
const maxPage = 100;
const nothing: Answer = { status: 0, body: {} };

export class CheckFailed extends Error {}

export function openProbe(options: ProbeOptions) {
  const { cards } = options;
  const url = new URL(options.url);
  const base = url.pathname.replace(/\/$/, '');
  const { send, stop } = openSender(url.origin, options.secret);
  const run = randomText(8);
  const { promised, remember, expectNoEntry } = openOutcomes();
  let ids = 0;
  let declared: Abilities | undefined;
  const pace = openPace({
    nowMs: () => epochMsOf(systemClock.now()),
    limits: () => declared ?? {},
    longestWaitMs: Infinity,
  });

  const targetOf = (id: string) => `${base}/operations/${id}`;

  return {
    cards,
    base,
    promised,
    newId: () => `conformance-${run}-${(ids += 1)}`,
    send,
    targetOf,
    limits: (): Limits => declared ?? {},
    stop,

    async put(id: string, message: object, wrong?: Tampering): Promise<Answer> {
      const leave = await pace.enter({ rank: 'begins' });
      if ('againInMs' in leave) throw new CheckFailed('the checks have been stopped');
      const answer = await send('PUT', targetOf(id), JSON.stringify(message), wrong).finally(leave);
      remember(id, message, answer);
      return answer;
    },
    get: (id: string, wrong?: Tampering) => send('GET', targetOf(id), '', wrong),

    /** Of a bank that says nothing, those of the first version. */
    async abilities(): Promise<{ readonly abilities: Abilities; readonly isDeclared: boolean }> {
      const { status, body } = await send('GET', `${base}/abilities`, '').catch(() => nothing);
      declared = status === 200 ? abilitiesOf(body) : undefined;
      return { abilities: declared ?? abilitiesOfVersion1, isDeclared: status === 200 };
    },
    giveBack: (id: string, returned: object, wrong?: Tampering) =>
      send('POST', `${targetOf(id)}/return`, JSON.stringify(returned), wrong),
    expectNoEntry,
    ...reportOf(base, send),
    ...messagesFor(options),
  };
}

function openOutcomes() {
  const promised = new Map<string, ObservedOperation>();
  return {
    promised,

    remember(id: string, message: object, { status, body: { outcome } }: Answer): void {
      if (status !== 200 || typeof outcome !== 'string' || !('kind' in message)) return;
      const { kind } = message as { kind: OperationKind };
      promised.set(id, { kind, outcome, movesMoney: outcome === 'approved' });
    },

    /** For an approved operation that moves no money, such as the reversal of a declined one. */
    expectNoEntry(id: string): void {
      const known = promised.get(id);
      if (known) promised.set(id, { ...known, movesMoney: false });
    },
  };
}

type Send = (
  method: 'GET' | 'PUT' | 'POST',
  target: string,
  body: string,
  wrong?: Tampering,
) => Promise<Answer>;

function openSender(
  origin: string,
  secret: string,
): { readonly send: Send; readonly stop: () => Promise<void> } {
  const link = openLink(origin, connectMs);
  return {
    stop: () => link.stop(),
    async send(method, target, body, wrong = {}) {
      const nowSeconds = Math.floor(epochMsOf(systemClock.now()) / 1000) - (wrong.secondsLate ?? 0);
      const signed = {
        method,
        target: wrong.signedTarget ?? target,
        body: Buffer.from(wrong.signedBody ?? body),
      };
      const exchange = await link.ask({
        method,
        target,
        headers: {
          [versionHeader]: wrong.version ?? protocolVersion,
          ...(wrong.unsigned ? {} : { [signatureHeader]: sign(wrong.secret ?? secret, signed, nowSeconds) }),
          ...(method === 'GET' ? {} : { 'content-type': 'application/json' }),
        },
        ...(method === 'GET' ? {} : { body: Buffer.from(body) }),
        answerMs,
      });
      return answerOf(exchange);
    },
  };
}

function reportOf(base: string, send: Send) {
  async function page(after: number, limit: number): Promise<BookEntry[]> {
    const { status, body } = await send('GET', `${base}/book?after=${after}&limit=${limit}`, '');
    expect(status === 200 && Array.isArray(body['entries']), `GET /book has status ${status}, or no entries`);
    return body['entries'] as BookEntry[];
  }

  return {
    page,
    /** Reads the whole transaction report. */
    async book(): Promise<BookEntry[]> {
      const all: BookEntry[] = [];
      for (;;) {
        const after = all.at(-1)?.sequence ?? 0;
        const entries = await page(after, maxPage);
        all.push(...entries);
        if (entries.length < maxPage) return all;
        expect(
          (all.at(-1)?.sequence ?? 0) > after,
          'the transaction report does not advance from page to page',
        );
      }
    },
  };
}

export function expect(isKept: boolean, problem: string): asserts isKept {
  if (!isKept) throw new CheckFailed(problem);
}

function answerOf(exchange: Exchange): Answer {
  if (exchange.kind === 'nothing') throw new CheckFailed(`no response: ${exchange.why}`);
  const body = parseMessage(exchange.body);
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  return { status: exchange.status, body: isObject ? (body as Record<string, unknown>) : {} };
}
