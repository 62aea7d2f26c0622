// The page on which a payer ends recurring charges: what is charged, and a button. It needs no script.
import { escaped } from '../../../receipts/domain/receipt.ts';
import type { MandateTerms } from '../../../receipts/domain/terms.ts';
import type { Instant } from '../../../clock.ts';
import type { Currency } from '../../../money.ts';
import type { Series } from '../../../recurring/domain/series.ts';
import { printedTerms } from '../consent-link-text.ts';
import { printedCard } from '../../../cards/domain/printed-card.ts';
import { languageLink, mark, shopName, smallPrint, type Brand } from '../page-parts.ts';
import type { Locale } from '../checkout-request.ts';
import { revocationWords, type RevocationWords } from './revocation-words.ts';
import { fill, wordsIn } from '../translations.ts';

export type SeriesShown = {
  readonly shop: string;
  readonly isTest: boolean;
  readonly brand: Brand;
  readonly status: SeriesStatus;
  /** Of the invoice that began it, if one did. */
  readonly product?: string;
  readonly card: { readonly paymentSystem: string; readonly lastDigits: string };
  readonly terms: MandateTerms;
  readonly currency: Currency;
};

/** Whether the shop may charge the card: the series may have stopped, or the agreed time may be over. */
export type SeriesStatus = 'active' | 'stopped' | 'over' | 'ended';

export function seriesStatusOf({ state, endsAt, card }: Series, now: Instant): SeriesStatus {
  if (state.name === 'withdrawn') return 'ended';
  if (endsAt !== undefined && now >= endsAt) return 'over';
  return state.name === 'stopped' || now >= card.endsAt ? 'stopped' : 'active';
}

export type RevocationView = 'question' | 'kept';
type Parts = { readonly title: string; readonly summary?: string; readonly content: string };

export function revocationParts(asked: RevocationView, series: SeriesShown, locale: Locale): Parts {
  const words = revocationWords[locale];
  const { shop, card, status } = series;
  const view = status === 'ended' ? status : asked;
  const resting = status === 'stopped' || status === 'over' ? words[status] : undefined;
  const said = (text: string) => escaped(fill(text, { shop, digits: card.lastDigits }));
  const ending = (head: string, lead: string) => `${mark('tick')}<h2>${said(head)}</h2><p>${said(lead)}</p>`;
  const content = {
    question: `<p>${said(resting ?? words.lead)}</p>
${termsList(series, words, locale)}
<form method="post"><button class="main">${said(words.button)}</button></form>
<p class="row"><a class="quiet" href="?kept=true&#38;locale=${locale}">${said(words.keep)}</a></p>`,
    kept: `${ending(words.keptHead, `${resting ?? words.mayCharge} ${words.linkWorks}`)}
${termsList(series, words, locale)}
<p class="row"><a class="quiet" href="?locale=${locale}">${said(words.end)}</a></p>`,
    ended: `${ending(words.endedHead, words.endedLead)}
${termsList(series, words, locale)}`,
  };
  return {
    title: `${words.title} · ${shop}`,
    summary: summary(series, view === 'question' ? words.head : words.title, locale),
    content:
      content[view] +
      smallPrint(series.brand, wordsIn(locale)) +
      languageLink(locale, view === 'kept' ? { kept: 'true' } : {}),
  };
}

export function noLinkParts(locale: Locale): Parts {
  const { noLinkHead, noLinkLead } = revocationWords[locale];
  return {
    title: noLinkHead,
    content: `${mark('stop')}<h1>${escaped(noLinkHead)}</h1><p>${escaped(noLinkLead)}</p>${languageLink(locale, {})}`,
  };
}

function summary({ shop, isTest, brand }: SeriesShown, head: string, locale: Locale): string {
  const { testMode } = wordsIn(locale).page;
  return `<header class="summary">
${shopName(shop, brand)}
<h1 class="lead">${escaped(fill(head, { shop }))}</h1>
${isTest ? `<p class="test"><span>${escaped(testMode)}</span></p>` : ''}
</header>`;
}

function termsList(series: SeriesShown, words: RevocationWords, locale: Locale): string {
  const { product, card, terms, currency } = series;
  const { amount, schedule, until } = printedTerms(terms, currency, locale);
  const rows: [string, string | undefined][] = [
    [words.product, product],
    [words.amount, amount],
    [words.schedule, schedule],
    [words.until, terms.validUntil === undefined ? undefined : until],
    [words.card, printedCard(card)],
  ];
  const lines = rows.flatMap(([name, value]) =>
    value === undefined ? [] : [`<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`],
  );
  return `<dl class="receipt">${lines.join('')}</dl>`;
}
