// Reads an invoice by its ID or its external ID.
import { endpoint } from '../../platform/http/endpoint.ts';
import { externalIDToFind } from '../../platform/http/schemas.ts';
import { Type } from 'typebox';
import { accept, refuse } from '../../refusal.ts';
import { findInvoice, findInvoiceByExternalId as findByExternalId } from '../store/invoices.ts';
import { invoiceBody, InvoicePath, InvoiceSchema } from './schema.ts';
import type { Database } from '../../platform/database/database.ts';

export const getInvoice = endpoint({
  operation: 'getInvoice',
  access: { scope: 'invoices:read', tokens: ['invoice'], entity: 'invoiceID', maskedAs: 'invoiceNotFound' },
  method: 'GET',
  path: '/v2/processing/invoices/{invoiceID}',
  tag: 'Invoices',
  summary: 'Get an invoice',
  params: InvoicePath,
  status: 200,
  response: InvoiceSchema,
  errors: ['invoiceNotFound'],
  handle: async ({ caller, params }, { db }: { db: Database }) => {
    const stored = await findInvoice(db, caller.partyId, params.invoiceID);
    return stored ? accept(invoiceBody(stored.invoice)) : refuse('invoiceNotFound');
  },
});

export const findInvoiceByExternalId = endpoint({
  operation: 'findInvoice',
  access: { scope: 'invoices:read', maskedAs: 'invoiceNotFound' },
  method: 'GET',
  path: '/v2/processing/invoices',
  tag: 'Invoices',
  summary: 'Find an invoice by its externalID',
  query: Type.Object({ externalID: externalIDToFind('search `/v2/analytics/shops/{shopID}/invoices`') }),
  status: 200,
  response: InvoiceSchema,
  errors: ['invoiceNotFound'],
  handle: async ({ caller, query }, { db }: { db: Database }) => {
    const found = await findByExternalId(db, caller.partyId, query.externalID);
    return found ? accept(invoiceBody(found.value)) : refuse('invoiceNotFound');
  },
});
