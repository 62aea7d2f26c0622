// Many subscriptions with a period to charge, made from one: the rows of a real one are copied with other IDs, three days older.
// Afterwards, whether each was charged exactly once.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import type { Contender, Processes } from '../harness/processes.ts';
import { openApi, readyCustomer, type Api } from './scenarios.ts';
import { modelOf, replicateRows, type RecordedRows } from './replicated-rows.ts';

/** In the order in which they can be written. */
const tables = {
  customer: 'customer_id',
  binding: 'customer_id',
  series: 'series_id',
  subscription: 'subscription_id',
  subscription_period: 'subscription_id',
  event: 'aggregate_id',
  // Of the verification of the card.
  ledger_transfer: 'aggregate_id',
} as const;
const day = 86_400_000;
const copiesTogether = 1_000;

/** Its trial of a day is over in the copies, and the next period is due. */
export async function recordSubscription(processes: Processes, node: Contender): Promise<RecordedRows> {
  const api = openApi(node);
  const customerID = await readyCustomer(api);
  const terms = { every: 'P1M', timeZone: 'UTC', trialDays: 1, items: [{ product: 'Tea', price: 6_000 }] };
  const { id } = await api.call('POST', '/v2/processing/subscriptions', { customerID, ...terms });
  await untilTrial(api, id);
  await api.close();
  return processes.withClient(node.database, async (client) => {
    const { rows: series } = await client.query<{ series_id: string }>(
      'select series_id from binding where customer_id = $1',
      [customerID],
    );
    const keys = [customerID, id, ...series.map(({ series_id }) => series_id)];
    const rows = new Map<string, Record<string, unknown>[]>();
    for (const [table, key] of Object.entries(tables)) {
      const found = await client.query<{ row: Record<string, unknown> }>(
        `select row_to_json(one) as row from ${table} as one where ${key} = any($1) order by 1::text`,
        [keys],
      );
      // What a job would do of them is not measured. That of a series is months away, and a charge leaves its time as it is.
      const hasJob = (row: object) => 'wake_at' in row && table !== 'series';
      rows.set(
        table,
        found.rows.map(({ row }) => (hasJob(row) ? { ...row, wake_at: null } : row)),
      );
    }
    // Its own trial is not measured.
    await client.query('delete from subscription_period');
    await client.query('delete from subscription');
    return modelOf(rows, [
      { text: customerID, is: 'id' },
      { text: id, is: 'id' },
    ]);
  });
}

async function untilTrial(api: Api, id: string): Promise<void> {
  for (;;) {
    const { status } = await api.call('GET', `/v2/processing/subscriptions/${id}`);
    if (status === 'trialing') return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** None is due yet. */
export async function copySubscriptions(
  processes: Processes,
  database: string,
  model: RecordedRows,
  { from, until }: { readonly from: number; readonly until: number },
): Promise<void> {
  await processes.withClient(database, async (client) => {
    await client.query('set synchronous_commit to off');
    for (let first = from; first < until; first += copiesTogether) {
      const copies = { from: first, until: Math.min(first + copiesTogether, until) };
      await replicateRows(client, model, { ...copies, atMs: model.beganMs - 3 * day });
    }
  });
  await processes.query(database, 'vacuum (analyze)');
}

/**
 * All of them at one moment, whose wait it returns. Before it the table is vacuumed, as one is whose rows were written a month ago: no
 * part of the load is measured.
 */
export async function makeDue(
  processes: Processes,
  database: string,
  many: number,
): Promise<() => Promise<void>> {
  const [row] = await processes.query(
    database,
    `with due as (select now() + interval '${5_000 + many / 2} ms' as at),
       made as (update subscription set wake_at = at from due where wake_at is null)
     select (extract(epoch from at) * 1000)::int8 as at from due`,
  );
  await processes.query(database, 'vacuum (analyze) subscription');
  return async () => {
    const leftMs = Number(row?.['at']) - Date.now();
    if (leftMs < 0)
      throw new Error('The subscriptions were due before all was ready: the machine is too busy.');
    await sleep(leftMs);
  };
}

/** What is not begun, or at the bank, has a time to look at it again within the day. */
export async function areUncharged(client: ClientBase): Promise<boolean> {
  const { rowCount } = await client.query(
    `select from subscription where wake_at < now() + interval '1 day' limit 1`,
  );
  return rowCount !== 0;
}

/** As PostgreSQL counts what it writes: up to a second late, and at no cost. */
export async function countBegun(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ begun: string }>(
    `select n_tup_ins as begun from pg_stat_user_tables where relname = 'subscription_invoice'`,
  );
  return Number(rows[0]?.begun);
}

/** Exactly, of the warm-up too, at the cost of reading all of them. */
export async function countInvoices(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ n: string }>('select count(*) as n from subscription_invoice');
  return Number(rows[0]?.n);
}

/** What is wrong, in sentences. */
export async function wrongCharges(
  processes: Processes,
  database: string,
  charged: number,
): Promise<string[]> {
  const [row] = await processes.query(
    database,
    `select (select count(*) from subscription_period where number = 2 and outcome = 'paid')::text as paid,
       (select count(*) from subscription_period where number > 2 or number = 2 and outcome <> 'paid')::text as others,
       (select count(*) from subscription_invoice)::text as invoices,
       (select count(*) from payment join subscription_invoice using (invoice_id) where payment.status = 'captured')::text as captured,
       (select count(*) from payment join subscription_invoice using (invoice_id))::text as payments,
       (select count(*) from subscription where stuck_at is not null)::text as stuck`,
  );
  const wanted = {
    paid: charged,
    others: 0,
    invoices: charged,
    captured: charged,
    payments: charged,
    stuck: 0,
  };
  return Object.entries(wanted)
    .filter(([name, count]) => Number(row?.[name]) !== count)
    .map(([name, count]) => `${name}: ${row?.[name]} instead of ${count}`);
}
