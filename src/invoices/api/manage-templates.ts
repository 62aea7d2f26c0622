// Reads, changes and deletes an invoice template. What was made from it does not change.
import { Type } from 'typebox';
import { PaymentMethod, paymentMethodsOf } from '../../cards/api/payment-method-schema.ts';
import type { AcceptedNetworks } from '../../merchants/domain/accepted-networks.ts';
import { tradingRefusals } from '../../merchants/domain/party.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import type { Database } from '../../platform/database/database.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { metadataProblem } from '../../platform/http/schemas.ts';
import { accept, refuse } from '../../refusal.ts';
import { requireTerms } from '../domain/template.ts';
import { deleteTemplate, findTemplate, updateTemplate } from '../store/templates.ts';
import type { TemplateTokens } from '../template-tokens.ts';
import { templateBody, TemplatePath, TemplateSchema, TemplateUpdate, termsOf } from './template-schema.ts';

type Deps = { readonly db: Database; readonly merchants: Merchants };
type MethodDeps = Deps & { readonly networksFor: AcceptedNetworks };
type DeleteDeps = Pick<Deps, 'db'> & { readonly templateTokens: Pick<TemplateTokens, 'forget'> };

const path = '/v2/processing/invoice-templates/{invoiceTemplateID}';
const tag = 'Invoices';
const readAccess = {
  scope: 'invoices:read',
  tokens: ['invoice-template'],
  entity: 'invoiceTemplateID',
  maskedAs: 'invoiceTemplateNotFound',
} as const;

export const getInvoiceTemplate = endpoint({
  operation: 'getInvoiceTemplate',
  access: readAccess,
  method: 'GET',
  path,
  tag,
  summary: 'Get an invoice template',
  description: 'With its token, without `name`, `metadata` and `externalID`.',
  params: TemplatePath,
  status: 200,
  response: TemplateSchema,
  errors: ['invoiceTemplateNotFound'],
  handle: async ({ caller, params }, { db }: Pick<Deps, 'db'>) => {
    const template = await findTemplate(db, caller.partyId, params.invoiceTemplateID);
    return template ? accept(templateBody(template, caller.kind)) : refuse('invoiceTemplateNotFound');
  },
});

export const updateInvoiceTemplate = endpoint({
  operation: 'updateInvoiceTemplate',
  access: { scope: 'invoices:write' },
  method: 'PUT',
  path,
  tag,
  summary: 'Change an invoice template',
  description: 'Members that you send replace the old ones.',
  params: TemplatePath,
  body: TemplateUpdate,
  validateBody: ({ metadata }) => metadataProblem(metadata ?? {}),
  bodyExample: { lifetime: { days: 7, months: 0, years: 0 } },
  status: 200,
  response: TemplateSchema,
  errors: ['invoiceTemplateNotFound', ...tradingRefusals, 'invalidInvoiceCart'],
  handle: async ({ caller, params, body }, { db, merchants }: Deps) => {
    const party = await merchants.party(caller.partyId);
    const template = await findTemplate(db, caller.partyId, params.invoiceTemplateID);
    if (!party || !template) return refuse('invoiceTemplateNotFound');
    const terms = termsOf(body);
    const checked = requireTerms(party, await merchants.shop(party.id, template.shopId), terms);
    if (!checked.ok) return checked;
    const updated = await updateTemplate(db, template.id, terms);
    return updated ? accept(templateBody(updated)) : refuse('invoiceTemplateNotFound');
  },
});

export const deleteInvoiceTemplate = endpoint({
  operation: 'deleteInvoiceTemplate',
  access: { scope: 'invoices:write' },
  method: 'DELETE',
  path,
  tag,
  summary: 'Delete an invoice template',
  description: 'Its access token ends. Its invoices stay.',
  params: TemplatePath,
  status: 204,
  errors: ['invoiceTemplateNotFound'],
  handle: async ({ caller, params, now }, { db, templateTokens }: DeleteDeps) => {
    const template = await findTemplate(db, caller.partyId, params.invoiceTemplateID);
    if (!template) return refuse('invoiceTemplateNotFound');
    const isDeleted = await deleteTemplate(db, template.id, now);
    if (!isDeleted) return refuse('invoiceTemplateNotFound');
    db.afterCommit(() => templateTokens.forget(template.id));
    return accept(undefined);
  },
});

export const listTemplatePaymentMethods = endpoint({
  operation: 'listTemplatePaymentMethods',
  access: readAccess,
  method: 'GET',
  path: `${path}/payment-methods`,
  tag,
  summary: 'List the ways to pay by a template',
  params: TemplatePath,
  status: 200,
  response: Type.Array(PaymentMethod),
  errors: ['invoiceTemplateNotFound'],
  handle: async ({ caller, params }, { db, merchants, networksFor }: MethodDeps) => {
    const template = await findTemplate(db, caller.partyId, params.invoiceTemplateID);
    if (!template) return refuse('invoiceTemplateNotFound');
    const shop = await merchants.shop(template.partyId, template.shopId);
    const use = { flow: { type: 'instant' }, makeRecurrent: false } as const;
    return accept(paymentMethodsOf(shop ? await networksFor(shop, use) : []));
  },
});
