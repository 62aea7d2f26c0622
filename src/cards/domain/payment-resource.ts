// A payment resource: a card in the vault, for one hour, under a token that is worth nothing outside the service. Pure: the form of
// tokens, and who may use which card for what.
import type { BrowserFacts } from '../../acquiring/domain/payer-facts.ts';
import type { Instant } from '../../clock.ts';
import type { Caller } from '../../caller.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import type { CardDetails } from './card.ts';

/** The payer's browser and address when the card was entered. */
export type ClientInfo = { readonly fingerprint: string; readonly ip: string; readonly url?: string };

/**
 * With what stays with the card and gets into no payment: what only the bank receives, for 3-D Secure. `countedAs` is what limits count
 * the payer by, if that is not the address.
 */
export type EnteredWith = ClientInfo & { readonly browser?: BrowserFacts; readonly countedAs?: string };

/** From the address of a request and what limits count it as. */
export function seenAt(address: string, countedAs: string): Pick<EnteredWith, 'ip' | 'countedAs'> {
  return countedAs === address ? { ip: address } : { ip: address, countedAs };
}

/** The one object whose access token created a resource. */
export type MadeFor = { readonly kind: 'invoice' | 'customer'; readonly id: string };

/** The same number has the same hash under the same key version, for every merchant. Never shown. */
export type Fingerprint = { readonly keyVersion: number; readonly hash: Buffer };

/** A card is stored to be charged or to be paid out to, and is never used for the other. */
export type Purpose = 'payment' | 'payout';

export type PaymentResource = {
  readonly purpose: Purpose;
  /** Both are opaque and random. The session stands for the security code and the browser. */
  readonly token: string;
  readonly session: string;
  readonly partyId: string;
  /** Absent if an API key created it: then it serves every object of the party. */
  readonly madeFor?: MadeFor;
  readonly card: CardDetails;
  readonly clientInfo: ClientInfo;
  /** What limits count the payer by. */
  readonly countedAs: string;
  /** On the party's own clock. What began before it continues after it. */
  readonly validUntil: Instant;
  readonly fingerprint: Fingerprint;
  /** Permanently equal for two resources of the same card and expiry. Repeated requests are compared by it. */
  readonly cardMatchHash: Buffer;
};

export const resourceLifetimeMs = 60 * 60_000;

const tokenPrefixes: Readonly<Record<Purpose, string>> = { payment: 'v1.', payout: 'r1.' };
const sessionPrefix = 's1.';

export function tokenOf(cardId: string, purpose: Purpose): string {
  return tokenPrefixes[purpose] + cardId;
}

export function sessionOf(sessionId: string): string {
  return sessionPrefix + sessionId;
}

/** Undefined for text that cannot be a token. */
export function cardIdOf(token: string): string | undefined {
  return idBehind(tokenPrefixes.payment, token) ?? idBehind(tokenPrefixes.payout, token);
}

export function sessionIdOf(session: string): string | undefined {
  return idBehind(sessionPrefix, session);
}

function idBehind(prefix: string, handle: string): string | undefined {
  const id = handle.slice(prefix.length);
  return handle.startsWith(prefix) && /^[0-9A-Za-z]{17,40}$/.test(id) ? id : undefined;
}

/** Whether a caller of the same party may use it: the one object it was created for, or an API key of the party. */
export function mayUse(resource: PaymentResource, caller: Caller): boolean {
  const { madeFor, partyId } = resource;
  if (caller.partyId !== partyId) return false;
  if (madeFor === undefined || caller.kind === 'apiKey') return true;
  return caller.kind === madeFor.kind && caller.entityId === madeFor.id;
}

export function decideUse(
  resource: PaymentResource | undefined,
  caller: Caller,
  session: string | undefined,
  now: Instant,
): Outcome<PaymentResource, 'invalidPaymentToolToken' | 'invalidPaymentSession'> {
  if (
    !resource ||
    resource.purpose !== 'payment' ||
    !mayUse(resource, caller) ||
    now >= resource.validUntil
  ) {
    return refuse('invalidPaymentToolToken');
  }
  if (session !== undefined && session !== resource.session) return refuse('invalidPaymentSession');
  return accept(resource);
}

export function madeForOf(caller: Caller): MadeFor | undefined {
  if (caller.kind === 'apiKey') return undefined;
  if (caller.kind === 'invoice-template')
    throw new Error('A template token cannot create payment resources.');
  return { kind: caller.kind, id: caller.entityId };
}
