// The checkout page as it is sent, which shows the amount, the product and the shop before any script runs.
// Script and style are inline and allowed by their hashes, so no other code can run.
import type { Translations } from './translations.en.ts';
import { fill, wordsIn } from './translations.ts';
import { consentTextOf, type ConsentText } from './consent-text.ts';
import type { CheckoutRequest, TaskKind } from './checkout-request.ts';
import { escaped } from '../../receipts/domain/receipt.ts';
import { networkSigns } from './network-logos.ts';
import { printMoney, sizeOfPrinted } from './format-money.ts';
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
export type Order = { readonly amountMinor: number; readonly product: string; readonly description?: string };

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
  /** Whether payers get receipts of recurring payments by email. */
  readonly sendsEmail: boolean;
  readonly returnTo?: string;
  /** The shop's page that gets the progress reports. */
  readonly shopOrigin?: string;
};

/** What the page's script reads. */
export type CheckoutFacts = Omit<
  CheckoutRequest,
  'token' | 'redirectUrl' | 'shopOrigin' | 'name' | 'description'
> & {
  readonly view: View;
  readonly shop: string;
  readonly currency: string;
  readonly minorDigits: number;
  readonly returnTo?: string;
  readonly shopOrigin?: string;
  readonly consent?: ConsentText;
  readonly words: Pick<Translations, 'problems' | 'banners' | 'waiting' | 'page' | 'done' | 'challenge'>;
};

export function checkoutPage(shown: CheckoutView, assets: { script: string; style: string }): string {
  const { request, view } = shown;
  const words = wordsIn(request.locale);
  const shopName = request.name ?? shown.shop?.name ?? '';
  const waiting = waitingOf(request.kind, words);
  const title = request.kind === 'invoice' ? words.page.payTitle : words.page.bindTitle;
  return `<!doctype html>
<html lang="${request.locale}" data-theme="${request.theme}" data-view="${view}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>${escaped([title, shopName].filter(Boolean).join(' · '))}</title>
<link rel="icon" href="data:,">
<style>${assets.style}</style>
</head>
<body>
${networkSigns}
<div class="sheet">
<button id="close" class="close" type="button" aria-label="${escaped(words.page.close)}" hidden><svg viewBox="0 0 24 24" aria-hidden="true"><path d="M6 6l12 12M18 6L6 18"/></svg></button>
${summary(shown, words, shopName)}
<main>
<p id="message" class="message" role="status" aria-live="polite" tabindex="-1"></p>
<noscript><p class="message shown">${escaped(words.page.noScript)}</p></noscript>
${section('loading', view, `<div class="spinner"></div><p class="off-screen">${escaped(words.page.loading)}</p>`)}
${section('form', view, cardForm(shown, words, shopName))}
${section('waiting', view, `<div class="spinner"></div>${head(waiting.head)}<p id="waiting-lead" aria-live="polite">${escaped(waiting.lead)}</p>`)}
${section('challenge', view, challenge(words))}
${section('left', view, `${left(request.kind, words)}<button id="resume" class="main" type="button">${escaped(words.challenge.resume)}</button>`)}
${section('done', view, done(words))}
${section('cancelled', view, `${mark('stop')}${head(words.ended.cancelledHead)}<p>${escaped(words.ended.cancelledLead)}</p>`)}
${section('dead', view, `${mark('stop')}${head(words.ended.deadHead)}<p>${escaped(words.ended.deadLead)}</p>`)}
${section('heard', view, `${head(words.ended.heardHead)}<p>${escaped(words.ended.heardLead)}</p>`)}
</main>
</div>
<script type="application/json" id="facts">${json(factsOf(shown, words, shopName))}</script>
<script type="module">${assets.script}</script>
</body>
</html>
`;
}

function summary({ request, shop, order }: CheckoutView, words: Translations, shopName: string): string {
  const amount = order && shop ? printMoney({ ...shop, ...order }, request.locale) : '';
  const heading =
    request.kind === 'customer'
      ? `<h1 class="lead">${escaped(words.page.bindHead)}</h1>`
      : `<h1><span class="off-screen">${escaped(words.page.payTitle)} </span><span id="amount" class="amount" data-size="${sizeOfPrinted(amount)}">${escaped(amount)}</span></h1>`;
  const product = request.description ?? order?.product ?? '';
  // A shop may show any name, so the page also names the recipient of the money.
  const isRenamed = shop !== undefined && request.name !== undefined && request.name !== shop.name;
  return `<header class="summary">
<p class="shop">${escaped(shopName)}</p>
${heading}
<p id="product" class="product">${escaped(request.kind === 'customer' ? words.page.bindLead : product)}</p>
${isRenamed ? `<p class="payee">${escaped(fill(words.page.to, { shop: shop.name }))}</p>` : ''}
${shop?.isTest ? `<p class="test"><span>${escaped(words.page.testMode)}</span></p>` : ''}
</header>`;
}

function cardForm(
  { request, shop, order, sendsEmail }: CheckoutView,
  words: Translations,
  shopName: string,
): string {
  const { page } = words;
  const consent = consentTextOf(request, shopName);
  const isEmailNeeded = request.recurring;
  const emailLabel = isEmailNeeded ? (sendsEmail ? page.email : page.emailForShop) : page.emailOptional;
  return `<form id="card-form" novalidate autocomplete="on">
${field('number', page.number, `<input id="number" inputmode="numeric" autocomplete="cc-number" placeholder="0000 0000 0000 0000" maxlength="30" required aria-describedby="number-network number-problem"><svg class="network" aria-hidden="true"><use id="network-sign" href="#sign-card"/></svg><span id="number-network" class="off-screen"></span>`)}
<div class="pair">
${field('expiry', page.expiry, `<input id="expiry" inputmode="numeric" autocomplete="cc-exp" placeholder="${escaped(page.expiryShape)}" maxlength="12" required aria-describedby="expiry-problem">`)}
${field('code', page.code, `<input id="code" ${request.obscureCardCvv ? 'type="password" ' : ''}inputmode="numeric" autocomplete="cc-csc" placeholder="000" maxlength="4" required aria-describedby="code-hint code-problem"><span id="code-hint" class="off-screen">${escaped(page.codeHint)}</span>`)}
</div>
${request.requireCardHolder ? field('holder', page.holder, `<input id="holder" autocomplete="cc-name" autocapitalize="characters" maxlength="100" required aria-describedby="holder-problem">`) : ''}
${request.kind === 'customer' ? '' : field('email', emailLabel, `<input id="email" type="email" autocomplete="email" maxlength="100" ${isEmailNeeded ? 'required ' : ''}aria-describedby="email-problem">`)}
${consent === undefined ? '' : consentField(consent)}
${request.hold ? `<p class="hint">${escaped(page.holdNote)}</p>` : ''}
<button id="pay" class="main" type="submit"${order === undefined && request.kind === 'invoice' ? ' aria-disabled="true"' : ''}>${escaped(payLabel({ request, ...(shop ? { shop } : {}), ...(order ? { order } : {}) }, words))}</button>
<p class="hint safe"><svg viewBox="0 0 24 24" aria-hidden="true"><path d="M7 11V8a5 5 0 0 1 10 0v3M6 11h12v9H6z"/></svg><span>${escaped(page.safe)}</span></p>
</form>`;
}

function payLabel(
  { request, shop, order }: Pick<CheckoutView, 'request' | 'shop' | 'order'>,
  { page }: Translations,
): string {
  if (request.payButtonLabel !== undefined) return request.payButtonLabel;
  if (request.kind === 'customer') return page.bind;
  if (!shop || !order) return page.payPlain;
  return fill(request.hold ? page.hold : page.pay, {
    amount: printMoney({ ...shop, ...order }, request.locale),
  });
}

function consentField({ text, howToStop }: ConsentText): string {
  return `<div class="field consent" id="consent-field">
<label><input id="consent" type="checkbox" required aria-describedby="consent-stop consent-problem"><span>${escaped(text)}</span></label>
<p id="consent-stop" class="hint">${escaped(howToStop)}</p>
<p id="consent-problem" class="problem"></p>
</div>`;
}

/** No field has a name, so a browser never submits one. */
function field(id: string, label: string, input: string): string {
  return `<div class="field" id="${id}-field">
<label for="${id}">${escaped(label)}</label>
<div class="box">${input}</div>
<p id="${id}-problem" class="problem"></p>
</div>`;
}

function challenge({ challenge }: Translations): string {
  return `${head(challenge.head)}<p>${escaped(challenge.lead)}</p>
<div id="challenge-place" class="challenge-place"></div>
<p class="row"><button id="elsewhere" class="quiet" type="button">${escaped(challenge.elsewhere)}</button><button id="leave" class="quiet" type="button">${escaped(challenge.leave)}</button></p>`;
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

function section(name: View, first: View, content: string): string {
  return `<section id="${name}" class="view"${name === first ? '' : ' hidden'}>${content}</section>`;
}

function head(text: string, id?: string): string {
  return `<h2${id === undefined ? '' : ` id="${id}"`} tabindex="-1">${escaped(text)}</h2>`;
}

function mark(kind: 'tick' | 'stop'): string {
  const path = kind === 'tick' ? 'M7 12.5l3.5 3.5L17 9' : 'M12 7v6M12 16.5v.5';
  return `<svg class="mark ${kind}" viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="11"/><path d="${path}"/></svg>`;
}

function factsOf(
  { request, shop, view, ...rest }: CheckoutView,
  words: Translations,
  shopName: string,
): CheckoutFacts {
  const {
    token: _token,
    redirectUrl: _redirectUrl,
    shopOrigin: _origin,
    name: _name,
    description: _text,
    ...wanted
  } = request;
  const { problems, banners, page, done, challenge } = words;
  const consent = consentTextOf(request, shopName);
  return {
    ...wanted,
    view,
    shop: shopName,
    currency: shop?.currency ?? '',
    minorDigits: shop?.minorDigits ?? 0,
    words: { problems, banners, waiting: waitingOf(request.kind, words), page, done, challenge },
    ...defined({ returnTo: rest.returnTo, shopOrigin: rest.shopOrigin, consent }),
  };
}

/** JSON that cannot close its script element. */
function json(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}
