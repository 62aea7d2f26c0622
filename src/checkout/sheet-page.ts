// The shell of small pages for payers that need no data of a shop: head, sheet and policy.
import { escaped } from '../receipts/domain/receipt.ts';
import type { SmallPage } from './challenge-pages.ts';
import type { Locale } from './domain/checkout-request.ts';
import { policyHash } from '../platform/http/pages/csp-hash.ts';
import { wordsIn } from './domain/translations.ts';

/**
 * Any site may frame it, as it may frame the bank's page. If it `isOwn`, no site may, and its form goes to its own address.
 */
export function sheetPage(page: {
  readonly view: string;
  readonly locale: Locale;
  readonly style: string;
  readonly title?: string;
  /** This, `content` and `head` are HTML. */
  readonly summary?: string;
  readonly content: string;
  readonly isOwn?: boolean;
  readonly head?: string;
  readonly script?: string;
}): SmallPage {
  const { view, locale, style, summary = '', content, isOwn = false, head = '', script } = page;
  const { title = wordsIn(locale).page.payTitle } = page;
  const scriptSource = script === undefined ? '' : `script-src ${policyHash(script)}; `;
  return {
    html: `<!doctype html>
<html lang="${locale}" dir="ltr" data-view="${view}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
${head}
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<div class="sheet">
${summary}
<main>
<section class="view" id="${view}">
${content}
</section>
</main>
</div>
${script === undefined ? '' : `<script>${script}</script>`}
</body>
</html>
`,
    contentSecurityPolicy:
      `default-src 'none'; ${scriptSource}style-src ${policyHash(style)}; img-src data:; ` +
      `form-action ${isOwn ? "'self'" : "'none'"}; base-uri 'none'; frame-ancestors ${isOwn ? "'none'" : '*'}`,
  };
}
