// The page a payer sees while the service cannot read its database; it reloads after five seconds.
// It holds no data of a shop, so any site may frame it.
import type { SmallPage } from './challenge-pages.ts';
import type { Locale } from './domain/checkout-request.ts';
import { escaped } from '../receipts/domain/receipt.ts';
import { policyHash } from './csp-hash.ts';
import { wordsIn } from './domain/translations.ts';

export const tryAgainAfterSeconds = 5;

const script = `
const again = () => location.reload();
document.getElementById('again').addEventListener('click', again);
setTimeout(again, ${tryAgainAfterSeconds * 1_000});
`;

export function awayPage(locale: Locale, style: string): SmallPage {
  const { page, away } = wordsIn(locale);
  return {
    html: `<!doctype html>
<html lang="${locale}" data-view="dead">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>${escaped(page.payTitle)}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<div class="sheet">
<main>
<section class="view" id="dead">
<svg class="mark stop" viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="11"/><path d="M12 7v6M12 16.5v.5"/></svg>
<h1>${escaped(away.head)}</h1>
<p>${escaped(away.lead)}</p>
<button id="again" class="main" type="button">${escaped(away.again)}</button>
</section>
</main>
</div>
<script>${script}</script>
</body>
</html>
`,
    contentSecurityPolicy:
      `default-src 'none'; script-src ${policyHash(script)}; style-src ${policyHash(style)}; img-src data:; ` +
      "form-action 'none'; base-uri 'none'; frame-ancestors *",
  };
}
