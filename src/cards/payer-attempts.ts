// Limits the attempts of payers who are present, over all nodes: by card, address and invoice, and by what a shop's cards are declined.
import { type Clock, type Instant, dayMs, laterBy } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { ttlCache } from '../platform/database/ttl-cache.ts';
import { networkOf } from '../platform/http/request/client-address.ts';
import type { Logger } from '../platform/log.ts';
import { refuse, type Refusal } from '../refusal.ts';
import type { Unmade } from './store/attempt-counting.ts';
import {
  attemptLimits,
  guardAfter,
  guardWindowMs,
  isUnderAttack,
  maxDeclinesOfBin,
  minDeclines,
  waitSecondsFor,
  type Attempt,
} from './domain/attempt-limits.ts';
import type { CardDetails } from './domain/card.ts';
import type { PaymentResource } from './domain/payment-resource.ts';
import {
  closeAttempt,
  countReset,
  deleteAllAttempts,
  deleteGuard,
  deleteOldAttempts,
  deleteOldGuards,
  deleteOldOutcomes,
  putGuards,
  readAttempts,
  readDeclinedShops,
  readGuards,
  readResets,
  type GuardRow,
} from './store/payer-attempts.ts';

type ShopRef = { readonly partyId: string; readonly shopId: string };
type Refused<Code extends string> = { readonly ok: false; readonly refusal: Refusal<Code> };

export type PayerAttempts = {
  /** Undefined if limits are off. */
  attemptOf(card: PaymentResource): Attempt | undefined;
  /**
   * Before the payment or binding is written: whether the invoice takes attempts, and the shop this card. Reads at most once a second.
   */
  refusalBefore(
    shop: ShopRef,
    card: CardDetails,
    madeOnInvoice: number,
  ): Promise<Refused<'invoiceAttemptsExceeded' | 'shopRefusesCards'> | undefined>;
  /** Closes what the attempt has opened, and says why it came to nothing. */
  refusalOf(db: Database, unmade: Unmade): Promise<Refused<'tooManyAttempts' | 'invalidPaymentToolToken'>>;
  /** Not for the numbers of the simulated bank. */
  countsAddress(mask: string): boolean;
  /** Whether a payer with this card has to authenticate at the shop. */
  isChallenged(shop: ShopRef, card: CardDetails): Promise<boolean>;
  /** After a change on this node, so that its next request sees the change. */
  forgetGuards(): void;
};

const maxAgeMs = 1_000;
const maxDeleted = 1_000;

export function limitAttempts(options: {
  lookups: Pick<Database, 'run'>;
  clock: Clock;
  isOn: boolean;
  /** Numbers of the simulated bank count by card and invoice alone, so that a developer can try them all. */
  isTestCard: (mask: string) => boolean;
}): PayerAttempts {
  const { lookups, clock, isOn, isTestCard } = options;
  const guards = guardCache(lookups, clock);
  const guardOf = async (shop: ShopRef, { mask, bin }: CardDetails) =>
    isOn ? guards.of(shop, isTestCard(mask) ? everyBin : bin) : undefined;

  return {
    attemptOf({ card, countedAs, fingerprint, madeFor }) {
      if (!isOn) return undefined;
      const attempt = { card: Buffer.concat([Buffer.from('card '), fingerprint.hash]), at: clock.now() };
      if (isTestCard(card.mask)) return attempt;
      // The address of a card that an API key has stored may be the merchant's server.
      const address = madeFor && { address: Buffer.from(`address ${networkOf(countedAs)}`) };
      return { ...attempt, ...address, bin: card.bin };
    },
    async refusalBefore(shop, card, madeOnInvoice) {
      if (!isOn) return undefined;
      if (madeOnInvoice >= attemptLimits.perInvoice) return refuse('invoiceAttemptsExceeded');
      const guard = await guardOf(shop, card);
      if (guard?.mode !== 'refuse') return undefined;
      return tooMany('shopRefusesCards', secondsUntil(guard.until, clock.now()));
    },
    async refusalOf(db, { why, attempt, opened }) {
      if (!attempt) return refuse('invalidPaymentToolToken');
      const subjects = { card: attempt.card, address: attempt.address ?? null };
      if (opened.card || opened.address) {
        const { card, address } = subjects;
        const left = { card: opened.card ? card : null, address: opened.address ? address : null };
        await db.run(closeAttempt, { ...left, at: attempt.at });
      }
      if (why === 'cardGone') return refuse('invalidPaymentToolToken');
      const rows = await db.run(readAttempts, subjects);
      const waits = rows.map(({ subject, times }) =>
        waitSecondsFor(subject.equals(attempt.card) ? 'card' : 'address', times, clock.now()),
      );
      return tooMany('tooManyAttempts', Math.max(1, ...waits.map((seconds) => seconds ?? 1)));
    },
    countsAddress: (mask) => !isTestCard(mask),
    isChallenged: async (shop, card) => (await guardOf(shop, card)) !== undefined,
    forgetGuards: guards.forget,
  };
}

/** In a guard of the whole shop. */
export const everyBin = '';

/** Few shops are guarded, so all are read at once. */
function guardCache(lookups: Pick<Database, 'run'>, clock: Clock) {
  const cache = ttlCache({
    maxAgeMs,
    maxEntries: 1,
    load: async (_: 'all') => lookups.run(readGuards, { now: clock.now() }),
  });
  return {
    /** The stricter one, of the shop or of the BIN in it. */
    async of({ partyId, shopId }: ShopRef, bin: string): Promise<GuardRow | undefined> {
      const now = clock.now();
      const found = (await cache.get('all')).filter(
        (guard) =>
          guard.party_id === partyId &&
          guard.shop_id === shopId &&
          (guard.bin === everyBin || guard.bin === bin) &&
          guard.until > now,
      );
      return found.find(({ mode }) => mode === 'refuse') ?? found[0];
    },
    forget: () => cache.forget('all'),
  };
}

/** Responses with status 429 have a code only where it says more than the status. */
function tooMany<const Code extends 'tooManyAttempts' | 'shopRefusesCards'>(code: Code, waitSeconds: number) {
  return refuse(code, { waitSeconds, details: { code } });
}

function secondsUntil(until: Instant, now: Instant): number {
  return Math.max(1, Math.ceil((Date.parse(until) - Date.parse(now)) / 1_000));
}

/** Finds what is under attack. Every node looks; the first that finds something alerts. */
export async function guardShops(db: Database, now: Instant, log: Pick<Logger, 'error'>): Promise<void> {
  const window_start = laterBy(now, -guardWindowMs);
  const limits = { min_declines: minDeclines, max_of_bin: maxDeclinesOfBin };
  const declined = await db.run(readDeclinedShops, { window_start, now, ...limits });
  if (declined.length === 0) return;
  const current = new Map((await db.run(readGuards, { now })).map((guard) => [nameOf(guard), guard]));
  const guards = declined.flatMap((row): GuardRow[] => {
    const { party_id, shop_id, bin, approved, declined, usual_approved, usual_declined } = row;
    const usual = { approved: Number(usual_approved), declined: Number(usual_declined) };
    if (!isUnderAttack({ approved: Number(approved), declined: Number(declined) }, usual)) return [];
    const guard = guardAfter(current.get(nameOf(row)), now);
    return [{ party_id, shop_id, bin, approved, declined, ...guard }];
  });
  if (guards.length === 0) return;
  const put = new Set((await db.run(putGuards, { guards })).map(nameOf));
  for (const guard of guards) {
    const { party_id: partyId, shop_id: shopId, mode, until, bin, approved, declined } = guard;
    if (!put.has(nameOf(guard))) continue;
    const counts = { approved: Number(approved), declined: Number(declined) };
    const what = { partyId, shopId, mode, until, bin: bin === everyBin ? null : bin };
    log.error({ ...what, ...counts }, 'card testing suspected');
  }
}

function nameOf({ party_id, shop_id, bin }: Pick<GuardRow, 'party_id' | 'shop_id' | 'bin'>): string {
  return JSON.stringify([party_id, shop_id, bin]);
}

export async function countGuardedShops(db: Database, now: Instant): Promise<number> {
  const guards = await db.run(readGuards, { now });
  return new Set(guards.map(({ party_id, shop_id }) => JSON.stringify([party_id, shop_id]))).size;
}

export async function guardedShops(db: Database, now: Instant): Promise<GuardRow[]> {
  return db.run(readGuards, { now });
}

/** Ends the guards of a shop, or of all, and forgets the outcomes they came from. Whether there was one. */
export async function endGuards(db: Database, shop: ShopRef | 'all'): Promise<boolean> {
  const { partyId: party_id, shopId: shop_id } = shop === 'all' ? { partyId: null, shopId: null } : shop;
  return (await db.run(deleteGuard, { party_id, shop_id })).length > 0;
}

/** For the sandbox: everything begins as if nothing had been tried. Other nodes follow within a second. */
export async function resetAttempts(db: Database, partyId: string): Promise<void> {
  await db.run(deleteAllAttempts, { party_id: partyId });
  await endGuards(db, 'all');
  await db.run(countReset, {});
}

/** Calls `forget` after a reset on any node. */
export function followResets(db: Pick<Database, 'run'>, forget: () => void): () => Promise<void> {
  let seen: bigint | undefined;
  return async () => {
    const [row] = await db.run(readResets, {});
    if (seen !== undefined && row?.resets !== seen) forget();
    seen = row?.resets;
  };
}

export async function purgeAttempts(db: Database, now: Instant): Promise<void> {
  const before = laterBy(now, -dayMs);
  const limit = maxDeleted;
  await db.run(deleteOldGuards, { before });
  const isMore = async (deleted: Promise<readonly unknown[]>) => (await deleted).length === limit;
  while (await isMore(db.run(deleteOldOutcomes, { before, limit })));
  while (await isMore(db.run(deleteOldAttempts, { now, limit })));
}
