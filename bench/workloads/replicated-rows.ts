// Makes the database of years in minutes: copies the rows of a few real payments many times, with other IDs and earlier times.
// The copies are as valid as the payments the service wrote.
import type { ClientBase } from 'pg';
import { instantAt } from '../../src/clock.ts';
import { secondsText } from '../../src/ids.ts';

/** Rows that belong together. */
export type RecordedRows = {
  /** For each table its rows as JSON text; `%1$s` stands for the first of the names. */
  readonly rows: ReadonlyMap<string, readonly string[]>;
  readonly names: readonly Name[];
  /** Time of the first event. */
  readonly beganMs: number;
};

export type RecordedPayments = RecordedRows & { readonly payments: number; readonly events: number };

/** What differs in every copy: an ID, a digest of a card, or the time of the card's next job. */
type Name = { readonly text: string; readonly is: 'id' | 'digest' | 'time' };

/** In the order in which they can be written, each with the column of its invoice, series or card ID. */
const tablesOfPayments = {
  invoice: 'invoice_id',
  payment: 'invoice_id',
  card: 'card_id',
  series: 'series_id',
  series_attempt: 'invoice_id',
  payer_email: 'invoice_id',
  event: 'aggregate_id',
  ledger_transfer: 'aggregate_id',
} as const;
const someTimeTomorrow = 'some time within a day';

/** The invoices are a single one, or those of one series, its parent first. */
export async function readPayments(
  client: ClientBase,
  invoiceIds: readonly string[],
): Promise<RecordedPayments> {
  const { rows: series } = await client.query<{ series_id: string; card_id: string; session_id: string }>(
    `select series_id, card_id, session_id from series join card on 'v1.' || card_id = card_token
     where series_id = $1 || '.1'`,
    [invoiceIds[0]],
  );
  const keys = [...invoiceIds, ...series.flatMap((one) => [one.series_id, one.card_id])];
  const ids = [...invoiceIds, ...series.flatMap((one) => [one.card_id, one.session_id])];
  const recorded = new Map<string, Record<string, unknown>[]>();
  const digests = new Set<string>();
  for (const [table, key] of Object.entries(tablesOfPayments)) {
    const found = await client.query<{ row: Record<string, unknown> }>(
      `select row_to_json(one) as row from ${table} as one where ${key} = any($1) order by 1::text`,
      [keys],
    );
    const rows = found.rows.map(({ row }) => row);
    for (const row of rows) {
      // When its token has expired, a retained card has a job once a day.
      if (table === 'card') row['wake_at'] = someTimeTomorrow;
      // A waiting receipt in the model would become millions of receipts to send.
      if (table === 'payer_email' && row['status'] === 'waiting')
        throw new Error(
          `Receipts of ${invoiceIds.join(', ')} are still waiting. Wait for them before you copy.`,
        );
      for (const digest of JSON.stringify(row).match(/\\\\x[0-9a-f]{64}(?=")/g) ?? [])
        digests.add(digest.slice(3));
    }
    recorded.set(table, rows);
  }
  const names = [
    ...ids.map((text) => ({ text, is: 'id' }) as const),
    ...[...digests].map((text) => ({ text, is: 'digest' }) as const),
    { text: someTimeTomorrow, is: 'time' } as const,
  ];
  return {
    ...modelOf(recorded, names),
    payments: recorded.get('payment')?.length ?? 0,
    events: recorded.get('event')?.length ?? 0,
  };
}

/** In the order in which they can be written. The copy's own transaction fills in `written_in`. */
export function modelOf(
  recorded: ReadonlyMap<string, readonly Record<string, unknown>[]>,
  names: readonly Name[],
): RecordedRows {
  const began = recorded.get('event')?.[0]?.['created_at'];
  const rows = [...recorded].map(
    ([table, some]) =>
      [table, some.map(({ written_in: _, ...row }) => asFormat(JSON.stringify(row), names))] as const,
  );
  return { names, rows: new Map(rows), beganMs: Date.parse(String(began)) };
}

/** The row as a format string of PostgreSQL. */
function asFormat(row: string, names: readonly Name[]): string {
  return names.reduce(
    (text, name, index) => text.replaceAll(name.text, `%${index + 1}$s`),
    row.replaceAll('%', '%%'),
  );
}

export type Copies = {
  /** Number of the first copy, and of the one after the last. Use each number once for a model. */
  readonly from: number;
  readonly until: number;
  /** The time of the copies' first event. */
  readonly atMs: number;
};

/** Writes all copies in one transaction, together with the ledger balances. */
export async function replicateRows(
  client: ClientBase,
  model: RecordedRows,
  { from, until, atMs }: Copies,
): Promise<void> {
  const copies = `copies as materialized (
    select array[${model.names.map(({ is }, index) => nameOf(is, `${model.names[0]?.text}/${index}`, secondsText(atMs))).join(', ')}] as names
    from generate_series(${from}, ${until - 1}) as number)`;
  await client.query('begin');
  try {
    for (const [table, rows] of model.rows) {
      if (rows.length === 0) continue;
      const columns = Object.keys(JSON.parse(rows[0] ?? '{}') as object);
      const moved = rows.map((row) => moveTimes(row, atMs - model.beganMs));
      const copied = `select ${columns.map((name) => `copy.${name}`).join(', ')} from copies, unnest($1::text[]) as model (row),
        lateral json_populate_record(null::${table}, format(model.row, variadic copies.names)::json) as copy`;
      const text =
        table === 'ledger_transfer'
          ? transferText(columns, copies, copied)
          : `with ${copies} insert into ${table} (${columns.join(', ')}) ${copied}`;
      await client.query(text, [moved]);
    }
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

/** Unique, and spread over an index as the service's names are. */
function nameOf(is: Name['is'], nameInModel: string, second: string): string {
  const own = `number || '/${nameInModel}'`;
  switch (is) {
    case 'id':
      return `'${second}' || substr(md5(${own}), 1, 17)`;
    case 'digest':
      return `encode(sha256((${own})::bytea), 'hex')`;
    case 'time':
      return `(now() + number % 86400 * interval '1 s')::text`;
  }
}

const date = /(?<=")\d{4}-\d\d-\d\d(?=\\?")/g;
const instant = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)/g;

/** Days too, which are those of UTC. */
function moveTimes(row: string, byMs: number): string {
  const dated = row.replaceAll(date, (text) => new Date(Date.parse(text) + byMs).toISOString().slice(0, 10));
  return dated.replaceAll(instant, (text) => instantAt(Date.parse(text) + byMs));
}

/** Each copy's transfers use the shards of its own ID, and the balances follow. */
function transferText(columns: readonly string[], copies: string, copied: string): string {
  const shardOf = (side: string) =>
    `case ${side}.shards when 0 then 0
      else 1 + mod(hashtextextended(copy.aggregate_id, 0) & 9223372036854775807, ${side}.shards)::int end`;
  const placed = columns.map((name) =>
    name === 'debit_shard'
      ? shardOf('debited')
      : name === 'credit_shard'
        ? shardOf('credited')
        : `copy.${name}`,
  );
  const sums = (['debit', 'credit'] as const).map(
    (side) => `select ${side}_account as account_id, ${side}_shard as shard,
      ${side === 'debit' ? 'posted_minor, 0' : '0, posted_minor'}, ${side === 'debit' ? 'pending_minor, 0' : '0, pending_minor'} from moved`,
  );
  return `
    with ${copies}, copy as materialized (${copied}), moved as (
      insert into ledger_transfer (${columns.join(', ')})
      select ${placed.join(', ')} from copy
      join ledger_account as debited on debited.account_id = copy.debit_account
      join ledger_account as credited on credited.account_id = copy.credit_account
      returning *
    ), change as (
      select account_id, shard, sum(d) as d, sum(c) as c, sum(dp) as dp, sum(cp) as cp
      from (${sums.join(' union all ')}) as leg (account_id, shard, d, c, dp, cp) group by account_id, shard
    )
    update ledger_balance as balance
    set debits_posted = debits_posted + d, credits_posted = credits_posted + c,
        debits_pending = debits_pending + dp, credits_pending = credits_pending + cp
    from change where balance.account_id = change.account_id and balance.shard = change.shard`;
}
