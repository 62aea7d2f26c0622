// Hands what the payer's browser brought back to a bank that takes it. The outcome still comes from the bank alone.
import type { Clock } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { SendOn } from '../platform/http/pages/payer-return.ts';
import type { JobRunner } from '../platform/jobs/job-runner.ts';
import type { Pause } from '../platform/jobs/wait-for.ts';
import type { Banks } from './banks.ts';
import type { OperationName, PayerReturn } from './domain/bank-port.ts';

/** What the pages need to which payers return from their bank. */
export type PayerReturnDeps = {
  readonly db: Database;
  readonly clock: Clock;
  readonly jobs: Pick<JobRunner, 'expedite'>;
  readonly banks: Pick<Banks, 'bankOf'>;
  readonly pause: Pause;
  readonly sendOn: SendOn;
};

/** How long a payer who came back waits for their bank's decision, before they continue without it. */
export const payerWaitsMs = 5_000;

/** In both, the bank refuses more. */
const maxCharacters = 64 * 1_024;

/**
 * The browser is redirected only after that, so a payer whose return was lost reloads and brings it again. The response proves no more
 * than an inquiry does, and the job of the payment asks.
 */
export async function handOnReturn(
  banks: Pick<Banks, 'bankOf'>,
  operation: OperationName,
  returned: PayerReturn,
): Promise<void> {
  const { query, form = '' } = returned;
  if ((query === '' && form === '') || query.length + form.length > maxCharacters) return;
  const bank = await banks.bankOf(operation.terminal);
  if ((await bank.abilities()).takesReturns) await bank.resume(operation, returned);
}
