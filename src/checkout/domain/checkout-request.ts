// Reads the address of a checkout: the invoice to pay or the customer to save a card for, and how the page looks.
// Invalid parameters are ignored, except IDs and tokens.
import { defined } from '../../defined.ts';
import { originOf } from '../../merchants/domain/party.ts';
import { amountRuleIn, type MandateTerms } from '../../receipts/domain/terms.ts';
import { isDate } from '../../retry-rules/domain/calendar.ts';

export const themes = ['main', 'coral'] as const;
export type Theme = (typeof themes)[number];
export type Locale = 'en' | 'ru';
export type TaskKind = 'invoice' | 'customer';

export type CheckoutRequest = {
  readonly kind: TaskKind;
  /** Of the invoice or the customer. */
  readonly id: string;
  /** Absent where the script has it: behind the # of the address, or kept from an earlier load. */
  readonly token?: string;
  readonly locale: Locale;
  readonly theme: Theme;
  readonly name?: string;
  readonly description?: string;
  readonly payButtonLabel?: string;
  readonly obscureCardCvv: boolean;
  readonly requireCardHolder: boolean;
  readonly recurring: boolean;
  /** What the saved card will be charged for. Empty if the link says nothing. */
  readonly terms: MandateTerms;
  readonly hold?: 'cancel' | 'capture';
  /** Where to go after success. */
  readonly redirectUrl?: string;
  /** Where a payer goes who does not pay. */
  readonly cancelUrl?: string;
  /** The payer goes back to a page that the script alone knows. */
  readonly privateReturn: boolean;
  /** The page of the shop that opened this one. */
  readonly shopOrigin?: string;
};

type Query = Readonly<Record<string, unknown>>;

const maxId = 40;
const maxText = 200;

/** Undefined when it names neither an invoice nor a customer. */
export function readCheckoutRequest(query: Query, acceptLanguage = ''): CheckoutRequest | undefined {
  const text = (name: string, most = maxText): string | undefined => {
    const value = query[name];
    return typeof value === 'string' && value.trim() !== '' && value.length <= most ? value : undefined;
  };
  const isOn = (name: string) => text(name) === 'true';
  const kind = text('invoiceID', maxId) ? 'invoice' : 'customer';
  const id = text(`${kind}ID`, maxId);
  if (id === undefined || !/^[\x21-\x7e]+$/.test(id)) return undefined;
  const address = (name: string) => {
    const given = text(name, 2_000);
    return given !== undefined && originOf(given) !== undefined ? given : undefined;
  };
  const onExpiration = text('holdExpiration') === 'capture' ? 'capture' : 'cancel';
  const hold = isOn('paymentFlowHold') ? onExpiration : undefined;
  return {
    kind,
    id,
    locale: localeOf(text('locale'), acceptLanguage),
    theme: themes.find((known) => known === text('theme')) ?? 'main',
    obscureCardCvv: isOn('obscureCardCvv'),
    requireCardHolder: isOn('requireCardHolder'),
    recurring: isOn('recurring') && kind === 'invoice',
    privateReturn: isOn('privateReturn'),
    terms: defined({
      schedule: text('recurringSchedule'),
      validUntil: dayOf(text('recurringUntil')),
      amountRule: amountRuleIn(text('recurringAmountRule') ?? ''),
    }),
    ...defined({
      token: text(`${kind}AccessToken`, 2_048),
      name: text('name'),
      description: text('description'),
      payButtonLabel: text('payButtonLabel', 60),
      hold,
      redirectUrl: address('redirectUrl'),
      cancelUrl: address('cancelUrl'),
      shopOrigin: originOf(text('shopOrigin') ?? ''),
    }),
  };
}

/** A link to a template has the options of the invoice that is made of it. Its token is for the script alone. */
export function readPaymentLink(
  query: Query,
  acceptLanguage = '',
): { readonly wanted: CheckoutRequest; readonly amountMinor?: number } | undefined {
  const { invoiceTemplateID: invoiceID, amount } = query;
  const wanted = readCheckoutRequest(
    { ...query, invoiceID, invoiceAccessToken: undefined, customerID: undefined },
    acceptLanguage,
  );
  if (!wanted) return undefined;
  const isAmount = typeof amount === 'string' && /^[1-9]\d{0,11}$/.test(amount);
  return { wanted, ...(isAmount ? { amountMinor: Number(amount) } : {}) };
}

/** The requested one, else the first of the browser's languages that the checkout has. */
export function localeOf(wanted: unknown, acceptLanguage = ''): Locale {
  const languages = wanted === 'ru' || wanted === 'en' ? [wanted] : acceptLanguage.toLowerCase().split(',');
  const known = languages
    .map((language) => language.trim().slice(0, 2))
    .find((code) => /^(en|ru)$/.test(code));
  return known === 'ru' ? 'ru' : 'en';
}

function dayOf(text: string | undefined): string | undefined {
  const isDay = text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) && isDate(text);
  return isDay ? text : undefined;
}

/** Parameters that only the payer's tab may keep. */
export const privateNames: readonly string[] = [
  'invoiceTemplateAccessToken',
  'invoiceAccessToken',
  'customerAccessToken',
  'returnPath',
  'email',
  'metadata',
];

/** Stands for all in a list of sites, as in `frame-ancestors`. */
export const anySite = '*';

/** Whether the shop allows this address to return to. */
export function isReturnAllowed(address: string | undefined, origins: readonly string[]): boolean {
  const origin = address === undefined ? undefined : originOf(address);
  return origin !== undefined && (origins.includes(anySite) || origins.includes(origin));
}
