// Blocks (operator) or suspends (owner) a party or a shop, or lets it trade again.
import type { Merchant, TestService } from '../service/test-service.ts';

export type TradingFlag = {
  readonly of: 'party' | 'shop';
  readonly flag: 'is_blocked' | 'is_suspended';
};

/** Every flag, with its error. */
export const tradingFlags = [
  ['party', 'is_blocked', 'invalidPartyStatus', 'Invalid party status'],
  ['party', 'is_suspended', 'invalidPartyStatus', 'Invalid party status'],
  ['shop', 'is_blocked', 'invalidShopStatus', 'Invalid shop status'],
  ['shop', 'is_suspended', 'invalidShopStatus', 'Invalid shop status'],
] as const;

/** For the shop TEST, and on this service: another one caches the flags for a second. */
export async function setTradingFlag(
  service: TestService,
  merchant: Merchant,
  { of, flag }: TradingFlag,
  value: boolean,
): Promise<void> {
  const where = of === 'party' ? 'party_id = $2' : `party_id = $2 and shop_id = 'TEST'`;
  await service.database.withClient((client) =>
    client.query(`update ${of} set ${flag} = $1 where ${where}`, [value, merchant.partyId]),
  );
  service.merchants.forget(merchant.partyId, 'TEST');
}
