// An invoice template: what the invoices made from it are for, what they may cost, and how long they can be paid. Pure.
import { laterBy, type Instant } from '../../clock.ts';
import { defined } from '../../defined.ts';
import { requireTrading, type Party, type Shop, type TradingRefusal } from '../../merchants/domain/party.ts';
import { largestAmountMinor } from '../../money.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import { monthsAfter } from '../../retry-rules/domain/calendar.ts';
import {
  invoiceCreated,
  lineCostMinor,
  maxCartLines,
  productOf,
  wrongCurrency,
  type CartLine,
  type InvoiceFact,
} from './invoice.ts';

/** In the calendar: a month after 31 January is the last day of February. */
export type Lifetime = { readonly days: number; readonly months: number; readonly years: number };

export type TemplatePrice =
  | {
      readonly costType: 'InvoiceTemplateLineCostFixed';
      readonly currency: string;
      readonly amountMinor: bigint;
    }
  | {
      readonly costType: 'InvoiceTemplateLineCostRange';
      readonly currency: string;
      readonly lowestMinor: bigint;
      readonly highestMinor: bigint;
    }
  | { readonly costType: 'InvoiceTemplateLineCostUnlim' };

export type TemplateDetails =
  | {
      readonly templateType: 'InvoiceTemplateSingleLine';
      readonly product: string;
      readonly price: TemplatePrice;
      readonly taxMode?: NonNullable<CartLine['taxMode']>;
    }
  | {
      readonly templateType: 'InvoiceTemplateMultiLine';
      readonly cart: readonly CartLine[];
      readonly currency: string;
    };

/** What an update can replace. */
export type TemplateTerms = {
  readonly name?: string;
  readonly description?: string;
  readonly lifetime: Lifetime;
  readonly details: TemplateDetails;
  readonly metadata?: object;
};

export type InvoiceTemplate = TemplateTerms & {
  readonly id: string;
  readonly partyId: string;
  readonly shopId: string;
  readonly externalId?: string;
  readonly createdAt: Instant;
};

export type TermsRefusal = TradingRefusal | 'invalidRequest' | 'invalidInvoiceCart';

/** The checks of a new template, and of an update, which may leave some terms as they are. */
export function requireTerms(
  party: Party,
  shop: Shop | undefined,
  { lifetime, details }: Partial<TemplateTerms>,
): Outcome<Shop, TermsRefusal> {
  const trading = requireTrading(party, shop);
  if (!trading.ok) return trading;
  if (lifetime?.days === 0 && lifetime.months === 0 && lifetime.years === 0)
    return refuse('invalidRequest', {
      message: 'Lifetime cannot be zero',
      hint: 'Send at least one day, month or year.',
    });
  if (!details) return trading;
  const currency = currencyOf(details);
  if (currency !== undefined && currency !== trading.value.currency) return wrongCurrency(trading.value);
  const { lowestMinor, highestMinor } = boundsOf(details);
  if (details.templateType === 'InvoiceTemplateMultiLine') {
    const lines = details.cart.length;
    if (lines === 0 || lines > maxCartLines)
      return refuse('invalidInvoiceCart', {
        hint: `The cart has ${lines} lines, and may have 1 to ${maxCartLines}.`,
      });
    if (highestMinor > largestAmountMinor)
      return refuse('invalidInvoiceCart', {
        hint: `The cart adds up to ${highestMinor}. The largest amount is ${largestAmountMinor}.`,
      });
  }
  if (lowestMinor > highestMinor)
    return refuse('invalidRequest', {
      message: 'Invalid range',
      hint: `\`lowerBound\` is ${lowestMinor}, above \`upperBound\`, ${highestMinor}.`,
    });
  return trading;
}

/** A new template in a shop that may trade. */
export function decideTemplate(
  party: Party,
  shop: Shop | undefined,
  asked: TemplateTerms & Pick<InvoiceTemplate, 'id' | 'externalId'>,
  now: Instant,
): Outcome<InvoiceTemplate, TermsRefusal> {
  const checked = requireTerms(party, shop, asked);
  if (!checked.ok) return checked;
  return accept({ ...asked, partyId: party.id, shopId: checked.value.id, createdAt: now });
}

/** Undefined if each invoice names it. */
function currencyOf(details: TemplateDetails): string | undefined {
  const priced = details.templateType === 'InvoiceTemplateMultiLine' ? details : details.price;
  return 'currency' in priced ? priced.currency : undefined;
}

export type Asked = {
  readonly id: string;
  /** By the token, which all payers share. */
  readonly isByToken: boolean;
  readonly amountMinor?: bigint;
  readonly currency?: string;
  readonly metadata?: object;
  readonly externalId?: string;
};

/** The invoice that a template makes in its shop, which may trade. */
export function decideFromTemplate(
  template: InvoiceTemplate,
  shop: Shop,
  asked: Asked,
  now: Instant,
): Outcome<InvoiceFact & { type: 'invoice_created' }, 'invalidRequest'> {
  const cost = costOf(template.details, shop, asked);
  if (!cost.ok) return cost;
  const { details, description } = template;
  const cart = cartAt(details, cost.value);
  const terms = {
    id: asked.id,
    templateId: template.id,
    product: productOf(cart),
    dueDate: dueDateAfter(now, template.lifetime),
    metadata: metadataOf(template, asked),
    cart,
    ...defined({ description, externalId: asked.externalId }),
  };
  return accept(invoiceCreated(shop, terms, cost.value, now));
}

/** A payer adds members, and the merchant's stay: its programs trust them. */
function metadataOf(template: InvoiceTemplate, { isByToken, metadata }: Asked): object {
  return isByToken ? { ...metadata, ...template.metadata } : (metadata ?? template.metadata ?? {});
}

function dueDateAfter(now: Instant, { days, months, years }: Lifetime): Instant {
  return laterBy(monthsAfter(now, 12 * years + months), days * 86_400_000);
}

/** What an invoice of the template may cost, both bounds included. They are equal where the payer has no choice. */
export function boundsOf(details: TemplateDetails): {
  readonly lowestMinor: bigint;
  readonly highestMinor: bigint;
} {
  if (details.templateType === 'InvoiceTemplateMultiLine') {
    const total = details.cart.reduce((sum, line) => sum + lineCostMinor(line), 0n);
    return { lowestMinor: total, highestMinor: total };
  }
  const { price } = details;
  switch (price.costType) {
    case 'InvoiceTemplateLineCostFixed':
      return { lowestMinor: price.amountMinor, highestMinor: price.amountMinor };
    case 'InvoiceTemplateLineCostRange':
      return price;
    case 'InvoiceTemplateLineCostUnlim':
      return { lowestMinor: 1n, highestMinor: largestAmountMinor };
  }
}

function costOf(
  details: TemplateDetails,
  shop: Pick<Shop, 'currency'>,
  { amountMinor, currency }: Asked,
): Outcome<bigint, 'invalidRequest'> {
  const { lowestMinor, highestMinor } = boundsOf(details);
  const isFixed = lowestMinor === highestMinor;
  const example = `\`"amount": ${amountMinor ?? lowestMinor}, "currency": "${shop.currency}"\``;
  const wrong = (message: string, hint: string) => refuse('invalidRequest', { message, hint });
  if (amountMinor !== undefined && currency === undefined)
    return wrong('Currency is required for the amount', `Send both: ${example}.`);
  if (amountMinor === undefined && currency !== undefined)
    return wrong('Amount is required for the currency', `Send both: ${example}.`);
  if (currency !== undefined && currency !== shop.currency) return wrongCurrency(shop);
  if (amountMinor === undefined)
    return isFixed
      ? accept(lowestMinor)
      : wrong('Amount is required', `The template leaves the amount open. Send one, such as ${example}.`);
  if (amountMinor < lowestMinor || amountMinor > highestMinor)
    return wrong(
      'Invalid amount',
      isFixed
        ? `The template costs ${lowestMinor}. Send that amount, or none.`
        : `The template takes ${lowestMinor} to ${highestMinor}, and the amount is ${amountMinor}.`,
    );
  return accept(amountMinor);
}

/** A single line costs what was chosen. */
function cartAt(details: TemplateDetails, priceMinor: bigint): readonly CartLine[] {
  if (details.templateType === 'InvoiceTemplateMultiLine') return details.cart;
  const { product, taxMode } = details;
  return [{ product, quantity: 1n, priceMinor, ...defined({ taxMode }) }];
}
