// Stops a party or a shop from trading, as the operator (blocked) or the owner (suspended) would, or lets it go on.
import { vi } from 'vitest';
import type { Merchant, TestService } from '../service/test-service.ts';

export type TradingFlag = {
  readonly of: 'party' | 'shop';
  readonly flag: 'is_blocked' | 'is_suspended';
};

/** Every flag there is, with the refusal it leads to. */
export const tradingFlags = [
  ['party', 'is_blocked', 'invalidPartyStatus', 'Invalid party status'],
  ['party', 'is_suspended', 'invalidPartyStatus', 'Invalid party status'],
  ['shop', 'is_blocked', 'invalidShopStatus', 'Invalid shop status'],
  ['shop', 'is_suspended', 'invalidShopStatus', 'Invalid shop status'],
] as const;

/** Of the shop TEST. Answers when the service has seen the change: for a second it may go on with what it has read. */
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
  const url = `/v2/processing/${of === 'party' ? 'me' : 'shops/TEST'}`;
  const member = flag === 'is_blocked' ? 'isBlocked' : 'isSuspended';
  const look = () => service.call('GET', url, { token: merchant.apiKey }).then(({ body }) => body[member]);
  // Not expect.poll, which knows one test at a time: these waits are run side by side.
  await vi.waitUntil(async () => (await look()) === value, { interval: 50, timeout: 30_000 });
}
