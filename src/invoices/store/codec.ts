// Stored JSON of invoices and their templates: cart lines in their column, facts in the log.
import {
  anyObject,
  currency,
  instant,
  list,
  mapped,
  minorUnits,
  object,
  oneOf,
  optional,
  text,
  variants,
  wholeNumber,
  type Codec,
  type Kinds,
} from '../../platform/database/codec.ts';
import type { Currency } from '../../money.ts';
import { mandateTerms } from '../../receipts/store/codec.ts';
import type {
  BankAccount,
  CartLine,
  ClientInfo,
  InvoiceFact,
  InvoiceStatus,
  InvoiceTerms,
} from '../domain/invoice.ts';
import type { Lifetime, TemplateDetails, TemplatePrice } from '../domain/template.ts';

const taxMode: Codec<NonNullable<CartLine['taxMode']>> = object({
  type: oneOf('InvoiceLineTaxVAT'),
  rate: text,
});
const cartLine: Codec<CartLine> = object({
  product: text,
  quantity: minorUnits,
  priceMinor: minorUnits,
  taxMode: optional(taxMode),
});
export const cart = list(cartLine);

export const bankAccount: Codec<BankAccount> = object({
  accountType: oneOf('InvoiceRussianBankAccount'),
  account: text,
  bankBik: text,
});
export const clientInfo: Codec<ClientInfo> = object({ trustLevel: oneOf('wellKnown', 'unknown') });

export const lifetime: Codec<Lifetime> = object({
  days: wholeNumber,
  months: wholeNumber,
  years: wholeNumber,
});
const price: Codec<TemplatePrice> = variants<TemplatePrice, 'costType'>('costType', {
  InvoiceTemplateLineCostFixed: { currency: text, amountMinor: minorUnits },
  InvoiceTemplateLineCostRange: { currency: text, lowestMinor: minorUnits, highestMinor: minorUnits },
  InvoiceTemplateLineCostUnlim: {},
});
export const templateDetails: Codec<TemplateDetails> = variants<TemplateDetails, 'templateType'>(
  'templateType',
  {
    InvoiceTemplateSingleLine: { product: text, price, taxMode: optional(taxMode) },
    InvoiceTemplateMultiLine: { cart, currency: text },
  },
);

type StoredTerms = Omit<InvoiceTerms, 'amount'> & {
  readonly amountMinor: bigint;
  readonly currency: Currency;
};

const terms: Codec<InvoiceTerms> = mapped(
  object<StoredTerms>({
    id: text,
    partyId: text,
    shopId: text,
    createdAt: instant,
    dueDate: instant,
    amountMinor: minorUnits,
    currency,
    product: text,
    description: optional(text),
    cart: optional(cart),
    bankAccount: optional(bankAccount),
    clientInfo: optional(clientInfo),
    metadata: anyObject,
    externalId: optional(text),
    templateId: optional(text),
    recurring: optional(mandateTerms),
    originalMinor: optional(minorUnits),
    subscriptionId: optional(text),
  }),
  {
    read: ({ amountMinor, currency: of, ...more }) => ({
      ...more,
      amount: { minor: amountMinor, currency: of },
    }),
    write: ({ amount, ...more }) => ({ ...more, amountMinor: amount.minor, currency: amount.currency }),
  },
);

export const invoiceStatus: Codec<InvoiceStatus> = oneOf('unpaid', 'paid', 'fulfilled', 'cancelled');

export const invoiceFacts: Kinds<InvoiceFact, 'type'> = {
  invoice_created: { terms },
  invoice_paid: {},
  invoice_fulfilled: { reason: text },
  invoice_cancelled: { reason: text },
};
export const invoiceFact: Codec<InvoiceFact> = variants<InvoiceFact, 'type'>('type', invoiceFacts);
