// How far the log is read for lists of customers, bindings and series: as the position of searches, in a row of its own.
import { list, text } from '../../platform/database/codec.ts';
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { statement, stored, type Values } from '../../platform/database/statement.ts';
import { unseenEvents } from '../../platform/events/unseen.ts';
import { endOf, snapshotBefore, transactionsBetween } from '../../webhooks/domain/snapshot.ts';
import { copyToLists } from './copies.store.ts';

const position = { seen: 'text', rebuild_after: 'text?', rebuilt: 'int8', is_mismatch: 'bool' } as const;

const isFromAnotherCluster = `pg_snapshot_xmax(seen::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot())
           or exists (select from webhook_feed where mismatch_since is not null)`;
/** A plan made while the rows are few would read all of them for each customer once they are many. */
const lockedBy = (wait: '' | 'skip locked') => `
    select seen, rebuild_after, rebuilt, ${isFromAnotherCluster} as is_mismatch
    from search_list_position where set_config('enable_seqscan', 'off', true) = 'off' for update ${wait}`;

const lockPosition = statement({
  name: 'lock_search_list_position',
  parameters: {},
  row: position,
  text: lockedBy('skip locked'),
});

/** For a command, which has to wait for its turn. */
const awaitPosition = statement({
  name: 'await_search_list_position',
  parameters: {},
  row: position,
  text: lockedBy(''),
});

/** Charges of a series change nothing that is listed. They are most of its events. */
export const isListed = `(aggregate = 'customer'
      or aggregate = 'series' and facts::text ~ '"(series_started|series_stopped|consent_withdrawn|consent_renewed)"')`;

const readChanged = statement({
  name: 'read_changed_for_lists',
  parameters: { seen: 'text', until: 'text', limit: 'int4' },
  row: {
    snapshot: 'text',
    found: 'int8',
    found_until: 'text?',
    customer_ids: stored('json?', list(text)),
    series_ids: stored('json?', list(text)),
  },
  text: `
    with found as materialized (${unseenEvents({
      columns: 'aggregate, aggregate_id',
      where: `written_in < (:until)::xid8 and ${isListed}`,
    })}
    )
    select pg_current_snapshot()::text as snapshot, count(*) as found, max(written_in)::text as found_until,
      array_to_json(array_agg(distinct aggregate_id) filter (where aggregate = 'customer')) as customer_ids,
      array_to_json(array_agg(distinct aggregate_id) filter (where aggregate = 'series')) as series_ids
    from found`,
});

const moveSeen = statement({
  name: 'move_search_list_position',
  parameters: { seen: 'text' },
  row: {},
  text: 'update search_list_position set seen = :seen',
});

const readPortion = statement({
  name: 'read_portion_to_list',
  parameters: { after: 'text', limit: 'int4' },
  row: { id: 'text', is_customer: 'bool' },
  text: `
    select id, is_customer from (
      (select customer_id as id, true as is_customer from customer where customer_id > :after
       order by customer_id limit :limit)
      union all
      (select series_id, false from series where series_id > :after order by series_id limit :limit)
    ) as portion order by id limit :limit`,
});

const moveRebuild = statement({
  name: 'move_search_list_rebuild',
  parameters: { rebuild_after: 'text?', copied: 'int8' },
  row: { rebuilt: 'int8' },
  text: `update search_list_position set rebuild_after = :rebuild_after, rebuilt = rebuilt + :copied returning rebuilt`,
});

/** What was written until now is left to the rebuild, also where the cluster is another one. */
const beginAgain = statement({
  name: 'begin_search_list_rebuild',
  parameters: {},
  row: {},
  text: `update search_list_position set rebuild_after = '', rebuilt = 0,
           seen = pg_current_snapshot()::text`,
});

/** No join with the position: a plan of one read the whole log, in the order of its transactions. */
const isUnseen = `written_in >= (select pg_snapshot_xmin(seen::pg_snapshot) from search_list_position)
        and not pg_visible_in_snapshot(written_in, (select seen::pg_snapshot from search_list_position))
        and ${isListed}`;

/** More than a thousand unread events are not searched for the first one of a party. */
const readListFreshness = statement({
  name: 'read_search_list_freshness',
  parameters: { party_id: 'text' },
  row: { unseen_since: 'timestamptz?', is_rebuilding: 'bool' },
  text: `
    with unseen as materialized (
      select party_id, created_at, written_in from event where ${isUnseen}
      order by written_in limit 1000
    )
    select rebuild_after is not null as is_rebuilding,
      (select created_at from unseen where party_id = :party_id or (select count(*) from unseen) = 1000
       order by written_in, created_at limit 1) as unseen_since
    from search_list_position`,
});

const readOldest = statement({
  name: 'read_oldest_unseen_of_lists',
  parameters: {},
  row: { created_at: 'timestamptz' },
  text: `select created_at from event where ${isUnseen} order by written_in limit 1`,
});

const objectsAtOnce = 500;
/** Few of their events may be listed, and a statement has ten seconds to look through them. */
const mostTransactions = 500_000n;
/** Without changes the position is written only after this many transactions. */
const maxTransactionsUnseen = 20n;

/** Undefined when another node reads. `more`: call it again at once. */
export async function readListChanges(
  db: Database,
  transactionsAtOnce = mostTransactions,
): Promise<{ more: boolean } | undefined> {
  const changes = await copyChanges(db, transactionsAtOnce);
  if (!changes?.isRebuilding) return changes && { more: changes.more };
  // In a transaction of its own: one that takes too long takes back no copy.
  const portion = await db.transaction(async (tx) => {
    const at = await takeTurn(tx);
    return at && nextPortion(tx, at);
  });
  return { more: changes.more || portion?.isRebuilding === true };
}

async function takeTurn(tx: Database): Promise<Values<typeof position> | undefined> {
  const [at] = await tx.run(lockPosition, {});
  return at?.is_mismatch ? undefined : at;
}

function copyChanges(
  db: Database,
  transactionsAtOnce: bigint,
): Promise<{ more: boolean; isRebuilding: boolean } | undefined> {
  return db.transaction(async (tx) => {
    const at = await takeTurn(tx);
    if (!at) return undefined;
    if (at.rebuild_after === '') {
      // Nodes without lists may have written for long since a migration began the rebuild.
      await tx.run(beginAgain, {});
      return { more: false, isRebuilding: true };
    }
    const until = endOf(at.seen) + transactionsAtOnce;
    const [changed] = await tx.run(readChanged, {
      seen: at.seen,
      until: String(until),
      limit: objectsAtOnce,
    });
    if (!changed) throw new Error('the query for what changed returned no row');
    await copyToLists(tx, { customerIds: changed.customer_ids ?? [], seriesIds: changed.series_ids ?? [] });
    const { snapshot, found, found_until: foundUntil } = changed;
    const unread = Number(found) >= objectsAtOnce && foundUntil !== null ? BigInt(foundUntil) + 1n : until;
    const more = unread < endOf(snapshot);
    const seen = snapshotBefore(snapshot, unread);
    if (more || found > 0n || transactionsBetween(at.seen, seen) > maxTransactionsUnseen)
      await tx.run(moveSeen, { seen });
    return { more, isRebuilding: at.rebuild_after !== null };
  });
}

export function beginListRebuild(db: Database): Promise<unknown> {
  return db.run(beginAgain, {});
}

type Progress = { readonly isRebuilding: boolean; readonly rebuilt: bigint };

/** One portion of the rebuild that is in progress, if any. */
export function rebuildListPortion(db: Database): Promise<Progress> {
  return db.transaction(async (tx) => {
    const [at] = await tx.run(awaitPosition, {});
    if (!at) throw new Error('the position of lists has no row');
    return nextPortion(tx, at);
  });
}

/** In the order of their IDs. */
async function nextPortion(
  tx: Database,
  { rebuild_after, rebuilt }: Pick<Values<typeof position>, 'rebuild_after' | 'rebuilt'>,
): Promise<Progress> {
  if (rebuild_after === null) return { isRebuilding: false, rebuilt };
  const portion = await tx.run(readPortion, { after: rebuild_after, limit: objectsAtOnce });
  const idsOf = (isCustomer: boolean) =>
    portion.filter(({ is_customer }) => is_customer === isCustomer).map(({ id }) => id);
  await copyToLists(tx, { customerIds: idsOf(true), seriesIds: idsOf(false) });
  const last = portion.length === objectsAtOnce ? (portion.at(-1)?.id ?? null) : null;
  const [moved] = await tx.run(moveRebuild, { rebuild_after: last, copied: BigInt(portion.length) });
  return { isRebuilding: last !== null, rebuilt: moved?.rebuilt ?? 0n };
}

/** What a list can know of a party: everything up to `asOf`, in the party's time. */
export async function listFreshness(
  db: Pick<Database, 'run'>,
  partyId: string,
  now: Instant,
): Promise<{ readonly asOf: Instant; readonly isRebuilding: boolean }> {
  const [row] = await db.run(readListFreshness, { party_id: partyId });
  return { asOf: row?.unseen_since ?? now, isRebuilding: row?.is_rebuilding ?? true };
}

/** When the oldest change was made that lists do not find yet. */
export async function oldestUnlisted(db: Database): Promise<Instant | undefined> {
  const [oldest] = await db.run(readOldest, {});
  return oldest?.created_at;
}
