// The payer's browser at the issuer's page: in the way the service told it to go, through the form, and on the way back. No
// script, as a browser may be.

/** As the feed shows it. */
export type BrowserRequest = {
  readonly requestType: 'BrowserGetRequest' | 'BrowserPostRequest';
  readonly uriTemplate: string;
  readonly form?: readonly { readonly key: string; readonly template: string }[];
};

export type WayBack = () => Promise<Response>;

/** What he decides there. Answers how his browser would go back; nobody has to. */
export async function visitIssuer(
  { requestType, uriTemplate, form = [] }: BrowserRequest,
  decision: 'confirm' | 'refuse' | 'cancel',
): Promise<WayBack> {
  const fields = Object.fromEntries(form.map(({ key, template }) => [key, template]));
  const page = await (requestType === 'BrowserGetRequest' ? fetch(uriTemplate) : submit(uriTemplate, fields));
  const question = formOf(await page.text(), uriTemplate);
  const decided = await submit(question.action, { ...question.fields, otp: '1234', decision });
  const location = decided.headers.get('location');
  if (location !== null) return () => fetch(location);
  const back = formOf(await decided.text(), question.action);
  return () => submit(back.action, back.fields);
}

function submit(url: string, fields: Record<string, string>): Promise<Response> {
  return fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
}

function formOf(html: string, base: string): { action: string; fields: Record<string, string> } {
  const [, action] = /<form [^>]*action="([^"]*)"/.exec(html) ?? [];
  if (action === undefined) throw new Error(`there is no form on the page: ${html}`);
  const hidden = [...html.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)];
  return {
    action: new URL(unescaped(action), base).href,
    fields: Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, unescaped(value)])),
  };
}

function unescaped(text: string): string {
  return text.replace(/&#(\d+);/g, (_sign, code) => String.fromCharCode(Number(code)));
}
