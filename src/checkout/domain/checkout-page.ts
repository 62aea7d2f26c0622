// The checkout page as it is sent, which shows the amount, the product and the shop before any script runs.
// Script and style are inline and allowed by their hashes, so no other code can run.
import type { Translations } from './translations.en.ts';
import { fill, wordsIn } from './translations.ts';
import type { MandateTerms } from '../../receipts/domain/terms.ts';
import { consentTextOf, needsConsent, type ConsentText } from './consent-text.ts';
import {
  challenge,
  consentField,
  head,
  languageLink,
  mark,
  message,
  page,
  section,
  shopName,
  smallPrint,
  type Brand,
} from './page-parts.ts';
import type { CheckoutRequest, TaskKind } from './checkout-request.ts';
import { escaped } from '../../receipts/domain/receipt.ts';
import { networkName } from '../../cards/domain/printed-card.ts';
import { networkSigns } from './network-logos.ts';
import { areShort, hasDetails, printedLines, type OrderDetails } from './order-lines.ts';
import { sizeOfPrinted } from './amount-size.ts';
import { printMoney } from '../../receipts/domain/format-money.ts';
import { defined } from '../../defined.ts';

export const views = [
  'loading',
  'form',
  'waiting',
  'challenge',
  'left',
  'done',
  'cancelled',
  'dead',
  'heard',
] as const;
export type View = (typeof views)[number];

/** What a payer with the token sees of an invoice. */
export type Order = OrderDetails & {
  readonly amountMinor: number;
  readonly product: string;
  /** The merchant wants the card saved, on these terms. */
  readonly recurring?: MandateTerms;
};

export type CheckoutShop = {
  readonly name: string;
  readonly isTest: boolean;
  readonly currency: string;
  readonly minorDigits: number;
};

export type CheckoutView = {
  readonly request: CheckoutRequest;
  readonly shop?: CheckoutShop;
  readonly order?: Order;
  readonly view: View;
  /** Whose cards the shop takes. */
  readonly networks?: readonly string[];
  /** What is charged and refunded to check a card, if the shop's currency has such a sum. */
  readonly verificationMinor?: number;
  /** Receipts reach the payer by email. An invoice's checkout asks for the address. */
  readonly isMailed?: boolean;
  readonly brand?: Brand;
  readonly returnTo?: string;
  /** Where a payer goes who does not pay. */
  readonly cancelTo?: string;
  /** The shop's page that gets the progress reports. */
  readonly shopOrigin?: string;
  /** The page of that origin opened it, and keeps a handle on it. */
  readonly hasOpener?: boolean;
  /** Any site may show it and get the payer back: the page says that live mode differs. */
  readonly isOpen?: boolean;
};

/** What the page's script reads. */
export type CheckoutFacts = Omit<
  CheckoutRequest,
  'token' | 'redirectUrl' | 'cancelUrl' | 'privateReturn' | 'shopOrigin' | 'name' | 'description'
> & {
  readonly view: View;
  readonly shop: string;
  readonly currency: string;
  readonly minorDigits: number;
  readonly returnTo?: string;
  readonly shopOrigin?: string;
  readonly hasOpener: boolean;
  /** The sentence at the box. Without an order, the script composes it once it knows the order. */
  readonly consent?: ConsentText;
  readonly verificationMinor?: number;
  readonly isMailed: boolean;
  readonly words: Pick<
    Translations,
    'problems' | 'banners' | 'waiting' | 'page' | 'done' | 'challenge' | 'consent'
  >;
};

export function checkoutPage(shown: CheckoutView, assets: { script: string; style: string }): string {
  const { request, view } = shown;
  const words = wordsIn(request.locale);
  const name = request.name ?? shown.shop?.name ?? '';
  const waiting = waitingOf(request.kind, words);
  const title = request.kind === 'invoice' ? words.page.payTitle : words.page.bindTitle;
  return page({
    locale: request.locale,
    theme: request.theme,
    view,
    title: [title, name].filter(Boolean).join(' · '),
    assets,
    facts: factsOf(shown, words, name),
    body: `${networkSigns}
<div class="sheet">
${closeButton(words)}
${summary(shown, words, name)}
<main>
${message(words.page.noScript)}
${section('loading', view, `<div class="spinner"></div><p class="off-screen">${escaped(words.page.loading)}</p>`)}
${section('form', view, cardForm(shown, words, name))}
${section('waiting', view, `<div class="spinner"></div>${head(waiting.head)}<p id="waiting-lead" aria-live="polite">${escaped(waiting.lead)}</p>`)}
${section('challenge', view, challenge(words))}
${section('left', view, `${left(request.kind, words)}<button id="resume" class="main" type="button">${escaped(words.challenge.resume)}</button>`)}
${section('done', view, done(words))}
${section('cancelled', view, `${mark('stop')}${head(words.ended.cancelledHead)}<p>${escaped(words.ended.cancelledLead)}</p>${backLink(shown, words)}`)}
${section('dead', view, `${mark('stop')}${head(words.ended.deadHead)}<p>${escaped(words.ended.deadLead)}</p>${backLink(shown, words)}`)}
${section('heard', view, `${head(words.ended.heardHead)}<p>${escaped(words.ended.heardLead)}</p>`)}
${smallPrint(shown.brand, words)}
</main>
</div>`,
  });
}

export function closeButton({ page: { close } }: Translations): string {
  return `<button id="close" class="close" type="button" aria-label="${escaped(close)}" hidden><svg viewBox="0 0 24 24" aria-hidden="true"><path d="M6 6l12 12M18 6L6 18"/></svg></button>`;
}

export function summary(shown: CheckoutView, words: Translations, name: string): string {
  const { request, shop, order } = shown;
  const amount = order && shop ? printMoney({ ...shop, ...order }, request.locale) : '';
  const heading =
    request.kind === 'customer'
      ? `<h1 class="lead">${escaped(words.page.bindHead)}</h1>`
      : `<h1><span class="off-screen">${escaped(words.page.payTitle)} </span><span id="amount" class="amount" data-size="${sizeOfPrinted(amount)}">${escaped(amount)}</span></h1>`;
  const product = request.description ?? order?.product ?? '';
  const details = request.kind === 'customer' ? '' : orderDetails(shown, words);
  // A shop may show any name, so the page also names the recipient of the money.
  const isRenamed = shop !== undefined && request.name !== undefined && request.name !== shop.name;
  return `<header class="summary">
${shopName(name, shown.brand)}
${heading}
<p id="product" class="product">${escaped(request.kind === 'customer' ? bindLead(shown, words) : product)}</p>
${details}
${isRenamed ? `<p class="payee">${escaped(fill(words.page.to, { shop: shop.name }))}</p>` : ''}
${shop?.isTest ? `<p class="test"><span>${escaped(words.page.testMode)}</span></p>` : ''}
${shown.isOpen ? `<p id="unlisted" class="hint" hidden>${escaped(words.page.unlisted)}</p>` : ''}
</header>`;
}

/** Hidden without any, until the script has read them. */
function orderDetails({ request, shop, ...shown }: CheckoutView, { page }: Translations): string {
  const order: OrderDetails = shown.order ?? {};
  const lines = shop ? printedLines(order, shop, request.locale) : [];
  const cart = lines.map(
    ({ product, cost }) => `<li><span>${escaped(product)}</span><span>${escaped(cost)}</span></li>`,
  );
  return `<details id="details" class="details"${areShort(order) ? ' open' : ''}${hasDetails(order) ? '' : ' hidden'}>
<summary>${escaped(page.details)}</summary>
<p id="description">${escaped(order.description ?? '')}</p>
<ul id="cart">${cart.join('')}</ul>
</details>`;
}

/** Without a sum no card can be saved. */
function bindLead({ request, shop, verificationMinor }: CheckoutView, { page }: Translations): string {
  if (!shop || verificationMinor === undefined) return '';
  const amount = printMoney({ ...shop, amountMinor: verificationMinor }, request.locale);
  return fill(page.bindLead, { amount });
}

function cardForm(shown: CheckoutView, words: Translations, name: string): string {
  const { request, order } = shown;
  const { page } = words;
  const consent = consentOf(shown, words, name);
  const isUnread = request.kind === 'invoice' && order === undefined;
  const isEmailNeeded = request.recurring;
  const emailLabel = isEmailNeeded ? page.email : page.emailOptional;
  return `<form id="card-form" novalidate autocomplete="on">
${request.kind === 'customer' ? '' : savedCard(page)}
<div id="entry">
${field('number', page.number, `<input id="number" inputmode="numeric" autocomplete="cc-number" placeholder="0000 0000 0000 0000" maxlength="30" required aria-describedby="number-network number-problem"><svg class="network" aria-hidden="true"><use id="network-sign" href="#sign-card"/></svg><span id="number-network" class="off-screen"></span>`)}
<div class="pair">
${field('expiry', page.expiry, `<input id="expiry" inputmode="numeric" autocomplete="cc-exp" placeholder="${escaped(page.expiryShape)}" maxlength="12" required aria-describedby="expiry-problem">`)}
${field('code', page.code, `<input id="code" ${request.obscureCardCvv ? 'type="password" ' : ''}inputmode="numeric" autocomplete="cc-csc" placeholder="000" maxlength="4" required aria-describedby="code-hint code-problem"><p id="code-hint" class="hint">${escaped(page.codeHint)}</p>`)}
</div>
${request.requireCardHolder ? field('holder', page.holder, `<input id="holder" autocomplete="cc-name" autocapitalize="characters" maxlength="100" required aria-describedby="holder-problem">`) : ''}
${request.kind === 'customer' ? '' : field('email', emailLabel, `<input id="email" type="email" autocomplete="email" maxlength="100" ${isEmailNeeded ? 'required ' : ''}aria-describedby="email-problem">`)}
</div>
${consent || isUnread ? consentField(consent) : ''}
${request.hold ? `<p class="hint">${escaped(page.holdNote)}</p>` : ''}
<button id="pay" class="main" type="submit"${isUnread ? ' aria-disabled="true"' : ''}>${escaped(payLabel(shown, words))}</button>
${backLink(shown, words)}
${acceptedNetworks(shown)}
<p class="hint safe"><svg viewBox="0 0 24 24" aria-hidden="true"><path d="M7 11V8a5 5 0 0 1 10 0v3M6 11h12v9H6z"/></svg><span>${escaped(page.safe)}</span></p>
${languageLink(request.locale)}
</form>`;
}

/** Hidden until the script has read the card of a customer whose token the address has. */
function savedCard({ otherCard }: Translations['page']): string {
  return `<div id="saved" class="saved" hidden>
<p id="saved-text"></p>
<button id="saved-switch" class="quiet" type="button">${escaped(otherCard)}</button>
</div>`;
}

/** The script knows the address of a private one. */
export function backLink({ request, cancelTo }: CheckoutView, { done }: Translations): string {
  const address = cancelTo ?? (request.privateReturn ? '' : undefined);
  return address === undefined
    ? ''
    : `<p class="row"><a class="quiet back" href="${escaped(address)}">${escaped(done.back)}</a></p>`;
}

/** Undefined if no card is saved, or if the order is not known yet. */
function consentOf(
  { request, shop, order, isMailed = false }: CheckoutView,
  { consent }: Translations,
  name: string,
): ConsentText | undefined {
  if (!shop || !needsConsent(request) || (request.kind === 'invoice' && !order)) return undefined;
  return consentTextOf({ ...request, ...shop, ...order, isMailed, shop: name }, consent);
}

function payLabel({ request, shop, order }: CheckoutView, { page }: Translations): string {
  if (request.payButtonLabel !== undefined) return request.payButtonLabel;
  if (request.kind === 'customer') return page.bind;
  if (!shop || !order) return page.payPlain;
  return fill(request.hold ? page.hold : page.pay, {
    amount: printMoney({ ...shop, ...order }, request.locale),
  });
}

function acceptedNetworks({ networks = [] }: CheckoutView): string {
  if (networks.length === 0) return '';
  const logos = networks.map((network) => `<svg><use href="#sign-${network}"/></svg>`);
  return `<p class="accepted" role="img" aria-label="${networks.map(networkName).join(', ')}">${logos.join('')}</p>`;
}

/** No field has a name, so a browser never submits one. */
export function field(id: string, label: string, input: string): string {
  return `<div class="field" id="${id}-field">
<label for="${id}">${escaped(label)}</label>
<div class="box">${input}</div>
<p id="${id}-problem" class="problem"></p>
</div>`;
}

function left(kind: TaskKind, { challenge }: Translations): string {
  return kind === 'invoice'
    ? `${head(challenge.leftHead)}<p>${escaped(challenge.leftLead)}</p>`
    : `${head(challenge.bindLeftHead)}<p>${escaped(challenge.bindLeftLead)}</p>`;
}

function waitingOf(kind: TaskKind, { waiting, waitingToBind }: Translations): Translations['waiting'] {
  return kind === 'invoice' ? waiting : waitingToBind;
}

function done({ done }: Translations): string {
  return `${mark('tick')}${head(done.paid, 'done-head')}<p id="done-lead">${escaped(done.paidLead)}</p>
<dl id="receipt" class="receipt"></dl>
<a id="back" class="main" hidden>${escaped(done.back)}</a>
<p id="back-soon" class="hint" role="status"></p>`;
}

function factsOf(shown: CheckoutView, words: Translations, name: string): CheckoutFacts {
  const { request, shop, view, ...rest } = shown;
  const {
    token: _token,
    redirectUrl: _redirectUrl,
    cancelUrl: _cancelUrl,
    privateReturn: _isPrivate,
    shopOrigin: _origin,
    name: _givenName,
    description: _text,
    ...wanted
  } = request;
  const { problems, banners, page, done, challenge, consent: sentences } = words;
  const consent = consentOf(shown, words, name);
  return {
    ...wanted,
    view,
    shop: name,
    currency: shop?.currency ?? '',
    minorDigits: shop?.minorDigits ?? 0,
    hasOpener: rest.hasOpener === true,
    isMailed: rest.isMailed === true,
    words: {
      problems,
      banners,
      waiting: waitingOf(request.kind, words),
      page,
      done,
      challenge,
      consent: sentences,
    },
    ...defined({
      returnTo: rest.returnTo,
      shopOrigin: rest.shopOrigin,
      verificationMinor: rest.verificationMinor,
      consent,
    }),
  };
}
