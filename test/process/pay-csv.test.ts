// The example that pays the rows of a CSV file, against a real service. Killed and run again it pays every row once, and it
// pays nothing if the file is invalid.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { card } from '../support/worlds/payout-world.ts';
import { eventually, request, sandboxKey, startServer } from '../support/processes/program.ts';
import { temporaryFolder } from '../support/database/test-cluster.ts';
import { createTestDatabase } from '../support/database/test-database.ts';

const script = fileURLToPath(new URL('../../examples/pay-csv.mjs', import.meta.url));
const { folder, remove } = temporaryFolder();
afterAll(remove);

type Run = { readonly code: number | null; readonly errors: string };

function start(file: string, environment: Record<string, string>, ...options: string[]) {
  const child = spawn(process.execPath, [script, join(folder, file), ...options], {
    env: { PATH: process.env['PATH'] ?? '', ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let errors = '';
  child.stderr.on('data', (text) => (errors += String(text)));
  const ended = once(child, 'close').then(([code]): Run => ({ code: code as number | null, errors }));
  return { child, ended };
}
const run = (...parameters: Parameters<typeof start>) => start(...parameters).ended;

const reportOf = (file: string) =>
  readFileSync(join(folder, `${file}.report.csv`), 'utf8')
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','));

/** Passes requests on to the service. Once it is to stop, no response comes back any more. */
async function startPassage(serviceUrl: string, isToStop: () => boolean): Promise<string> {
  const passage = createServer((incoming, outgoing) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const { method = '', url = '', headers } = incoming;
      const { authorization = '', 'content-type': type } = headers;
      const answer = await fetch(serviceUrl + url, {
        method,
        headers: {
          authorization,
          'x-request-id': String(headers['x-request-id']),
          ...(type ? { 'content-type': type } : {}),
        },
        ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
      });
      const body = await answer.text();
      if (isToStop()) return;
      outgoing.writeHead(answer.status, {
        'content-type': answer.headers.get('content-type') ?? 'text/plain',
      });
      outgoing.end(body);
    })();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    passage.closeAllConnections();
    passage.close();
  });
  await once(passage, 'listening');
  return `http://127.0.0.1:${(passage.address() as AddressInfo).port}`;
}

/** A sandbox with a wallet, and a card to pay out to. */
async function startSandbox() {
  const db = await createTestDatabase();
  onTestFinished(() => db.drop());
  const environment = { MANDATE_DATA: folder, DATABASE_URL: db.url };
  const server = await startServer(environment);
  const token = sandboxKey(environment);
  const post = async (path: string, body: unknown) =>
    (await request('POST', server.url + path, { token, body })).body;
  const get = async (path: string) => (await request('GET', server.url + path, { token })).body;

  const named = { name: 'A', provider: 'test', class: 'person' };
  const { id: identity } = await post('/wallet/v0/identities', named);
  const { id: wallet } = await post('/wallet/v0/wallets', { name: 'W', identity, currency: 'RUB' });
  const { token: stored } = await post('/payres/v0/bank-cards', card('4242424242424242'));
  const secrets = { MANDATE_API_KEY: token, MANDATE_URL: server.url };
  return { server, token, post, get, identity, wallet, stored, secrets };
}

test('the example pays every row once when it is killed and run again', async () => {
  const { server, token, post, get, identity, wallet, stored, secrets } = await startSandbox();
  const resource = { type: 'BankCardDestinationResource', token: stored };
  const of = { name: 'D', identity, currency: 'RUB', resource };
  const { id: destination } = await post('/wallet/v0/destinations', of);
  const payouts = 200;
  const lines = [
    'externalID,wallet,amount,currency,destination,cardToken',
    ...Array.from({ length: payouts }, (_, row) => `"row ""${row}""",${wallet},100,RUB,${destination},`),
    `by token,${wallet},100,RUB,,${stored}`,
    `too much,${wallet},60000000,RUB,${destination},`,
    `and more,${wallet},60000000,RUB,${destination},`,
    `in dollars,${wallet},100,USD,${destination},`,
  ];
  writeFileSync(join(folder, 'pay.csv'), `\uFEFF${lines.join('\r\n')}\r\n`);
  const isUnderWay = () =>
    existsSync(join(folder, 'pay.csv.report.csv')) && reportOf('pay.csv').length > payouts / 8;
  // It cannot reach the end of the file before it is killed, however late that is.
  const killed = start('pay.csv', { ...secrets, MANDATE_URL: await startPassage(server.url, isUnderWay) });
  await eventually(async () => isUnderWay() || undefined, 60_000, 'an eighth of the rows is final');
  killed.child.kill('SIGKILL');
  await killed.ended;
  const early = reportOf('pay.csv').length;
  expect(early).toBeLessThan(payouts / 4);
  // A line that was only half written.
  appendFileSync(join(folder, 'pay.csv.report.csv'), `by token,1xU`);

  const resumed = await run('pay.csv', secrets);
  expect(resumed).toMatchObject({ code: 2 });
  expect(resumed.errors).toContain(`of ${lines.length - 1} rows were final before`);
  expect(resumed.errors).toContain('202 paid, 2 not paid, 0 unknown');
  expect(resumed.errors).not.toContain(token);
  const report = reportOf('pay.csv');
  expect(report.map(([name]) => name)).toEqual(lines.slice(1).map((line) => line.split(',')[0]));
  expect(report.find(([name]) => name === 'in dollars')?.slice(-2)).toEqual([
    'Refused',
    'differentCurrencies Invalid currency',
  ]);

  const all = (await get(`/wallet/v0/withdrawals?limit=1000&walletID=${wallet}`)).result;
  expect(all).toHaveLength(payouts + 3);
  expect(new Set(all.map(({ externalID }: any) => externalID)).size).toBe(payouts + 3);
  const quoted = (name: string) => (name.includes('"') ? `"${name.replaceAll('"', '""')}"` : name);
  const idOf = new Map(all.map(({ id, externalID }: any) => [quoted(externalID), id]));
  expect(report.map(([name, id]) => [name, id])).toEqual(
    report.map(([name]) => [name, idOf.get(name) ?? '']),
  );
  expect((await get(`/wallet/v0/wallets/${wallet}/account`)).own.amount).toBe(
    100_000_000 - (payouts + 1) * 100 - 60_000_000,
  );

  // Final rows stay final and are not queried again, so the run needs no valid key.
  writeFileSync(join(folder, 'pay.csv'), lines.slice(0, -1).join('\n'));
  expect(await run('pay.csv', { ...secrets, MANDATE_API_KEY: 'none' })).toMatchObject({ code: 2 });

  // A final row must not change.
  writeFileSync(join(folder, 'pay.csv'), lines.join('\n').replace(',100,RUB', ',101,RUB'));
  const changed = await run('pay.csv', secrets);
  expect(changed.code).toBe(1);
  expect(changed.errors).toMatch(/pay\.csv:2: row "0" is in .* with 100 RUB/);
  expect(changed.errors).toContain('Nothing was paid');

  writeFileSync(join(folder, 'other.csv'), lines.slice(0, 2).join('\n').replace('row ""0', 'other'));
  const stranger = await run('other.csv', { ...secrets, MANDATE_API_KEY: 'none' });
  expect(stranger).toMatchObject({ code: 3, errors: expect.stringContaining('the API key was rejected') });
  expect(await server.stop()).toBe(0);
  const alone = await run('other.csv', secrets, '--wait', '1');
  expect(alone).toMatchObject({ code: 3, errors: expect.stringContaining('no response: ECONNREFUSED') });
}, 180_000);

test('the example follows a pending payout even after its card token has expired', async () => {
  const { server, get, wallet, stored, secrets } = await startSandbox();
  const write = (cardToken: string, amount = 199_916) =>
    writeFileSync(
      join(folder, 'open.csv'),
      `externalID,wallet,amount,currency,cardToken\nslow/1,${wallet},${amount},RUB,${cardToken}\n`,
    );
  const paid = async () => (await run('open.csv', secrets, '--wait', '1')).code;
  write(stored);
  expect(await paid()).toBe(3);
  const [withdrawal] = (await get(`/wallet/v0/withdrawals?limit=10&walletID=${wallet}`)).result;
  const pending = [['slow/1', withdrawal.id, wallet, '199916', 'RUB', 'Pending', expect.any(String)]];
  expect(reportOf('open.csv')).toEqual(pending);

  write('r1.expired');
  expect(await paid()).toBe(3);
  expect(reportOf('open.csv')).toEqual(pending);
  // As if it had been killed before it wrote the report.
  rmSync(join(folder, 'open.csv.report.csv'));
  expect(await paid()).toBe(3);
  expect(reportOf('open.csv')).toEqual(pending);

  rmSync(join(folder, 'open.csv.report.csv'));
  write(stored, 100);
  expect(await paid()).toBe(2);
  const [[, , , , , status, reason] = []] = reportOf('open.csv');
  expect([status, reason]).toEqual(['Refused', expect.stringContaining(withdrawal.id)]);
  expect(await server.stop()).toBe(0);
}, 120_000);

test('the example pays nothing with an invalid file or invalid settings', async () => {
  const settings = { MANDATE_API_KEY: 'key', MANDATE_URL: 'http://127.0.0.1:1' };
  const tell = async (text: string, environment: Record<string, string> = settings) => {
    writeFileSync(join(folder, 'bad.csv'), text);
    const { code, errors } = await run('bad.csv', environment);
    expect(code).toBe(1);
    expect(errors).toContain('Nothing was paid');
    return errors;
  };
  const header = 'externalID,wallet,amount,currency,destination,cardToken';
  const row = async (line: string) => (await tell(`${header}\n\n${line}\n`)).replaceAll(/^.*bad\.csv:/gm, '');
  expect(await tell(`${header}\n`, {})).toContain('MANDATE_API_KEY');
  expect(await tell('externalID,amount\n')).toMatch(
    /lacks the column wallet\n.*lacks the column currency\n.*destination or cardToken/,
  );
  expect(await row('a,w,1.5,RUB,d,')).toContain('3: amount "1.5"');
  expect(await row('a,w,0,RUB,d,')).toContain('3: amount "0"');
  expect(await row('a,w,1,rub,d,')).toContain('3: currency "rub"');
  expect(await row('a,w,1,RUB,,')).toContain('3: no destination and no cardToken');
  expect(await row('a,w,1,RUB,d,t')).toContain('both a destination and a cardToken');
  expect(await row('a,w,1,RUB,4242 4242 4242 4242,')).toContain('looks like a card number');
  expect(await row(',w,1,RUB,d,')).toContain('3: no externalID');
  expect(await row('a')).toContain('3: 1 cells instead of 6');
  expect(await row('a,w,1,RUB,"d,')).toContain('quotation mark');
  expect(await row('"a\nb",w,1,RUB,d,\n"a\nb",w,2,RUB,d,')).toContain('5: externalID a');
});
