// Invoices in SQL: one statement writes the row, guarded by its version, its event and `wake_at`. Facts store amounts as
// JSON integers: the largest amount is far below 2^53.
import type { Instant } from '../../clock.ts';
import { retryOnConflict, type Database } from '../../platform/database/database.ts';
import { readStatement } from '../../platform/database/batches/read-statement.ts';
import { changesOf, writeStatement } from '../../platform/database/batches/write-statement.ts';
import { findByExternalId } from '../../platform/database/external-id.ts';
import { columnList, statement, stored, type Values } from '../../platform/database/statement.ts';
import { changedWith, createdWith } from '../../platform/events/log.ts';
import { anyObject, currency } from '../../platform/database/codec.ts';
import { mandateTerms } from '../../receipts/store/codec.ts';
import { bankAccount, cart, clientInfo, invoiceFact, invoiceStatus } from './codec.ts';
import type { Outcome } from '../../refusal.ts';
import {
  evolve,
  nextAction,
  type Invoice,
  type InvoiceFact,
  type InvoiceState,
  type InvoiceTerms,
} from '../domain/invoice.ts';
import { defined } from '../../defined.ts';
import { rescheduleStatement } from '../../platform/jobs/reschedule.ts';

export type StoredInvoice = { readonly invoice: Invoice; readonly version: number };

const columns = {
  invoice_id: 'text',
  party_id: 'text',
  shop_id: 'text',
  version: 'int4',
  status: stored('text', invoiceStatus),
  reason: 'text?',
  created_at: 'timestamptz',
  due_date: 'timestamptz',
  amount_minor: 'int8',
  currency: stored('text', currency),
  product: 'text',
  description: 'text?',
  cart: stored('json?', cart),
  bank_account: stored('json?', bankAccount),
  client_info: stored('json?', clientInfo),
  metadata: stored('json', anyObject),
  external_id: 'text?',
  invoice_template_id: 'text?',
  recurring: stored('json?', mandateTerms),
  original_minor: 'int8?',
  subscription_id: 'text?',
} as const;
/** Columns that payments write. */
export const invoiceColumns = { ...columns, payment_in_progress: 'bool' } as const;
const readColumnList = columnList(invoiceColumns);

const newInvoice = {
  ...columns,
  ...createdWith(invoiceFact),
  wake_at: 'timestamptz?',
  operation: 'text',
  claimed_id: 'text?',
  fingerprint: 'bytea',
} as const;

/** The external ID is claimed first, always in one order, then the invoice and its first event are written. */
const insertInvoice = writeStatement({
  name: 'insert_invoice',
  change: newInvoice,
  row: { version: 'int4' },
  leavesOut: 'taken',
  text: `
    with claimed as materialized (
      select * from (
        select * from ${changesOf(newInvoice)} order by party_id, operation, claimed_id, asker offset 0
      ) as change
      where claim_external_id(party_id, operation, claimed_id, invoice_id, fingerprint)
    ), made as (
      insert into invoice (${columnList(columns)}, changed_at, wake_at)
      select ${columnList(columns)}, created_at, wake_at from claimed
      returning invoice_id, version, party_id, changed_at
    ), logged as (
      insert into event (aggregate_id, sequence, aggregate, party_id, created_at, facts)
      select invoice_id, made.version, 'invoice', made.party_id, changed_at, facts from made join claimed using (invoice_id)
    )
    select asker, version from claimed`,
});

const changeInvoiceRow = statement({
  name: 'change_invoice',
  parameters: {
    ...changedWith(invoiceFact),
    invoice_id: 'text',
    version: 'int4',
    status: columns.status,
    reason: 'text?',
    wake_at: 'timestamptz?',
  },
  row: { version: 'int4' },
  text: `
    with changed as (
      update invoice
      set version = version + 1, changed_at = greatest(changed_at, :happened_at), status = :status, reason = :reason,
          wake_at = :wake_at, attempts = 0, stuck_at = null, stuck_reason = null
      where invoice_id = :invoice_id and version = :version
      returning invoice_id, party_id, version, changed_at
    )
    select append_event('invoice', invoice_id, version, party_id, changed_at, :facts) as version from changed`,
});

const readInvoice = readStatement({
  name: 'read_invoice',
  parameters: { invoice_id: 'text' },
  row: invoiceColumns,
  text: `select ${readColumnList} from invoice where invoice_id = :invoice_id`,
});

const readInvoiceOfParty = readStatement({
  name: 'read_invoice_of_party',
  parameters: { invoice_id: 'text', party_id: 'text' },
  row: invoiceColumns,
  text: `select ${readColumnList} from invoice where invoice_id = :invoice_id and party_id = :party_id`,
});

const reschedule = rescheduleStatement('invoice', ['invoice_id'], 'restart');

/** False if the external ID is taken. */
export async function storeNewInvoice(
  db: Database,
  created: InvoiceFact & { type: 'invoice_created' },
  fingerprint: Buffer,
  { isByToken = false } = {},
): Promise<boolean> {
  const invoice = evolve(undefined, created);
  const rows = await db.run(insertInvoice, {
    ...rowOf(invoice, 1),
    ...claimOf(invoice, isByToken),
    fingerprint,
    wake_at: nextAction(invoice)?.at ?? null,
    facts: [created],
  });
  return rows.length > 0;
}

/** The external IDs of invoices from templates are apart. Those that came with a template's token are known to that token alone. */
function claimOf({ templateId, externalId }: Invoice, isByToken: boolean) {
  if (templateId === undefined) return { operation: 'createInvoice', claimed_id: externalId ?? null };
  if (!isByToken) return { operation: 'createInvoiceWithTemplate', claimed_id: externalId ?? null };
  const claimed_id = externalId === undefined ? null : `${templateId}/${externalId}`;
  return { operation: 'createInvoiceByTemplateToken', claimed_id };
}

export async function findInvoice(
  db: Database,
  partyId: string,
  id: string,
): Promise<StoredInvoice | undefined> {
  const [row] = await db.run(readInvoiceOfParty, { invoice_id: id, party_id: partyId });
  return row && invoiceFromRow(row);
}

/** Not scoped to a party: only for callers that have authenticated in another way. */
export async function loadInvoice(
  db: Pick<Database, 'run'>,
  invoiceId: string,
): Promise<Invoice | undefined> {
  return (await loadStoredInvoice(db, invoiceId))?.invoice;
}

export const findInvoiceByExternalId = findByExternalId(
  'invoice',
  'createInvoice',
  invoiceColumns,
  (row) => invoiceFromRow(row).invoice,
);

export const findInvoiceFromTemplate = findByExternalId(
  'invoice',
  'createInvoiceWithTemplate',
  invoiceColumns,
  (row) => invoiceFromRow(row).invoice,
  { name: 'read_invoice_from_template_by_external_id' },
);

const changeTries = 10;

/**
 * Reads the invoice, decides and writes; after a version conflict it starts again. Undefined if the party has no such
 * invoice.
 */
export async function changeInvoice<Code extends string>(
  db: Database,
  name: { partyId: string; invoiceId: string },
  now: Instant,
  decide: (invoice: Invoice) => Outcome<InvoiceFact, Code> | Promise<Outcome<InvoiceFact, Code>>,
): Promise<Outcome<InvoiceFact, Code> | undefined> {
  const attempt = async () => {
    const stored = await findInvoice(db, name.partyId, name.invoiceId);
    if (!stored) return undefined;
    const decision = await decide(stored.invoice);
    if (!decision.ok) return decision;
    return (await storeInvoiceFact(db, stored, decision.value, now)) ? decision : 'versionConflict';
  };
  return retryOnConflict(`invoice ${name.invoiceId}`, attempt, changeTries);
}

/** By key, for jobs. */
export async function loadStoredInvoice(
  db: Pick<Database, 'run'>,
  invoiceId: string,
): Promise<StoredInvoice | undefined> {
  const [row] = await db.run(readInvoice, { invoice_id: invoiceId });
  return row && invoiceFromRow(row);
}

/** Does nothing after a version conflict: the other writer has set what is due next. */
export async function rescheduleInvoice(
  db: Database,
  { invoice, version }: StoredInvoice,
  wakeAt: Instant | undefined,
): Promise<void> {
  await db.run(reschedule, { invoice_id: invoice.id, version, wake_at: wakeAt ?? null });
}

/** False after a version conflict. */
export async function storeInvoiceFact(
  db: Database,
  stored: StoredInvoice,
  fact: InvoiceFact,
  now: Instant,
): Promise<boolean> {
  const invoice = evolve(stored.invoice, fact);
  const rows = await db.run(changeInvoiceRow, {
    invoice_id: invoice.id,
    version: stored.version,
    status: invoice.status,
    reason: 'reason' in invoice ? invoice.reason : null,
    wake_at: nextAction(invoice)?.at ?? null,
    happened_at: now,
    facts: [fact],
  });
  return rows.length > 0;
}

function rowOf(invoice: Invoice, version: number): Values<typeof columns> {
  return {
    invoice_id: invoice.id,
    party_id: invoice.partyId,
    shop_id: invoice.shopId,
    version,
    status: invoice.status,
    reason: 'reason' in invoice ? invoice.reason : null,
    created_at: invoice.createdAt,
    due_date: invoice.dueDate,
    amount_minor: invoice.amount.minor,
    currency: invoice.amount.currency,
    product: invoice.product,
    description: invoice.description ?? null,
    cart: invoice.cart ?? null,
    bank_account: invoice.bankAccount ?? null,
    client_info: invoice.clientInfo ?? null,
    metadata: invoice.metadata,
    external_id: invoice.externalId ?? null,
    invoice_template_id: invoice.templateId ?? null,
    recurring: invoice.recurring ?? null,
    original_minor: invoice.originalMinor ?? null,
    subscription_id: invoice.subscriptionId ?? null,
  };
}

export function invoiceFromRow(row: Values<typeof invoiceColumns>): StoredInvoice {
  const terms: InvoiceTerms = {
    id: row.invoice_id,
    partyId: row.party_id,
    shopId: row.shop_id,
    createdAt: row.created_at,
    dueDate: row.due_date,
    amount: { minor: row.amount_minor, currency: row.currency },
    product: row.product,
    metadata: row.metadata,
    ...defined({
      description: row.description,
      cart: row.cart,
      bankAccount: row.bank_account,
      clientInfo: row.client_info,
      externalId: row.external_id,
      templateId: row.invoice_template_id,
      recurring: row.recurring,
      originalMinor: row.original_minor,
      subscriptionId: row.subscription_id,
    }),
  };
  const { payment_in_progress: paymentInProgress } = row;
  return { invoice: { ...terms, ...stateFromRow(row), paymentInProgress }, version: row.version };
}

function stateFromRow({ invoice_id, status, reason }: Values<typeof columns>): InvoiceState {
  if (status === 'unpaid' || status === 'paid') return { status };
  if (reason === null) throw new Error(`Invoice ${invoice_id} is stored as ${status} without a reason.`);
  return { status, reason };
}
