// The reads of an invoice: by its id, by the merchant's own name for it, and its events.
import { endpoint } from '../http/endpoint.ts';
import { EventPage, ExternalID } from '../http/schemas.ts';
import { Type } from 'typebox';
import { eventsMost } from '../events/log.ts';
import { accept, refuse } from '../refusal.ts';
import { findInvoice, findInvoiceNamed, readEvents } from './invoice.store.ts';
import { eventBody, invoiceBody, InvoiceEvents, InvoicePath, InvoiceSchema } from './invoice.wire.ts';

export const getInvoice = endpoint({
  operation: 'getInvoice',
  method: 'GET',
  path: '/v2/processing/invoices/{invoiceID}',
  tag: 'Invoices',
  summary: 'Get an invoice',
  params: InvoicePath,
  status: 200,
  answer: InvoiceSchema,
  refusals: ['invoiceNotFound'],
  handle: async ({ caller, params }, { db }) => {
    const stored = await findInvoice(db, caller.partyId, params.invoiceID);
    return stored ? accept(invoiceBody(stored.invoice)) : refuse('invoiceNotFound');
  },
});

export const findInvoiceByExternalId = endpoint({
  operation: 'findInvoice',
  method: 'GET',
  path: '/v2/processing/invoices',
  tag: 'Invoices',
  summary: 'Find an invoice by its externalID',
  query: Type.Object({ externalID: ExternalID }),
  status: 200,
  answer: InvoiceSchema,
  refusals: ['invoiceNotFound'],
  handle: async ({ caller, query }, { db }) => {
    const found = await findInvoiceNamed(db, caller.partyId, query.externalID);
    return found ? accept(invoiceBody(found.invoice)) : refuse('invoiceNotFound');
  },
});

export const listInvoiceEvents = endpoint({
  operation: 'listInvoiceEvents',
  method: 'GET',
  path: '/v2/processing/invoices/{invoiceID}/events',
  tag: 'Invoices',
  summary: 'Read the events of an invoice',
  description:
    'Oldest first. To follow an invoice, ask again with the id of the last event you have; an empty page means that ' +
    'nothing has happened since. Skip change types you do not know.',
  params: InvoicePath,
  query: EventPage,
  status: 200,
  answer: InvoiceEvents,
  refusals: ['invoiceNotFound'],
  handle: async ({ caller, params, query }, { db }) => {
    const name = { partyId: caller.partyId, invoiceId: params.invoiceID };
    const events = await readEvents(db, name, query.eventID ?? 0, Math.min(query.limit, eventsMost));
    return events ? accept(events.map(eventBody)) : refuse('invoiceNotFound');
  },
});
