// An operator sets up live mode from the command line, as docs/operations describes it. The bank is a process of its own.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { cardBody } from '../../support/worlds/cards.ts';
import { commandLine } from '../../support/processes/command-line.ts';
import { order } from '../../support/worlds/invoices.ts';
import { eventually, mandate, request, startServer, startBank } from '../../support/processes/program.ts';
import { temporaryFolder } from '../../support/database/test-cluster.ts';
import { createTestDatabase } from '../../support/database/test-database.ts';

/** A bank, and the command line of a live service that does not run yet. */
async function liveMode() {
  const testDatabase = await createTestDatabase();
  onTestFinished(() => testDatabase.drop());
  const { folder, remove } = temporaryFolder();
  onTestFinished(remove);
  const bank = await startBank({ MANDATE_DATA: folder });
  const secret = readFileSync(join(folder, 'bank/secret'), 'utf8').trim();
  const environment = {
    MANDATE_MODE: 'live',
    DATABASE_URL: testDatabase.url,
    MANDATE_MASTER_KEY: 'xIRmjtfwL9GGfTQrmVrYsTugHVIGYTJIdyaakdofOPk=',
  };
  let printed = '';
  const run = async (line: string, input?: string) => {
    const words = line.split(' ');
    const result =
      input === undefined
        ? await commandLine(words, environment)
        : await mandate(words, environment, { input });
    printed += result.output + result.errors;
    expect(`${line}: ${result.code}`, result.errors).toBe(`${line}: 0`);
    return result.output.trim();
  };

  await run('migrate');
  await run(`bank add ACME --url ${bank.url} --secret-file -`, `${secret}\n`);
  expect(await run('bank check ACME')).toContain('accepts the signature');
  const party = await run('party create --name Example');
  const token = await run(`keys create --party ${party} --name server`);
  const serve = () => startServer(environment);
  const isSecretIn = (output: string) => (printed + output + bank.output()).includes(secret);
  return { run, party, token, serve, isSecretIn };
}

test('in live mode a shop takes a payment through a bank and a terminal added with commands', async () => {
  const { run, party, token, serve, isSecretIn } = await liveMode();
  const shop = await run(
    `shop create --party ${party} --name Example --currency RUB --url https://shop.example`,
  );
  const node = await serve();
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
    eventually(async () => [await pay()].find((paying) => paying.status === status), 60_000, `${status}`);
  expect(await pay()).toMatchObject({ status: 400, body: { code: 'operationNotPermitted' } });

  await run(`terminal add T1 --party ${party} --shop ${shop} --bank ACME --merchant M1 --descriptor EXAMPLE`);
  const { url } = await answered(201);
  const isCaptured = async () =>
    (await request('GET', `${url}/1`, { token })).body.status === 'captured' || undefined;
  await eventually(isCaptured, 60_000, 'the payment is captured');

  await run(`terminal remove T1 --party ${party} --shop ${shop}`);
  await answered(400);
  expect(await node.stop()).toBe(0);
  expect(isSecretIn(node.output())).toBe(false);
}, 180_000);

test('in live mode a merchant pays out through a terminal added with commands', async () => {
  const { run, party, token, serve, isSecretIn } = await liveMode();
  const node = await serve();
  const ask = async (method: string, path: string, body?: unknown) =>
    (await request(method, node.url + path, { token, body })).body;
  const named = { name: 'Example', provider: 'dpl', class: 'company' };
  const { id: identity } = await ask('POST', '/wallet/v0/identities', named);
  const { id: wallet } = await ask('POST', '/wallet/v0/wallets', { name: 'W', identity, currency: 'RUB' });
  const challenges = `/wallet/v0/identities/${identity}/challenges`;
  const challenge = { type: 'esia', proofs: [{ type: 'RUSDomesticPassport', token: 'any' }] };
  const started = await ask('POST', challenges, challenge);
  expect(started.status).toBe('Pending');
  // An operator has to decide first.
  expect((await request('POST', node.url + challenges, { token, body: challenge })).status).toBe(409);
  expect((await ask('GET', `${challenges}/${started.id}`)).status).toBe('Pending');
  await run(`identity approve ${identity}`);
  expect((await ask('GET', `${challenges}/${started.id}`)).status).toBe('Completed');
  expect((await ask('GET', `/wallet/v0/identities/${identity}`)).level).toBe('partial');

  const cardNumber = '4242424242424242';
  const stored = await ask('POST', '/payres/v0/bank-cards', {
    type: 'BankCard',
    cardNumber,
    expDate: '12/30',
  });
  const resource = { type: 'BankCardDestinationResource', token: stored.token };
  const of = { name: 'D', identity, currency: 'RUB', resource };
  const { id: destination } = await ask('POST', '/wallet/v0/destinations', of);
  const reaches = (path: string, status: string) =>
    eventually(
      async () => (await ask('GET', path)).status === status || undefined,
      60_000,
      `${path} is ${status}`,
    );
  expect((await ask('GET', `/wallet/v0/destinations/${destination}`)).status).toBe('Unauthorized');

  // The bank can check the card only through a terminal.
  await run(
    `terminal add P1 --party ${party} --payouts --bank ACME --merchant PAYOUTS --descriptor EXAMPLE --currencies any`,
  );
  await reaches(`/wallet/v0/destinations/${destination}`, 'Authorized');
  await run(`wallet deposit ${wallet} --amount 100000 --from-bank MAIN --reference 1`);
  await run('payout limits set --currency RUB --per-payout 5000 --reason contract');
  const withdraw = async () => {
    const body = { wallet, destination, body: { amount: 1_000, currency: 'RUB' } };
    return `/wallet/v0/withdrawals/${(await ask('POST', '/wallet/v0/withdrawals', body)).id}`;
  };
  await reaches(await withdraw(), 'Succeeded');
  expect((await ask('GET', `/wallet/v0/wallets/${wallet}/account`)).own.amount).toBe(99_000);
  expect(await run('reconcile --bank ACME')).toContain(
    '1 equal, 0 in progress, 0 at the edge of the period, 0 different',
  );
  await run('ledger check');

  await run(`terminal remove P1 --party ${party} --payouts`);
  const isRefused = async () => {
    const body = { wallet, destination, body: { amount: 1_000, currency: 'RUB' } };
    return (await ask('POST', '/wallet/v0/withdrawals', body)).code === 'noPayoutTerminal' || undefined;
  };
  await eventually(isRefused, 60_000, 'no bank pays out any more');
  expect(await node.stop()).toBe(0);
  expect(isSecretIn(node.output())).toBe(false);
}, 180_000);

test('a shop created in live mode is live', async () => {
  const testDatabase = await createTestDatabase();
  onTestFinished(() => testDatabase.drop());
  const environment = {
    MANDATE_MODE: 'live',
    DATABASE_URL: testDatabase.url,
    MANDATE_MASTER_KEY: 'xIRmjtfwL9GGfTQrmVrYsTugHVIGYTJIdyaakdofOPk=',
  };
  const run = (line: string) => commandLine(line.split(' '), environment);
  await run('migrate');
  await run('party create --name Example --id P');
  const create = 'shop create --party P --name Example --currency RUB --url https://shop.example';
  expect((await run(`${create} --id S`)).code).toBe(0);
  expect((await run(`${create} --id T --mode test`)).code).toBe(1);
  expect((await run('shop list --party P')).output.match(/\b(live|test)\b(?= +trading)/g)).toEqual(['live']);
});
