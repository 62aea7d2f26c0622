// POST …/access-tokens: a fresh token for an invoice, in any status, for when three days were not enough.
import { endpoint } from '../http/endpoint.ts';
import { AccessToken } from '../http/schemas.ts';
import { accept, refuse } from '../refusal.ts';
import { findInvoice } from './invoice.store.ts';
import { InvoicePath } from './invoice.wire.ts';

export const issueInvoiceToken = endpoint({
  operation: 'issueInvoiceToken',
  method: 'POST',
  path: '/v2/processing/invoices/{invoiceID}/access-tokens',
  tag: 'Invoices',
  summary: 'Issue an access token for an invoice',
  params: InvoicePath,
  status: 201,
  answer: AccessToken,
  refusals: ['invoiceNotFound'],
  handle: async ({ caller, params }, { db, tokens }) => {
    const stored = await findInvoice(db, caller.partyId, params.invoiceID);
    if (!stored) return refuse('invoiceNotFound');
    const { id, partyId } = stored.invoice;
    return accept({ payload: tokens.issue({ kind: 'invoice', entityId: id, partyId }) });
  },
});
