// The issuer's pages of the simulated bank, where a payer confirms a payment; they work without JavaScript.
// What the browser carries back proves nothing: Mandate queries the bank.
import { createHash } from 'node:crypto';

export const oneTimePassword = '1234';

export type Page = { readonly html: string; readonly headers: Readonly<Record<string, string>> };

const style = `body{font:16px/1.5 system-ui,sans-serif;margin:0;background:#f4f5f7;color:#1b1f24}
main{max-width:26rem;margin:2rem auto;padding:1.5rem;background:#fff;border-radius:.75rem;border:1px solid #d8dde3}
h1{font-size:1.25rem;margin:0 0 1rem}dl{display:grid;grid-template-columns:auto 1fr;gap:.25rem 1rem;margin:0 0 1rem}
dt{color:#57606a}dd{margin:0}label{display:block;font-weight:600}
input{font:inherit;width:100%;box-sizing:border-box;padding:.5rem;margin:.25rem 0 1rem;border:1px solid #8c959f;border-radius:.375rem}
button{font:inherit;padding:.5rem 1rem;margin:0 .5rem .5rem 0;border:1px solid #8c959f;border-radius:.375rem;background:#fff}
button[value=confirm],.go button{background:#0b57d0;border-color:#0b57d0;color:#fff}
.hint{color:#57606a;margin:0}.wrong{color:#b3261e;font-weight:600}
:focus-visible{outline:3px solid #0b57d0;outline-offset:2px}
@media(prefers-color-scheme:dark){body{background:#14171a;color:#e6e9ec}main{background:#1e2328;border-color:#3a424a}
dt,.hint{color:#a9b3bd}input,button{background:#14171a;color:inherit}.wrong{color:#ff8a80}}`;

/** Saves a click where JavaScript runs; otherwise the payer uses the button. */
const submitAtOnce = 'document.forms[0].submit()';

export function challengePage(view: {
  action: string;
  merchant: string;
  amount: string;
  cardMask: string;
  hidden: Readonly<Record<string, string>>;
  triesLeft: number;
  returnUrl: string | undefined;
}): Page {
  const wrong =
    view.triesLeft < 3
      ? `<p class="wrong" role="alert">This code is not correct. Tries left: ${view.triesLeft}.</p>`
      : '';
  return page(
    'Confirm your payment',
    `<dl><dt>Merchant</dt><dd>${escape(view.merchant)}</dd><dt>Amount</dt><dd>${escape(view.amount)}</dd>
<dt>Card</dt><dd>${escape(view.cardMask)}</dd></dl>${wrong}
<form method="post" action="${escape(view.action)}">${hiddenFields(view.hidden)}
<label for="otp">Code from your bank</label>
<input id="otp" name="otp" inputmode="numeric" autocomplete="one-time-code" maxlength="8" aria-describedby="hint" autofocus>
<button name="decision" value="confirm">Confirm</button><button name="decision" value="refuse">Refuse</button><button
 name="decision" value="cancel">Cancel</button></form>
<p class="hint" id="hint">This bank is simulated: the code is ${oneTimePassword}, and no money moves.</p>`,
    view.returnUrl,
  );
}

/** Sends the browser back by POST, which a redirect cannot do. */
export function returnPage(returnUrl: string, fields: Readonly<Record<string, string>>): Page {
  return page(
    'Thank you',
    `<p>You are going back to the merchant.</p>
<form class="go" method="post" action="${escape(returnUrl)}">${hiddenFields(fields)}<button>Continue</button></form>
<script>${submitAtOnce}</script>`,
    returnUrl,
  );
}

export function closingPage(title: string, text: string): Page {
  return page(title, `<p>${escape(text)}</p>`, undefined);
}

function page(title: string, content: string, returnUrl: string | undefined): Page {
  // Browsers also apply form-action to a redirect that follows the form.
  const formAction = returnUrl === undefined ? `'self'` : `'self' ${new URL(returnUrl).origin}`;
  return {
    html: `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escape(title)}</title>
<meta name="viewport" content="width=device-width,initial-scale=1"><style>${style}</style></head>
<body><main><h1>${escape(title)}</h1>${content}</main></body></html>`,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      // The page is framed by a checkout or a shop whose address the issuer cannot know.
      'content-security-policy': `default-src 'none'; style-src '${hashOf(style)}'; script-src '${hashOf(submitAtOnce)}'; form-action ${formAction}; base-uri 'none'; frame-ancestors http: https:`,
    },
  };
}

function hiddenFields(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map(([name, value]) => `<input type="hidden" name="${escape(name)}" value="${escape(value)}">`)
    .join('');
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
