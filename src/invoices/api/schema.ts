// The shapes of invoices in the API.
import { Type, type Static } from 'typebox';
import {
  AccessToken,
  Amount,
  CurrencyCode,
  DateTime,
  EntityID,
  ExternalID,
  Metadata,
} from '../../platform/http/schemas.ts';
import {
  lineCostMinor,
  type CartLine,
  type Invoice,
  type InvoiceFact,
  type InvoiceState,
  type InvoiceTerms,
} from '../domain/invoice.ts';
import { termsBody } from '../../receipts/domain/terms-body.ts';
import type { MandateTerms } from '../../receipts/domain/terms.ts';
import { InvoiceRecurrentTerms } from '../../recurring/api/schema.ts';
import type { AccessTokens } from '../../platform/keys/access-token.ts';
import { defined } from '../../defined.ts';

export const TaxMode = Type.Object(
  {
    type: Type.Enum(['InvoiceLineTaxVAT']),
    rate: Type.String({
      pattern: '^(\\d{1,2}%|10/110|18/118|20/120)$',
      description: '`<N>%`, or a calculated rate: `10/110`, `18/118`, `20/120`.',
    }),
  },
  { title: 'InvoiceLineTaxMode' },
);

const product = Type.String({ maxLength: 1_000 });
const quantity = Type.Integer({ minimum: 1, maximum: 999_999_999_999 });

const CartLineRequest = Type.Object(
  {
    product,
    quantity: Type.Optional({ ...quantity, default: 1 }),
    price: { ...Amount, description: 'The price of one piece, in minor units.' },
    taxMode: Type.Optional(TaxMode),
  },
  { title: 'InvoiceLineParams' },
);

const CartLineSchema = Type.Object(
  {
    product,
    quantity,
    price: Amount,
    cost: Type.Integer({ description: 'price × quantity' }),
    taxMode: Type.Optional(TaxMode),
  },
  { title: 'InvoiceLine' },
);

const BankAccount = Type.Object(
  {
    accountType: Type.Enum(['InvoiceRussianBankAccount']),
    account: Type.String({ pattern: '^\\d{20}$' }),
    bankBik: Type.String({ pattern: '^\\d{9}$' }),
  },
  { title: 'InvoiceBankAccount' },
);

const InvoiceClientInfo = Type.Object(
  { trustLevel: Type.Enum(['wellKnown', 'unknown']) },
  { title: 'InvoiceClientInfo' },
);

export const CartSchema = Type.Array(CartLineSchema);
/** More lines than an invoice may have are refused by its rules; far more are not even read. */
export const CartParams = Type.Array(CartLineRequest, { description: '1 to 100 lines.', maxItems: 1_000 });

const RandomizeAmount = Type.Object(
  {
    deviation: { ...Amount, minimum: 0, description: 'The largest change.' },
    precision: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 5,
        default: 2,
        description: 'Steps of 10 to this power.',
      }),
    ),
    direction: Type.Optional(Type.Enum(['both', 'upward', 'downward'], { default: 'both' })),
    minAmountCondition: Type.Optional(Amount),
    maxAmountCondition: Type.Optional(Amount),
    amountMultiplicityCondition: Type.Optional(Amount),
  },
  {
    title: 'RandomizeAmount',
    description: 'Changes the amount by chance, if it meets the conditions.',
  },
);

export const InvoiceParams = Type.Object(
  {
    shopID: EntityID,
    partyID: Type.Optional(EntityID),
    externalID: Type.Optional(ExternalID),
    dueDate: {
      ...DateTime,
      description:
        'Until when the invoice can be paid. If it is in the past, the invoice is cancelled immediately.',
    },
    amount: Type.Optional({
      ...Amount,
      description: 'In minor units. Optional with a cart, whose total is the default.',
    }),
    currency: CurrencyCode,
    product: Type.String({ maxLength: 100 }),
    description: Type.Optional(Type.String({ maxLength: 1_000 })),
    cart: Type.Optional(CartParams),
    bankAccount: Type.Optional(BankAccount),
    clientInfo: Type.Optional(InvoiceClientInfo),
    metadata: Type.Optional(Metadata),
    randomizeAmount: Type.Optional(RandomizeAmount),
    makeRecurrent: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'The payment saves the card for later charges, whatever the request that pays says. The checkout asks the payer to consent.',
      }),
    ),
    recurrentTerms: Type.Optional(InvoiceRecurrentTerms),
    allocation: Type.Optional(Type.Unknown({ description: 'Split payments are not supported.' })),
  },
  { title: 'InvoiceParams' },
);
export type InvoiceParams = Static<typeof InvoiceParams>;

const InvoiceStatusSchema = Type.Enum(['unpaid', 'paid', 'fulfilled', 'cancelled']);

export const InvoiceSchema = Type.Object(
  {
    id: EntityID,
    shopID: EntityID,
    externalID: Type.Optional(ExternalID),
    createdAt: DateTime,
    dueDate: DateTime,
    amount: Amount,
    amountRandomized: Type.Optional(
      Type.Object({ original: Amount, randomized: Amount }, { title: 'AmountRandomized' }),
    ),
    currency: CurrencyCode,
    product: Type.String(),
    description: Type.Optional(Type.String()),
    invoiceTemplateID: Type.Optional(EntityID),
    cart: Type.Optional(CartSchema),
    bankAccount: Type.Optional(BankAccount),
    clientInfo: Type.Optional(InvoiceClientInfo),
    metadata: Metadata,
    makeRecurrent: Type.Optional(Type.Boolean({ description: 'Only if it is true.' })),
    recurrentTerms: Type.Optional(InvoiceRecurrentTerms),
    status: InvoiceStatusSchema,
    reason: Type.Optional(Type.String({ description: 'Why the invoice was cancelled or fulfilled.' })),
  },
  { title: 'Invoice' },
);

export const InvoiceAndToken = Type.Object(
  { invoice: InvoiceSchema, invoiceAccessToken: AccessToken },
  { title: 'InvoiceAndToken' },
);

export const invoiceChanges = [
  Type.Object(
    { changeType: Type.Literal('InvoiceCreated'), invoice: InvoiceSchema },
    { title: 'InvoiceCreated' },
  ),
  Type.Object(
    {
      changeType: Type.Literal('InvoiceStatusChanged'),
      status: InvoiceStatusSchema,
      reason: Type.Optional(Type.String()),
    },
    { title: 'InvoiceStatusChanged' },
  ),
];

export const InvoicePath = Type.Object({ invoiceID: EntityID });

/** A request that works in the sandbox without changes. */
export const invoiceExample = {
  shopID: 'TEST',
  dueDate: '2030-01-20T10:00:00Z',
  amount: 6000,
  currency: 'RUB',
  product: 'Order num 12345',
  description: 'Two products',
  cart: [
    { product: 'Product 1', quantity: 1, price: 5000, taxMode: { type: 'InvoiceLineTaxVAT', rate: '10%' } },
    { product: 'Product 2', quantity: 1, price: 1000, taxMode: { type: 'InvoiceLineTaxVAT', rate: '20%' } },
  ],
  metadata: { order_id: '12345' },
} satisfies InvoiceParams;

export function invoiceBody(invoice: InvoiceTerms & InvoiceState): Static<typeof InvoiceSchema> {
  const { originalMinor } = invoice;
  const randomized = Number(invoice.amount.minor);
  return {
    id: invoice.id,
    shopID: invoice.shopId,
    createdAt: invoice.createdAt,
    dueDate: invoice.dueDate,
    amount: randomized,
    currency: invoice.amount.currency,
    product: invoice.product,
    metadata: invoice.metadata,
    status: invoice.status,
    ...defined({
      externalID: invoice.externalId,
      amountRandomized:
        originalMinor === undefined ? undefined : { original: Number(originalMinor), randomized },
      description: invoice.description,
      invoiceTemplateID: invoice.templateId,
      cart: invoice.cart && cartBody(invoice.cart),
      bankAccount: invoice.bankAccount,
      clientInfo: invoice.clientInfo,
      makeRecurrent: invoice.recurring && true,
      recurrentTerms: invoice.recurring && statedBody(invoice.recurring),
      reason: 'reason' in invoice ? invoice.reason : undefined,
    }),
  };
}

export function invoiceAndToken(
  invoice: Invoice,
  tokens: Pick<AccessTokens, 'issue'>,
): Static<typeof InvoiceAndToken> {
  const payload = tokens.issue({ kind: 'invoice', entityId: invoice.id, partyId: invoice.partyId });
  return { invoice: invoiceBody(invoice), invoiceAccessToken: { payload } };
}

/** Undefined if they say nothing. */
function statedBody(terms: MandateTerms): Static<typeof InvoiceRecurrentTerms> | undefined {
  return Object.keys(terms).length > 0 ? termsBody(terms) : undefined;
}

export function invoiceChangeBody(fact: InvoiceFact): object {
  switch (fact.type) {
    case 'invoice_created':
      return { changeType: 'InvoiceCreated', invoice: invoiceBody({ ...fact.terms, status: 'unpaid' }) };
    case 'invoice_paid':
      return { changeType: 'InvoiceStatusChanged', status: 'paid' };
    case 'invoice_fulfilled':
      return { changeType: 'InvoiceStatusChanged', status: 'fulfilled', reason: fact.reason };
    case 'invoice_cancelled':
      return { changeType: 'InvoiceStatusChanged', status: 'cancelled', reason: fact.reason };
  }
}

export function cartBody(cart: readonly CartLine[]): Static<typeof CartSchema> {
  return cart.map((line) => ({
    product: line.product,
    quantity: Number(line.quantity),
    price: Number(line.priceMinor),
    cost: Number(lineCostMinor(line)),
    ...defined({ taxMode: line.taxMode }),
  }));
}

export function cartOf(lines: Static<typeof CartParams>): CartLine[] {
  return lines.map(({ product, quantity = 1, price, taxMode }) => {
    const { type, rate } = taxMode ?? {};
    return {
      product,
      quantity: BigInt(quantity),
      priceMinor: BigInt(price),
      ...(type && rate !== undefined ? { taxMode: { type, rate } } : {}),
    };
  });
}

/** Two carts are the same if they have the same lines, in any order. */
export function cartIdentity(lines: Static<typeof CartParams>): string[] {
  return lines
    .map(({ product, quantity = 1, price, taxMode }) =>
      JSON.stringify([product, quantity, price, taxMode?.rate ?? null]),
    )
    .sort();
}
