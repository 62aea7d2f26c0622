// POST …/invoice-templates/{invoiceTemplateID}/invoices: makes an invoice by the rules of a template.
import { defined } from '../../defined.ts';
import type { Ids } from '../../ids.ts';
import { tradingRefusals } from '../../merchants/domain/party.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import type { Database } from '../../platform/database/database.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { createIdempotently, requestFingerprint } from '../../platform/http/idempotent-create.ts';
import { networkOf } from '../../platform/http/request/client-address.ts';
import type { RateLimit } from '../../platform/http/request/rate-limit.ts';
import { metadataProblem } from '../../platform/http/schemas.ts';
import type { AccessTokens } from '../../platform/keys/access-token.ts';
import { accept, refuse } from '../../refusal.ts';
import { evolve } from '../domain/invoice.ts';
import { decideFromTemplate } from '../domain/template.ts';
import { findInvoiceFromTemplate, storeNewInvoice } from '../store/invoices.ts';
import { findTemplate } from '../store/templates.ts';
import { InvoiceAndToken, invoiceAndToken } from './schema.ts';
import { FromTemplateParams, TemplatePath } from './template-schema.ts';

type Deps = {
  readonly db: Database;
  readonly ids: Ids;
  readonly merchants: Merchants;
  readonly tokens: Pick<AccessTokens, 'issue'>;
  readonly templateInvoiceRate: Pick<RateLimit, 'take'>;
};

export const createInvoiceFromTemplate = endpoint({
  operation: 'createInvoiceWithTemplate',
  access: { scope: 'invoices:write', tokens: ['invoice-template'], entity: 'invoiceTemplateID' },
  method: 'POST',
  path: '/v2/processing/invoice-templates/{invoiceTemplateID}/invoices',
  tag: 'Invoices',
  summary: 'Create an invoice from a template',
  description:
    'With `amount` and `currency` if the template leaves them open. `metadata` replace those of the template. With its token they are ' +
    'only added, and a payer can choose `externalID`: do not trust either, match on `invoiceTemplateID`.',
  params: TemplatePath,
  body: FromTemplateParams,
  validateBody: ({ metadata }) => metadataProblem(metadata ?? {}),
  bodyExample: { amount: 60_000, currency: 'RUB' } satisfies FromTemplateParams,
  status: 201,
  response: InvoiceAndToken,
  errors: ['invoiceTemplateNotFound', ...tradingRefusals, 'externalIDConflict'],
  // A link with the token may be public, and invoices are kept permanently.
  limit: ({ caller, countedAs, params }, { templateInvoiceRate }: Deps) =>
    caller.kind === 'apiKey'
      ? undefined
      : templateInvoiceRate.take(`${params.invoiceTemplateID} ${networkOf(countedAs)}`),
  handle: async ({ caller, params, body, now }, { db, ids, merchants, tokens }: Deps) => {
    const template = await findTemplate(db, caller.partyId, params.invoiceTemplateID);
    if (!template) return refuse('invoiceTemplateNotFound');
    const { amount, currency, metadata, externalID } = body;
    const fingerprint = requestFingerprint([template.id, amount, currency]);
    // All payers share a token, and what one has made is not for another: to them a repeat is a conflict.
    const isByToken = caller.kind !== 'apiKey';
    return createIdempotently({
      externalId: isByToken ? undefined : externalID,
      fingerprint,
      order: 'makeFirst',
      find: (externalId) => findInvoiceFromTemplate(db, template.partyId, externalId),
      respond: async (invoice) => {
        const trading = await merchants.trading(invoice);
        return trading.ok ? accept(invoiceAndToken(invoice, tokens)) : trading;
      },
      make: async () => {
        const trading = await merchants.trading(template);
        if (!trading.ok) return trading;
        const asked = {
          id: ids.next(),
          isByToken,
          ...defined({
            amountMinor: amount === undefined ? undefined : BigInt(amount),
            currency,
            metadata,
            externalId: externalID,
          }),
        };
        const decision = decideFromTemplate(template, trading.value, asked, now);
        if (!decision.ok) return decision;
        const isStored = await storeNewInvoice(db, decision.value, fingerprint, { isByToken });
        if (!isStored && isByToken) return refuse('externalIDConflict', { details: defined({ externalID }) });
        if (!isStored) return 'externalIdTaken';
        return accept(invoiceAndToken(evolve(undefined, decision.value), tokens));
      },
    });
  },
});
