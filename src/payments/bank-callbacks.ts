// Who comes to a payment from outside the API: the bank, which says that something has changed, and the payer's browser,
// back from a challenge. Neither is believed: both only make us ask the bank sooner.
import type { FastifyInstance } from 'fastify';
import type { Banks } from '../acquiring/banks.ts';
import type { HttpBank } from '../acquiring/adapters/http/http-bank.ts';
import type { Database } from '../platform/database/database.ts';
import type { JobRunner } from '../platform/jobs/job-runner.ts';
import { redirectPayer } from '../platform/http/pages/payer-return-page.ts';
import { isStorableText } from '../platform/http/request/json-body.ts';
import type { Payment } from './domain/payment.ts';
import { loadPayment } from './store/payments.ts';

const callbackPath = '/bank/callbacks';
const returnPath = '/payer/return';

export function callbackUrlOf(publicUrl: string, bankId: string): string {
  return `${publicUrl}${callbackPath}/${bankId}`;
}

/** The invoice's id cannot be guessed, and knowing the address gives nothing but a page that says "done". */
export function returnUrlOf(publicUrl: string, payment: Payment): string {
  return `${publicUrl}${returnPath}/${payment.invoiceId}/${payment.id}`;
}

export function addBankCallbackRoutes(
  app: FastifyInstance,
  {
    db,
    banks,
    jobs,
    jobOfOperation,
  }: {
    db: Database;
    banks: Banks;
    jobs: JobRunner;
    /** What is due sooner when a bank calls back about one of our operations: the table, and the key of the row. */
    jobOfOperation: (operationId: string) => readonly [table: string, key: readonly string[]] | undefined;
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
    const work = jobOfOperation(operationId);
    if (work) await jobs.expedite(...work);
    return reply.code(204).send();
  });

  app.route<{ Params: { invoiceId: string; paymentId: string } }>({
    // A bank may send the browser back by either.
    method: ['GET', 'POST'],
    url: `${returnPath}/:invoiceId/:paymentId`,
    handler: async (request, reply) => {
      request.operation = 'payerReturn';
      const { invoiceId, paymentId } = request.params;
      const canBe = isStorableText(invoiceId) && isStorableText(paymentId);
      const stored = canBe ? await loadPayment(db, { invoiceId, paymentId }) : undefined;
      // Who comes at any other moment comes from no challenge, and must not break into the work of whoever has the payment.
      if (stored?.payment.state.name === 'challenged') await jobs.expedite('payment', [invoiceId, paymentId]);
      return redirectPayer(reply, stored?.payment.payer.redirectUrl);
    },
  });
}
