// The payer's browser on the issuer's page: it goes there as the service said, through the form, and back. It runs no script.

/** As the event feed shows it. */
export type BrowserRequest = {
  readonly requestType: 'BrowserGetRequest' | 'BrowserPostRequest';
  readonly uriTemplate: string;
  readonly form?: readonly { readonly key: string; readonly template: string }[];
};

/** A page of a shop that sends its payer there itself. */
export function pageToIssuer({ requestType, uriTemplate, form = [] }: BrowserRequest): string {
  if (requestType === 'BrowserGetRequest')
    return `<!doctype html><a id="to-bank" href="${escaped(uriTemplate)}">To the bank</a>`;
  const fields = form.map(
    ({ key, template }) => `<input type="hidden" name="${key}" value="${escaped(template)}">`,
  );
  return `<!doctype html><form method="post" action="${escaped(uriTemplate)}">${fields.join('')}<button id="to-bank">To the bank</button></form>`;
}

export type WayBack = () => Promise<Response>;

/** What the payer decides there. Returns how the browser would go back. */
export async function visitIssuer(
  { requestType, uriTemplate, form = [] }: BrowserRequest,
  decision: 'confirm' | 'refuse' | 'cancel',
): Promise<WayBack> {
  const fields = Object.fromEntries(form.map(({ key, template }) => [key, template]));
  const page =
    requestType === 'BrowserGetRequest'
      ? await fetch(uriTemplate, { redirect: 'manual' })
      : await submit(uriTemplate, fields);
  const asked = await nextPage(page, uriTemplate);
  // A page that is opened again, or too late, redirects back immediately.
  if (typeof asked === 'function' || !asked.action.endsWith('/decision')) return wayBack(asked);
  const decided = await submit(asked.action, { ...asked.fields, otp: '1234', decision });
  return wayBack(await nextPage(decided, asked.action));
}

type Form = { readonly action: string; readonly fields: Record<string, string> };

/** The form on the page, or where the browser is redirected. */
async function nextPage(answer: Response, base: string): Promise<Form | WayBack> {
  const location = answer.headers.get('location');
  return location === null ? formOf(await answer.text(), base) : () => fetch(location);
}

function wayBack(next: Form | WayBack): WayBack {
  return typeof next === 'function' ? next : () => submit(next.action, next.fields);
}

function submit(url: string, fields: Record<string, string>): Promise<Response> {
  return fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
}

function formOf(html: string, base: string): Form {
  const [, action] = /<form [^>]*action="([^"]*)"/.exec(html) ?? [];
  if (action === undefined) throw new Error(`the page has no form: ${html}`);
  const hidden = [...html.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)];
  return {
    action: new URL(unescaped(action), base).href,
    fields: Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, unescaped(value)])),
  };
}

function unescaped(text: string): string {
  return text.replace(/&#(\d+);/g, (_sign, code) => String.fromCharCode(Number(code)));
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
}
