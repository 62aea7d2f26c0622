// What the bank says without a message: its abilities, its updates, and its book.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { OperationProcessor } from '../operation-processor.ts';
import { isAdmitted, refuseField, speaksOurVersion, type Admission } from './admission.ts';

export type Reports = Admission & {
  readonly ready: () => OperationProcessor;
  readonly declared: () => object;
};

const maxPage = 100;

export function addBookRoute(app: FastifyInstance, bank: Reports): void {
  app.get('/book', async (request, reply) => {
    if (!isAdmitted(bank, request, reply)) return reply;
    if (!speaksOurVersion(request)) return refuseField(reply, 'Mandate-Bank-Version');
    const page = pageOf(request);
    if (typeof page === 'string') return refuseField(reply, page);
    return { entries: await bank.ready().entries(page.after, page.limit) };
  });
}

/** A bank of the first version has neither. */
export function addLaterReportRoutes(app: FastifyInstance, bank: Reports): void {
  app.get('/abilities', (request, reply) => (isAdmitted(bank, request, reply) ? bank.declared() : reply));

  app.get('/updates', async (request, reply) => {
    if (!isAdmitted(bank, request, reply)) return reply;
    const page = pageOf(request);
    if (typeof page === 'string') return refuseField(reply, page);
    return { updates: await bank.ready().updates(page.after, page.limit) };
  });
}

/** The name of the wrong parameter. */
function pageOf(request: FastifyRequest): { after: number; limit: number } | 'after' | 'limit' {
  const { after = '0', limit = String(maxPage) } = request.query as { after?: string; limit?: string };
  if (!/^\d{1,15}$/.test(after)) return 'after';
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > maxPage) return 'limit';
  return { after: Number(after), limit: Number(limit) };
}
