// The page of a subscription as its payer uses it, without a browser.
import type { Merchant, TestService } from '../service/test-service.ts';
import { subscriptionsUrl } from './subscription-world.ts';

export type ShownPage = {
  readonly status: number;
  readonly html: string;
  readonly token: string;
  /** In the order of the page. */
  readonly acts: readonly string[];
};

export function payerPage(service: TestService) {
  const pathOf = (url: string) => new URL(url).pathname;

  async function open(path: string): Promise<ShownPage> {
    const { statusCode, body: html } = await service.app.inject({ method: 'GET', url: path });
    const acts = [...html.matchAll(/name="act" value="(\w+)"/g)].map(([, act = '']) => act);
    return { status: statusCode, html, acts, token: /name="token" value="([^"]*)"/.exec(html)?.[1] ?? '' };
  }

  async function sent(path: string, fields: Record<string, string>): Promise<string> {
    const { headers, statusCode } = await service.app.inject({
      method: 'POST',
      url: path,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams(fields).toString(),
    });
    if (statusCode !== 303) return String(statusCode);
    const to = new URL(String(headers.location), `http://payer${path}`);
    return to.pathname + to.search + to.hash;
  }

  return {
    async linkTo(by: Merchant, id: string): Promise<string> {
      const { body } = await service.call('POST', `${subscriptionsUrl}/${id}/links`, { token: by.apiKey });
      return pathOf(body.url);
    },
    open,
    /** A click on a button of a page that was opened before. Returns where the browser goes. */
    click: (path: string, act: string, { token }: Pick<ShownPage, 'token'>, reason?: string) =>
      sent(path, { act, token, ...(reason === undefined ? {} : { reason }) }),
    receipt: (path: string, number: number, { token }: Pick<ShownPage, 'token'>) =>
      sent(path, { receipt: `${number}`, token }),
    /** Opens the page and clicks. */
    async does(path: string, act: string): Promise<string> {
      return sent(path, { act, token: (await open(path)).token });
    },
  };
}
