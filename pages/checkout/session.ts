// What this tab keeps so that it can be reloaded: access token, e-mail address and metadata, never card data.
// They are removed from the address immediately and forgotten when the tab closes.
import { privateNames, type TaskKind } from '../../src/checkout/domain/checkout-request.ts';
import type { Loaded } from './progress.ts';

export type Customer = { readonly id: string; readonly token: string };

export type Session = {
  readonly token: string | undefined;
  readonly email: string | undefined;
  /** Who may pay this invoice with their saved card. */
  readonly customer: Customer | undefined;
  readonly metadata: unknown;
  /** `returned`: the browser has just come back from the payer's bank. */
  readonly loaded: Loaded;
  /** The binding, or the invoice of a template, that this tab was about before it was loaded again. */
  readonly followed: string | undefined;
  follow(id: string): void;
  /** A page of this service to which the payer goes afterwards, if this tab alone may know it. */
  readonly returnTo: string | undefined;
  /** Where the bank sends the payer's browser back to, if its page took the whole window. */
  readonly returnUrl: string;
};

/** The maximum length of a return address. */
const maxReturnUrl = 2_000;
/** Parameters to drop from a return address that is too long. */
const dispensable = ['description', 'payButtonLabel', 'name', 'cancelUrl', 'redirectUrl'];

/** The page of a subscription, and no other. */
const isPayerPage = /^subscription\/[\w-]+\/[\w.-]+$/;

export const baseUrl = new URL('.', location.href).href;

export function openSession(kind: TaskKind | 'invoiceTemplate', id: string): Session {
  const asked = new URLSearchParams(location.search);
  const given = new URLSearchParams(location.hash.slice(1));
  const returned = asked.get('returned') === 'true';
  const kept = recall(id);
  const known: Record<string, string> = {};
  for (const name of privateNames) {
    const value = given.get(name) ?? asked.get(name) ?? kept[name];
    if (value) known[name] = value;
    asked.delete(name);
  }
  // Without a token the page must still know after a reload that the payer has returned.
  if (known[`${kind}AccessToken`] !== undefined) asked.delete('returned');
  const returnPath = isPayerPage.test(known['returnPath'] ?? '') ? known['returnPath'] : undefined;
  const followed = kept['followed'];
  keep(id, { ...known, ...(followed === undefined ? {} : { followed }) });
  history.replaceState(null, '', `?${asked}`);
  return {
    token: known[`${kind}AccessToken`],
    email: known['email'],
    customer: customerOf(asked.get('customerID'), known['customerAccessToken']),
    metadata: parsed(known['metadata']),
    loaded: returned ? 'returned' : isReload() ? 'reloaded' : 'opened',
    followed,
    returnTo: returnPath === undefined ? undefined : `${baseUrl}${returnPath}`,
    follow: (made) => keep(id, { ...known, followed: made }),
    // The payer may have changed the language since.
    get returnUrl() {
      return returnUrlOf(new URLSearchParams(location.search));
    },
  };
}

function customerOf(id: string | null, token: string | undefined): Customer | undefined {
  return id === null || token === undefined ? undefined : { id, token };
}

function isReload(): boolean {
  const [loading] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return loading?.type === 'reload';
}

function returnUrlOf(asked: URLSearchParams): string {
  const query = new URLSearchParams(asked);
  const address = () => `${baseUrl}checkout/return?${query}`;
  for (const name of dispensable) {
    if (address().length > maxReturnUrl) query.delete(name);
  }
  return address();
}

/** What this tab keeps about an object. */
export function recall(id: string): Readonly<Record<string, string>> {
  try {
    return JSON.parse(sessionStorage.getItem(storageKey(id)) ?? '{}') as Record<string, string>;
  } catch {
    return {};
  }
}

function keep(id: string, known: Readonly<Record<string, string>>): void {
  try {
    sessionStorage.setItem(storageKey(id), JSON.stringify(known));
  } catch {
    // Some browsers keep nothing for a page in a frame: there it cannot be reloaded.
  }
}

const storageKey = (id: string) => `mandate.checkout.${id}`;

function parsed(text: string | undefined): unknown {
  try {
    const value: unknown = text === undefined ? undefined : JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
