// Receives callbacks from banks. A callback is not trusted: it only makes Mandate query the bank sooner, and not each time, because a
// stranger may repeat it.
import type { FastifyInstance } from 'fastify';
import { rateLimit, type RateLimit } from '../platform/http/request/rate-limit.ts';
import { isStorableText } from '../platform/http/request/json-body.ts';
import type { JobRunner } from '../platform/jobs/job-runner.ts';
import type { HttpBank } from './adapters/http/http-bank.ts';
import type { Banks } from './banks.ts';
import { callbackEveryMs, type TakenCallback } from './exchange-log/take-callback.ts';

const callbackPath = '/bank/callbacks';

/** About an open operation, on each node: a few at once, as one may come twice, and then one in ten seconds. */
export function callbackLimit(nowMs: () => number): Pick<RateLimit, 'take'> {
  return rateLimit({ calls: 1, everyMs: 10_000 }, 3, nowMs);
}

const waitSecondsOf = { ended: undefined, tooSoon: callbackEveryMs / 1_000 } as const;

export function callbackUrlOf(publicUrl: string, bankId: string): string {
  return `${publicUrl}${callbackPath}/${bankId}`;
}

export function addBankCallbackRoutes(
  app: FastifyInstance,
  {
    banks,
    jobs,
    limit,
    jobOfOperation,
    take,
    onEnded,
  }: {
    banks: Pick<Banks, 'bankNamed'>;
    limit: Pick<RateLimit, 'take'>;
    jobs: Pick<JobRunner, 'expedite'>;
    /** The table and the row key of the job that a bank operation belongs to. */
    jobOfOperation: (operationId: string) => readonly [table: string, key: readonly string[]] | undefined;
    take: (called: { readonly operationId: string; readonly bankId: string }) => Promise<TakenCallback>;
    /** A payout may have come back, or the bank may contradict itself. */
    onEnded: (operationId: string, bankId: string) => Promise<void>;
  },
): void {
  app.post<{ Params: { bankId: string } }>(`${callbackPath}/:bankId`, async (request, reply) => {
    request.operation = 'bankCallback';
    const { bankId } = request.params;
    const bank = isStorableText(bankId)
      ? ((await banks.bankNamed(bankId)) as HttpBank | undefined)
      : undefined;
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const operationId = bank?.verifyCallback(request.headers, body);
    if (operationId === undefined) return reply.code(401).send();
    const taken = await take({ operationId, bankId });
    const waitSeconds = taken === 'open' ? limit.take(`${bankId} ${operationId}`) : waitSecondsOf[taken];
    if (waitSeconds !== undefined) return reply.code(429).header('retry-after', String(waitSeconds)).send();
    const job = jobOfOperation(operationId);
    if (job) await jobs.expedite(...job);
    if (taken === 'ended') await onEnded(operationId, bankId);
    return reply.code(204).send();
  });
}
