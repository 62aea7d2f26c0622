// The page of a payment link. It makes one invoice by the token of the template, and opens the checkout of that invoice, which does
// all the rest.
import type {
  PaymentLinkFacts,
  PaymentLinkView,
} from '../../src/checkout/domain/payment-link/payment-link-page.ts';
import { sizeOfPrinted } from '../../src/checkout/domain/amount-size.ts';
import { fill } from '../../src/checkout/domain/translations.ts';
import { printMoney } from '../../src/receipts/domain/format-money.ts';
import { openApi, type Api } from '../checkout/api.ts';
import { addressIn } from '../checkout/language.ts';
import { baseUrl, openSession, recall } from '../checkout/session.ts';
import { connectShopPage, hasShopPage, isInFrame, noteUnlisted, tellShop } from '../checkout/shop-page.ts';
import { showDetails } from '../checkout/views/details.ts';
import { waitInWords } from '../checkout/views/wait-text.ts';
import { existing, h } from '../docs/elements.ts';
import { amountProblem, minorIn, typedAmount, type Bounds } from './amount-text.ts';
import { offerOf, type Offer, type Template } from './template.ts';

type Invoice = { readonly id: string; readonly status: string; readonly amount: number };
type Payment = { readonly status: string };
type Made = { readonly invoice: Invoice; readonly invoiceAccessToken: { readonly payload: string } };

const askAgainMs = 4_000;

const facts = JSON.parse(existing('facts', HTMLElement).textContent) as PaymentLinkFacts;
const { words, locale, minorDigits } = facts;
const here = { ...facts, kind: 'invoiceTemplate' } as const;
/** Before the language was changed. The session clears the address. */
const typedBefore = new URLSearchParams(location.hash.slice(1)).get('typed');
const session = openSession('invoiceTemplate', facts.id);
const banner = existing('message', HTMLElement);
const sum = existing('sum', HTMLInputElement);
const button = existing('onward', HTMLButtonElement);

let isGoing = false;
let offer: Offer | undefined;
/** Made before in this tab, and not paid yet: it is not made a second time. */
let earlier: Invoice | undefined;

noteUnlisted(facts);
if (isInFrame) document.documentElement.dataset['framed'] = '';
tellShop(here, { type: 'opened' });
const sheet = document.querySelector('.sheet') ?? document.body;
new ResizeObserver(() => tellShop(here, { type: 'resized', height: sheet.scrollHeight })).observe(sheet);
if (hasShopPage(facts)) connectShopPage(here);
if (session.token === undefined) show('dead');
else if (facts.view !== 'dead') {
  offerLanguage(session.token);
  void run(openApi(session.token));
}

/** With the token and what was typed behind the #, because a page in a frame may keep nothing. */
function offerLanguage(invoiceTemplateAccessToken: string): void {
  const link = existing('language', HTMLAnchorElement);
  const lead = () => {
    const kept = new URLSearchParams({ invoiceTemplateAccessToken });
    if (sum.value !== '' && !sum.readOnly) kept.set('typed', sum.value);
    link.href = `${addressIn(link.lang)}#${kept}`;
  };
  lead();
  sum.addEventListener('input', lead);
  link.hidden = false;
}

async function run(api: Api): Promise<void> {
  existing('amount-form', HTMLFormElement).addEventListener('submit', (event) => {
    event.preventDefault();
    void goOn(api);
  });
  // A page from the browser's history does not know the status of its invoice.
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
  sum.addEventListener('change', () => sum.value !== '' && say());
  sum.addEventListener('input', () => sum.ariaInvalid === 'true' && say());
  if (!(await resume())) await read(api);
}

async function read(api: Api): Promise<void> {
  const template = await answered<Template>(api, `invoice-templates/${facts.id}`);
  if (template === undefined) return show('dead');
  showOffer(offerOf(template, facts.largestMinor));
}

/** Asks until the service answers: what is not known may be paid. Undefined if the token is good no longer. */
async function answered<Body>(api: Api, path: string): Promise<Body | undefined> {
  for (;;) {
    const answer = await api.get<Body>(path);
    const isOffline = answer.came !== 'body' && answer.came !== 'stranger';
    if (!isOffline && banner.textContent === words.banners.offline) warn('');
    if (answer.came === 'body') return answer.body;
    if (answer.came === 'stranger') return undefined;
    warn(words.banners.offline);
    const pauseMs = answer.came === 'wait' ? answer.seconds * 1_000 : askAgainMs;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** Opens the earlier invoice while a payment of it is in progress: the payer must not pay twice. */
async function resume(): Promise<boolean> {
  const id = session.followed;
  const token = id === undefined ? undefined : recall(id)['invoiceAccessToken'];
  if (id === undefined || token === undefined) return false;
  const api = openApi(token);
  // First the payments: one that succeeds meanwhile is then seen in the status.
  const payments = await answered<readonly Payment[]>(api, `invoices/${id}/payments`);
  const invoice = await answered<Invoice>(api, `invoices/${id}`);
  earlier = invoice?.status === 'unpaid' ? invoice : undefined;
  const isInProgress = payments?.some(({ status }) => status === 'pending' || status === 'processed');
  if (!earlier || !isInProgress) return false;
  open(id);
  return true;
}

function showOffer(latest: Offer): void {
  const isFirst = offer === undefined;
  offer = latest;
  const { leastMinor, mostMinor } = latest;
  const isFixed = leastMinor === mostMinor;
  const amount = existing('amount', HTMLElement);
  const printed = isFixed ? print(leastMinor) : '';
  amount.textContent = printed;
  amount.dataset['size'] = sizeOfPrinted(printed);
  amount.hidden = !isFixed;
  const product = existing('product', HTMLElement);
  if (product.textContent === '') product.textContent = latest.product;
  showDetails(latest, facts);
  existing('choice', HTMLElement).hidden = isFixed;
  const isBounded = mostMinor < facts.largestMinor;
  existing('bounds', HTMLElement).textContent = isBounded ? fill(words.bounds, bounds(latest)) : '';
  const { amountMinor = -1 } = facts;
  sum.readOnly = amountMinor >= leastMinor && amountMinor <= mostMinor;
  const chosen = sum.readOnly ? amountMinor : earlier?.amount;
  if (isFirst && chosen !== undefined) sum.value = typedAmount(chosen, minorDigits, locale);
  if (isFirst && typedBefore !== null && !sum.readOnly) type(typedBefore);
  show('form');
}

/** As this language writes it, or as it was if it is no amount. */
function type(text: string): void {
  const minor = minorIn(text, minorDigits);
  sum.value = minor === undefined ? text.slice(0, sum.maxLength) : typedAmount(minor, minorDigits, locale);
  sum.dispatchEvent(new Event('input'));
}

/** One invoice for each click: a second one while it is on its way does nothing. */
async function goOn(api: Api): Promise<void> {
  const amount = isGoing ? undefined : chosenMinor();
  if (amount === undefined) return;
  warn('');
  if (earlier?.amount === amount) return open(earlier.id);
  press(true);
  // Another page of this tab may have begun to pay since this one was loaded.
  if (earlier && (await resume())) return;
  const { currency } = facts;
  const made = await api.post<Made>(`invoice-templates/${facts.id}/invoices`, { amount, currency });
  if (made.came === 'body') {
    const { invoice, invoiceAccessToken } = made.body;
    session.follow(invoice.id);
    return open(invoice.id, invoiceAccessToken.payload);
  }
  if (made.came === 'stranger') return show('dead');
  const isChanged = made.came === 'refusal' && made.code === 'invalidRequest';
  if (isChanged) await read(api);
  press(false);
  const { tooMany, unreachable, shopCannot } = words.banners;
  if (made.came === 'wait') warn(fill(tooMany, { when: waitInWords(made.seconds, locale) }));
  else if (made.came === 'nothing') warn(unreachable);
  else warn(isChanged ? words.changed : shopCannot);
  banner.focus();
}

/** The whole look of the link goes with it. What is private stays behind the #, which no server sees. */
function open(invoiceId: string, token?: string): void {
  const query = new URLSearchParams(location.search);
  for (const name of ['invoiceTemplateID', 'amount']) query.delete(name);
  query.set('invoiceID', invoiceId);
  const hidden = new URLSearchParams();
  if (token !== undefined) hidden.set('invoiceAccessToken', token);
  if (session.email !== undefined) hidden.set('email', session.email);
  if (session.metadata !== undefined) hidden.set('metadata', JSON.stringify(session.metadata));
  // It has to see that it comes from here, or a window of a shop's page loses that page.
  const link = h('a', {
    href: `${baseUrl}checkout?${query}#${hidden}`,
    referrerpolicy: 'origin',
    hidden: true,
  });
  document.body.append(link);
  link.click();
}

/** Undefined when the amount is wrong: then the field says so, and has the focus. */
function chosenMinor(): number | undefined {
  if (!offer) return undefined;
  if (offer.leastMinor === offer.mostMinor) return offer.leastMinor;
  if (!say()) return void sum.focus();
  return minorIn(sum.value, minorDigits);
}

/** Whether the amount is good. */
function say(): boolean {
  const problem = offer && amountProblem(sum.value, minorDigits, offer);
  sum.ariaInvalid = problem === undefined ? null : 'true';
  existing('sum-problem', HTMLElement).textContent =
    offer && problem !== undefined ? fill(words[problem], bounds(offer)) : '';
  return problem === undefined;
}

function bounds({ leastMinor, mostMinor }: Bounds) {
  // Without a lower bound the least amount would be a strange example.
  const exampleMinor = leastMinor === 1 ? Math.min(100 * 10 ** minorDigits, mostMinor) : leastMinor;
  return { least: print(leastMinor), most: print(mostMinor), example: print(exampleMinor) };
}

function print(amountMinor: number): string {
  return printMoney({ ...facts, amountMinor }, locale);
}

function press(isPressed: boolean): void {
  isGoing = isPressed;
  button.ariaDisabled = isPressed ? 'true' : null;
}

function show(view: PaymentLinkView): void {
  for (const name of ['loading', 'form', 'dead']) existing(name, HTMLElement).hidden = name !== view;
  document.documentElement.dataset['view'] = view;
  if (view === 'dead') existing('dead', HTMLElement).querySelector('h2')?.focus();
}

function warn(text: string): void {
  if (banner.textContent !== text) banner.textContent = text;
  banner.classList.toggle('shown', text !== '');
}
