// What a merchant sees in the end: lists page by page, sums, and the files of exports, of each of their shops.
import type { ShownLists } from '../checks/clients/lists.ts';
import type { Merchant } from './merchants.ts';
import type { WorldNode } from './node.ts';

const range = { fromTime: '2026-01-01T00:00:00Z', toTime: '2027-01-01T00:00:00Z' };
const ofShops = ['payments', 'refunds', 'invoices'] as const;
const pageSize = 40;
/** An export runs at once. */
const looks = 10;

export async function listsShownTo(
  { call, service }: WorldNode,
  { partyId, apiKey }: Merchant,
): Promise<ShownLists[]> {
  const headers = { authorization: `Bearer ${apiKey}`, 'x-request-id': 'lists' };
  async function ask(method: 'GET' | 'POST', url: string, payload?: object) {
    const { status, text } = await call({ method, url, headers, ...(payload ? { payload } : {}) });
    if (status >= 300) throw new Error(`${method} ${url}: ${status} ${text}`);
    return JSON.parse(text);
  }
  const within = new URLSearchParams(range).toString();
  const sum = async (what: string) =>
    (await ask('GET', `/v2/analytics/${what}${what.includes('?') ? '&' : '?'}${within}`)).result;

  async function walk(path: string): Promise<object[]> {
    const found: object[] = [];
    for (let token = ''; ;) {
      const more = token === '' ? '' : `&continuationToken=${encodeURIComponent(token)}`;
      const page = await ask('GET', `${path}?limit=${pageSize}&${within}${more}`);
      found.push(...page.result);
      if (page.continuationToken === undefined) return found;
      token = page.continuationToken;
    }
  }

  async function exported(of: string, more: object): Promise<string> {
    const { id } = await ask('POST', '/v2/analytics/exports', { of, ...range, ...more });
    for (let look = 0; look < looks; look++) {
      service.jobs.wake();
      await service.jobs.whenIdle();
      const { url, status } = await ask('GET', `/v2/analytics/exports/${id}`);
      if (status === 'failed') break;
      if (url !== undefined) return (await call({ method: 'GET', url: new URL(url).pathname })).text;
    }
    const last = await ask('GET', `/v2/analytics/exports/${id}`);
    throw new Error(`the export of ${of} is not ready: ${JSON.stringify(last)}`);
  }

  const shown: ShownLists[] = [];
  for (const { id: shopId } of await ask('GET', '/v2/processing/shops')) {
    for (const kind of ofShops) {
      const rows = await walk(`/v2/analytics/shops/${shopId}/${kind}`);
      shown.push({ partyId, shopId, kind, rows, file: await exported(kind, { shopID: shopId }), sums: [] });
    }
    const [payments, refunds] = shown.slice(-ofShops.length);
    const of = (what: string) => sum(`${what}?shopID=${shopId}`);
    payments?.sums.push(...(await of('payments/count')), ...(await of('payments/amount')));
    refunds?.sums.push(...(await of('refunds/amount')));
  }
  const file = await exported('withdrawals', {});
  shown.push({ partyId, shopId: '', kind: 'payouts', rows: [], file, sums: await sum('payouts') });
  return shown;
}
