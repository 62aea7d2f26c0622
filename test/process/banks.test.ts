// Live mode as an operator sets it up: a bank in a process of its own, made known by the command line, a merchant with a
// terminal there, and a payment through it. What is done here is told in docs/operations.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { cardBody } from '../support/cards.ts';
import { order } from '../support/invoices.ts';
import { eventually, mandate, request, startServer, startBank } from '../support/program.ts';
import { temporaryFolder } from '../support/test-cluster.ts';
import { createTestDatabase } from '../support/test-database.ts';

test('in live mode a merchant takes a payment through a bank that was added by the command line', async () => {
  const testDatabase = await createTestDatabase();
  onTestFinished(() => testDatabase.drop());
  const { folder, remove } = temporaryFolder();
  onTestFinished(remove);
  const bank = await startBank({ MANDATE_DATA: folder });
  const secret = readFileSync(join(folder, 'bank/secret'), 'utf8').trim();
  const environment = {
    MANDATE_MODE: 'live',
    DATABASE_URL: testDatabase.url,
    MANDATE_MASTER_KEY: Buffer.alloc(32, 9).toString('base64'),
  };
  let printed = '';
  const run = async (line: string, input?: string) => {
    const result = await mandate(line.split(' '), environment, input === undefined ? {} : { input });
    printed += result.output + result.errors;
    expect(`${line}: ${result.code}`, result.errors).toBe(`${line}: 0`);
    return result.output.trim();
  };

  await run(`bank add ACME --url ${bank.url} --secret-file -`, `${secret}\n`);
  expect(await run('bank check ACME')).toContain('accepts our signature');
  const party = await run('party create --name Example');
  const shop = await run(
    `shop create --party ${party} --name Example --currency RUB --url https://shop.example`,
  );
  const token = await run(`keys create --party ${party} --name server`);
  const node = await startServer(environment);
  const api = (path: string) => `${node.url}/v2/processing${path}`;
  const pay = async () => {
    const { body } = await request('POST', api('/invoices'), { token, body: { ...order, shopID: shop } });
    const card = await request('POST', api('/payment-resources'), { token, body: cardBody() });
    const { paymentToolToken } = card.body;
    const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
    const url = api(`/invoices/${body.invoice.id}/payments`);
    return { url, ...(await request('POST', url, { token, body: { payer } })) };
  };
  const answered = (status: number) =>
    eventually(async () => [await pay()].find((paying) => paying.status === status), 10_000, `${status}`);
  expect(await pay()).toMatchObject({ status: 400, body: { code: 'operationNotPermitted' } });

  await run(`terminal add T1 --party ${party} --shop ${shop} --bank ACME --merchant M1 --descriptor EXAMPLE`);
  const { url } = await answered(201);
  const isCaptured = async () =>
    (await request('GET', `${url}/1`, { token })).body.status === 'captured' || undefined;
  await eventually(isCaptured, 10_000, 'the payment is captured');

  await run(`terminal remove T1 --party ${party} --shop ${shop}`);
  await answered(400);
  expect(await node.stop()).toBe(0);
  expect(printed + node.output() + bank.output()).not.toContain(secret);
}, 180_000);
