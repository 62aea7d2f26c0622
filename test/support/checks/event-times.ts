// The event and transfer times of an aggregate never decrease, whatever the clocks of the nodes say.
import type { DatabasePool } from '../../../src/platform/database/database.ts';

const goingBack = `
  select aggregate || ' ' || aggregate_id || ': event ' || sequence || ' at ' || created_at || ', after ' || before as problem
  from (
    select event.*, lag(created_at) over (partition by aggregate_id order by sequence) as before from event
  ) as following where created_at < before
  union all
  select 'transfer ' || operation_id || '/' || step || ' of ' || aggregate_id || ' at ' || happened_at || ', the time of no event'
  from ledger_transfer as transfer
  where not exists (
    select from event where event.aggregate_id = transfer.aggregate_id and created_at = happened_at)
  union all
  select 'transfer ' || operation_id || '/' || step || ' of ' || aggregate_id || ': completed before it was pending'
  from ledger_transfer as resolving join ledger_transfer as pending using (aggregate_id, operation_id, step)
  where resolving.completes_pending and not pending.completes_pending and resolving.happened_at < pending.happened_at`;

/** One message for each event or transfer with a wrong time. */
export async function timesGoingBack(database: DatabasePool): Promise<string[]> {
  const { rows } = await database.withClient((client) => client.query<{ problem: string }>(goingBack));
  return rows.map(({ problem }) => problem);
}
