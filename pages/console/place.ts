// Which page is shown, and its filters: both are the address, so that it can be sent to a colleague.
import { signal } from '@preact/signals';

type Place = { readonly path: readonly string[]; readonly query: Readonly<Record<string, string>> };
export type Filters = Readonly<Record<string, string | undefined>>;

/** Mandate may be served below a path of the domain. */
const base = /^(.*?\/console)(?:\/|$)/.exec(location.pathname)?.[1] ?? '/console';

export const place = signal(read());
addEventListener('popstate', () => (place.value = read()));

function read(): Place {
  const path = location.pathname.slice(base.length).split('/').filter(Boolean).map(decoded);
  return { path, query: Object.fromEntries(new URLSearchParams(location.search)) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The merchant an operator looks at stays in every address. */
export function addressOf(path: readonly string[], filters: Filters = {}): string {
  const { party } = place.value.query;
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ party, ...filters })) if (value) query.set(name, value);
  const search = query.size === 0 ? '' : `?${query.toString()}`;
  return `${[base, ...path.map(encodeURIComponent)].join('/')}${search}`;
}

export function go(address: string): void {
  history.pushState(null, '', address);
  place.value = read();
  scrollTo(0, 0);
}

/** Changes filters of the page that is shown. */
export function filter(changes: Filters): void {
  const { path, query } = place.value;
  go(addressOf(path, { ...query, ...changes }));
}

/** A plain click stays in this document. Any other opens a tab or window, as the browser does. */
export function follow(event: MouseEvent): void {
  const link = (event.target as Element).closest('a');
  if (!link || link.origin !== location.origin || !link.pathname.startsWith(base)) return;
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(link.pathname + link.search);
}

export function apiAddressOf(path: string): string {
  return `${base}/api${path}`;
}
