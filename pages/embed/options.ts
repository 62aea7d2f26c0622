// What a shop says about the checkout it wants, in JavaScript or in data- attributes, and the address that follows from it. Pure.
// Names that mean nothing to us are passed over: pages made for other payment methods go on working.

export type Options = Readonly<Record<string, unknown>> & {
  readonly popupMode?: boolean | string;
  readonly redirectUrl?: string;
  opened?(): void;
  closed?(): void;
  finished?(): void;
};

/** Each is named by its id and its access token; the first that is named whole counts. */
const modes = ['invoiceTemplate', 'invoice', 'customer'] as const;
const shown = [
  'name',
  'description',
  'locale',
  'theme',
  'obscureCardCvv',
  'requireCardHolder',
  'recurring',
  'recurringSchedule',
  'recurringUntil',
  'paymentFlowHold',
  'holdExpiration',
  'redirectUrl',
  'payButtonLabel',
];
/** Not for the logs of whatever stands between here and the service: behind a # nothing is sent. */
const hidden = ['email', 'metadata'];

export function addressOf(given: Options, baseUrl: URL, shopOrigin: string): string {
  // Some pages were made with the shorter name.
  const options: Options = { ...given, email: given['email'] ?? given['mail'] };
  const mode = modes.find((name) => options[`${name}ID`] && options[`${name}AccessToken`]);
  if (mode === 'invoiceTemplate') {
    throw new Error(
      'Invoice templates are not offered here: create an invoice, and give its invoiceID and invoiceAccessToken',
    );
  }
  if (!mode) {
    throw new Error(
      'Unrecognized integration type: give invoiceID and invoiceAccessToken, or customerID and customerAccessToken',
    );
  }
  const query = pick([`${mode}ID`, ...shown], options);
  query.set('shopOrigin', shopOrigin);
  return `${baseUrl}checkout?${query}#${pick([`${mode}AccessToken`, ...hidden], options)}`;
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

/** As a script has them in its dataset: `data-invoice-id`, there invoiceId, is invoiceID; `data-pay-button-label` is payButtonLabel. */
export function readAttributes(attributes: Readonly<Record<string, string | undefined>>): Options {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name.replace(/Id$/, 'ID'), value]),
  );
}
