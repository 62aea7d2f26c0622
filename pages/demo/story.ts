// What the demo has shown in this tab. It survives a reload, as the shop's server would remember it.
import type { Exchange, WebhookEvent } from './entries.ts';

/** An order, a customer or a subscription whose webhook events are shown. */
export type Followed = {
  readonly path: string;
  readonly kind: string;
  /** How many of them were cleared away. */
  readonly cleared?: number;
};
export type Told =
  | { readonly is: 'exchange'; readonly meaning: string; readonly exchange: Exchange }
  | { readonly is: 'note'; readonly text: string; readonly options?: object }
  | { readonly is: 'event'; readonly event: WebhookEvent; readonly of: Followed }
  | { readonly is: 'followed'; readonly followed: Followed };

const place = 'demo-story';
const maxRemembered = 300;

let story = stored();

export function storySoFar(): readonly Told[] {
  return story;
}

export function remember(told: Told): void {
  keep([...story, JSON.parse(JSON.stringify(told, shortened)) as Told].slice(-maxRemembered));
}

export function forgetStory(): void {
  keep([]);
}

/** For readers and for the next load: neither needs a token or a signature in full. Sentences stay whole. */
export function shortened(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/\S{81,}/g, (word) => `${word.slice(0, 24)}…`) : value;
}

function keep(told: readonly Told[]): void {
  story = told;
  try {
    sessionStorage.setItem(place, JSON.stringify(told));
  } catch {
    // A reload begins again.
  }
}

function stored(): readonly Told[] {
  try {
    const known: unknown = JSON.parse(sessionStorage.getItem(place) ?? '[]');
    return Array.isArray(known) ? (known as Told[]) : [];
  } catch {
    return [];
  }
}
