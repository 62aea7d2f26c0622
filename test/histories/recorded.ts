// Recorded histories: the facts and rows a version of the service wrote, one aggregate per line, and never changed.
// Each version has a folder, and each kind of aggregate a file.
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export type RecordedRow = Readonly<Record<string, unknown>>;
export type RecordedFact = RecordedRow & { readonly type: string };

export type History = {
  readonly aggregate: string;
  readonly id: string;
  readonly events: readonly {
    readonly sequence: number;
    readonly at: string;
    readonly facts: readonly RecordedFact[];
  }[];
  /** Rows by table, after the last event: instants as text, integers as numbers, bytes in hex. */
  readonly rows: Readonly<Record<string, readonly RecordedRow[]>>;
};

export type RowWithoutLog = { readonly table: string; readonly row: RecordedRow };

/** One line of a file. */
export type Recorded = History | RowWithoutLog;

/** The tables of an aggregate, each with the column of the aggregate's ID. Its own table has its name. */
export const tablesOf: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  invoice: {
    invoice: 'invoice_id',
    payment: 'invoice_id',
    refund: 'invoice_id',
    payer_email: 'invoice_id',
  },
  customer: { customer: 'customer_id', binding: 'customer_id' },
  series: { series: 'series_id', series_attempt: 'series_id' },
  subscription: { subscription: 'subscription_id', subscription_period: 'subscription_id' },
  identity: { identity: 'identity_id', identity_challenge: 'identity_id' },
  wallet: { wallet: 'wallet_id' },
  deposit: { deposit: 'deposit_id' },
  wallet_transfer: { wallet_transfer: 'transfer_id' },
  destination: { destination: 'destination_id' },
  withdrawal: { withdrawal: 'withdrawal_id' },
};

/** Tables with JSON columns but without a log. */
export const tablesWithoutLog: Readonly<Record<string, string>> = {
  card: 'card_id',
  shop: 'shop_id',
  recurring_settings: 'shop_id',
  consent_link: 'consent_link_id',
  invoice_template: 'invoice_template_id',
  payout_terminal: 'terminal_id',
};

export const fileOfRowsWithoutLog = 'without-log';

const here = new URL('./', import.meta.url);

export const recordedVersions: readonly string[] = readdirSync(here, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort();

/** The histories of one kind of aggregate. */
export function readHistories(version: string, aggregate: string): History[] {
  return linesOf(version, aggregate).map((line) => {
    const { id, events, rows } = JSON.parse(line) as Omit<History, 'aggregate'>;
    return { aggregate, id, events, rows: migrated(version, events.at(-1)?.at, rows) };
  });
}

export function readRowsWithoutLog(version: string): RowWithoutLog[] {
  return linesOf(version, fileOfRowsWithoutLog).map((line) => {
    const { table, row } = JSON.parse(line) as RowWithoutLog;
    return { table, row: migratedRow(version, table, row) };
  });
}

/** Renames by migrations since a version, by the old table name: the table and its columns. */
const renamedSince: Readonly<
  Record<string, Readonly<Record<string, { table?: string; columns?: Readonly<Record<string, string>> }>>>
> = {
  '0.1.0': {
    letter: { table: 'payer_email' },
    series: { columns: { state: 'status', standing: 'state' } },
    binding: { columns: { return_by: 'refund_due_at' } },
    shop: { columns: { realm: 'livemode' } },
    card: {
      columns: {
        is_kept: 'is_retained',
        kept_for: 'retained_for',
        identity_hash: 'match_hash',
        sealed: 'ciphertext',
        seal_generation: 'key_version',
        fingerprint_generation: 'fingerprint_key_version',
      },
    },
  },
};

/** Columns that later migrations have added, with the value an old row got. */
const addedLater: Readonly<Record<string, RecordedRow>> = {
  deposit: { reversed_at: null },
  destination: { card_hash: null, returns: 0 },
  identity: { sender: null },
  invoice: { recurring: null, invoice_template_id: null, original_minor: null, subscription_id: null },
  payment: { unsent_attempts: 0 },
  refund: { waits_until: null, rrn: null, arn: null },
  shop: { when_short: 'refuse' },
};

/** Recorded rows after the migrations: with today's names and the time of the aggregate's last event. */
function migrated(version: string, lastAt: string | undefined, rows: History['rows']): History['rows'] {
  const read = Object.entries(rows).map(([table, all]) => [
    renamedSince[version]?.[table]?.table ?? table,
    all.map((row) => ({ changed_at: lastAt, ...migratedRow(version, table, row) })),
  ]);
  return Object.fromEntries(read) as History['rows'];
}

function migratedRow(version: string, table: string, row: RecordedRow): RecordedRow {
  const columns = renamedSince[version]?.[table]?.columns ?? {};
  const named = Object.entries(row).map(([column, value]) => [
    columns[column] ?? column,
    columns[column] === 'livemode' ? value === 'live' : value,
  ]);
  return { ...addedLater[table], ...Object.fromEntries(named) } as RecordedRow;
}

function linesOf(version: string, name: string): string[] {
  const file = new URL(`${version}/${name}.ndjson`, here);
  // A version may record only what is new in it.
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
}
