// The rules of payouts: the mode, the providers, and the limits and fees of each party, which may be 1 s old.
import { ttlCache } from '../platform/database/ttl-cache.ts';
import type { Database } from '../platform/database/database.ts';
import { feeOf, noFee } from '../platform/ledger/domain/fee.ts';
import type { Currency } from '../money.ts';
import { usualLimitsOf, type PayoutLimits } from './domain/payout-limits.ts';
import { readPayoutTerms } from './store/payout-terms.ts';
import { providersOf, type Level } from '../identities/domain/provider.ts';

export type PayoutRules = ReturnType<typeof openPayoutRules>;

const maxAgeMs = 1_000;

/** `lookups` is the read-only pool, so a call inside a transaction does not wait for a second connection. */
export function openPayoutRules(options: {
  lookups: Pick<Database, 'run'>;
  livemode: boolean;
  /** What a wallet of the test provider opens with. 0 means no deposit. */
  openingDepositMinor: bigint;
}) {
  const { lookups, livemode, openingDepositMinor } = options;
  const agreed = ttlCache({
    maxAgeMs,
    maxEntries: 10_000,
    load: (partyId: string) => readPayoutTerms(lookups, partyId),
  });
  return {
    livemode,
    providers: providersOf(livemode),
    openingDepositMinor,
    async termsOf(partyId: string) {
      const { limits, fees } = await agreed.get(partyId);
      return {
        limitsOf: (level: Level, currency: string): PayoutLimits =>
          limits.find((one) => one.level === level && one.currency === currency)?.limits ??
          usualLimitsOf(livemode, level, currency as Currency),
        feeMinorOf: ({ minor, currency }: { readonly minor: bigint; readonly currency: string }) =>
          feeOf(minor, fees.get(currency) ?? noFee),
      };
    },
    /** Called after a change on this node. */
    forget: (partyId: string) => agreed.forget(partyId),
  };
}
