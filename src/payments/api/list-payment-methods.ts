// GET …/payment-methods: cards of every supported network, if the shop has a terminal at a bank.
import { Type } from 'typebox';
import { byBankCard, PaymentMethod } from '../../cards/api/payment-method-schema.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { InvoicePath } from '../../invoices/api/schema.ts';
import { accept, refuse } from '../../refusal.ts';
import { findPayableInvoice } from '../store/payments.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Banks } from '../../acquiring/banks.ts';

export const listInvoicePaymentMethods = endpoint({
  operation: 'listInvoicePaymentMethods',
  access: { scope: 'invoices:read', tokens: ['invoice'], entity: 'invoiceID', maskedAs: 'invoiceNotFound' },
  method: 'GET',
  path: '/v2/processing/invoices/{invoiceID}/payment-methods',
  tag: 'Invoices',
  summary: 'List the ways to pay an invoice',
  params: InvoicePath,
  status: 200,
  response: Type.Array(PaymentMethod),
  errors: ['invoiceNotFound'],
  handle: async ({ caller, params }, { db, banks }: { db: Database; banks: Banks }) => {
    const payable = await findPayableInvoice(db, caller.partyId, params.invoiceID);
    if (!payable) return refuse('invoiceNotFound');
    const terminal = await banks.terminalOf({ partyId: caller.partyId, id: payable.invoice.shopId });
    return accept(terminal ? [byBankCard] : []);
  },
});
