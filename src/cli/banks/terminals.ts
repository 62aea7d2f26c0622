// mandate terminal: the accounts of shops and merchants at banks, for payments and payouts.
import { listBanks, listTerminals, payoutTerminals, shopTerminals } from '../../acquiring/store/banks.ts';
import { noSuchBank, withBanks } from './banks.ts';
import { printTable, requireParty, requireShop, withFoundation } from '../foundation.ts';
import { printJson } from '../json-members.ts';

/** A shop, or with `payouts` the merchant. */
type Owner = { readonly party: string; readonly shop?: string; readonly payouts?: true };

export async function addTerminal(
  id: string,
  options: Owner & { bank: string; merchant: string; descriptor: string; priority: string },
): Promise<void> {
  const { party, bank, merchant, descriptor } = options;
  const shop = shopOf(options);
  requireText('<terminalID>', id, 40);
  requireText('--merchant', merchant, 40);
  requireText('--descriptor', descriptor, 100);
  const priority = /^\d{1,6}$/.test(options.priority) ? Number(options.priority) : undefined;
  if (priority === undefined)
    throw new Error(
      `--priority is "${options.priority}". Use a whole number of at most 6 digits; the lowest is used first.`,
    );
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
      `Terminal ${id} of ${shop ?? party} belongs to another bank, which its payments need. Choose another ID for the new one.`,
    );
  });
  const does = shop === undefined ? `Party ${party} pays out` : `Shop ${shop} takes cards`;
  console.log(`${does} through bank ${bank} as ${merchant}. Every node uses it within a second.`);
}

/** Undefined for payouts. */
function shopOf({ shop, payouts }: Owner): string | undefined {
  if ((shop === undefined) === (payouts === undefined)) {
    throw new Error('The purpose of the terminal is missing. Give either --shop or --payouts.');
  }
  return shop;
}

export async function listAllTerminals(options: { party: string; json?: true }): Promise<void> {
  const rows = await withFoundation(async ({ database }) => {
    await requireParty(database, options.party);
    return database.run(listTerminals, { party_id: options.party });
  });
  const terminals = rows.map((row) => ({
    terminalId: row.terminal_id,
    shopId: row.shop_id,
    payouts: row.shop_id === null,
    bankId: row.bank_id,
    merchantId: row.merchant_id,
    descriptor: row.descriptor,
    priority: row.priority,
    retiredAt: row.retired_at,
  }));
  if (options.json) return printJson('terminal list', terminals);
  if (terminals.length === 0)
    return console.log('This party has no terminal. Add one with "mandate terminal add".');
  printTable(
    ['for', 'terminal', 'bank', 'merchant', 'priority', 'status', 'descriptor'],
    terminals.map((one) => [
      one.shopId ?? 'payouts',
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
    const owner =
      shop === undefined ? `Party ${party} has no payout terminal` : `Shop ${shop} has no terminal`;
    throw new Error(`${owner} ${id}. List terminals with "mandate terminal list --party ${party}".`);
  }
  const what = shop === undefined ? 'payouts' : 'payments';
  console.log(`Terminal ${id} takes no new ${what}. Every node knows it within a second.`);
}

function requireText(what: string, text: string, maxLength: number): void {
  if (/^[\x20-\x7e]+$/.test(text) && text.length <= maxLength && text.trim() !== '') return;
  throw new Error(`${what} is "${text}". Use 1 to ${maxLength} ASCII characters.`);
}
