// The payer's browser, back from a challenge for a binding. It is not believed: it only makes us ask the bank sooner.
import type { FastifyInstance } from 'fastify';
import type { Database } from '../platform/database/database.ts';
import type { JobRunner } from '../platform/jobs/job-runner.ts';
import { redirectPayer } from '../platform/http/pages/payer-return-page.ts';
import { isStorableText } from '../platform/http/request/json-body.ts';
import type { Binding } from './domain/binding.ts';
import { loadBinding } from './store/bindings.ts';

const returnPath = '/payer/return/customers';

/** The ids cannot be guessed, and knowing the address gives nothing but a page that says "done". */
export function bindingReturnUrlOf(publicUrl: string, binding: Binding): string {
  return `${publicUrl}${returnPath}/${binding.customerId}/${binding.id}`;
}

export function addBindingPayerReturn(
  app: FastifyInstance,
  { db, jobs }: { db: Database; jobs: JobRunner },
): void {
  app.route<{ Params: { customerId: string; bindingId: string } }>({
    // A bank may send the browser back by either.
    method: ['GET', 'POST'],
    url: `${returnPath}/:customerId/:bindingId`,
    handler: async (request, reply) => {
      request.operation = 'payerReturn';
      const { customerId, bindingId } = request.params;
      const canBe = isStorableText(customerId) && isStorableText(bindingId);
      const stored = canBe ? await loadBinding(db, { customerId, bindingId }) : undefined;
      // Who comes at any other moment comes from no challenge.
      if (stored?.binding.state.name === 'challenged')
        await jobs.expedite('binding', [customerId, bindingId]);
      return redirectPayer(reply, stored?.binding.redirectUrl);
    },
  });
}
