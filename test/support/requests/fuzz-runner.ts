// Sends many hostile requests concurrently and checks every response. A failure is reported with the seed that reproduces it and, as far
// as it could be reduced, the one request that caused it.
import fc from 'fast-check';
import type { AnswerCheck, Received } from '../checks/answer-check.ts';
import { hostileRequest, type HostileRequest, type Known } from './hostile-requests.ts';
import type { Document } from './openapi.ts';

export type StormRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
};
/** What requests refer to by number. A 201 may add to the own IDs while the run continues. */
export type StormWorld = {
  /** Values of the Authorization header; undefined for none. */
  readonly callers: readonly (string | undefined)[];
  readonly ownIds: readonly string[];
  readonly victimIds: readonly string[];
};
export type StormReport = {
  readonly sent: number;
  /** How often each operation gave each response, as `getInvoice 200` or `createInvoice 400 invalidShopID`. */
  readonly answers: ReadonlyMap<string, number>;
  readonly failure: string | undefined;
};

const atOnce = 16;
const maxShownCharacters = 3_000;

export async function storm(options: {
  readonly document: Document;
  readonly known: Known;
  readonly world: StormWorld;
  readonly check: AnswerCheck;
  readonly send: (request: StormRequest) => Promise<Received>;
  readonly nameOf: (method: string, url: string) => string;
  readonly requests: number;
  readonly seed: number;
  /** Whether to search for a smaller request with the same failure. */
  readonly smallest: boolean;
}): Promise<StormReport> {
  const { world, check, send, nameOf, seed } = options;
  const answers = new Map<string, number>();
  let sent = 0;

  async function sendAndCheck(hostile: HostileRequest): Promise<void> {
    const request = placed(hostile, world);
    const received = await send(request);
    sent++;
    const { method, url, headers } = request;
    const [, code = ''] = /^\{"code":"(\w+)"/.exec(received.text) ?? [];
    const name = `${nameOf(method, url)} ${received.status} ${code}`.trimEnd();
    answers.set(name, (answers.get(name) ?? 0) + 1);
    const problems = check({ method, url, requestId: headers['x-request-id'] }, received);
    if (problems.length > 0) throw new Error(`${problems.join('\n')}\n${described(request, received)}`);
  }

  const requests = fc.array(hostileRequest(options.document, options.known), {
    minLength: 1,
    maxLength: atOnce,
    size: 'max',
  });
  const property = fc.asyncProperty(requests, async (batch) => {
    const outcomes = await Promise.allSettled(batch.map(sendAndCheck));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  });
  // Batches have half of the most requests on average.
  const batches = Math.ceil((2 * options.requests) / (atOnce + 1));
  const details = await fc.check(property, { seed, numRuns: batches, endOnFailure: !options.smallest });
  const { errorInstance } = details;
  const reason = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  return { sent, answers, failure: details.failed ? `HOSTILE_SEED=${seed}: ${reason}` : undefined };
}

function placed(
  { method, path, prefix, id, innerId, query, body, headers, caller }: HostileRequest,
  { ownIds, victimIds, callers }: StormWorld,
): StormRequest {
  const ids = id.of === 'own' ? ownIds : victimIds;
  const idText = id.of === 'text' ? id.text : ids[id.number % ids.length];
  const url = path
    .replace('/v2/', `/${prefix}/`)
    .replace(/\{\w+\}/, () => idText ?? '')
    .replace(/\{\w+\}/, () => innerId)
    // For deeper paths: the first refund, or the same ID again.
    .replace(/\{\w+\}/, () => (innerId === '1' ? '100' : innerId));
  const authorization = callers[caller % callers.length];
  const given = Object.entries({ ...headers, authorization }).filter(
    (header): header is [string, string] => header[1] !== undefined,
  );
  return { method, url: query === '' ? url : `${url}?${query}`, headers: Object.fromEntries(given), body };
}

function described({ method, url, headers, body }: StormRequest, { status, text }: Received): string {
  const shown = (value: string) =>
    value.length > maxShownCharacters ? `${value.slice(0, maxShownCharacters)}…` : value;
  return [
    `${method} ${shown(url)}`,
    shown(JSON.stringify(headers)),
    body === undefined ? 'no body' : shown(JSON.stringify(body.toString())),
    `got ${status} ${shown(text)}`,
  ].join('\n');
}
