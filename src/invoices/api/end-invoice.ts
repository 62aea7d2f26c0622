// Ends an invoice: fulfils a paid one, rescinds an unpaid one.
import { endpoint, type EndpointRequest } from '../../platform/http/endpoint.ts';
import { withSince } from '../../platform/events/since.ts';
import { Reason } from '../../platform/http/schemas.ts';
import { requireTrading, tradingRefusals, type TradingRefusal } from '../../merchants/domain/party.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import { decideFulfill, decideRescind, type Invoice, type InvoiceFact } from '../domain/invoice.ts';
import { changeInvoice } from '../store/invoices.ts';
import { InvoicePath } from './schema.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Merchants } from '../../merchants/merchants.ts';

type Deps = { db: Database; merchants: Merchants };

const errors = ['invoiceNotFound', ...tradingRefusals, 'invalidInvoiceStatus'] as const;

export const fulfillInvoice = endpoint({
  operation: 'fulfillInvoice',
  access: { scope: 'invoices:write' },
  method: 'POST',
  path: '/v2/processing/invoices/{invoiceID}/fulfill',
  tag: 'Invoices',
  summary: 'Fulfil a paid invoice',
  params: InvoicePath,
  body: Reason,
  bodyExample: { reason: 'Delivered' },
  status: 204,
  errors,
  handle: (request, deps: Deps) => end(request, deps, decideFulfill),
});

export const rescindInvoice = endpoint({
  operation: 'rescindInvoice',
  access: { scope: 'invoices:write' },
  method: 'POST',
  path: '/v2/processing/invoices/{invoiceID}/rescind',
  tag: 'Invoices',
  summary: 'Cancel an unpaid invoice',
  params: InvoicePath,
  body: Reason,
  bodyExample: { reason: 'Out of stock' },
  status: 204,
  errors: [...errors, 'invoicePaymentPending'],
  handle: (request, deps: Deps) => end(request, deps, decideRescind),
});

type EndRequest = EndpointRequest<{ invoiceID: string }, unknown, { reason: string }>;
type StatusRefusal = 'invalidInvoiceStatus' | 'invoicePaymentPending';

async function end<Code extends StatusRefusal>(
  { caller, params, body, now }: EndRequest,
  { db, merchants }: Deps,
  decide: (invoice: Invoice, reason: string) => Outcome<InvoiceFact, Code>,
): Promise<Outcome<undefined, Code | TradingRefusal | 'invoiceNotFound'>> {
  const party = await merchants.party(caller.partyId);
  if (!party) return refuse('invoiceNotFound');
  const name = { partyId: party.id, invoiceId: params.invoiceID };
  const changed = await changeInvoice<Code | TradingRefusal>(db, name, now, async (invoice) => {
    const trading = requireTrading(party, await merchants.shop(party.id, invoice.shopId));
    if (!trading.ok) return trading;
    const decision = decide(invoice, body.reason);
    return decision.ok ? decision : withSince(db, decision, invoice.id);
  });
  if (!changed) return refuse('invoiceNotFound');
  return changed.ok ? accept(undefined) : changed;
}
