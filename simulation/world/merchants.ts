// The merchants of a world: two, each with shops in three currencies, their terminals and one terminal for payouts.
import { scopes } from '../../src/platform/http/access.ts';
import { insertParty, insertShop, setShopFees, setWhenShort } from '../../src/merchants/store/parties.ts';
import { storeLimitRule } from '../../src/payouts/store/payout-terms.ts';
import { any } from '../../src/wallets/domain/payout-limits.ts';
import { cardDayLimitMinor } from '../checks/money/payout-limits.ts';
import type { Currency } from '../../src/money.ts';
import { settlementAccount } from '../../src/platform/ledger/domain/account.ts';
import { setOverdraft } from '../../src/platform/ledger/store/journals.ts';
import { storeSettings } from '../../src/recurring/store/settings.ts';
import { overdrafts } from '../checks/money/balances.ts';
import { bankSecret } from './servers/bank.ts';
import { banks as worldBanks } from './servers/banks.ts';
import type { WorldNode } from './node.ts';

export type Merchant = { readonly partyId: string; readonly apiKey: string };

/** What refunds do without money, and time zones: far from UTC in both directions, and as it is by default. */
const shops = [
  ['TEST', 'RUB', 'refuse', { timeZone: 'Pacific/Kiritimati', periodRule: 'refuse' }],
  ['TEST_USD', 'USD', 'overdraft', { timeZone: 'Pacific/Honolulu' }],
  ['TEST_EUR', 'EUR', 'wait', {}],
] as const;
/** So high that refunds are often more than the balance. */
const fees = { processing: { basisPoints: 9_000n, fixedMinor: 0n } };

/** Of each payout terminal. */
const payoutCurrencies = [['RUB'], ['JPY', 'KWD']] as const;

export async function openMerchants({ service, foundation }: WorldNode): Promise<Merchant[]> {
  await limitCards(foundation);
  for (const bank of worldBanks) await service.banks.putBank({ ...bank, secret: bankSecret });
  return [
    await openMerchant(service, foundation, 'Merchant'),
    await openMerchant(service, foundation, 'Other merchant'),
  ];
}

/** One row, for every merchant, level and network. */
async function limitCards({ database, ports }: WorldNode['foundation']): Promise<void> {
  const source = { setBy: 'simulation', setAt: ports.clock.now(), reason: 'to be exceeded' };
  const limits = { minMinor: 100n, card: { perDayMinor: BigInt(cardDayLimitMinor) } };
  const key = { partyId: any, network: any, currency: 'RUB', level: any } as const;
  await storeLimitRule(database, { ...key, limits, source });
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
  for (const [shop_id, currency, when_short, settings] of shops) {
    const shop = { party_id: partyId, shop_id, livemode: false, name: shop_id, url: 'https://shop.example' };
    await database.run(insertShop, { ...shop, category_id: 1, currency, created_at });
    const kind = { livemode: false, currency: currency as Currency };
    const settlement = settlementAccount({ ...kind, partyId, shopId: shop_id });
    const overdraft = overdrafts[shop_id] ?? 0n;
    if (when_short !== 'refuse') await database.run(setShopFees, { party_id: partyId, shop_id, fees });
    await database.run(setWhenShort, { party_id: partyId, shop_id, when_short });
    if (overdraft > 0n) await database.transaction((tx) => setOverdraft(tx, settlement, overdraft));
    await storeSettings(database, { partyId, shopId: shop_id }, settings);
    for (const [place, bank] of worldBanks.entries()) {
      const terminal = { id: `T${place}`, bankId: bank.id, merchantId: shop_id, priority: place + 1 };
      await banks.putTerminal({ ...terminal, partyId, shopId: shop_id, descriptor: 'SHOP' });
    }
  }
  for (const [place, list] of payoutCurrencies.entries()) {
    // A check reads the currencies from the ID.
    const id = ['P', ...list].join('.');
    const payouts = { id, bankId: first.id, merchantId: 'PAYOUTS', descriptor: 'PAYOUTS', priority: place };
    const currencies = Object.fromEntries(list.map((code) => [code, {}]));
    await banks.putPayoutTerminal({ ...payouts, partyId, terms: { currencies } });
  }
  return { partyId, apiKey: await apiKeys.create({ partyId, name: 'all', scopes }) };
}
