// Leaves out what follows the log in the background: the search reader with its sums. It is not switched off: its position says that
// there is nothing to read.
import { setTimeout as sleep } from 'node:timers/promises';
import { isListed } from '../../src/search/lists/position.store.ts';
import type { Processes } from './processes.ts';

/** Ahead of everything that a measurement writes. */
const transactionsAhead = 1_000_000_000_000;

/** Each with the events that it waits for. */
const readBy = {
  search_position: `aggregate in ('invoice', 'withdrawal')`,
  search_list_position: isListed,
};
const positions = Object.keys(readBy);

export async function stopReader(processes: Processes, database: string): Promise<void> {
  for (const position of positions)
    await processes.query(
      database,
      `update ${position} set seen =
         format('%1$s:%1$s:', pg_snapshot_xmax(pg_current_snapshot())::text::bigint + ${transactionsAhead})`,
    );
}

/** It leaves out what was written meanwhile, which another turn would pay for. */
export async function startReader(processes: Processes, database: string): Promise<void> {
  for (const position of positions)
    await processes.query(database, `update ${position} set seen = pg_current_snapshot()::text`);
}

/** Resolves when all that is written is copied. */
export async function searchRead(processes: Processes, database: string): Promise<void> {
  const unread = Object.entries(readBy).map(
    ([position, isRead]) => `(select 1 from event
     where ${isRead}
       and written_in >= (select pg_snapshot_xmin(seen::pg_snapshot) from ${position})
       and not pg_visible_in_snapshot(written_in, (select seen::pg_snapshot from ${position})) limit 1)`,
  );
  const { length: left } = await processes.query(database, unread.join(' union all '));
  if (left === 0) return;
  await sleep(50);
  await searchRead(processes, database);
}
