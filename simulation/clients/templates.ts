// A merchant with invoice templates, and payers who make invoices of them.
import { externalId, recent, type Action } from './knowledge.ts';

const base = '/v2/processing/invoice-templates';
const bounds = { lowerBound: 1_000, upperBound: 25_000 };
const price = { costType: 'InvoiceTemplateLineCostRange', currency: 'RUB', range: bounds };
const lifetime = { days: 30, months: 0, years: 0 };

export const templateActions: readonly Action[] = [
  {
    name: 'create a template',
    weight: 0.2,
    wish: (known, chance) => ({
      method: 'POST',
      path: base,
      body: {
        shopID: 'TEST',
        lifetime,
        details: { templateType: 'InvoiceTemplateSingleLine', product: 'Ticket', price },
        ...externalId(known, chance),
      },
      learn: ({ invoiceTemplate, invoiceTemplateAccessToken }) =>
        known.templates.push({ id: invoiceTemplate.id, token: invoiceTemplateAccessToken.payload }),
    }),
  },
  {
    name: 'make an invoice of a template',
    weight: 0.4,
    wish: (known, chance) => {
      const template = recent(known.templates, chance);
      if (!template) return undefined;
      const amount = chance.oneOf([1_000, 6_000, 25_000, 25_001]);
      const currency = 'RUB';
      return {
        method: 'POST',
        path: `${base}/${template.id}/invoices`,
        ...(chance.isTrue(0.5) ? { token: template.token } : {}),
        body: { amount, currency, ...externalId(known, chance) },
        learn: ({ invoice, invoiceAccessToken: { payload: token } }) =>
          known.invoices.push({ id: invoice.id, token, shop: 'TEST', currency, amount }),
      };
    },
  },
  {
    name: 'look after a template',
    weight: 0.2,
    wish: (known, chance) => {
      const template = recent(known.templates, chance);
      if (!template) return undefined;
      const path = `${base}/${template.id}`;
      return chance.oneOf([
        { method: 'GET', path, token: template.token } as const,
        { method: 'GET', path: `${path}/payment-methods` } as const,
        { method: 'PUT', path, body: { name: 'Tickets', lifetime } } as const,
        { method: 'DELETE', path } as const,
      ]);
    },
  },
];
