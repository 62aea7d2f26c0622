// Reroutes a verification charge to another terminal, in SQL. A change of another binding of the customer is no conflict.
import { rerouteParameters, rerouteValues } from '../../acquiring/authorisation/store/reroute.ts';
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { statement } from '../../platform/database/statement.ts';
import { changedWith } from '../../platform/events/log.ts';
import { loadBinding, type StoredBinding } from './bindings.ts';
import { evolveBinding, type BindingFact } from '../domain/binding.ts';
import { exchangesOfReroute } from '../domain/exchanges.ts';
import { customerLogFact } from './codec.ts';

const rerouteBinding = statement({
  name: 'reroute_binding',
  parameters: {
    ...changedWith(customerLogFact),
    customer_id: 'text',
    binding_id: 'text',
    ...rerouteParameters,
  },
  row: { version: 'int4', exchanges: 'int4' },
  text: `
    with locked as (
      select version from customer where customer_id = :customer_id for update
    ), rerouted as (
      update binding
      set version = locked.version + 1, wake_at = :wake_at, terms = (
          select json_object_agg(key, case key when 'terminal' then :terminal else value end order by place)
          from json_each(terms) with ordinality as term (key, value, place)
        )
      from locked
      where customer_id = :customer_id and binding_id = :binding_id and binding.version = :version
        and attempts = 1 and status = 'authorising'
      returning customer_id, binding.version
    ), changed as (
      update customer set version = rerouted.version, changed_at = greatest(customer.changed_at, :happened_at)
      from rerouted where customer.customer_id = rerouted.customer_id
      returning customer.customer_id, party_id, customer.version, changed_at
    )
    select append_event('customer', customer_id, version, party_id, changed_at, :facts) as version,
      record_exchanges(:exchanges) as exchanges
    from changed`,
});

/** The binding at its new terminal, with the current customer. Undefined if another node has the binding. */
export async function storeReroute(
  db: Database,
  { binding, version }: StoredBinding,
  fact: BindingFact & { type: 'binding_rerouted' },
  now: Instant,
): Promise<StoredBinding | undefined> {
  const { customerId, id: bindingId } = binding;
  const [row] = await db.run(rerouteBinding, {
    customer_id: customerId,
    binding_id: bindingId,
    version,
    happened_at: now,
    facts: [{ ...fact, bindingId }],
    ...rerouteValues(fact.terminal, now, exchangesOfReroute(evolveBinding(binding, fact), now)),
  });
  // Another binding may have made the customer ready meanwhile, and the next write stores the customer's status.
  const rerouted = row && (await loadBinding(db, { customerId, bindingId }));
  return rerouted?.version === row?.version ? rerouted : undefined;
}
