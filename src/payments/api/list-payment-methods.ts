// GET …/payment-methods: cards of the networks that a bank of the shop takes for the invoice.
import { Type } from 'typebox';
import { PaymentMethod, paymentMethodsOf } from '../../cards/api/payment-method-schema.ts';
import { endpoint } from '../../platform/http/endpoint.ts';
import { InvoicePath } from '../../invoices/api/schema.ts';
import { accept, refuse } from '../../refusal.ts';
import { findPayableInvoice } from '../store/payments.ts';
import type { Database } from '../../platform/database/database.ts';
import type { AcceptedNetworks } from '../../merchants/domain/accepted-networks.ts';
import type { Merchants } from '../../merchants/merchants.ts';

type Deps = {
  readonly db: Database;
  readonly merchants: Pick<Merchants, 'shop'>;
  readonly networksFor: AcceptedNetworks;
};

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
  handle: async ({ caller, params }, { db, merchants, networksFor }: Deps) => {
    const payable = await findPayableInvoice(db, caller.partyId, params.invoiceID);
    if (!payable) return refuse('invoiceNotFound');
    const { shopId, recurring } = payable.invoice;
    const shop = await merchants.shop(caller.partyId, shopId);
    const use = { flow: { type: 'instant' }, makeRecurrent: recurring !== undefined } as const;
    return accept(paymentMethodsOf(shop ? await networksFor(shop, use) : []));
  },
});
