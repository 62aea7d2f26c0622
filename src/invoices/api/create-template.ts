// POST /v2/processing/invoice-templates: creates an invoice template and its access token, which never expires.
import { defined } from '../../defined.ts';
import type { Ids } from '../../ids.ts';
import { tradingRefusals } from '../../merchants/domain/party.ts';
import type { Merchants } from '../../merchants/merchants.ts';
import type { Database } from '../../platform/database/database.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { createIdempotently, requestFingerprint } from '../../platform/http/idempotent-create.ts';
import { metadataProblem } from '../../platform/http/schemas.ts';
import { accept, refuse } from '../../refusal.ts';
import { decideTemplate } from '../domain/template.ts';
import { findTemplateByExternalId, storeNewTemplate } from '../store/templates.ts';
import type { TemplateTokens } from '../template-tokens.ts';
import {
  detailsIdentity,
  templateAndToken,
  TemplateAndToken,
  templateExample,
  TemplateParams,
  termsOf,
} from './template-schema.ts';

type Deps = {
  readonly db: Database;
  readonly ids: Ids;
  readonly merchants: Merchants;
  readonly templateTokens: Pick<TemplateTokens, 'issue'>;
  readonly publicUrl: () => string;
};

export const createInvoiceTemplate = endpoint({
  operation: 'createInvoiceTemplate',
  access: { scope: 'invoices:write' },
  method: 'POST',
  path: '/v2/processing/invoice-templates',
  tag: 'Invoices',
  summary: 'Create an invoice template',
  description: 'Until you delete it, payers create invoices with its token.',
  body: TemplateParams,
  validateBody: ({ metadata }) => metadataProblem(metadata ?? {}),
  bodyExample: templateExample,
  status: 201,
  response: TemplateAndToken,
  errors: ['invalidPartyID', ...tradingRefusals, 'invalidInvoiceCart', 'externalIDConflict'],
  handle: async ({ caller, body, now }, deps: Deps) => {
    const { db, ids, merchants } = deps;
    const party = await merchants.party(caller.partyId);
    if (!party || (body.partyID ?? party.id) !== party.id) return refuse('invalidPartyID');
    const shop = await merchants.shop(party.id, body.shopID);
    const fingerprint = requestFingerprint([body.shopID, body.lifetime, detailsIdentity(body.details)]);
    return createIdempotently({
      externalId: body.externalID,
      fingerprint,
      order: 'makeFirst',
      find: (externalId) => findTemplateByExternalId(db, party.id, externalId),
      respond: async (template) => {
        if (template.isDeleted) return 'otherRequest';
        const trading = await merchants.trading(template);
        return trading.ok ? accept(templateAndToken(template, deps)) : trading;
      },
      make: async () => {
        const asked = { id: ids.next(), ...termsOf(body), ...defined({ externalId: body.externalID }) };
        const decision = decideTemplate(party, shop, asked, now);
        if (!decision.ok) return decision;
        const isStored = await storeNewTemplate(db, decision.value, fingerprint);
        return isStored ? accept(templateAndToken(decision.value, deps)) : 'externalIdTaken';
      },
    });
  },
});
