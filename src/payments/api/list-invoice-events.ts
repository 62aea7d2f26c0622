// GET …/events: all events of an invoice and its payments, in order.
import { Type, type Static } from 'typebox';
import type { LoggedEvent } from '../../platform/events/domain/topic.ts';
import { readVisible } from '../../platform/events/read-log.ts';
import type { Caller } from '../../caller.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { DateTime, EventPage } from '../../platform/http/schemas.ts';
import { invoiceChangeBody, invoiceChanges, InvoicePath } from '../../invoices/api/schema.ts';
import { accept, refuse } from '../../refusal.ts';
import type { InvoiceLogFact } from '../store/codec.ts';
import { readInvoiceLog } from '../store/invoice-log.ts';
import { paymentChangeBody, paymentChanges } from './schema.ts';
import { refundChangeBody, refundChanges } from './refund-schema.ts';
import type { Database } from '../../platform/database/database.ts';

const InvoiceChange = Type.Union([...invoiceChanges, ...paymentChanges, ...refundChanges], {
  title: 'InvoiceChange',
});
const InvoiceEvent = Type.Object(
  { id: Type.Integer({ minimum: 1 }), createdAt: DateTime, changes: Type.Array(InvoiceChange) },
  { title: 'InvoiceEvent' },
);

export const listInvoiceEvents = endpoint({
  operation: 'listInvoiceEvents',
  access: { scope: 'invoices:read', tokens: ['invoice'], entity: 'invoiceID', maskedAs: 'invoiceNotFound' },
  method: 'GET',
  path: '/v2/processing/invoices/{invoiceID}/events',
  tag: 'Invoices',
  summary: 'Read the events of an invoice',
  description:
    'Oldest first. To follow an invoice, request events after the last ID you have. Skip change types you do not know.',
  params: InvoicePath,
  query: EventPage,
  status: 200,
  response: Type.Array(InvoiceEvent),
  errors: ['invoiceNotFound'],
  handle: async ({ caller, params, query }, { db }: { db: Database }) => {
    const name = { partyId: caller.partyId, id: params.invoiceID };
    const events = await readVisible(
      (page) => readInvoiceLog(db, name, page),
      query,
      (event) => eventBody(event, caller),
    );
    return events ? accept(events) : refuse('invoiceNotFound');
  },
});

type Change = Static<typeof InvoiceChange>;

function eventBody(event: LoggedEvent<InvoiceLogFact>, caller: Caller): Static<typeof InvoiceEvent> {
  return {
    id: event.sequence,
    createdAt: event.createdAt,
    changes: event.facts.flatMap((fact) => changeBody(fact, caller) ?? []) as Change[],
  };
}

function changeBody(fact: InvoiceLogFact, caller: Caller): object | undefined {
  if (!('paymentId' in fact)) return invoiceChangeBody(fact);
  return paymentChangeBody(fact, fact.paymentId, caller) ?? refundChangeBody(fact, fact.paymentId, caller);
}
