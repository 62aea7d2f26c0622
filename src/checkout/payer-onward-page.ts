// The page between the bank and where the payer continues. It is no redirect, which the policy of an issuer's page would refuse, and
// names a site that the shop has not listed first.
import { escaped } from '../receipts/domain/receipt.ts';
import type { SmallPage } from './challenge-pages.ts';
import type { Locale } from './domain/checkout-request.ts';
import { fill, wordsIn } from './domain/translations.ts';
import { sheetPage } from './sheet-page.ts';

const afterSeconds = 4;
/** Replaces this page, so that the way back does not lead through it. */
const goOn = `location.replace(document.getElementById('onward').href);`;
const tellOpener = `(window.opener || (window.parent !== window && window.parent) || window).postMessage('finish-interaction', '*');
if (window.opener) window.close();`;
const goOnLater = `setTimeout(() => { ${goOn} }, ${afterSeconds * 1_000});`;

export type Looks = { readonly locale: Locale; readonly style: string };
type To = Looks & { readonly address: string };

/** To the service's own pages and the sites of the shop: at once, and by the link where neither script nor refresh runs. */
export function onwardPage(looks: To): SmallPage {
  const { ended, leaving } = wordsIn(looks.locale);
  const address = escaped(looks.address);
  return page(looks, {
    head: `<meta http-equiv="refresh" content="0; url=${address}">`,
    content: `<h1>${escaped(ended.heardHead)}</h1>
<a id="onward" class="main" href="${address}" rel="noreferrer">${escaped(leaving.onward)}</a>`,
    script: goOn,
  });
}

/** To any other site: with a click, in a sandbox after a while without one. */
export function leavingPage({ isSandbox, ...looks }: To & { readonly isSandbox: boolean }): SmallPage {
  const { leaving } = wordsIn(looks.locale);
  // With its port. Characters that only look like others are encoded in it.
  const { host } = new URL(looks.address);
  const note = fill(leaving.note, { seconds: String(afterSeconds) });
  return page(looks, {
    content: `<h1>${escaped(leaving.head)}</h1>
<p>${escaped(leaving.lead)}</p>
<p class="host">${escaped(host)}</p>
<p>${escaped(leaving.check)}</p>
<a id="onward" class="main" href="${escaped(looks.address)}" rel="noreferrer">${escaped(leaving.onward)}</a>
${isSandbox ? `<p class="test"><span>${escaped(note)}</span></p>` : ''}`,
    ...(isSandbox ? { script: goOnLater } : {}),
  });
}

/** Without an address: the window or frame of a shop that shows it learns that the bank has replied. */
export function heardPage(looks: Looks): SmallPage {
  const { ended } = wordsIn(looks.locale);
  return page(looks, {
    content: `<h1>${escaped(ended.heardHead)}</h1>\n<p>${escaped(ended.heardShopLead)}</p>`,
    script: tellOpener,
  });
}

function page(
  { locale, style }: Looks,
  content: { readonly head?: string; readonly content: string; readonly script?: string },
): SmallPage {
  return sheetPage({ view: 'leaving', locale, style, ...content });
}
