// The page a payer sees while the service cannot read its database; it reloads after five seconds.
import { escaped } from '../receipts/domain/receipt.ts';
import type { SmallPage } from './challenge-pages.ts';
import type { Locale } from './domain/checkout-request.ts';
import { wordsIn } from './domain/translations.ts';
import { sheetPage } from './sheet-page.ts';

export const tryAgainAfterSeconds = 5;

const script = `
const again = () => location.reload();
document.getElementById('again').addEventListener('click', again);
setTimeout(again, ${tryAgainAfterSeconds * 1_000});
`;

export function awayPage(locale: Locale, style: string): SmallPage {
  const { away } = wordsIn(locale);
  const content = `<svg class="mark stop" viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="11"/><path d="M12 7v6M12 16.5v.5"/></svg>
<h1>${escaped(away.head)}</h1>
<p>${escaped(away.lead)}</p>
<button id="again" class="main" type="button">${escaped(away.again)}</button>`;
  return sheetPage({ view: 'dead', locale, style, content, script });
}
