// The page of a payment link, on which a payer sees what a template sells and may choose the amount. The script alone reads the
// template, because the token may stand behind the # of the link.
import { defined } from '../../../defined.ts';
import { largestAmountMinor } from '../../../money.ts';
import { printedCurrency } from '../../../receipts/domain/format-money.ts';
import { escaped } from '../../../receipts/domain/receipt.ts';
import { backLink, closeButton, field, summary, type CheckoutView } from '../checkout-page.ts';
import type { Locale } from '../checkout-request.ts';
import { head, languageLink, mark, message, page, section, smallPrint, type Assets } from '../page-parts.ts';
import type { Translations } from '../translations.en.ts';
import { wordsIn } from '../translations.ts';
import { paymentLinkWords, type PaymentLinkWords } from './payment-link-words.ts';

export type PaymentLinkView = 'loading' | 'form' | 'dead';

/** What the page's script reads. */
export type PaymentLinkFacts = {
  readonly view: PaymentLinkView;
  /** Of the template. */
  readonly id: string;
  readonly locale: Locale;
  readonly currency: string;
  readonly minorDigits: number;
  readonly largestMinor: number;
  /** The shop's page has chosen it: the payer cannot change it. */
  readonly amountMinor?: number;
  readonly shopOrigin?: string;
  readonly words: PaymentLinkWords & Pick<Translations, 'banners'>;
};

export function paymentLinkPage(
  shown: CheckoutView,
  amountMinor: number | undefined,
  assets: Assets,
): string {
  const { request, shop, shopOrigin } = shown;
  const { locale, theme, id } = request;
  const all = wordsIn(locale);
  const words = paymentLinkWords[locale];
  const name = request.name ?? shop?.name ?? '';
  const view = shop ? 'loading' : 'dead';
  const facts: PaymentLinkFacts = {
    view,
    id,
    locale,
    currency: shop?.currency ?? '',
    minorDigits: shop?.minorDigits ?? 0,
    largestMinor: Number(largestAmountMinor),
    ...defined({ amountMinor, shopOrigin }),
    words: { ...words, banners: all.banners },
  };
  return page({
    locale,
    theme,
    view,
    title: [all.page.payTitle, name].filter(Boolean).join(' · '),
    assets,
    facts,
    body: `<div class="sheet">
${closeButton(all)}
${summary(shown, all, name)}
<main>
${message(all.page.noScript)}
${section('loading', view, `<div class="spinner"></div><p class="off-screen">${escaped(all.page.loading)}</p>`)}
${section('form', view, amountForm(shown, words, all))}
${section('dead', view, `${mark('stop')}${head(words.deadHead)}<p>${escaped(words.deadLead)}</p>${backLink(shown, all)}`)}
${smallPrint(shown.brand, all)}
</main>
</div>`,
  });
}

function amountForm(shown: CheckoutView, words: PaymentLinkWords, all: Translations): string {
  const { shop, request } = shown;
  const currency = shop && printedCurrency(shop.currency, request.locale);
  return `<form id="amount-form" novalidate>
<div id="choice" hidden>${field('sum', [words.amount, currency].filter(Boolean).join(', '), `<input id="sum" inputmode="decimal" autocomplete="transaction-amount" maxlength="24" required aria-describedby="bounds sum-problem"><p id="bounds" class="hint"></p>`)}</div>
<button id="onward" class="main" type="submit">${escaped(words.onward)}</button>
${backLink(shown, all)}
${languageLink(request.locale)}
</form>`;
}
