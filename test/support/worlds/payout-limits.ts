// Sets a row of payout limits, as an operator does, and lets this node know it.
import { parseInstant } from '../../../src/clock.ts';
import { storeLimitRule } from '../../../src/payouts/store/payout-terms.ts';
import { any, type LimitRule, type PayoutLimits } from '../../../src/wallets/domain/payout-limits.ts';
import type { TestService } from '../service/test-service.ts';

export async function setPayoutLimits(
  { database, payouts }: Pick<TestService, 'database' | 'payouts'>,
  partyId: string,
  limits: PayoutLimits,
  key: Partial<Pick<LimitRule, 'network' | 'currency' | 'level'>> = {},
): Promise<void> {
  const source = { setBy: 'test', setAt: parseInstant('2026-01-01T00:00:00Z')!, reason: 'a test' };
  await storeLimitRule(database, {
    partyId,
    network: any,
    currency: 'RUB',
    level: 'anonymous',
    ...key,
    limits,
    source,
  });
  payouts.forget(partyId);
}
