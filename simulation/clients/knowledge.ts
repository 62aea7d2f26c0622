// What a merchant of the simulation knows: only what the API has told him.
import type { Chance } from '../world/chance.ts';

export type Name = { readonly invoiceId: string; readonly paymentId: string };

export type Knowledge = {
  readonly partyId: string;
  readonly apiKey: string;
  readonly invoices: { id: string; token: string; shop: string; currency: string; amount: number }[];
  readonly payments: (Name & { amount: number; currency: string })[];
  /** Of those payments the ones that are held first, until somebody was told that they are captured or let go. */
  readonly holds: (Name & { amount: number; currency: string })[];
  readonly parents: Name[];
  readonly cards: { token: string; session: string }[];
  readonly customers: { id: string; token: string }[];
  readonly bindings: { customerId: string; id: string }[];
  readonly identities: string[];
  readonly wallets: string[];
  readonly payoutCards: string[];
  readonly destinations: string[];
  readonly withdrawals: string[];
  readonly transfers: string[];
  readonly challenges: { identity: string; id: string }[];
  readonly webhooks: string[];
  readonly walletWebhooks: { identity: string; id: string }[];
  /** How far ahead of everybody's his test clock is, by what he was told. */
  aheadMs: number;
  /** How many names of his own he has given. */
  named: number;
};

export type Wish = {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: Record<string, unknown>;
  /** Where it is not his API key. */
  readonly token?: string;
  /** Made twice it could not be told apart from the other. */
  readonly isUnique?: boolean;
  /** What he knows when it was answered well. */
  // oxlint-disable-next-line typescript/no-explicit-any -- an answer of the API
  readonly learn?: (answer: any) => void;
};

/** Something a client may want to do; undefined while he cannot. */
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
    customers: [],
    bindings: [],
    identities: [],
    wallets: [],
    payoutCards: [],
    destinations: [],
    withdrawals: [],
    transfers: [],
    challenges: [],
    webhooks: [],
    walletWebhooks: [],
    aheadMs: 0,
    named: 0,
  };
}

/** Rather one of the latest: that is where things are going on. */
export function recent<T>(things: readonly T[], chance: Chance): T | undefined {
  if (things.length === 0) return undefined;
  const back = Math.floor(things.length * chance.next() ** 3);
  return things[things.length - 1 - back];
}

/** A name of the merchant's own: sometimes none, sometimes one he has used before. */
export function externalId(known: Knowledge, chance: Chance): { externalID?: string } {
  if (chance.isTrue(0.7)) return {};
  if (known.named > 0 && chance.isTrue(0.2)) return { externalID: `name-${chance.below(known.named)}` };
  return { externalID: `name-${known.named++}` };
}
