// Reads from the service, for the session that the browser's cookie names.
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { apiAddressOf, place, type Filters } from './place.ts';
import { locale } from './words/words.ts';

export type Problem = { readonly code: string };
export type Loaded<T> =
  | { readonly is: 'loading' }
  | { readonly is: 'there'; readonly value: T }
  | { readonly is: 'problem'; readonly problem: Problem };

export type SessionFacts = {
  readonly mode: 'test' | 'live';
  readonly isOperator: boolean;
  readonly party?: { readonly id: string; readonly name: string };
};

/** Set once a response says that the session is over. */
export const hasEnded = signal(false);

const patienceMs = 15_000;

export async function read<T>(path: string, filters: Filters = {}): Promise<Loaded<T>> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) if (value) query.set(name, value);
  const address = apiAddressOf(path) + (query.size === 0 ? '' : `?${query.toString()}`);
  return answered<T>(() => fetch(address, { headers: headers(), signal: AbortSignal.timeout(patienceMs) }));
}

export async function send<T>(path: string, body: object): Promise<Loaded<T>> {
  const sent = { method: 'POST', headers: headers(), body: JSON.stringify(body) };
  return answered<T>(() => fetch(apiAddressOf(path), sent));
}

function headers(): Record<string, string> {
  const { party } = place.value.query;
  return {
    'Accept-Language': locale.value,
    ...(party === undefined ? {} : { 'Mandate-Console-Party': party }),
  };
}

async function answered<T>(ask: () => Promise<Response>): Promise<Loaded<T>> {
  try {
    const response = await ask();
    const text = await response.text();
    const body = text === '' ? undefined : (plain(JSON.parse(text)) as T & Partial<Problem>);
    if (response.ok) return { is: 'there', value: body as T };
    if (response.status === 401) hasEnded.value = true;
    const code = body?.code ?? (response.status === 404 ? 'notFound' : String(response.status));
    return { is: 'problem', problem: { code } };
  } catch {
    return { is: 'problem', problem: { code: 'offline' } };
  }
}

/** Merchants, banks and payers wrote parts of it. No character may move a cursor or turn the direction of the text. */
function plain(value: unknown): unknown {
  if (typeof value === 'string') {
    return value.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`);
  }
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
}

export function useRead<T>(path: string, filters: Filters = {}): Loaded<T> {
  // A timeline is read again in another language.
  const wanted = JSON.stringify([path, filters, place.value.query['party'], locale.value]);
  return useLoad(wanted, () => read<T>(path, filters));
}

/** Loads when it is first drawn, and again when what is wanted changes: nothing old stands below a new filter. */
export function useLoad<T>(wanted: string, load: () => Promise<Loaded<T>>): Loaded<T> {
  const [latest, set] = useState<{ readonly of: string; readonly loaded: Loaded<T> }>();
  useEffect(() => {
    let isWanted = true;
    void load().then((loaded) => isWanted && set({ of: wanted, loaded }));
    return () => void (isWanted = false);
  }, [wanted]);
  return latest?.of === wanted ? latest.loaded : { is: 'loading' };
}

export type Shop = {
  readonly id: string;
  readonly currency: string;
  readonly details: { readonly name: string };
  readonly realm: SessionFacts['mode'];
};

/** Those of the mode alone: a database that became live still has the shops of its sandbox. */
export function useShops(mode: SessionFacts['mode']): Loaded<readonly Shop[]> {
  const shops = useRead<readonly Shop[]>('/v2/processing/shops');
  if (shops.is !== 'there') return shops;
  return { is: 'there', value: shops.value.filter((shop) => shop.realm === mode) };
}
