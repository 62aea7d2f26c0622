// POST …/access-tokens: issues another access token for an invoice, whatever its status.
import { defined } from '../../defined.ts';
import { Type } from 'typebox';
import { endpoint } from '../../platform/http/endpoint.ts';
import { AccessToken } from '../../platform/http/schemas.ts';
import { accept, refuse } from '../../refusal.ts';
import { findInvoice } from '../store/invoices.ts';
import { InvoicePath } from './schema.ts';
import type { Database } from '../../platform/database/database.ts';
import type { AccessTokens } from '../../platform/keys/access-token.ts';

export const issueInvoiceToken = endpoint({
  operation: 'issueInvoiceToken',
  access: { scope: 'invoices:write' },
  method: 'POST',
  path: '/v2/processing/invoices/{invoiceID}/access-tokens',
  tag: 'Invoices',
  summary: 'Issue an access token for an invoice',
  description:
    'Valid for three days. With `for=checkout` it is for a payer who is present, and cannot charge a saved card ' +
    '(`RecurrentPayer`, `CustomerPayer`).',
  params: InvoicePath,
  query: Type.Object({ for: Type.Optional(Type.Enum(['checkout'])) }),
  status: 201,
  response: AccessToken,
  errors: ['invoiceNotFound'],
  handle: async ({ caller, params, query }, { db, tokens }: { db: Database; tokens: AccessTokens }) => {
    const stored = await findInvoice(db, caller.partyId, params.invoiceID);
    if (!stored) return refuse('invoiceNotFound');
    const { id, partyId } = stored.invoice;
    const narrowed = defined({ isFor: query.for });
    return accept({ payload: tokens.issue({ kind: 'invoice', entityId: id, partyId, ...narrowed }) });
  },
});
