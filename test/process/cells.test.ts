// deploy/haproxy-cells.cfg chooses a cell by names that the service gives to keys, tokens and paths.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { makeInvoice } from '../support/worlds/invoices.ts';
import { startTestService, type Merchant, type TestService } from '../support/service/test-service.ts';

let service: TestService;
let merchant: Merchant;
let configuration: string;

beforeAll(async () => {
  service = await startTestService();
  merchant = await service.createMerchant();
  configuration = await readFile(new URL('../../deploy/haproxy-cells.cfg', import.meta.url), 'utf8');
});
afterAll(() => service.close());

const named = (pattern: RegExp) => {
  const [, name] = pattern.exec(configuration) ?? [];
  if (name === undefined) throw new Error(`haproxy-cells.cfg does not have ${String(pattern)}.`);
  return name;
};

test('the field of an API key that chooses the cell is the ID that "mandate keys list" prints', async () => {
  const field = Number(named(/var\(txn\.bearer\),field\((\d+),_\)/));
  const [key] = await service.apiKeys.list(merchant.partyId);
  expect(merchant.apiKey.startsWith(named(/var\(txn\.bearer\) -m beg (\S+)/))).toBe(true);
  expect(merchant.apiKey.split('_')[field - 1]).toBe(key?.keyId);
});

test('the claim of an access token that chooses the cell is the party', async () => {
  const claim = named(/jwt_payload_query\('\$\.(\w+)'\)/);
  const { token } = await makeInvoice(service, merchant);
  const payload = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as object;
  expect(payload).toMatchObject({ [claim]: merchant.partyId });
});

test('the health check is a path that says whether a node is ready', async () => {
  const check = () => service.call('GET', named(/http-check send meth GET uri (\S+)/));
  expect(await check()).toMatchObject({ status: Number(named(/http-check expect status (\d+)/)) });
  const state = vi.spyOn(service.database, 'serverState');
  state.mockResolvedValueOnce({ isReadOnly: true, commitsWait: false });
  expect(await check()).toMatchObject({ status: 503 });
});

test('the denied path is the one of the metrics', async () => {
  const { text } = await service.call('GET', named(/deny_status 404 if \{ path (\S+) \}/));
  expect(text).toContain('mandate_');
});
