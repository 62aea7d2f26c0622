// Blank pages between a page for payers and their bank: one posts the bank's fields, the others return.
// The page with the card fields therefore needs no right to post forms.
import { policyHash } from '../platform/http/pages/csp-hash.ts';

export type SmallPage = { readonly html: string; readonly contentSecurityPolicy: string };

/**
 * The request comes in the window's name, which lasts from the checkout to this page and is then cleared. A browser may keep this
 * page in the history: a payer who goes back from the bank then passes it, without a request.
 */
const startScript = `
const asked = JSON.parse(window.name || '{}');
window.name = '';
if (/^https?:\\/\\//i.test(asked.url)) {
  if (!asked.form) location.replace(asked.url);
  else {
    const form = document.createElement('form');
    form.method = 'post';
    form.action = asked.url;
    for (const { name, value } of asked.form) {
      const field = document.createElement('input');
      field.type = 'hidden';
      field.name = name;
      field.value = value;
      form.append(field);
    }
    document.body.append(form);
    HTMLFormElement.prototype.submit.call(form);
  }
} else if (parent === window) history.back();
else parent.postMessage('challenge-left', location.origin);
`;

/** Only a checkout that a listed site opened has left the mark in this tab: any site can open this page, with any query. */
const returnScript = `
const query = new URLSearchParams(location.search);
let isOpened = false;
try { isOpened = sessionStorage.getItem('mandate.opener') === 'true'; } catch {}
if (!isOpened) query.delete('shopOrigin');
query.set('returned', 'true');
if (parent !== window) parent.postMessage('challenge-finished', location.origin);
else location.replace('../checkout?' + query);
`;

/** A consent link is its payer's secret, so only their tab knows the way back to it. */
const consentReturnScript = `
let link = null;
try { link = sessionStorage.getItem('mandate.consent'); } catch {}
if (parent !== window) parent.postMessage('challenge-finished', location.origin);
else location.replace(link || 'heard');
`;

type ChallengePages = {
  readonly start: SmallPage;
  readonly back: SmallPage;
  readonly consentBack: SmallPage;
};

export function challengePages(mode: 'sandbox' | 'live'): ChallengePages {
  // The simulated bank has no certificate.
  const anywhere = mode === 'sandbox' ? 'https: http:' : 'https:';
  return {
    start: smallPage(startScript, anywhere),
    back: smallPage(returnScript, "'none'", 'origin'),
    consentBack: smallPage(consentReturnScript, "'none'"),
  };
}

function smallPage(script: string, formAction: string, referrer = 'no-referrer'): SmallPage {
  return {
    html: `<!doctype html>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="referrer" content="${referrer}"><link rel="icon" href="data:,">
<title>…</title><body><script>${script}</script>
`,
    // They hold and show nothing, so any page may frame them.
    contentSecurityPolicy:
      `default-src 'none'; script-src ${policyHash(script)}; img-src data:; form-action ${formAction}; ` +
      `base-uri 'none'; frame-ancestors *`,
  };
}
