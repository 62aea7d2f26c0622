// The shapes of invoice templates in the API.
import { Type, type Static, type TSchema } from 'typebox';
import type { Caller } from '../../caller.ts';
import { defined } from '../../defined.ts';
import {
  AccessToken,
  Amount,
  CurrencyCode,
  DateTime,
  EntityID,
  ExternalID,
} from '../../platform/http/schemas.ts';
import type { InvoiceTemplate, TemplateDetails, TemplatePrice, TemplateTerms } from '../domain/template.ts';
import { paymentLinkOf, type TemplateTokens } from '../template-tokens.ts';
import { cartBody, cartIdentity, cartOf, CartParams, CartSchema, InvoiceParams, TaxMode } from './schema.ts';

/** An unpaid invoice waits for its due date, so that is not centuries away. */
const part = (maximum: number) => Type.Integer({ minimum: 0, maximum });
const Lifetime = Type.Object(
  { days: part(1_096), months: part(36), years: part(3) },
  {
    title: 'LifetimeInterval',
    description: 'How long an invoice can be paid: calendar years and months, then days.',
  },
);

const Price = Type.Union(
  [
    Type.Object(
      { costType: Type.Literal('InvoiceTemplateLineCostFixed'), amount: Amount, currency: CurrencyCode },
      { title: 'InvoiceTemplateLineCostFixed' },
    ),
    Type.Object(
      {
        costType: Type.Literal('InvoiceTemplateLineCostRange'),
        currency: CurrencyCode,
        range: Type.Object({ lowerBound: Amount, upperBound: Amount }),
      },
      { title: 'InvoiceTemplateLineCostRange' },
    ),
    Type.Object(
      { costType: Type.Literal('InvoiceTemplateLineCostUnlim') },
      { title: 'InvoiceTemplateLineCostUnlim' },
    ),
  ],
  { title: 'InvoiceTemplateLineCost' },
);

const SingleLine = Type.Object(
  {
    templateType: Type.Literal('InvoiceTemplateSingleLine'),
    product: InvoiceParams.properties.product,
    price: Price,
    taxMode: Type.Optional(TaxMode),
  },
  { title: 'InvoiceTemplateSingleLine' },
);

/** Lines have their cost in responses alone. */
const detailsWith = <Cart extends TSchema>(cart: Cart, title: string) =>
  Type.Union(
    [
      SingleLine,
      Type.Object({
        templateType: Type.Literal('InvoiceTemplateMultiLine'),
        cart,
        currency: CurrencyCode,
      }),
    ],
    { title },
  );
const DetailsParams = detailsWith(CartParams, 'InvoiceTemplateDetailsParams');
type DetailsParams = Static<typeof DetailsParams>;

const { description, metadata, partyID } = InvoiceParams.properties;
const described = { name: Type.Optional(Type.String({ maxLength: 100 })), description, metadata };

export const TemplateUpdate = Type.Object(
  { ...described, lifetime: Type.Optional(Lifetime), details: Type.Optional(DetailsParams) },
  { title: 'InvoiceTemplateUpdateParams' },
);
export type TemplateUpdate = Static<typeof TemplateUpdate>;

export const TemplateParams = Type.Object(
  {
    shopID: EntityID,
    partyID,
    externalID: Type.Optional(ExternalID),
    ...described,
    lifetime: Lifetime,
    details: DetailsParams,
  },
  { title: 'InvoiceTemplateCreateParams' },
);
export type TemplateParams = Static<typeof TemplateParams>;

export const TemplateSchema = Type.Object(
  {
    id: EntityID,
    shopID: EntityID,
    externalID: Type.Optional(ExternalID),
    ...described,
    createdAt: DateTime,
    lifetime: Lifetime,
    details: detailsWith(CartSchema, 'InvoiceTemplateDetails'),
  },
  { title: 'InvoiceTemplate' },
);

export const TemplateAndToken = Type.Object(
  {
    invoiceTemplate: TemplateSchema,
    invoiceTemplateAccessToken: AccessToken,
    paymentLink: Type.String(),
  },
  { title: 'InvoiceTemplateAndToken' },
);

export const FromTemplateParams = Type.Object(
  {
    externalID: Type.Optional(ExternalID),
    amount: Type.Optional(Amount),
    currency: Type.Optional(CurrencyCode),
    metadata,
  },
  { title: 'InvoiceParamsWithTemplate' },
);
export type FromTemplateParams = Static<typeof FromTemplateParams>;

export const TemplatePath = Type.Object({ invoiceTemplateID: EntityID });

/** A request that works in the sandbox without changes. */
export const templateExample = {
  shopID: 'TEST',
  lifetime: { days: 3, months: 0, years: 0 },
  details: {
    templateType: 'InvoiceTemplateSingleLine',
    product: 'Donation',
    price: {
      costType: 'InvoiceTemplateLineCostRange',
      currency: 'RUB',
      range: { lowerBound: 10_000, upperBound: 500_000 },
    },
  },
} satisfies TemplateParams;

export function templateBody(
  template: InvoiceTemplate,
  readBy: Caller['kind'] = 'apiKey',
): Static<typeof TemplateSchema> {
  const { name, description, metadata, externalId: externalID } = template;
  // A link with the token may be public: it shows what payers need, and nothing the merchant keeps for itself.
  const ofMerchant = readBy === 'apiKey' ? { name, metadata, externalID } : {};
  return {
    id: template.id,
    shopID: template.shopId,
    createdAt: template.createdAt,
    lifetime: template.lifetime,
    details: detailsBody(template.details),
    ...defined({ description, ...ofMerchant }),
  };
}

export function templateAndToken(
  template: InvoiceTemplate,
  {
    templateTokens,
    publicUrl,
  }: { readonly templateTokens: Pick<TemplateTokens, 'issue'>; readonly publicUrl: () => string },
): Static<typeof TemplateAndToken> {
  const payload = templateTokens.issue(template.id);
  return {
    invoiceTemplate: templateBody(template),
    invoiceTemplateAccessToken: { payload },
    paymentLink: paymentLinkOf(publicUrl(), { id: template.id, token: payload }),
  };
}

/** The members that a request states. */
export function termsOf({ details, ...given }: TemplateParams): TemplateTerms;
export function termsOf({ details, ...given }: TemplateUpdate): Partial<TemplateTerms>;
export function termsOf({ name, description, lifetime, details, metadata }: TemplateUpdate) {
  return defined({ name, description, lifetime, details: details && detailsOf(details), metadata });
}

/** Two carts are the same if they have the same lines, in any order. */
export function detailsIdentity(details: DetailsParams): unknown {
  return details.templateType === 'InvoiceTemplateMultiLine'
    ? [cartIdentity(details.cart), details.currency]
    : details;
}

function detailsOf(details: DetailsParams): TemplateDetails {
  if (details.templateType === 'InvoiceTemplateMultiLine') return { ...details, cart: cartOf(details.cart) };
  const { templateType, product, price, taxMode } = details;
  return { templateType, product, price: priceOf(price), ...defined({ taxMode }) };
}

function priceOf(price: Static<typeof Price>): TemplatePrice {
  const { costType } = price;
  switch (costType) {
    case 'InvoiceTemplateLineCostFixed':
      return { costType, currency: price.currency, amountMinor: BigInt(price.amount) };
    case 'InvoiceTemplateLineCostRange': {
      const { lowerBound, upperBound } = price.range;
      return {
        costType,
        currency: price.currency,
        lowestMinor: BigInt(lowerBound),
        highestMinor: BigInt(upperBound),
      };
    }
    case 'InvoiceTemplateLineCostUnlim':
      return { costType };
  }
}

function detailsBody(details: TemplateDetails): Static<typeof TemplateSchema>['details'] {
  if (details.templateType === 'InvoiceTemplateMultiLine')
    return { ...details, cart: cartBody(details.cart) };
  return { ...details, price: priceBody(details.price) };
}

function priceBody(price: TemplatePrice): Static<typeof Price> {
  const { costType } = price;
  switch (costType) {
    case 'InvoiceTemplateLineCostFixed':
      return { costType, currency: price.currency, amount: Number(price.amountMinor) };
    case 'InvoiceTemplateLineCostRange':
      return {
        costType,
        currency: price.currency,
        range: { lowerBound: Number(price.lowestMinor), upperBound: Number(price.highestMinor) },
      };
    case 'InvoiceTemplateLineCostUnlim':
      return { costType };
  }
}
