// mandate terminal: the accounts of shops and merchants at banks, for payments and payouts.
import { initiations, longestHoldDays, type HoldDays } from '../../acquiring/domain/routing/hold-days.ts';
import {
  senderFields,
  type PayoutTerminalTerms,
  type SenderField,
  type SourceOfFunds,
} from '../../acquiring/domain/routing/payout-terminal.ts';
import {
  listBanks,
  listTerminals,
  payoutTerminals,
  resumeTerminal,
  shopTerminals,
} from '../../acquiring/store/banks.ts';
import type { Banks } from '../../acquiring/banks.ts';
import { refusalOfTerminal } from '../../acquiring/domain/missing-ability.ts';
import { paymentSystems } from '../../cards/domain/card.ts';
import { laterBy, type Instant } from '../../clock.ts';
import { defined } from '../../defined.ts';
import { isKnownCurrency } from '../../money.ts';
import { noSuchBank, withBanks } from './banks.ts';
import { merchantFactsIn } from './merchant-facts.ts';
import { printTable, requireParty, requireShop, withFoundation } from '../foundation.ts';
import { printJson } from '../json-members.ts';
import { refuseCardNumber } from '../option-values.ts';

type PayoutOptions = {
  readonly currencies?: string;
  readonly demands?: string;
  readonly sourceOfFunds?: SourceOfFunds;
  readonly purposes?: string;
};

/** A shop, or with `payouts` the merchant. */
type Owner = { readonly party: string; readonly shop?: string; readonly payouts?: true };

type AddOptions = Owner &
  PayoutOptions & {
    bank: string;
    merchant: string;
    descriptor: string;
    priority: string;
    holdDays?: string[];
    mcc?: string;
    name?: string;
    city?: string;
    country?: string;
    url?: string;
    subMerchant?: string;
  };

export async function addTerminal(id: string, options: AddOptions): Promise<void> {
  const { party, bank, merchant, descriptor } = options;
  const shop = shopOf(options);
  requireText('<terminalID>', id, 40);
  refuseCardNumber('<terminalID>', id);
  requireText('--merchant', merchant, 40);
  requireText('--descriptor', descriptor, 100);
  const priority = /^\d{1,6}$/.test(options.priority) ? Number(options.priority) : undefined;
  if (priority === undefined)
    throw new Error(
      `--priority is "${options.priority}". Use a whole number of at most 6 digits; the lowest is used first.`,
    );
  const holdDays = (options.holdDays ?? []).map((text) => holdDaysFrom(id, text));
  if (shop === undefined && holdDays.length > 0)
    throw new Error('--hold-days is for payments. Give --shop, or leave it out.');
  const terms = payoutTermsOf(options, shop);
  const facts = defined({ merchant: merchantFactsIn(options) });
  await withBanks(async (banks, { database }) => {
    if (shop === undefined) await requireParty(database, party);
    else await requireShop(database, party, shop);
    const ids = (await database.run(listBanks, {})).map(({ bank_id }) => bank_id);
    if (!ids.includes(bank)) throw noSuchBank(bank);
    await refuseUnable(banks, bank, shop, terms);
    const account = { id, partyId: party, bankId: bank, merchantId: merchant, descriptor };
    const terminal = { ...account, ...facts, priority };
    const isPut =
      shop === undefined
        ? await banks.putPayoutTerminal({ ...terminal, terms })
        : await banks.putTerminal({ ...terminal, shopId: shop });
    if (isPut && shop !== undefined)
      for (const days of holdDays) await banks.putHoldDays({ partyId: party, shopId: shop }, days);
    if (isPut) return;
    throw new Error(
      `Terminal ${id} of ${shop ?? party} belongs to another bank, which its payments need. Choose another ID for the new one.`,
    );
  });
  const does = shop === undefined ? `Party ${party} pays out` : `Shop ${shop} takes cards`;
  console.log(`${does} through bank ${bank} as ${merchant}. Every node uses it within a second.`);
}

/** A bank that cannot be reached counts as one that declares nothing. */
async function refuseUnable(
  banks: Banks,
  bank: string,
  shop: string | undefined,
  terms: PayoutTerminalTerms,
) {
  const abilities = await (await banks.bankNamed(bank))?.abilities();
  const currencies = Object.keys(terms.currencies ?? {});
  const wanted = shop === undefined ? ({ kind: 'payout', currencies } as const) : payments;
  const refusal = abilities && refusalOfTerminal(bank, abilities, wanted);
  if (refusal !== undefined) throw new Error(refusal);
}

const payments = { kind: 'payment', currencies: [] } as const;

/** Reads `visa.withoutPayer=4`. */
function holdDaysFrom(terminalId: string, text: string): HoldDays {
  const [, network = '', named = '', digits = ''] = /^(\w+)\.(\w+)=(\d{1,2})$/.exec(text) ?? [];
  const initiation = initiations.find((each) => each === named);
  if (!Object.hasOwn(paymentSystems, network) || !initiation)
    throw new Error(`--hold-days "${text}" is not a hold length. Write it as visa.withoutPayer=4.`);
  const [days, longest] = [Number(digits), longestHoldDays(network, initiation)];
  if (days < 1 || days > longest)
    throw new Error(
      `--hold-days "${text}" is not possible. Use 1 to ${longest} days: the network keeps no hold longer.`,
    );
  return { terminalId, network, initiation, days };
}

/** In place of a list of currencies: every currency. */
const everyCurrency = 'any';

function payoutTermsOf(options: PayoutOptions, shop: string | undefined): PayoutTerminalTerms {
  const { currencies, demands, sourceOfFunds, purposes } = options;
  if (shop !== undefined) {
    if ([currencies, demands, sourceOfFunds, purposes].every((option) => option === undefined)) return {};
    throw new Error('--currencies, --demands, --source-of-funds and --purposes are for --payouts only.');
  }
  if (currencies === undefined)
    throw new Error(
      `--currencies is missing. Give those the bank pays out, such as RUB=60000000,JPY, or ${everyCurrency}.`,
    );
  return {
    ...(currencies === everyCurrency ? {} : { currencies: currenciesIn(currencies) }),
    ...(demands === undefined ? {} : { demands: demandsIn(demands) }),
    ...defined({ sourceOfFunds }),
    ...(purposes === undefined ? {} : { purposes: purposesIn(purposes) }),
  };
}

function currenciesIn(list: string): NonNullable<PayoutTerminalTerms['currencies']> {
  const pairs = list.split(',').map((entry) => {
    const [, code = '', most] = /^([A-Z]{3})(?:=(\d{1,12}))?$/.exec(entry.trim()) ?? [];
    if (!isKnownCurrency(code))
      throw new Error(
        `--currencies has "${entry}". Use an ISO 4217 code, or one with its largest amount: RUB=60000000.`,
      );
    return [code, most === undefined ? {} : { maxMinor: BigInt(most) }] as const;
  });
  return Object.fromEntries(pairs);
}

/** `name,visa.address` is a name for every network, and an address for Visa. */
function demandsIn(list: string): NonNullable<PayoutTerminalTerms['demands']> {
  const demands: Record<string, SenderField[]> = {};
  for (const entry of list.split(',')) {
    const [network = '', field = ''] = entry.includes('.') ? entry.trim().split('.') : ['*', entry.trim()];
    const known = senderFields.find((one) => one === field);
    if (!known || (network !== '*' && !Object.hasOwn(paymentSystems, network)))
      throw new Error(
        `--demands has "${entry}". Use ${senderFields.join(', ')}, or one of them for one network: visa.address.`,
      );
    demands[network] = [...(demands[network] ?? []), known];
  }
  return demands;
}

function purposesIn(list: string): string[] {
  const codes = list.split(',').map((code) => code.trim());
  const wrong = codes.find((code) => !/^[A-Z0-9]{2,3}$/.test(code));
  if (wrong !== undefined)
    throw new Error(`--purposes has "${wrong}". Use codes of 2 or 3 characters, such as FD or C55.`);
  return codes;
}

/** Null for a terminal of a shop. */
function currenciesText(terms: PayoutTerminalTerms | null): string | null {
  if (!terms) return null;
  if (!terms.currencies) return everyCurrency;
  return Object.entries(terms.currencies)
    .map(([code, { maxMinor }]) => (maxMinor === undefined ? code : `${code}=${maxMinor}`))
    .join(',');
}

/** Undefined for payouts. */
function shopOf({ shop, payouts }: Owner): string | undefined {
  if ((shop === undefined) === (payouts === undefined)) {
    throw new Error('The purpose of the terminal is missing. Give either --shop or --payouts.');
  }
  return shop;
}

export async function listAllTerminals(options: { party: string; json?: true }): Promise<void> {
  const { rows, now } = await withFoundation(async ({ database, ports }) => {
    // A pause is on the merchant's clock, which a test clock may have moved.
    const { clockOffsetMs } = await requireParty(database, options.party);
    const now = laterBy(ports.clock.now(), clockOffsetMs);
    return { rows: await database.run(listTerminals, { party_id: options.party }), now };
  });
  const terminals = rows.map((row) => ({
    terminalId: row.terminal_id,
    shopId: row.shop_id,
    payouts: row.shop_id === null,
    bankId: row.bank_id,
    merchantId: row.merchant_id,
    descriptor: row.descriptor,
    merchantFacts: row.merchant_facts,
    priority: row.priority,
    retiredAt: row.retired_at,
    pausedUntil: row.paused_until,
    pausedBecause: row.paused_because,
    currencies: currenciesText(row.terms),
    sourceOfFunds: row.terms?.sourceOfFunds ?? null,
    purposes: row.terms?.purposes ?? null,
    demands: row.terms?.demands ?? null,
  }));
  if (options.json) return printJson('terminal list', terminals);
  if (terminals.length === 0)
    return console.log('This party has no terminal. Add one with "mandate terminal add".');
  printTable(
    ['for', 'terminal', 'bank', 'merchant', 'priority', 'status', 'currencies', 'descriptor'],
    terminals.map((one) => [
      one.shopId ?? 'payouts',
      one.terminalId,
      one.bankId,
      one.merchantId,
      String(one.priority),
      one.retiredAt ? `removed ${one.retiredAt.slice(0, 10)}` : pauseOf(one, now),
      one.currencies ?? '',
      one.descriptor,
    ]),
  );
}

/** What an operator needs to know of a pause: until when, and the response that caused it. */
function pauseOf(
  { pausedUntil, pausedBecause }: { pausedUntil: Instant | null; pausedBecause: string | null },
  now: Instant,
): string {
  if (pausedUntil === null || pausedUntil <= now) return 'in use';
  return `no charges without the payer until ${pausedUntil.slice(0, 19)}Z: ${pausedBecause ?? ''}`;
}

export async function resumeCharges(id: string, { party, shop }: { party: string; shop: string }) {
  const rows = await withFoundation(({ database }) =>
    database.run(resumeTerminal, { party_id: party, shop_id: shop, terminal_id: id }),
  );
  if (rows.length === 0)
    throw new Error(
      `Terminal ${id} of shop ${shop} is not paused. List terminals with "mandate terminal list --party ${party}".`,
    );
  console.log(`Terminal ${id} takes charges without the payer again. Every node knows it within a second.`);
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
