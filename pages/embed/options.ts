// Turns a shop's options, from JavaScript or data- attributes, into the address of the checkout.
// Unknown options are ignored, so pages written for other payment methods keep working.

export type Options = Readonly<Record<string, unknown>> & {
  readonly popupMode?: boolean | string;
  readonly redirectUrl?: string;
  readonly cancelUrl?: string;
  opened?(): void;
  closed?(): void;
  finished?(): void;
};

/** Each needs an ID and an access token. The first that has both is used. */
const modes = ['invoiceTemplate', 'invoice', 'customer'] as const;
const shown = [
  'name',
  'description',
  'amount',
  'locale',
  'theme',
  'obscureCardCvv',
  'requireCardHolder',
  'recurring',
  'recurringSchedule',
  'recurringUntil',
  'recurringAmountRule',
  'paymentFlowHold',
  'holdExpiration',
  'redirectUrl',
  'cancelUrl',
  'payButtonLabel',
];
/** Sent behind the #, which reaches no proxy and no access log. */
const hidden = ['email', 'metadata'];

export function addressOf(given: Options, baseUrl: URL, shopOrigin: string): string {
  // Some pages use the shorter name.
  const options: Options = { ...given, email: given['email'] ?? given['mail'] };
  const mode = modes.find((name) => options[`${name}ID`] && options[`${name}AccessToken`]);
  if (!mode) {
    throw new Error(
      'Unrecognized integration type: give invoiceID and invoiceAccessToken, or customerID and customerAccessToken',
    );
  }
  // A customer who pays an invoice may use their saved card.
  const payer = mode === 'invoice' && options['customerAccessToken'] ? ['customerID'] : [];
  const query = pick([`${mode}ID`, ...payer, ...shown], options);
  query.set('shopOrigin', shopOrigin);
  return `${baseUrl}checkout?${query}#${pick([`${mode}AccessToken`, ...payer.map(() => 'customerAccessToken'), ...hidden], options)}`;
}

function pick(names: readonly string[], options: Options): URLSearchParams {
  const picked = new URLSearchParams();
  for (const name of names) {
    const value = options[name];
    if (value !== undefined && value !== null) {
      picked.set(name, typeof value === 'string' ? value : JSON.stringify(value));
    }
  }
  return picked;
}

/** Reads a script's dataset: `data-invoice-id`, there invoiceId, is invoiceID. */
export function readAttributes(attributes: Readonly<Record<string, string | undefined>>): Options {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name.replace(/Id$/, 'ID'), value]),
  );
}
