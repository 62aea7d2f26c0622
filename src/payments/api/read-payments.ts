// Reads payments: all of an invoice, one by its ID, one by its external ID.
import { Type } from 'typebox';
import { endpoint } from '../../platform/http/endpoint.ts';
import { externalIDToFind } from '../../platform/http/schemas.ts';
import { InvoicePath } from '../../invoices/api/schema.ts';
import { accept, refuse } from '../../refusal.ts';
import { findPayment, findPaymentByExternalId as findByExternalId, findPayments } from '../store/payments.ts';
import { paymentOutcome } from './outcomes.ts';
import { paymentBody, PaymentPath, PaymentSchema } from './schema.ts';
import type { Database } from '../../platform/database/database.ts';

export const listPayments = endpoint({
  operation: 'listPayments',
  access: { scope: 'payments:read', tokens: ['invoice'], entity: 'invoiceID', maskedAs: 'invoiceNotFound' },
  method: 'GET',
  path: '/v2/processing/invoices/{invoiceID}/payments',
  tag: 'Payments',
  summary: 'List the payments of an invoice',
  params: InvoicePath,
  status: 200,
  response: Type.Array(PaymentSchema),
  errors: ['invoiceNotFound'],
  handle: async ({ caller, params }, { db }: { db: Database }) => {
    const found = await findPayments(db, { partyId: caller.partyId, invoiceId: params.invoiceID });
    return found
      ? accept(found.map(({ payment }) => paymentBody(payment, caller)))
      : refuse('invoiceNotFound');
  },
});

export const getPayment = endpoint({
  operation: 'getPayment',
  access: { scope: 'payments:read', tokens: ['invoice'], entity: 'invoiceID', maskedAs: 'invoiceNotFound' },
  method: 'GET',
  path: '/v2/processing/invoices/{invoiceID}/payments/{paymentID}',
  tag: 'Payments',
  summary: 'Get a payment',
  params: PaymentPath,
  status: 200,
  response: PaymentSchema,
  outcome: paymentOutcome,
  errors: ['invoiceNotFound', 'paymentNotFound'],
  handle: async ({ caller, params }, { db }: { db: Database }) => {
    const name = { partyId: caller.partyId, invoiceId: params.invoiceID, paymentId: params.paymentID };
    const found = await findPayment(db, name);
    return found.ok ? accept(paymentBody(found.value.payment, caller)) : found;
  },
});

export const findPaymentByExternalId = endpoint({
  operation: 'findPayment',
  access: { scope: 'payments:read', maskedAs: 'paymentNotFound' },
  method: 'GET',
  path: '/v2/processing/payments',
  tag: 'Payments',
  summary: 'Find a payment by its externalID',
  query: Type.Object({ externalID: externalIDToFind('search `/v2/analytics/shops/{shopID}/payments`') }),
  status: 200,
  response: PaymentSchema,
  outcome: paymentOutcome,
  errors: ['paymentNotFound'],
  handle: async ({ caller, query }, { db }: { db: Database }) => {
    const found = await findByExternalId(db, caller.partyId, query.externalID);
    return found ? accept(paymentBody(found.value, caller)) : refuse('paymentNotFound');
  },
});
