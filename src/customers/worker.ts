// The job of a binding: sends the next bank operation while it holds no connection, and writes what the response means.
// Running it twice is harmless: the bank knows each operation by its ID, and every write is guarded by the version.
import type { Bank, BankResponse, Terminal } from '../acquiring/domain/bank-port.ts';
import { runningFrom, type Clock, type Instant } from '../clock.ts';
import { retryOnConflict, type Database } from '../platform/database/database.ts';
import { consentRevoked, interpret, nextAction, type NextAction } from './domain/bank-actions.ts';
import { chargeOf, giveBackOf } from './domain/bank-operations.ts';
import { ConsentRevoked, seriesWriteOf, type SeriesOfBindings } from './series-writes.ts';
import { isReturning, sendUntilOf, type Binding } from './domain/binding.ts';
import { mayReroute, rerouted } from '../acquiring/domain/routing/reroute.ts';
import { storeReroute } from './store/reroute.ts';
import { loadBinding, type StoredBinding } from './store/bindings.ts';
import { reschedule, storeBindingFacts } from './store/binding-changes.ts';
import { OutcomeUnknown, sendOrInquire } from '../acquiring/send-or-inquire.ts';

const stepsInARow = 5;
const writeTries = 10;

export type BindingJobDeps = {
  readonly db: Database;
  readonly clock: Clock;
  readonly recurring: SeriesOfBindings;
  readonly bankOf: (binding: Binding) => Promise<Bank>;
  /** Another terminal of the shop whose bank is not known to be unavailable. */
  readonly alternateTerminal: (binding: Binding) => Promise<Terminal | undefined>;
  /** Where the payer's browser returns to after a challenge. */
  readonly returnUrlOf: (binding: Binding) => string;
};

/** Limits against card testing count by the node's clock, which no test clock moves. */
type StepDeps = BindingJobDeps & { readonly nodeClock: Clock };

type Asking = Exclude<NextAction, { do: 'nothing' | 'write' }>;

export async function runBindingJob(
  deps: BindingJobDeps,
  [customerId = '', bindingId = '']: readonly string[],
  now: Instant,
  attempt: number,
  /** Given when the node that created the binding runs its job immediately. */
  preloaded?: StoredBinding,
): Promise<void> {
  let stored = preloaded ?? (await loadBinding(deps.db, { customerId, bindingId }));
  // A bank may be slow. Its response counts from when it arrives, so the clock keeps running.
  const onItsClock = { ...deps, clock: runningFrom(now, deps.clock), nodeClock: deps.clock };
  // One step leads to the next immediately: a charge is followed by its refund.
  for (let step = 0; stored && step < stepsInARow; step++) {
    stored = await takeStep(onItsClock, stored, step === 0 ? attempt : 1);
  }
}

/** The binding after the step if there is more to do immediately, else undefined. */
async function takeStep(
  deps: StepDeps,
  stored: StoredBinding,
  attempt: number,
): Promise<StoredBinding | undefined> {
  const now = deps.clock.now();
  const next = nextAction(stored.binding, stored.customer, now);
  if (next.do === 'nothing') return void (await reschedule(deps.db, stored, null));
  if (next.do === 'write') return write(deps, stored, () => ({ facts: [next.fact] }), now);

  const answer = await ask(deps, stored.binding, next, now, attempt);
  const answeredAt = deps.clock.now();
  if (mayReroute(stored.binding, answer, attempt, { now: answeredAt, until: sendUntilOf(stored.binding) })) {
    const terminal = await deps.alternateTerminal(stored.binding);
    const fact = terminal && ({ type: 'binding_rerouted', ...rerouted(terminal, answer) } as const);
    const moved = fact && (await storeReroute(deps.db, stored, fact, answeredAt));
    if (moved) return moved;
  }
  return write(
    deps,
    stored,
    ({ binding, customer }) => interpret(binding, customer, answer, answeredAt),
    answeredAt,
    answer,
  );
}

/**
 * What a response means may depend on the customer, which may have changed while the bank was asked. Then it is interpreted
 * again with the current customer, as long as the binding has not changed.
 */
function write(
  { db, recurring, nodeClock }: StepDeps,
  read: StoredBinding,
  decide: (stored: StoredBinding) => ReturnType<typeof interpret>,
  now: Instant,
  answer?: BankResponse,
): Promise<StoredBinding | undefined> {
  let stored = read;
  let isRevoked = false;
  const attempt = async () => {
    const meaning = decide(stored);
    if ('unknown' in meaning) throw new OutcomeUnknown(meaning.unknown);
    if ('again' in meaning) return void (await reschedule(db, stored, meaning.again));
    if (meaning.facts.length === 0) return undefined;
    const facts = isRevoked ? [{ type: 'binding_failed', failure: consentRevoked } as const] : meaning.facts;
    const alsoWrite = seriesWriteOf(stored.binding, facts, answer, now, recurring);
    const written = await storeBindingFacts(
      db,
      stored,
      facts,
      now,
      alsoWrite,
      true,
      nodeClock.now(),
      answer,
    ).catch((error: unknown) => {
      if (error instanceof ConsentRevoked) return 'revoked' as const;
      throw error;
    });
    if (written === 'revoked') {
      isRevoked = true;
      return 'versionConflict';
    }
    if (written) return isReturning(written.binding) ? written : undefined;
    const { customerId, id: bindingId } = read.binding;
    const again = await loadBinding(db, { customerId, bindingId });
    // Another node has changed the binding and continues with it.
    if (again?.version !== read.version) return undefined;
    stored = again;
    return 'versionConflict';
  };
  return retryOnConflict(`customer ${read.binding.customerId}`, attempt, writeTries);
}

async function ask(
  deps: BindingJobDeps,
  binding: Binding,
  next: Asking,
  now: Instant,
  attempt: number,
): Promise<BankResponse> {
  const bank = await deps.bankOf(binding);
  const charge = chargeOf(binding, deps.returnUrlOf(binding));
  const sending = { db: deps.db, bank, attempt, now };
  switch (next.do) {
    case 'charge': {
      const isInTime = () => deps.clock.now() < sendUntilOf(binding);
      return sendOrInquire<BankResponse>({
        ...sending,
        operation: charge,
        inquiresFirst: !isInTime(),
        refuse: (notFound) => (isInTime() ? undefined : notFound),
      });
    }
    case 'inquire':
      return bank.inquire(charge);
    case 'reverse':
    case 'refund':
      return sendOrInquire({ ...sending, operation: giveBackOf(binding, next.do) });
  }
}
