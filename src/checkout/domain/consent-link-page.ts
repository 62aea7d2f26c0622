// The page of a consent link as it is sent: the old and the new terms side by side, readable before any script runs.
import { defined } from '../../defined.ts';
import { escaped } from '../../receipts/domain/receipt.ts';
import type { Locale } from './checkout-request.ts';
import type { ConsentLinkText, TermsRow } from './consent-link-text.ts';
import { consentLinkWords, type ConsentLinkWords } from './consent-link-words.ts';
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
  type Assets,
  type Brand,
} from './page-parts.ts';
import { fill, wordsIn } from './translations.ts';
import type { Translations } from './translations.en.ts';

export type ConsentView =
  | 'form'
  | 'waiting'
  | 'challenge'
  | 'left'
  | 'done'
  | 'expired'
  | 'cancelled'
  | 'dead'
  | 'heard';
/** Why the latest attempt failed. The payer can try again. */
export type ConsentProblem = 'declined' | 'unconfirmed' | 'timeout';

/** What the script polls. */
export type ConsentState = {
  readonly view: ConsentView;
  /** The bank's page, for the view `challenge`. */
  readonly interaction?: {
    readonly url: string;
    readonly form?: readonly { readonly name: string; readonly value: string }[];
  };
  readonly problem?: ConsentProblem;
};

export type ConsentLinkView = {
  readonly locale: Locale;
  readonly state: ConsentState;
  /** Absent where no link was found. */
  readonly link?: {
    readonly shop: string;
    readonly isTest: boolean;
    readonly lastDigits: string;
    readonly brand: Brand;
    /** The sum that is charged and refunded to check the card, as printed. */
    readonly verification: string;
    readonly text: ConsentLinkText;
    /** The hash of the evidence: the payer agrees to what this page shows, and to nothing newer. */
    readonly textHash: string;
    readonly returnTo?: string;
    /** The page of a subscription that the payer came from. */
    readonly payerPage?: string;
  };
};

export type ConsentFacts = ConsentState & {
  readonly locale: Locale;
  readonly textHash?: string;
  readonly words: ConsentLinkWords & { readonly frame: string; readonly slow: string };
};

export function consentLinkPage({ locale, state, link }: ConsentLinkView, assets: Assets): string {
  const all = wordsIn(locale);
  const words = consentLinkWords[locale];
  const { view, problem } = state;
  const { waitingToBind: waiting, challenge: bank, ended } = all;
  const facts: ConsentFacts = {
    ...state,
    locale,
    words: { ...words, frame: bank.frame, slow: waiting.slow },
    ...defined({ textHash: link?.textHash }),
  };
  return page({
    locale,
    theme: 'main',
    view,
    title: [words.title, link?.shop].filter(Boolean).join(' · '),
    assets,
    facts,
    body: `<div class="sheet">
${link ? summary(link, words, all) : `<header class="summary"><h1>${escaped(words.title)}</h1></header>`}
<main>
${message(words.noScript, problem === undefined || view !== 'form' ? '' : words[problem])}
${section('form', view, link ? form(link, words) : '')}
${section('waiting', view, `<div class="spinner"></div>${head(waiting.head)}<p id="waiting-lead" aria-live="polite">${escaped(waiting.lead)}</p>`)}
${section('challenge', view, challenge(all))}
${section('left', view, `${head(words.leftHead)}<p>${escaped(words.leftLead)}</p><button id="resume" class="main" type="button">${escaped(bank.resume)}</button>`)}
${section('done', view, `${mark('tick')}${head(words.doneHead)}<p>${escaped(fill(words.doneLead, { amount: link?.verification ?? '' }))}</p>${link ? newTerms(link.text.rows) : ''}${back(link, words, all)}`)}
${ending('expired', view, words.expiredHead, words.expiredLead)}
${ending('cancelled', view, words.cancelledHead, words.cancelledLead)}
${ending('dead', view, words.deadHead, words.deadLead)}
${section('heard', view, `${head(ended.heardHead)}<p>${escaped(ended.heardLead)}</p>`)}
${smallPrint(link?.brand, all)}
${languageLink(locale, defined({ returnTo: link?.payerPage }))}
</main>
</div>`,
  });
}

function summary(
  { shop, isTest, lastDigits, brand }: NonNullable<ConsentLinkView['link']>,
  words: ConsentLinkWords,
  { page: { testMode } }: Translations,
): string {
  return `<header class="summary">
${shopName(shop, brand)}
<h1 class="lead">${escaped(fill(words.head, { shop }))}</h1>
<p class="product">${escaped(fill(words.lead, { digits: lastDigits }))} <span class="choice">${escaped(words.choice)}</span></p>
${isTest ? `<p class="test"><span>${escaped(testMode)}</span></p>` : ''}
</header>`;
}

function form(
  { verification, text: { rows, text, howToStop } }: NonNullable<ConsentLinkView['link']>,
  words: ConsentLinkWords,
): string {
  const line = ({ name, before, after, isChanged }: TermsRow) =>
    `<tr><th scope="row">${escaped(name)}</th><td>${cell(before)}</td><td${isChanged ? ' class="changed"' : ''}>${cell(after)}</td></tr>`;
  return `<form id="consent-form" novalidate>
<table class="terms">
<thead><tr><th scope="col"><span class="off-screen">${escaped(words.what)}</span></th><th scope="col">${escaped(words.before)}</th><th scope="col">${escaped(words.after)}</th></tr></thead>
<tbody>${rows.map(line).join('')}</tbody>
</table>
${consentField({ text, howToStop })}
<button id="agree" class="main" type="submit">${escaped(words.button)}</button>
<p class="hint safe"><svg viewBox="0 0 24 24" aria-hidden="true"><path d="M7 11V8a5 5 0 0 1 10 0v3M6 11h12v9H6z"/></svg><span>${escaped(fill(words.check, { amount: verification }))}</span></p>
</form>`;
}

/** An amount stays whole in a narrow column, where a long word may break anywhere. */
function cell(text: string): string {
  return escaped(text).replaceAll(
    /(?<![^ ])[^ ]{1,12}\u00a0[^ ]{1,12}(?![^ ])/g,
    '<span class="whole">$&</span>',
  );
}

function newTerms(rows: readonly TermsRow[]): string {
  const lines = rows.map(({ name, after }) => `<dt>${escaped(name)}</dt><dd>${escaped(after)}</dd>`);
  return `<dl class="receipt">${lines.join('')}</dl>`;
}

function back(link: ConsentLinkView['link'], words: ConsentLinkWords, { done }: Translations): string {
  const { payerPage, returnTo = payerPage } = link ?? {};
  if (returnTo === undefined) return '';
  const text = payerPage === undefined ? done.back : words.back;
  return `<a class="main" href="${escaped(returnTo)}">${escaped(text)}</a>`;
}

function ending(name: ConsentView, view: ConsentView, title: string, lead: string): string {
  return section(name, view, `${mark('stop')}${head(title)}<p>${escaped(lead)}</p>`);
}
