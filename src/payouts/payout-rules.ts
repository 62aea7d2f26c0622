// The rules of payouts: the mode, the providers, and the limits and fees of each party, which may be 1 s old.
import { ttlCache } from '../platform/database/ttl-cache.ts';
import type { Database } from '../platform/database/database.ts';
import { feeOf, noFee } from '../platform/ledger/domain/fee.ts';
import {
  limitsIn,
  sandboxLimits,
  transferLimitsIn,
  type LimitKey,
  type PayoutLimits,
  type TurnoverLimits,
} from '../wallets/domain/payout-limits.ts';
import { readPayoutTerms } from './store/payout-terms.ts';
import { providersOf } from '../identities/domain/provider.ts';

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
        /** Undefined in live mode if no operator has set a row: then nothing may be paid out. */
        limitsOf: (key: LimitKey): PayoutLimits | undefined =>
          limitsIn(limits, key) ?? (livemode ? undefined : sandboxLimits),
        /** To another identity. Undefined as for payouts; the sandbox limits no transfer without a row. */
        transferLimitsOf: (key: Omit<LimitKey, 'network'>): TurnoverLimits | undefined =>
          transferLimitsIn(limits, key) ?? (livemode ? undefined : {}),
        feeMinorOf: ({ minor, currency }: { readonly minor: bigint; readonly currency: string }) =>
          feeOf(minor, fees.get(currency) ?? noFee),
      };
    },
    /** Called after a change on this node. */
    forget: (partyId: string) => agreed.forget(partyId),
  };
}
