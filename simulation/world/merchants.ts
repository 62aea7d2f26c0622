// Who trades in a world: two merchants, each with shops in three currencies, a terminal for each and one for payouts.
import { scopes } from '../../src/http/access.ts';
import { insertParty, insertShop } from '../../src/merchants/party.store.ts';
import { bankSecret, bankUrl } from './bank.ts';
import type { WorldNode } from './node.ts';

export type Merchant = { readonly partyId: string; readonly apiKey: string };

const shops = [
  ['TEST', 'RUB'],
  ['TEST_USD', 'USD'],
  ['TEST_EUR', 'EUR'],
] as const;

export async function openMerchants({ service, foundation }: WorldNode): Promise<Merchant[]> {
  await service.banks.putBank({ id: 'BANK', url: bankUrl, secret: bankSecret });
  return [
    await openMerchant(service, foundation, 'Merchant'),
    await openMerchant(service, foundation, 'Other merchant'),
  ];
}

async function openMerchant(
  { banks }: WorldNode['service'],
  { database, apiKeys, ports }: WorldNode['foundation'],
  name: string,
): Promise<Merchant> {
  const partyId = ports.ids.next();
  const created_at = ports.clock.now();
  const atBank = { partyId, bankId: 'BANK', priority: 1, descriptor: 'SHOP' };
  await database.run(insertParty, { party_id: partyId, name, created_at });
  for (const [shop_id, currency] of shops) {
    const shop = { party_id: partyId, shop_id, realm: 'test', name: shop_id, url: 'https://shop.example' };
    await database.run(insertShop, { ...shop, category_id: 1, currency, created_at });
    await banks.putTerminal({ ...atBank, id: 'T1', merchantId: shop_id, shopId: shop_id });
  }
  await banks.putPayoutTerminal({ ...atBank, id: 'P1', merchantId: 'PAYOUTS' });
  return { partyId, apiKey: await apiKeys.create({ partyId, name: 'all', scopes }) };
}
