// Changes of a binding in SQL. One statement writes the customer, guarded by its version, the binding, the event and the
// ledger journal.
import type { ChangeOptions } from '../../acquiring/authorisation/job.ts';
import { exchangeParameters, recordExchanges } from '../../acquiring/exchange-log/store/exchange-rows.ts';
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import {
  attemptIn,
  decideAttempt,
  decisionParameters,
  decisionRow,
  forgetAttempt,
} from '../../cards/store/attempt-counting.ts';
import { guardedWrite } from '../../platform/database/guarded-write.ts';
import { statement } from '../../platform/database/statement.ts';
import { initialClaim } from '../../platform/jobs/job-runner.ts';
import { appendEvent, changedAt, changedWith } from '../../platform/events/log.ts';
import {
  journalParameters,
  journalValues,
  recording,
  recordJournal,
} from '../../platform/ledger/store/journals.ts';
import { stateColumns, stateRowOf } from './rows.ts';
import type { StoredBinding } from './bindings.ts';
import { exchangesOfChange } from '../domain/exchanges.ts';
import { journalOf } from '../domain/binding-postings.ts';
import {
  endsInteraction,
  evolveBinding,
  isReturning,
  wakeOf,
  type Binding,
  type BindingFact,
} from '../domain/binding.ts';
import { customerLogFact, isBindingFact } from './codec.ts';
import { customerColumns } from './customers.ts';
import { activeBindingOf, customerStateAfter, type Customer, type CustomerFact } from '../domain/customer.ts';
import { rescheduleStatement } from '../../platform/jobs/reschedule.ts';

const changeBinding = statement({
  name: 'change_binding',
  parameters: {
    ...changedWith(customerLogFact),
    ...journalParameters,
    ...exchangeParameters,
    customer_id: 'text',
    binding_id: 'text',
    customer_version: 'int4',
    customer_status: customerColumns.status,
    active_binding_id: 'text?',
    ...stateColumns,
    wake_at: 'timestamptz?',
    attempts: 'int4',
    ...decisionParameters,
  },
  row: { version: 'int4', journal: 'text?' },
  text: `
    with changed as (
      update customer
      set version = version + 1, ${changedAt('customer')}, status = :customer_status, active_binding_id = :active_binding_id
      where customer_id = :customer_id and version = :customer_version
      returning customer_id, party_id, version, changed_at
    ), moved as (
      update binding
      set version = changed.version, status = :status, state = :state, refund_due_at = :refund_due_at, wake_at = :wake_at,
          attempts = :attempts, stuck_at = null, stuck_reason = null,
          bound_at_version = case when :status = 'succeeded' then changed.version end, ${forgetAttempt}
      from changed where binding.customer_id = :customer_id and binding_id = :binding_id
      returning binding.customer_id
    ), ${attemptIn('binding', 'customer_id = :customer_id and binding_id = :binding_id')}, ${decideAttempt('moved', ':customer_id')}, logged as (
      ${appendEvent('customer', 'customer_id')}
    ), exchanged as (
      ${recordExchanges('changed')}
    )
    select version, ${recordJournal('customer_id')} as journal from changed`,
});

const rescheduleBinding = rescheduleStatement('binding', ['customer_id', 'binding_id'], 'afterFirst');

const nameSeriesOfBinding = statement({
  name: 'name_series_of_binding',
  parameters: { customer_id: 'text', binding_id: 'text', series_id: 'text' },
  row: {},
  text: `update binding set series_id = :series_id where customer_id = :customer_id and binding_id = :binding_id`,
});

/** Stores the series with the binding, because it is otherwise found by the card, which may be deleted. */
export async function nameSeries(
  tx: Database,
  { customerId, bindingId }: { customerId: string; bindingId: string },
  seriesId: string,
): Promise<void> {
  await tx.run(nameSeriesOfBinding, { customer_id: customerId, binding_id: bindingId, series_id: seriesId });
}

/** Writes the facts as one event; undefined on a version conflict. */
export async function storeBindingFacts(
  db: Database,
  stored: StoredBinding,
  facts: readonly (BindingFact | CustomerFact)[],
  now: Instant,
  options: ChangeOptions = {},
): Promise<StoredBinding | undefined> {
  const { alsoWrite, keepClaim = false, decidedAt = now, answer } = options;
  if (endsInteraction(stored.binding, facts)) {
    const ended = await storeBindingFacts(db, stored, [{ type: 'binding_interaction_completed' }], now);
    return ended && storeBindingFacts(db, ended, facts, now, options);
  }
  const { binding, customer } = facts.reduce(after, stored);
  const journal = journalOf(stored.binding, facts);
  const values = {
    customer_id: binding.customerId,
    binding_id: binding.id,
    customer_version: stored.customerVersion,
    customer_status: customer.state.name,
    active_binding_id: activeBindingOf(customer) ?? null,
    ...stateRowOf(binding.state),
    ...(keepClaim && isReturning(binding)
      ? initialClaim(now)
      : { wake_at: wakeOf(binding, now), attempts: 0 }),
    happened_at: now,
    facts: facts.map((fact) => (isBindingFact(fact) ? { ...fact, bindingId: binding.id } : fact)),
    exchanges: exchangesOfChange(stored.binding, binding, now, { answer, isSettled: isSettledBy(facts) }),
    ...journalValues(journal),
    ...decisionRow(stored.binding.state, binding.state, decidedAt),
  };
  const write = (on: Database) => on.run(changeBinding, values);
  const rows = await recording(db, journal, () => guardedWrite(db, write, alsoWrite));
  if (rows === 'insufficient')
    throw new Error('a journal that checks no funds was refused for insufficient funds');
  const [row] = rows;
  return row && { ...stored, binding, customer, version: row.version, customerVersion: row.version };
}

/** An operator has recorded the outcome. */
function isSettledBy(facts: readonly (BindingFact | CustomerFact)[]): boolean {
  return facts.some((fact) => fact.type === 'binding_failed' && fact.reason !== undefined);
}

type Both = { readonly binding: Binding; readonly customer: Pick<Customer, 'state'> };

function after({ binding, customer }: Both, fact: BindingFact | CustomerFact): Both {
  return isBindingFact(fact)
    ? { binding: evolveBinding(binding, fact), customer }
    : { binding, customer: { state: customerStateAfter(customer.state, fact) } };
}

export async function reschedule(db: Database, stored: StoredBinding, at: Instant | null): Promise<void> {
  const { binding, version } = stored;
  await db.run(rescheduleBinding, {
    customer_id: binding.customerId,
    binding_id: binding.id,
    version,
    wake_at: at,
  });
}
