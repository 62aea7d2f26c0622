// mandate terminal: through which banks the shops of a merchant take cards, and the merchant pays out to cards.
import { listBanks, listTerminals, payoutTerminals, shopTerminals } from '../../acquiring/store/banks.ts';
import { noSuchBank, withBanks } from './banks.ts';
import { printTable, requireParty, requireShop, withFoundation } from '../foundation.ts';
import { defined } from '../../defined.ts';

/** A shop's, or with `payouts` the merchant's own. */
type Owner = { readonly party: string; readonly shop?: string; readonly payouts?: true };

export async function addTerminal(
  id: string,
  options: Owner & { bank: string; merchant: string; descriptor: string; priority: string },
): Promise<void> {
  const { party, bank, merchant, descriptor } = options;
  const shop = shopOf(options);
  requireText('the id of a terminal', id, 40);
  requireText('--merchant', merchant, 40);
  requireText('--descriptor', descriptor, 100);
  const priority = /^\d{1,6}$/.test(options.priority) ? Number(options.priority) : undefined;
  if (priority === undefined) throw new Error('--priority must be a whole number; the lowest goes first');
  await withBanks(async (banks, { database }) => {
    if (shop === undefined) await requireParty(database, party);
    else await requireShop(database, party, shop);
    const ids = (await database.run(listBanks, {})).map(({ bank_id }) => bank_id);
    if (!ids.includes(bank)) throw noSuchBank(bank);
    const terminal = { id, partyId: party, bankId: bank, merchantId: merchant, descriptor, priority };
    const isPut =
      shop === undefined
        ? await banks.putPayoutTerminal(terminal)
        : await banks.putTerminal({ ...terminal, shopId: shop });
    if (isPut) return;
    throw new Error(
      `terminal ${id} of ${shop ?? party} is with another bank, where what went through it is known; give the new one another id`,
    );
  });
  const does = shop === undefined ? `${party} pays out` : `${shop} takes cards`;
  console.log(`${does} through ${bank} as ${merchant}; every node knows within a second.`);
}

/** Undefined for payouts. */
function shopOf({ shop, payouts }: Owner): string | undefined {
  if ((shop === undefined) === (payouts === undefined)) {
    throw new Error('say what it is for: --shop <id> for payments of a shop, or --payouts');
  }
  return shop;
}

export async function listAllTerminals(options: { party: string; json?: true }): Promise<void> {
  const rows = await withFoundation(({ database }) =>
    database.run(listTerminals, { party_id: options.party }),
  );
  const terminals = rows.map((row) => ({
    ...(row.shop_id === null ? { payouts: true } : { shopId: row.shop_id }),
    terminalId: row.terminal_id,
    bankId: row.bank_id,
    merchantId: row.merchant_id,
    descriptor: row.descriptor,
    priority: row.priority,
    ...defined({ retiredAt: row.retired_at }),
  }));
  if (options.json) return console.log(JSON.stringify(terminals, null, 2));
  if (terminals.length === 0)
    return console.log('This party has no terminal; mandate terminal add makes one.');
  printTable(
    ['for', 'terminal', 'bank', 'merchant', 'priority', 'state', 'descriptor'],
    terminals.map((one) => [
      'shopId' in one ? one.shopId : 'payouts',
      one.terminalId,
      one.bankId,
      one.merchantId,
      String(one.priority),
      one.retiredAt ? `removed ${one.retiredAt.slice(0, 10)}` : 'in use',
      one.descriptor,
    ]),
  );
}

export async function removeTerminal(id: string, options: Owner): Promise<void> {
  const { party } = options;
  const shop = shopOf(options);
  const rows = await withFoundation(({ database, ports }) => {
    const retired = { party_id: party, terminal_id: id, now: ports.clock.now() };
    return shop === undefined
      ? database.run(payoutTerminals.retire, retired)
      : database.run(shopTerminals.retire, { ...retired, shop_id: shop });
  });
  if (rows.length === 0) {
    const owner = shop === undefined ? `party ${party} pays out through` : `shop ${shop} has`;
    throw new Error(`${owner} no terminal ${id}; mandate terminal list --party ${party} shows all`);
  }
  const what = shop === undefined ? 'payouts' : 'payments';
  console.log(`${id} takes no new ${what}; every node knows within a second.`);
}

function requireText(what: string, text: string, most: number): void {
  if (/^[\x20-\x7e]+$/.test(text) && text.length <= most && text.trim() !== '') return;
  throw new Error(`${what} has 1 to ${most} ASCII characters`);
}
