// The merchants of a world: two, each with shops in three currencies, their terminals and one terminal for payouts.
import { scopes } from '../../src/platform/http/access.ts';
import { insertParty, insertShop } from '../../src/merchants/store/parties.ts';
import { bankSecret } from './servers/bank.ts';
import { banks as worldBanks } from './servers/banks.ts';
import type { WorldNode } from './node.ts';

export type Merchant = { readonly partyId: string; readonly apiKey: string };

const shops = [
  ['TEST', 'RUB'],
  ['TEST_USD', 'USD'],
  ['TEST_EUR', 'EUR'],
] as const;

export async function openMerchants({ service, foundation }: WorldNode): Promise<Merchant[]> {
  for (const bank of worldBanks) await service.banks.putBank({ ...bank, secret: bankSecret });
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
  const [first] = worldBanks;
  await database.run(insertParty, { party_id: partyId, name, created_at });
  for (const [shop_id, currency] of shops) {
    const shop = { party_id: partyId, shop_id, livemode: false, name: shop_id, url: 'https://shop.example' };
    await database.run(insertShop, { ...shop, category_id: 1, currency, created_at });
    for (const [place, bank] of worldBanks.entries()) {
      const terminal = { id: `T${place}`, bankId: bank.id, merchantId: shop_id, priority: place + 1 };
      await banks.putTerminal({ ...terminal, partyId, shopId: shop_id, descriptor: 'SHOP' });
    }
  }
  const payouts = { id: 'P1', bankId: first.id, merchantId: 'PAYOUTS', descriptor: 'PAYOUTS', priority: 1 };
  await banks.putPayoutTerminal({ ...payouts, partyId });
  return { partyId, apiKey: await apiKeys.create({ partyId, name: 'all', scopes }) };
}
