// What one caller may take of a node: requests, and bytes of bodies that cannot be used. Reading those costs time that all callers share.
import type { Caller } from '../../../caller.ts';
import { networkOf } from './client-address.ts';
import { rateLimit, type Rate } from './rate-limit.ts';

/** A caller, and what limits count its address as. */
export type CallerAt = { readonly caller: Caller; readonly countedAs: string };

export type CallerLimits = {
  /** Undefined if the request may be read. A caller whose bodies were refused too often learns it late, so that it sends less. */
  take(from: CallerAt): { readonly waitSeconds: number; readonly afterMs: number } | undefined;
  /** For a body that was read and could not be used. */
  countUnusable(from: CallerAt, bytes: number): void;
};

/** A browser polls once a second; a server with the token of one invoice creates a payment and reads it. */
export const requestsPerSecondOfToken = 20;
const unusableBytesPerSecond = 128 * 1024;
const unusableBytesAtOnce = 1024 * 1024;
/** A refusal costs time also if its body is short. */
const leastBytes = 1024;
const heldBackMs = 1_000;

export function callerLimits(
  { perSecond, perSecondOfToken }: { readonly perSecond: number; readonly perSecondOfToken: number },
  nowMs: () => number,
): CallerLimits {
  const ofKeys = rateLimit(inSecond(perSecond), perSecond * 2, nowMs);
  const ofTokens = rateLimit(inSecond(perSecondOfToken), perSecondOfToken * 2, nowMs);
  // Without a limit for keys there is none for what they send.
  const unusable = rateLimit(
    inSecond(perSecond <= 0 ? 0 : unusableBytesPerSecond),
    unusableBytesAtOnce,
    nowMs,
  );

  return {
    take(from) {
      const { caller } = from;
      const forBodies = namesOf(from).flatMap((name) => unusable.waitSeconds(name) ?? []);
      if (forBodies.length > 0) return { waitSeconds: Math.max(...forBodies), afterMs: heldBackMs };
      const waitSeconds = (caller.kind === 'apiKey' ? ofKeys : ofTokens).take(nameOf(from));
      return waitSeconds === undefined ? undefined : { waitSeconds, afterMs: 0 };
    },
    countUnusable(from, bytes) {
      for (const name of namesOf(from)) unusable.spend(name, Math.max(bytes, leastBytes));
    },
  };
}

const inSecond = (calls: number): Rate => ({ calls, everyMs: 1_000 });

/** Tokens of many invoices are easily had, so what they send counts by address too. Keys may share the address of a proxy. */
function namesOf({ caller, countedAs }: CallerAt): string[] {
  const name = nameOf({ caller, countedAs });
  return caller.kind === 'apiKey' ? [name] : [name, `address ${networkOf(countedAs)}`];
}

/** All payers share the token of a template, and none may use up the limit of the others. */
function nameOf({ caller, countedAs }: CallerAt): string {
  if (caller.kind === 'apiKey') return caller.keyId;
  return caller.kind === 'invoice-template' ? `${caller.entityId} ${networkOf(countedAs)}` : caller.entityId;
}

export const maxBodyBytes = 256 * 1024;
const maxBodyBytesOfToken = 32 * 1024;

/** Five faults of so much are found in 0.1 ms. Of a larger body the first alone is looked for. */
export const maxBytesToListFaults = 32 * 1024;

/** Of members that nothing declares a client may send so much, which takes less time to read than a request takes. */
export const maxIgnoredBytes = 16 * 1024;

/** An access token is in a browser, whose requests are small. */
export function isTooLargeFor({ kind }: Caller, bytes: number): boolean {
  return kind !== 'apiKey' && bytes > maxBodyBytesOfToken;
}
