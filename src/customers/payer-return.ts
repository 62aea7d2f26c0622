// The page a payer's browser returns to after a challenge for a binding.
import type { FastifyInstance } from 'fastify';
import type { Database } from '../platform/database/database.ts';
import { addPayerReturn } from '../platform/http/pages/payer-return.ts';
import type { JobRunner } from '../platform/jobs/job-runner.ts';
import type { Binding } from './domain/binding.ts';
import { loadBinding } from './store/bindings.ts';

const returnPath = '/payer/return/customers';

/** Needs no token: the IDs cannot be guessed, and the page only says "done". */
export function bindingReturnUrlOf(publicUrl: string, binding: Binding): string {
  return `${publicUrl}${returnPath}/${binding.customerId}/${binding.id}`;
}

export function addBindingReturn(
  app: FastifyInstance,
  { db, jobs }: { db: Database; jobs: Pick<JobRunner, 'expedite'> },
): void {
  addPayerReturn(app, returnPath, async (customerId, bindingId) => {
    const binding = (await loadBinding(db, { customerId, bindingId }))?.binding;
    if (binding?.state.name === 'challenged') await jobs.expedite('binding', [customerId, bindingId]);
    return binding?.redirectUrl;
  });
}
