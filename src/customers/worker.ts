// The job of a binding: the verification charge, then its refund. How the bank is asked is in acquiring/authorisation/job.ts.
import { runAuthorisationJob, type AuthorisationJob, type NextStep } from '../acquiring/authorisation/job.ts';
import type { Bank, BankResponse, Terminal } from '../acquiring/domain/bank-port.ts';
import type { Clock, Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { Job } from '../platform/jobs/job-table.ts';
import { consentRevoked, interpret, nextAction, type BindingChange } from './domain/bank-actions.ts';
import { chargeOf, giveBackOf } from './domain/bank-operations.ts';
import { isReturning, sendUntilOf, type Binding } from './domain/binding.ts';
import { zoneOfConsent } from '../recurring/port.ts';
import { ConsentRevoked, seriesWriteOf, type SeriesWriteDeps } from './series-writes.ts';
import { reschedule, storeBindingFacts } from './store/binding-changes.ts';
import { loadBinding, type StoredBinding } from './store/bindings.ts';
import { storeReroute } from './store/reroute.ts';

export type BindingJobDeps = SeriesWriteDeps & {
  readonly db: Database;
  /** Limits against card testing count by it, because no test clock moves it. */
  readonly nodeClock: Clock;
  readonly bankOf: (binding: Binding) => Promise<Bank>;
  /** Another terminal of the shop whose bank is not known to be unavailable. */
  readonly alternateTerminal: (binding: Binding) => Promise<Terminal | undefined>;
  /** Where the payer's browser returns to after a challenge. */
  readonly returnUrlOf: (binding: Binding) => string;
};

export function runBindingJob(
  deps: BindingJobDeps,
  { key: [customerId = '', bindingId = ''], clock, attempt, row }: Job<StoredBinding>,
): Promise<void> {
  return runAuthorisationJob(jobOf(deps, { customerId, bindingId }), { db: deps.db, clock, attempt }, row);
}

function jobOf(
  deps: BindingJobDeps,
  name: { readonly customerId: string; readonly bindingId: string },
): AuthorisationJob<StoredBinding, BindingChange> {
  const { db } = deps;
  return {
    name: `customer ${name.customerId}`,
    load: () => loadBinding(db, name),
    nextStep: (stored, now) => nextStepOf(deps, stored, now),
    bankOf: ({ binding }) => deps.bankOf(binding),
    interpret: ({ binding, customer }, { answer, at }) => interpret(binding, customer, answer, at),
    write: (stored, { facts }, at, heard) => write(deps, stored, facts, at, heard?.answer),
    // Its customer may have changed alone, and what a response means depends on that.
    async reread({ version }) {
      const current = await loadBinding(db, name);
      return current?.version === version ? current : undefined;
    },
    reschedule: (stored, at) => reschedule(db, stored, at),
    alternateTerminal: ({ binding }) => deps.alternateTerminal(binding),
    storeReroute: (stored, to, at) => storeReroute(db, stored, { type: 'binding_rerouted', ...to }, at),
  };
}

async function nextStepOf(
  deps: BindingJobDeps,
  { binding, customer }: StoredBinding,
  now: Instant,
): Promise<NextStep<StoredBinding, BindingChange>> {
  const operationOf = async () =>
    chargeOf(binding, deps.returnUrlOf(binding), await zoneOfConsent(deps, binding));
  const next = nextAction(binding, customer, now);
  switch (next.do) {
    case 'nothing':
      return { do: 'wait', until: null };
    case 'write':
      return { do: 'write', change: { facts: [next.fact] } };
    case 'charge':
      return {
        do: 'authorise',
        charge: binding,
        operation: await operationOf(),
        sendUntil: sendUntilOf(binding),
      };
    case 'inquire':
      return { do: 'inquire', operation: await operationOf() };
    case 'reverse':
    case 'refund':
      return { do: 'followUp', operation: giveBackOf(binding, next.do) };
  }
}

async function write(
  { db, nodeClock, charging, consents }: BindingJobDeps,
  stored: StoredBinding,
  facts: BindingChange['facts'],
  at: Instant,
  answer: BankResponse | undefined,
): Promise<StoredBinding | 'over' | 'versionConflict'> {
  if (facts.length === 0) return 'over';
  const store = (those: BindingChange['facts']) => {
    const alsoWrite = seriesWriteOf(stored.binding, those, answer, at, { charging, consents });
    const options = { alsoWrite, keepClaim: true, decidedAt: nodeClock.now(), answer };
    return storeBindingFacts(db, stored, those, at, options);
  };
  const written = await store(facts).catch((error: unknown) => {
    if (!(error instanceof ConsentRevoked)) throw error;
    return store([{ type: 'binding_failed', failure: consentRevoked }]);
  });
  if (!written) return 'versionConflict';
  // A charge is followed by its refund.
  return isReturning(written.binding) ? written : 'over';
}
