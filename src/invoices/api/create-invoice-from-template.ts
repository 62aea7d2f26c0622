// POST …/invoice-templates/{invoiceTemplateID}/invoices: makes an invoice by the rules of a template.
import type { Static } from 'typebox';
import { defined } from '../../defined.ts';
import type { Ids } from '../../ids.ts';
import { tradingRefusals } from '../../merchants/domain/party.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import type { Database } from '../../platform/database/database.ts';
import { endpoint, type EndpointRequest } from '../../platform/http/endpoint.ts';
import { conflictHint } from '../../platform/http/errors/conflict-hint.ts';
import { createIdempotently, requestFingerprint } from '../../platform/http/idempotent-create.ts';
import { metadataProblem } from '../../platform/http/schemas.ts';
import type { AccessTokens } from '../../platform/keys/access-token.ts';
import { accept, refuse } from '../../refusal.ts';
import { evolve } from '../domain/invoice.ts';
import { decideFromTemplate } from '../domain/template.ts';
import { findInvoiceFromTemplate, storeNewInvoice } from '../store/invoices.ts';
import { findTemplate } from '../store/templates.ts';
import type { TemplateLimits } from '../template-limits.ts';
import { InvoiceAndToken, invoiceAndToken } from './schema.ts';
import { FromTemplateParams, TemplatePath } from './template-schema.ts';

type Deps = {
  readonly db: Database;
  readonly ids: Ids;
  readonly merchants: Merchants;
  readonly tokens: Pick<AccessTokens, 'issue'>;
  readonly templateLimits: TemplateLimits;
};

export const createInvoiceFromTemplate = endpoint({
  operation: 'createInvoiceWithTemplate',
  access: { scope: 'invoices:write', tokens: ['invoice-template'], entity: 'invoiceTemplateID' },
  method: 'POST',
  path: '/v2/processing/invoice-templates/{invoiceTemplateID}/invoices',
  tag: 'Invoices',
  summary: 'Create an invoice from a template',
  description:
    '`metadata` replace its own. With its token they are only added: payers choose them, and `externalID`. Trust neither.',
  params: TemplatePath,
  body: FromTemplateParams,
  validateBody: ({ metadata }) => metadataProblem(metadata ?? {}),
  bodyExample: { amount: 60_000, currency: 'RUB' } satisfies FromTemplateParams,
  status: 201,
  response: InvoiceAndToken,
  errors: ['invoiceTemplateNotFound', ...tradingRefusals, 'externalIDConflict'],
  limit: ({ caller, countedAs, params }, { templateLimits }: Deps) =>
    caller.kind === 'apiKey' ? undefined : templateLimits.take(params.invoiceTemplateID, countedAs),
  handle: async (request, deps: Deps) => {
    const { caller, params, countedAs } = request;
    if (caller.kind === 'apiKey') return createByKey(request, deps);
    const made = await createByToken(request, deps);
    if (!made.ok) deps.templateLimits.giveBack(params.invoiceTemplateID, countedAs);
    return made;
  },
});

type Creation = EndpointRequest<Static<typeof TemplatePath>, undefined, FromTemplateParams>;

/** A repeat returns the invoice also once the template is deleted: the invoices of a template stay. */
function createByKey(request: Creation, deps: Deps) {
  const { caller, body } = request;
  return createIdempotently({
    externalId: body.externalID,
    fingerprint: fingerprintOf(request),
    order: 'makeFirst',
    find: (externalId) => findInvoiceFromTemplate(deps.db, caller.partyId, externalId),
    respond: async (invoice) => {
      const trading = await deps.merchants.trading(invoice);
      return trading.ok ? accept(invoiceAndToken(invoice, deps.tokens)) : trading;
    },
    make: async () => (await make(request, deps, { isByToken: false })) ?? 'externalIdTaken',
  });
}

/** All payers share a token, and what one has made is not for another: to them a repeat is a conflict. */
async function createByToken(request: Creation, deps: Deps) {
  const made = await make(request, deps, { isByToken: true });
  if (made) return made;
  return refuse('externalIDConflict', {
    details: defined({ externalID: request.body.externalID }),
    hint: conflictHint(undefined),
  });
}

/** Undefined if the external ID is taken. */
async function make(
  { caller, params, body, now }: Creation,
  { db, ids, merchants, tokens }: Deps,
  { isByToken }: { readonly isByToken: boolean },
) {
  const template = await findTemplate(db, caller.partyId, params.invoiceTemplateID);
  if (!template) return refuse('invoiceTemplateNotFound');
  const trading = await merchants.trading(template);
  if (!trading.ok) return trading;
  const { amount, currency, metadata, externalID: externalId } = body;
  const amountMinor = amount === undefined ? undefined : BigInt(amount);
  const asked = { id: ids.next(), isByToken, ...defined({ amountMinor, currency, metadata, externalId }) };
  const decision = decideFromTemplate(template, trading.value, asked, now);
  if (!decision.ok) return decision;
  const isStored = await storeNewInvoice(db, decision.value, fingerprintOf({ params, body }), { isByToken });
  return isStored ? accept(invoiceAndToken(evolve(undefined, decision.value), tokens)) : undefined;
}

function fingerprintOf({ params, body }: Pick<Creation, 'params' | 'body'>): Buffer {
  return requestFingerprint([params.invoiceTemplateID, body.amount, body.currency]);
}
