// POST /sandbox/limits/reset: forgets what payers have tried, so that a test can begin again. Live mode has no such operation.
import type { Database } from '../../platform/database/database.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { accept } from '../../refusal.ts';
import { resetAttempts, type PayerAttempts } from '../payer-attempts.ts';
import type { CardTesting } from '../card-testing.ts';

type Deps = {
  readonly db: Database;
  readonly cardTesting: CardTesting;
  readonly payerAttempts: Pick<PayerAttempts, 'forgetGuards'>;
};

export const resetLimits = endpoint({
  operation: 'resetLimits',
  access: { scope: 'sandbox' },
  method: 'POST',
  path: '/sandbox/limits/reset',
  tag: 'Sandbox',
  summary: 'Forget what payers have tried',
  description:
    'Forgets attempts and declines of every card, address and shop of the sandbox, and of your invoices.',
  status: 204,
  errors: [],
  handle: async ({ caller }, { db, cardTesting, payerAttempts }: Deps) => {
    await resetAttempts(db, caller.partyId);
    cardTesting.reset();
    payerAttempts.forgetGuards();
    return accept(undefined);
  },
});
