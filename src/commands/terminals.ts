// mandate terminal: through which banks the shops of a merchant take cards.
import { listBanks, listTerminals, retireTerminal } from '../bank/bank.store.ts';
import { readShop } from '../merchants/party.store.ts';
import { withBanks } from './banks.ts';
import { printTable, withFoundation } from './foundation.ts';

export async function addTerminal(
  id: string,
  options: {
    party: string;
    shop: string;
    bank: string;
    merchant: string;
    descriptor: string;
    priority: string;
  },
): Promise<void> {
  const { party, shop, bank, merchant, descriptor } = options;
  requireText('the id of a terminal', id, 40);
  requireText('--merchant', merchant, 40);
  requireText('--descriptor', descriptor, 100);
  const priority = /^\d{1,6}$/.test(options.priority) ? Number(options.priority) : undefined;
  if (priority === undefined) throw new Error('--priority must be a whole number; the lowest goes first');
  await withBanks(async (banks, { database }) => {
    const [known] = await database.run(readShop, { party_id: party, shop_id: shop });
    if (!known)
      throw new Error(`party ${party} has no shop ${shop}; mandate shop list --party ${party} shows all`);
    const ids = (await database.run(listBanks, {})).map(({ bank_id }) => bank_id);
    if (!ids.includes(bank)) throw new Error(`there is no bank ${bank}; mandate bank list shows all`);
    const terminal = {
      id,
      partyId: party,
      shopId: shop,
      bankId: bank,
      merchantId: merchant,
      descriptor,
      priority,
    };
    if (await banks.putTerminal(terminal)) return;
    throw new Error(
      `terminal ${id} of ${shop} is with another bank, where payments through it are known; give the new one another id`,
    );
  });
  console.log(`${shop} takes cards through ${bank} as ${merchant}; every node knows within a second.`);
}

export async function listAllTerminals(options: { party: string; json?: true }): Promise<void> {
  const rows = await withFoundation(({ database }) =>
    database.run(listTerminals, { party_id: options.party }),
  );
  const terminals = rows.map((row) => ({
    shopId: row.shop_id,
    terminalId: row.terminal_id,
    bankId: row.bank_id,
    merchantId: row.merchant_id,
    descriptor: row.descriptor,
    priority: row.priority,
    ...(row.retired_at === null ? {} : { retiredAt: row.retired_at }),
  }));
  if (options.json) return console.log(JSON.stringify(terminals, null, 2));
  if (terminals.length === 0)
    return console.log('No shop of this party has a terminal; mandate terminal add makes one.');
  printTable(
    ['shop', 'terminal', 'bank', 'merchant', 'priority', 'state', 'descriptor'],
    terminals.map((one) => [
      one.shopId,
      one.terminalId,
      one.bankId,
      one.merchantId,
      String(one.priority),
      one.retiredAt ? `removed ${one.retiredAt.slice(0, 10)}` : 'in use',
      one.descriptor,
    ]),
  );
}

export async function removeTerminal(id: string, options: { party: string; shop: string }): Promise<void> {
  const { party, shop } = options;
  const rows = await withFoundation(({ database, ports }) =>
    database.run(retireTerminal, { party_id: party, shop_id: shop, terminal_id: id, now: ports.clock.now() }),
  );
  if (rows.length === 0) {
    throw new Error(`shop ${shop} has no terminal ${id}; mandate terminal list --party ${party} shows all`);
  }
  console.log(`${id} takes no new payments; every node knows within a second.`);
}

function requireText(what: string, text: string, most: number): void {
  if (/^[\x20-\x7e]+$/.test(text) && text.length <= most && text.trim() !== '') return;
  throw new Error(`${what} has 1 to ${most} ASCII characters`);
}
