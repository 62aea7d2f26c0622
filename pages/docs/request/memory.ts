// What the page remembers while its tab is open: the token, and the ids that answers brought. Nothing of it is ever part
// of an address, and nothing outlives the tab.

type Remembered = {
  readonly token: string;
  /** What the token was before another was taken from an answer. */
  readonly tokenBefore: string;
  /** By the name of the path parameter they fit: invoiceID, customerID. */
  readonly ids: Readonly<Record<string, string>>;
};

const storageKey = 'mandate.docs';
const nothing: Remembered = { token: '', tokenBefore: '', ids: {} };

let remembered = read();
const listeners: (() => void)[] = [];

export function memory(): Remembered {
  return remembered;
}

export function remember(change: Partial<Remembered>): void {
  remembered = { ...remembered, ...change };
  try {
    sessionStorage.setItem(storageKey, JSON.stringify(remembered));
  } catch {
    // A browser that keeps nothing for us: then it is remembered until the page is left.
  }
  for (const listener of listeners) listener();
}

export function onChange(listener: () => void): void {
  listeners.push(listener);
}

function read(): Remembered {
  try {
    return { ...nothing, ...(JSON.parse(sessionStorage.getItem(storageKey) ?? '{}') as Partial<Remembered>) };
  } catch {
    return nothing;
  }
}
