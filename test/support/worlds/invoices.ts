// Invoices and their templates for the tests of the API: orders that are accepted as they are, and the states of an invoice.
import { accept } from '../../../src/refusal.ts';
import { changeInvoice } from '../../../src/invoices/store/invoices.ts';
import type { Merchant, TestService } from '../service/test-service.ts';

export const invoicesUrl = '/v2/processing/invoices';

/** The required fields and an amount. Due years after every test clock stops. */
export const order = {
  shopID: 'TEST',
  dueDate: '2030-01-20T10:00:00Z',
  amount: 6000,
  currency: 'RUB',
  product: 'Order 1',
};

export type CreatedInvoice = { readonly id: string; readonly token: string };

export async function makeInvoice(
  service: TestService,
  merchant: Merchant,
  more: Record<string, unknown> = {},
): Promise<CreatedInvoice> {
  const body = { ...order, ...more };
  const created = await service.call('POST', invoicesUrl, { token: merchant.apiKey, body });
  if (created.status !== 201)
    throw new Error(`the invoice was not created: ${created.status} ${created.text}`);
  return { id: created.body.invoice.id, token: created.body.invoiceAccessToken.payload };
}

export const invoiceStates = ['unpaid', 'paid', 'fulfilled', 'cancelled'] as const;
export type InvoiceStateName = (typeof invoiceStates)[number];

/** An invoice in any state. It becomes paid without a payment, by the rule of the invoices module. */
export async function makeInvoiceThatIs(
  state: InvoiceStateName,
  service: TestService,
  merchant: Merchant,
): Promise<CreatedInvoice> {
  const made = await makeInvoice(service, merchant);
  if (state === 'paid' || state === 'fulfilled') await payInvoice(service, merchant, made.id);
  if (state === 'fulfilled') await endInvoice(service, merchant, made.id, 'fulfill');
  if (state === 'cancelled') await endInvoice(service, merchant, made.id, 'rescind');
  return made;
}

export async function payInvoice(service: TestService, merchant: Merchant, invoiceId: string): Promise<void> {
  const name = { partyId: merchant.partyId, invoiceId };
  const changed = await changeInvoice(service.database, name, service.clock.now(), () =>
    accept({ type: 'invoice_paid' }),
  );
  if (!changed?.ok) throw new Error(`invoice ${invoiceId} could not be paid`);
}

async function endInvoice(
  service: TestService,
  merchant: Merchant,
  id: string,
  how: 'fulfill' | 'rescind',
): Promise<void> {
  const body = { reason: `to ${how}` };
  const ended = await service.call('POST', `${invoicesUrl}/${id}/${how}`, { token: merchant.apiKey, body });
  if (ended.status !== 204) throw new Error(`invoice ${id} did not ${how}: ${ended.status} ${ended.text}`);
}

export const templatesUrl = '/v2/processing/invoice-templates';

export const fixedPrice = { costType: 'InvoiceTemplateLineCostFixed', amount: 6_000, currency: 'RUB' };
export const rangePrice = {
  costType: 'InvoiceTemplateLineCostRange',
  currency: 'RUB',
  range: { lowerBound: 1_000, upperBound: 5_000 },
};
export const unlimitedPrice = { costType: 'InvoiceTemplateLineCostUnlim' };

export const singleLine = (price: object) => ({
  templateType: 'InvoiceTemplateSingleLine',
  product: 'Ticket',
  price,
});

/** A template as a merchant asks for it. */
export const template = {
  shopID: 'TEST',
  lifetime: { days: 3, months: 0, years: 0 },
  details: singleLine(fixedPrice),
};

export async function makeTemplate(
  service: Pick<TestService, 'call'>,
  { apiKey }: Pick<Merchant, 'apiKey'>,
  more: Record<string, unknown> = {},
): Promise<{ readonly id: string; readonly token: string }> {
  const body = { ...template, ...more };
  const made = await service.call('POST', templatesUrl, { token: apiKey, body });
  if (made.status !== 201) throw new Error(`the template was not created: ${made.status} ${made.text}`);
  const { invoiceTemplate, invoiceTemplateAccessToken } = made.body;
  return { id: invoiceTemplate.id, token: invoiceTemplateAccessToken.payload };
}
