// What a merchant of the simulation knows: only what the API returned to them.
import type { Chance } from '../world/chance.ts';

export type Name = { readonly invoiceId: string; readonly paymentId: string };

export type Knowledge = {
  readonly partyId: string;
  readonly apiKey: string;
  readonly invoices: { id: string; token: string; shop: string; currency: string; amount: number }[];
  readonly payments: (Name & { amount: number; currency: string })[];
  /** The payments with a hold, until a response accepted a capture or a cancellation. */
  readonly holds: (Name & { amount: number; currency: string })[];
  readonly parents: Name[];
  readonly cards: { token: string; session: string }[];
  /** The IDs of series, by which consent links name them. */
  readonly series: string[];
  readonly subscriptions: string[];
  /** What payers look after them on, with what its form sends. */
  readonly payerPages: { path: string; token?: string }[];
  /** Invoices of periods that were not paid. */
  readonly openPeriods: string[];
  /** Their pages are opened by payers, who then know what they show. */
  readonly consentLinks: { id: string; path: string; textHash?: string }[];
  readonly templates: { id: string; token: string }[];
  readonly customers: { id: string; token: string }[];
  readonly bindings: { customerId: string; id: string }[];
  readonly identities: string[];
  readonly wallets: string[];
  /** Of wallets and destinations. */
  readonly currencies: Map<string, string>;
  readonly payoutCards: string[];
  readonly destinations: string[];
  readonly withdrawals: string[];
  readonly transfers: string[];
  readonly challenges: { identity: string; id: string }[];
  readonly exports: string[];
  readonly webhooks: string[];
  readonly walletWebhooks: { identity: string; id: string }[];
  /** How far ahead their test clock is, by the responses they received. */
  aheadMs: number;
  /** They move it once at a time. Without a response they look where it is. */
  clock: 'known' | 'moving' | 'unknown';
  /** Where their test clock may have jumped. */
  readonly clockMoves: ClockMove[];
  /** How many external IDs they have used. */
  named: number;
};

/** A move of a test clock that a merchant has asked for, in their time. */
export type ClockMove = { readonly fromMs: number; readonly toMs: number };

export type Wish = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: Record<string, unknown>;
  /** Set where it is not their API key. */
  readonly token?: string;
  /** Sent by a browser, with no key of any kind. */
  readonly isOfPayer?: boolean;
  /** Its body is that of a form. */
  readonly isForm?: boolean;
  /** A second one would look the same as the first. */
  readonly isUnique?: boolean;
  /** What the merchant learns from a successful response. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a response of the API
  readonly learn?: (answer: any) => void;
  /** Called when the request is over, with a response or without. */
  readonly over?: (isAnswered: boolean) => void;
};

/** Something a client may request. The wish is undefined while it is impossible. */
export type Action = {
  readonly name: string;
  readonly weight: number;
  readonly wish: (known: Knowledge, chance: Chance, now: () => string) => Wish | undefined;
};

export function knownTo(partyId: string, apiKey: string): Knowledge {
  return {
    partyId,
    apiKey,
    invoices: [],
    payments: [],
    holds: [],
    parents: [],
    cards: [],
    series: [],
    subscriptions: [],
    payerPages: [],
    openPeriods: [],
    consentLinks: [],
    templates: [],
    customers: [],
    bindings: [],
    identities: [],
    wallets: [],
    currencies: new Map(),
    payoutCards: [],
    destinations: [],
    withdrawals: [],
    transfers: [],
    challenges: [],
    exports: [],
    webhooks: [],
    walletWebhooks: [],
    aheadMs: 0,
    clock: 'known',
    clockMoves: [],
    named: 0,
  };
}

/** Prefers the latest, because those are in progress. */
export function recent<T>(things: readonly T[], chance: Chance): T | undefined {
  if (things.length === 0) return undefined;
  const back = Math.floor(things.length * chance.next() ** 3);
  return things[things.length - 1 - back];
}

/** An external ID: sometimes none, sometimes one that was used before. */
export function externalId(known: Knowledge, chance: Chance): { externalID?: string } {
  if (chance.isTrue(0.7)) return {};
  if (known.named > 0 && chance.isTrue(0.2)) return { externalID: `name-${chance.below(known.named)}` };
  return { externalID: `name-${known.named++}` };
}
