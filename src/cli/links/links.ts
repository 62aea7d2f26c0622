// mandate links: payment links, each with the invoice template that its page sells by.
import { writeFile } from 'node:fs/promises';
import { defined } from '../../defined.ts';
import { codeOf } from '../../error-code.ts';
import {
  boundsOf,
  decideTemplate,
  type InvoiceTemplate,
  type TemplateDetails,
  type TemplatePrice,
  type TemplateTerms,
} from '../../invoices/domain/template.ts';
import {
  deleteTemplate,
  loadTemplate,
  storeNewTemplate,
  templatesOf,
} from '../../invoices/store/templates.ts';
import { openTemplateTokens, paymentLinkOf } from '../../invoices/template-tokens.ts';
import { livemodeOf } from '../../livemode.ts';
import { openMerchants } from '../../merchants/merchants.ts';
import { shopFromRow } from '../../merchants/store/parties.ts';
import { readSandboxFacts } from '../../sandbox/sandbox-setup.ts';
import type { Foundation } from '../../app/composition/foundation.ts';
import { isLoopback } from '../../platform/http/loopback.ts';
import {
  printTable,
  refusalText,
  requireParty,
  requireShop,
  wholeNumber,
  withFoundation,
} from '../foundation.ts';
import { printJson, printJsonObject } from '../json-members.ts';
import { minorOf } from '../option-values.ts';
import { drawnQrCode, svgQrCode } from './qr-code.ts';

type Shown = { readonly qr?: true; readonly json?: true };
type NewLink = Shown & {
  readonly party: string;
  readonly shop: string;
  readonly product: string;
  readonly amount: string;
  readonly days: string;
  readonly name?: string;
  readonly description?: string;
};
type Link = ReturnType<typeof linkOf>;

const longestDays = 1_096;

export async function createLink(options: NewLink): Promise<void> {
  const termsIn = readTerms(options);
  const link = await withFoundation(async (foundation) => {
    const { database, ports, config } = foundation;
    const party = await requireParty(database, options.party);
    const stored = shopFromRow(await requireShop(database, party.id, options.shop));
    const merchants = openMerchants(database.lookups, ports.clock, livemodeOf(config.mode));
    const shop = await merchants.shop(party.id, stored.id);
    const asked = { id: ports.ids.next(), ...termsIn(stored.currency) };
    const decision = decideTemplate(party, shop, asked, merchants.timeOf(party));
    if (!decision.ok) throw new Error(`${refusalText(decision.refusal)} No link was created.`);
    const created = linkOf(foundation, decision.value);
    // Without an external ID no repeat is compared with it.
    await storeNewTemplate(database, decision.value, Buffer.alloc(0));
    return created;
  });
  print(link, options);
}

export async function listLinks(options: {
  readonly party: string;
  readonly limit: string;
  readonly json?: true;
}): Promise<void> {
  const limit = wholeNumber('--limit', options.limit, 1, 1_000);
  const found = await withFoundation(async (foundation) => {
    await requireParty(foundation.database, options.party);
    // One more shows whether the list is complete.
    const templates = await templatesOf(foundation.database, options.party, limit + 1);
    return templates.map((template) => linkOf(foundation, template));
  });
  const shown = found.slice(0, limit);
  if (options.json) return printJson('links list', shown);
  printTable(
    ['link', 'shop', 'product', 'amount', 'lifetime', 'name'],
    shown.map(({ id, shopId, product, amount, lifetime, name = '' }) => [
      id,
      shopId,
      product,
      amount,
      lifetime,
      name,
    ]),
  );
  if (found.length > limit) console.log('\nThere are more. List up to 1000 with --limit.');
}

export async function showLink(id: string, options: Shown & { readonly svg?: string }): Promise<void> {
  const link = await withFoundation(async (foundation) =>
    linkOf(foundation, await requireTemplate(foundation, id)),
  );
  if (options.svg !== undefined) await writeNew(options.svg, svgQrCode(link.paymentLink));
  print(link, options);
}

export async function deleteLink(id: string): Promise<void> {
  await withFoundation(async (foundation) => {
    const { database, ports, config } = foundation;
    const { partyId } = await requireTemplate(foundation, id);
    const merchants = openMerchants(database.lookups, ports.clock, livemodeOf(config.mode));
    const now = merchants.timeOf(await requireParty(database, partyId));
    if (!(await deleteTemplate(database, id, now))) throw notFound(id);
  });
  console.log(`Deleted ${id}. Every node refuses it within a second.`);
}

function linkOf(
  { database, keyring, config }: Foundation,
  { details, lifetime, ...template }: InvoiceTemplate,
) {
  const { id } = template;
  const token = openTemplateTokens({ lookups: database.lookups, keyring }).issue(id);
  return {
    ...template,
    paymentLink: paymentLinkOf(addressFor(config), { id, token }),
    product: productOf(details),
    amount: amountText(details),
    lifetime: lifetimeText(lifetime),
  };
}

/** Payers open it for years, so an address of this machine is refused in live mode. */
function addressFor({ mode, dataFolder, publicUrl }: Foundation['config']): string {
  // A running sandbox may have chosen its port.
  if (mode === 'sandbox') return readSandboxFacts(dataFolder)?.apiUrl ?? publicUrl;
  if (!isLoopback(new URL(publicUrl).hostname)) return publicUrl;
  throw new Error(`Payers cannot reach ${publicUrl}. Set PUBLIC_URL as the service has it.`);
}

function print(link: Link, { json, qr }: Shown): void {
  if (json) return printJsonObject('links show', link);
  const { paymentLink, id, shopId, product, description, amount, lifetime, name } = link;
  const lines = { link: paymentLink, id, shop: shopId, product, description, amount, lifetime, name };
  for (const [title, value] of Object.entries(lines))
    if (value !== undefined) console.log(`${title.padEnd(11)} ${value}`);
  if (qr) console.log(`\n${drawnQrCode(paymentLink, { isOnTerminal: process.stdout.isTTY })}`);
}

async function writeNew(file: string, text: string): Promise<void> {
  await writeFile(file, text, { flag: 'wx' }).catch((error: unknown) => {
    const why = codeOf(error) === 'EEXIST' ? 'exists already' : 'cannot be written';
    throw new Error(`--svg "${file}" ${why}. Name another file.`);
  });
}

async function requireTemplate({ database }: Foundation, id: string): Promise<InvoiceTemplate> {
  const template = await loadTemplate(database, id);
  if (!template) throw notFound(id);
  return template;
}

function notFound(id: string): Error {
  return new Error(`Payment link ${id} not found. List links with "mandate links list --party <partyID>".`);
}

/** What is wrong with it is said before the database is opened. The shop knows the currency. */
function readTerms({
  product,
  amount,
  days,
  name,
  description,
}: NewLink): (currency: string) => TemplateTerms {
  requireLength('--product', product, 1_000);
  if (name !== undefined) requireLength('--name', name, 100);
  if (description !== undefined) requireLength('--description', description, 1_000);
  const lifetime = { days: wholeNumber('--days', days, 1, longestDays), months: 0, years: 0 };
  const priceIn = readPrice(amount);
  return (currency) => ({
    lifetime,
    details: { templateType: 'InvoiceTemplateSingleLine', product, price: priceIn(currency) },
    ...defined({ name, description }),
  });
}

function requireLength(option: string, text: string, most: number): void {
  if (text.trim() === '' || text.length > most)
    throw new Error(`${option} has ${text.trim().length} characters. Use 1 to ${most}.`);
}

const anyAmount = 'any';

function readPrice(amount: string): (currency: string) => TemplatePrice {
  if (amount === anyAmount) return () => ({ costType: 'InvoiceTemplateLineCostUnlim' });
  const [lowest = '', highest = lowest, ...more] = amount.split('-');
  const [lowestMinor, highestMinor] = [minorOf('--amount', lowest), minorOf('--amount', highest)];
  if (more.length > 0 || lowestMinor === 0n || lowestMinor > highestMinor)
    throw new Error(`--amount is "${amount}". Use 1 or more, a range from the lower to the higher, or any.`);
  return (currency) =>
    lowestMinor === highestMinor
      ? { costType: 'InvoiceTemplateLineCostFixed', currency, amountMinor: lowestMinor }
      : { costType: 'InvoiceTemplateLineCostRange', currency, lowestMinor, highestMinor };
}

/** As `--amount` takes it. */
function amountText(details: TemplateDetails): string {
  const isOpen = 'price' in details && details.price.costType === 'InvoiceTemplateLineCostUnlim';
  const { lowestMinor, highestMinor } = boundsOf(details);
  if (isOpen) return anyAmount;
  return lowestMinor === highestMinor ? `${lowestMinor}` : `${lowestMinor}-${highestMinor}`;
}

function productOf(details: TemplateDetails): string {
  if (details.templateType === 'InvoiceTemplateSingleLine') return details.product;
  const [first, ...others] = details.cart;
  return [first?.product, others.length > 0 ? `and ${others.length} more` : []].flat().join(' ');
}

function lifetimeText(lifetime: InvoiceTemplate['lifetime']): string {
  const { years, months, days } = lifetime;
  const parts = Object.entries({ years, months, days }).filter(([, count]) => count > 0);
  return parts.map(([unit, count]) => `${count} ${count === 1 ? unit.slice(0, -1) : unit}`).join(', ');
}
