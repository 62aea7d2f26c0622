// Invoice templates in SQL. Rows without a log: what was paid is in the invoices, which copy their terms.
import type { Instant } from '../../clock.ts';
import { defined } from '../../defined.ts';
import { anyObject } from '../../platform/database/codec.ts';
import type { Database } from '../../platform/database/database.ts';
import { findByExternalId } from '../../platform/database/external-id.ts';
import {
  columnList,
  parameterList,
  statement,
  stored,
  type Values,
} from '../../platform/database/statement.ts';
import type { InvoiceTemplate, TemplateTerms } from '../domain/template.ts';
import { lifetime, templateDetails } from './codec.ts';

const columns = {
  invoice_template_id: 'text',
  party_id: 'text',
  shop_id: 'text',
  name: 'text?',
  description: 'text?',
  lifetime: stored('json', lifetime),
  details: stored('json', templateDetails),
  metadata: stored('json?', anyObject),
  external_id: 'text?',
  created_at: 'timestamptz',
} as const;
const readColumns = { ...columns, deleted_at: 'timestamptz?' } as const;

/** No row if the external ID is taken. */
const insertTemplate = statement({
  name: 'insert_invoice_template',
  parameters: { ...columns, fingerprint: 'bytea' },
  row: { invoice_template_id: 'text' },
  text: `
    insert into invoice_template (${columnList(columns)})
    select ${parameterList(columns)}
    where claim_external_id(:party_id, 'createInvoiceTemplate', :external_id, :invoice_template_id, :fingerprint)
    returning invoice_template_id`,
});

const readTemplate = statement({
  name: 'read_invoice_template',
  parameters: { invoice_template_id: 'text' },
  row: columns,
  text: `select ${columnList(columns)} from invoice_template
         where invoice_template_id = :invoice_template_id and deleted_at is null`,
});

const listTemplates = statement({
  name: 'list_invoice_templates',
  parameters: { party_id: 'text', limit: 'int4' },
  row: columns,
  text: `select ${columnList(columns)} from invoice_template
         where party_id = :party_id and deleted_at is null
         order by created_at desc, invoice_template_id limit :limit`,
});

/** Null leaves a member as it is, so that two updates of different members keep both. */
const updateTemplateRow = statement({
  name: 'update_invoice_template',
  parameters: {
    invoice_template_id: 'text',
    name: 'text?',
    description: 'text?',
    lifetime: stored('json?', lifetime),
    details: stored('json?', templateDetails),
    metadata: stored('json?', anyObject),
  },
  row: columns,
  text: `update invoice_template
         set name = coalesce(:name, name), description = coalesce(:description, description),
             lifetime = coalesce(:lifetime, lifetime), details = coalesce(:details, details),
             metadata = coalesce(:metadata, metadata)
         where invoice_template_id = :invoice_template_id and deleted_at is null
         returning ${columnList(columns)}`,
});

const deleteTemplateRow = statement({
  name: 'delete_invoice_template',
  parameters: { invoice_template_id: 'text', deleted_at: 'timestamptz' },
  row: { invoice_template_id: 'text' },
  text: `update invoice_template set deleted_at = :deleted_at
         where invoice_template_id = :invoice_template_id and deleted_at is null
         returning invoice_template_id`,
});

/** False if the external ID is taken. */
export async function storeNewTemplate(
  db: Database,
  template: InvoiceTemplate,
  fingerprint: Buffer,
): Promise<boolean> {
  const rows = await db.run(insertTemplate, {
    invoice_template_id: template.id,
    party_id: template.partyId,
    shop_id: template.shopId,
    ...termColumns(template),
    lifetime: template.lifetime,
    details: template.details,
    external_id: template.externalId ?? null,
    created_at: template.createdAt,
    fingerprint,
  });
  return rows.length > 0;
}

/** Not scoped to a party: only for callers that have authenticated in another way. A deleted template is not found. */
export async function loadTemplate(
  db: Pick<Database, 'run'>,
  templateId: string,
): Promise<InvoiceTemplate | undefined> {
  const [row] = await db.run(readTemplate, { invoice_template_id: templateId });
  return row && templateFromRow(row);
}

export async function findTemplate(
  db: Pick<Database, 'run'>,
  partyId: string,
  templateId: string,
): Promise<InvoiceTemplate | undefined> {
  const template = await loadTemplate(db, templateId);
  return template?.partyId === partyId ? template : undefined;
}

/** Those that are not deleted, the newest first. */
export async function templatesOf(
  db: Pick<Database, 'run'>,
  partyId: string,
  limit: number,
): Promise<InvoiceTemplate[]> {
  const rows = await db.run(listTemplates, { party_id: partyId, limit });
  return rows.map(templateFromRow);
}

/** A deleted one too, which the caller must not show. */
export const findTemplateByExternalId = findByExternalId(
  'invoice_template',
  'createInvoiceTemplate',
  readColumns,
  (row) => ({ ...templateFromRow(row), isDeleted: row.deleted_at !== null }),
);

/** Undefined if it has been deleted meanwhile. */
export async function updateTemplate(
  db: Database,
  templateId: string,
  terms: Partial<TemplateTerms>,
): Promise<InvoiceTemplate | undefined> {
  const [row] = await db.run(updateTemplateRow, { invoice_template_id: templateId, ...termColumns(terms) });
  return row && templateFromRow(row);
}

/** False if it has been deleted before. */
export async function deleteTemplate(db: Database, templateId: string, now: Instant): Promise<boolean> {
  const rows = await db.run(deleteTemplateRow, { invoice_template_id: templateId, deleted_at: now });
  return rows.length > 0;
}

function termColumns({ name, description, lifetime, details, metadata }: Partial<TemplateTerms>) {
  return {
    name: name ?? null,
    description: description ?? null,
    lifetime: lifetime ?? null,
    details: details ?? null,
    metadata: metadata ?? null,
  };
}

function templateFromRow(row: Values<typeof columns>): InvoiceTemplate {
  return {
    id: row.invoice_template_id,
    partyId: row.party_id,
    shopId: row.shop_id,
    lifetime: row.lifetime,
    details: row.details,
    createdAt: row.created_at,
    ...defined({
      name: row.name,
      description: row.description,
      metadata: row.metadata,
      externalId: row.external_id,
    }),
  };
}
