// Where the payer's browser returns after a challenge. What it brings goes to a bank that takes it, but the outcome comes from the bank
// alone.
import type { FastifyInstance } from 'fastify';
import type { Clock, Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { addPayerReturn, type Onward, type SendOn } from '../../platform/http/pages/payer-return-route.ts';
import type { JobRunner } from '../../platform/jobs/job-runner.ts';
import type { Waits } from '../../platform/jobs/waits.ts';
import type { Banks } from '../banks.ts';
import type { OperationName, PayerReturn } from '../domain/bank-port.ts';

/** What the pages need to which payers return from their bank. */
export type PayerReturnDeps = {
  readonly db: Database;
  readonly clock: Clock;
  readonly jobs: Pick<JobRunner, 'expedite'>;
  readonly banks: Pick<Banks, 'bankOf'>;
  readonly waits: Pick<Waits, 'readUntil'>;
  readonly sendOn: SendOn;
};

/** A payment or a binding. Its address needs no token: the IDs cannot be guessed, and the page shows nothing but "done". */
export type Returnable<Stored> = {
  readonly path: string;
  /** The table of its job. */
  readonly table: string;
  readonly load: (id: string, partId: string) => Promise<Stored | undefined>;
  readonly chargeOf: (
    stored: Stored,
  ) => OperationName & { readonly state: { readonly name: string; readonly isCompleted?: true } };
  readonly complete: (stored: Stored, now: Instant) => Promise<unknown>;
  /** A shop that still sees it so would return its payer to the bank. */
  readonly isWaiting: (stored: Stored) => boolean;
  readonly onwardOf: (stored: Stored) => Onward | undefined;
};

/** How long a payer who came back waits for their bank's decision, before they continue without it. */
const payerWaitsMs = 5_000;

export function addReturnPage<Stored>(
  app: FastifyInstance,
  { clock, jobs, banks, waits, sendOn }: PayerReturnDeps,
  { path, table, load, chargeOf, complete, isWaiting, onwardOf }: Returnable<Stored>,
): void {
  const find = async (id: string, partId: string, returned: PayerReturn) => {
    const stored = await load(id, partId);
    if (!stored) return undefined;
    const { operationId, terminal, state } = chargeOf(stored);
    // In any other state there was no challenge. Expediting would disturb the node that runs the job.
    if (state.name === 'challenged') {
      await handOn(banks, { operationId, terminal }, returned);
      if (!state.isCompleted) await complete(stored, clock.now());
      await jobs.expedite(table, [id, partId]);
      const hasMovedOn = (now: Stored | undefined) => now === undefined || !isWaiting(now);
      const again = () => load(id, partId);
      await waits.readUntil([table, [id, partId]], again, hasMovedOn, { forMs: payerWaitsMs });
    }
    return onwardOf(stored);
  };
  addPayerReturn(app, path, find, sendOn);
}

/** In both, the bank refuses more. */
const maxCharacters = 64 * 1_024;

/**
 * The browser is redirected only after that, so a payer whose return was lost reloads and brings it again. The response proves no more
 * than an inquiry does, and the job of the payment asks.
 */
async function handOn(
  banks: Pick<Banks, 'bankOf'>,
  operation: OperationName,
  returned: PayerReturn,
): Promise<void> {
  const { query, form = '' } = returned;
  if ((query === '' && form === '') || query.length + form.length > maxCharacters) return;
  const bank = await banks.bankOf(operation.terminal);
  if ((await bank.abilities()).takesReturns) await bank.resume(operation, returned);
}
