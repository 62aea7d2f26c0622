// How far the log is read for searches: a snapshot, as in the webhook feed (docs/decisions/0041-search-rows.md). One node at a time moves
// it, under the lock of its row and with what it has copied.
import { list, text } from '../platform/database/codec.ts';
import type { Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { statement, stored, type Values } from '../platform/database/statement.ts';
import { unseenEvents } from '../platform/events/unseen.ts';
import { statesAtBank } from '../payments/domain/payment.ts';
import { snapshotBefore, snapshotWithout, transactionsBetween } from '../webhooks/domain/snapshot.ts';
import { copyChanged } from './copies.store.ts';
import { resumFrom, resumStart, sumNextDay } from './sums/resum.store.ts';

const position = {
  seen: 'text',
  rebuild_after: 'text?',
  resum_from: stored('json?', resumFrom),
  rebuilt: 'int8',
  is_mismatch: 'bool',
} as const;
type RebuildAt = Pick<Values<typeof position>, 'rebuild_after' | 'resum_from' | 'rebuilt'>;

const atBank = statesAtBank.map((state) => `'${state}'`).join(', ');

/** For the transaction: a plan made while the search rows are few would read all of them for each payment once they are many. */
const byIndexAlone = `set_config('enable_seqscan', 'off', true) = 'off'`;

/** `is_mismatch`: after a restore into another cluster the numbers mean nothing until `mandate webhooks reset-cursor`. */
const lockPosition = statement({
  name: 'lock_search_position',
  parameters: {},
  row: position,
  text: `select seen, rebuild_after, resum_from, rebuilt, pg_snapshot_xmax(seen::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot())
           or exists (select from webhook_feed where mismatch_since is not null) as is_mismatch
         from search_position where ${byIndexAlone} for update skip locked`,
});

/** For a command, which has to wait for its turn. */
const awaitPosition = statement({
  name: 'await_search_position',
  parameters: {},
  row: position,
  text: `select seen, rebuild_after, resum_from, rebuilt, pg_snapshot_xmax(seen::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot())
           or exists (select from webhook_feed where mismatch_since is not null) as is_mismatch
         from search_position where ${byIndexAlone} for update`,
});

/**
 * What changed since `settled` waits while a payment is at the bank, so that most payments are copied once, with their outcome. Its
 * transactions stay unseen, and in a full page, which another turn follows at once, nothing waits.
 */
const readChanged = statement({
  name: 'read_changed_for_searches',
  parameters: { seen: 'text', settled: 'text?', limit: 'int4' },
  row: {
    snapshot: 'text',
    found: 'int8',
    found_until: 'text?',
    invoice_ids: stored('json?', list(text)),
    withdrawal_ids: stored('json?', list(text)),
    waiting: stored('json?', list(text)),
  },
  text: `
    with found as materialized (${unseenEvents({
      columns: 'aggregate, aggregate_id',
      where: `aggregate in ('invoice', 'withdrawal')`,
    })}
    ), reached as materialized (
      select count(*) as found, max(written_in)::text as found_until from found
    ), changed as materialized (
      select aggregate, aggregate_id, array_agg(written_in) as transactions,
        case when aggregate = 'invoice' and (select found from reached) < :limit
               and not bool_or(pg_visible_in_snapshot(written_in, (:settled)::pg_snapshot))
             then exists (select from payment where invoice_id = aggregate_id and status in (${atBank}) offset 0)
             else false end as waits
      from found group by aggregate, aggregate_id
    )
    select pg_current_snapshot()::text as snapshot, found, found_until,
      (select array_to_json(array_agg(aggregate_id)) from changed where aggregate = 'invoice' and not waits) as invoice_ids,
      (select array_to_json(array_agg(aggregate_id)) from changed where aggregate = 'withdrawal') as withdrawal_ids,
      (select array_to_json(array_agg(distinct number::text)) from changed cross join unnest(transactions) as number
       where waits) as waiting
    from reached`,
});

const moveSeen = statement({
  name: 'move_search_position',
  parameters: { seen: 'text' },
  row: {},
  text: 'update search_position set seen = :seen',
});

const readPortion = statement({
  name: 'read_portion_to_search',
  parameters: { after: 'text', limit: 'int4' },
  row: { id: 'text', is_invoice: 'bool' },
  text: `
    select id, is_invoice from (
      (select invoice_id as id, true as is_invoice from invoice where invoice_id > :after
       order by invoice_id limit :limit)
      union all
      (select withdrawal_id, false from withdrawal where withdrawal_id > :after
       order by withdrawal_id limit :limit)
    ) as portion order by id limit :limit`,
});

const moveRebuild = statement({
  name: 'move_search_rebuild',
  parameters: { rebuild_after: 'text?', resum_from: stored('json?', resumFrom), copied: 'int8' },
  row: { rebuilt: 'int8' },
  text: `update search_position
         set rebuild_after = :rebuild_after, resum_from = :resum_from, rebuilt = rebuilt + :copied returning rebuilt`,
});

/** Where the cluster is another one, what it has written until now is left to the rebuild. */
const beginAgain = statement({
  name: 'begin_search_rebuild',
  parameters: {},
  row: {},
  text: `update search_position set rebuild_after = '', resum_from = null, rebuilt = 0,
           seen = case
             when pg_snapshot_xmax(seen::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot())
               or exists (select from webhook_feed where mismatch_since is not null)
             then pg_current_snapshot()::text else seen end`,
});

/** No join with the position: a plan of one read the whole log, in the order of its transactions. */
const isUnseen = `aggregate in ('invoice', 'withdrawal')
        and written_in >= (select pg_snapshot_xmin(seen::pg_snapshot) from search_position)
        and not pg_visible_in_snapshot(written_in, (select seen::pg_snapshot from search_position))`;

/** More than a thousand unread events are not searched for the first one of a party. */
export const readFreshness = statement({
  name: 'read_search_freshness',
  parameters: { party_id: 'text' },
  row: { unseen_since: 'timestamptz?', is_rebuilding: 'bool' },
  text: `
    with unseen as materialized (
      select party_id, created_at, written_in from event where ${isUnseen}
      order by written_in limit 1000
    )
    select rebuild_after is not null or resum_from is not null as is_rebuilding,
      (select created_at from unseen where party_id = :party_id or (select count(*) from unseen) = 1000
       order by written_in, created_at limit 1) as unseen_since
    from search_position`,
});

export const readOldestUnseen = statement({
  name: 'read_oldest_unseen_of_searches',
  parameters: {},
  row: { created_at: 'timestamptz' },
  text: `select created_at from event where ${isUnseen} order by written_in limit 1`,
});

/** More than are written in half a second under full load. */
const eventsAtOnce = 2_000;
const objectsAtOnce = 500;
/** Without changes the position is written only after this many transactions, as the webhook feed's is. */
const maxTransactionsUnseen = 20n;

type Read = { readonly more: boolean; readonly snapshot: string };

/**
 * Undefined when another node reads; `more`: call it again at once. What was written since `settled`, the snapshot of a turn before, may
 * wait for its bank.
 */
export async function readChanges(db: Database, settled?: string): Promise<Read | undefined> {
  const changes = await copyChanges(db, settled);
  if (!changes?.isRebuilding) return changes && { more: changes.more, snapshot: changes.snapshot };
  // In a transaction of its own: one that takes too long takes back no copy.
  const portion = await db.transaction(async (tx) => {
    const at = await takeTurn(tx);
    return at && nextPortion(tx, at);
  });
  return { more: changes.more || portion?.isRebuilding === true, snapshot: changes.snapshot };
}

async function takeTurn(tx: Database): Promise<Values<typeof position> | undefined> {
  const [at] = await tx.run(lockPosition, {});
  return at?.is_mismatch ? undefined : at;
}

function copyChanges(
  db: Database,
  settled?: string,
): Promise<(Read & { isRebuilding: boolean }) | undefined> {
  return db.transaction(async (tx) => {
    const at = await takeTurn(tx);
    if (!at) return undefined;
    const [changed] = await tx.run(readChanged, {
      seen: at.seen,
      settled: settled ?? null,
      limit: eventsAtOnce,
    });
    if (!changed) throw new Error('the query for what changed returned no row');
    await copyChanged(tx, {
      invoiceIds: changed.invoice_ids ?? [],
      withdrawalIds: changed.withdrawal_ids ?? [],
    });
    const { snapshot, found, found_until: until, waiting } = changed;
    const more = Number(found) >= eventsAtOnce && until !== null;
    const seen = more
      ? snapshotBefore(snapshot, BigInt(until) + 1n)
      : snapshotWithout(snapshot, (waiting ?? []).map(BigInt));
    if (found > 0n || transactionsBetween(at.seen, seen) > maxTransactionsUnseen)
      await tx.run(moveSeen, { seen });
    return { more, snapshot, isRebuilding: at.rebuild_after !== null || at.resum_from !== null };
  });
}

export function beginRebuild(db: Database): Promise<unknown> {
  return db.run(beginAgain, {});
}

type Progress = { readonly isRebuilding: boolean; readonly rebuilt: bigint };

/** One portion of the rebuild that is in progress, if any. */
export function rebuildPortion(db: Database): Promise<Progress> {
  return db.transaction(async (tx) => {
    const [at] = await tx.run(awaitPosition, {});
    if (!at) throw new Error('the position of searches has no row');
    return nextPortion(tx, at);
  });
}

/** First all invoices and withdrawals are copied, in the order of their IDs, then the copies are summed. */
async function nextPortion(
  tx: Database,
  { rebuild_after, resum_from, rebuilt }: RebuildAt,
): Promise<Progress> {
  if (rebuild_after !== null) return copyPortion(tx, rebuild_after);
  if (resum_from === null) return { isRebuilding: false, rebuilt };
  const next = await sumNextDay(tx, resum_from);
  await tx.run(moveRebuild, { rebuild_after: null, resum_from: next, copied: 0n });
  return { isRebuilding: next !== null, rebuilt };
}

async function copyPortion(tx: Database, after: string): Promise<Progress> {
  const portion = await tx.run(readPortion, { after, limit: objectsAtOnce });
  const idsOf = (isInvoice: boolean) =>
    portion.filter(({ is_invoice }) => is_invoice === isInvoice).map(({ id }) => id);
  const invoiceIds = idsOf(true);
  await copyChanged(tx, { invoiceIds, withdrawalIds: idsOf(false) });
  const last = portion.length === objectsAtOnce ? portion.at(-1)?.id : undefined;
  const [moved] = await tx.run(moveRebuild, {
    rebuild_after: last ?? null,
    resum_from: last === undefined ? resumStart : null,
    copied: BigInt(invoiceIds.length),
  });
  return { isRebuilding: true, rebuilt: moved?.rebuilt ?? 0n };
}

/** What a search can know of a party: everything up to `asOf`, in the party's time. */
export async function freshness(
  db: Pick<Database, 'run'>,
  partyId: string,
  now: Instant,
): Promise<{ readonly asOf: Instant; readonly isRebuilding: boolean }> {
  const [row] = await db.run(readFreshness, { party_id: partyId });
  return { asOf: row?.unseen_since ?? now, isRebuilding: row?.is_rebuilding ?? true };
}

/** When the oldest change was made that searches do not find yet. */
export async function oldestUnseen(db: Database): Promise<Instant | undefined> {
  const [oldest] = await db.run(readOldestUnseen, {});
  return oldest?.created_at;
}
