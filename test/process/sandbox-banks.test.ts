// Sandboxes with a built-in simulated bank, used by payers and several nodes.
import { expect, onTestFinished, test } from 'vitest';
import { cardBody } from '../support/worlds/cards.ts';
import { order } from '../support/worlds/invoices.ts';
import { waitMs } from '../../tools/tests/waits.ts';
import {
  eventually,
  mandate,
  request,
  sandboxKey,
  type Server,
  startServer,
} from '../support/processes/program.ts';
import { temporaryFolder } from '../support/database/test-cluster.ts';
import { createTestDatabase } from '../support/database/test-database.ts';

type Environment = Record<string, string>;
const hold = { flow: { type: 'PaymentFlowHold' } };

async function environments(count: number): Promise<Environment[]> {
  const testDatabase = await createTestDatabase();
  onTestFinished(() => testDatabase.drop());
  const MANDATE_MASTER_KEY = Buffer.alloc(32, 9).toString('base64');
  return Array.from({ length: count }, () => {
    const { folder, remove } = temporaryFolder();
    onTestFinished(remove);
    return { MANDATE_DATA: folder, DATABASE_URL: testDatabase.url, MANDATE_MASTER_KEY };
  });
}

/** Pays as a shop's server does and answers the paths of the payment and its invoice. */
async function pay(node: Server, token: string, more: object = {}, cardNumber = '4242424242424242') {
  const api = (path: string) => `${node.url}/v2/processing/${path}`;
  const { body } = await request('POST', api('invoices'), { token, body: order });
  const card = await request('POST', api('payment-resources'), { token, body: cardBody({ cardNumber }) });
  const { paymentToolToken } = card.body;
  const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
  const path = `invoices/${body.invoice.id}/payments`;
  const made = await request('POST', api(path), { token, body: { payer, ...more } });
  expect(made).toMatchObject({ status: 201 });
  return { path: `${path}/1`, invoice: `invoices/${body.invoice.id}` };
}

function fieldsOf(html: string): URLSearchParams {
  const hidden = html.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g);
  return new URLSearchParams(
    Object.fromEntries([...hidden].map(([, name = '', value = '']) => [name, value])),
  );
}

function reaches(node: Server, token: string, path: string, status: string): Promise<true> {
  const look = async () => {
    const { body } = await request('GET', `${node.url}/v2/processing/${path}`, { token });
    return body.status === status || undefined;
  };
  return eventually(look, 60_000, `${path} is ${status}`);
}

test('a remote payer reaches the issuer’s page under the address of the service, on any node', async () => {
  const [one, two] = (await environments(2)) as [Environment, Environment];
  const publicUrl = 'https://pay.example/mandate';
  const nodes = [
    await startServer({ ...one, PUBLIC_URL: publicUrl }),
    await startServer({ ...two, PUBLIC_URL: publicUrl }),
  ] as const;
  const token = sandboxKey(one);
  const { invoice, path } = await pay(nodes[0], token, {}, '4012888888881881');
  const asked = await eventually(
    async () => {
      const { body } = await request('GET', `${nodes[0].url}/v2/processing/${invoice}/events?limit=100`, {
        token,
      });
      return body
        .flatMap(({ changes }: any) => changes)
        .find(({ changeType }: any) => changeType === 'PaymentInteractionRequested')?.userInteraction.request;
    },
    waitMs,
    'the challenge is requested',
  );
  expect(asked.uriTemplate).toMatch(
    /^https:\/\/pay\.example\/mandate\/sandbox\/banks\/SIMULATED_[0-9a-f]{8}\/issuer\/challenge$/,
  );

  // The reverse proxy removes its prefix and uses either node.
  const at = (node: Server, url: string) => url.replace(publicUrl, node.url);
  const form = new URLSearchParams(
    Object.fromEntries(asked.form.map(({ key, template }: any) => [key, template])),
  );
  const challenge = at(nodes[0], asked.uriTemplate);
  const page = await fetch(challenge, { method: 'POST', body: form });
  const html = await page.text();
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(html).toContain('4012888888881881'.slice(0, 6));
  const decision = fieldsOf(html);
  decision.set('otp', '1234');
  decision.set('decision', 'confirm');
  const target = new URL('decision', at(nodes[1], asked.uriTemplate));
  const back = await fetch(target, { method: 'POST', body: decision });
  const way = await back.text();
  expect(way).toContain('You are going back to the merchant');
  // What the page's script sends. Without it the payment is polled after 15 s.
  const [, home = ''] = /<form class="go" method="post" action="([^"]*)"/.exec(way) ?? [];
  await fetch(at(nodes[1], home), { method: 'POST', body: fieldsOf(way), redirect: 'manual' });
  await reaches(nodes[0], token, path, 'captured');

  for (const wrong of [
    'SIMULATED_00000000/issuer/challenge',
    'OUTSIDE/issuer/challenge',
    '../../issuer/faults',
  ]) {
    expect((await fetch(`${nodes[0].url}/sandbox/banks/${wrong}`)).status, wrong).toBe(404);
  }
  const elsewhere = challenge.replace('/issuer/challenge', '/issuer/health');
  expect((await fetch(elsewhere)).status, 'only the pages are served').toBe(404);
  expect(await nodes[1].stop()).toBe(0);
  expect(await nodes[0].stop()).toBe(0);
}, 180_000);

test('if one of two nodes with a bank each dies, only its bank’s payments wait until it is back', async () => {
  const [one, two] = (await environments(2)) as [Environment, Environment];
  const first = await startServer(one);
  const token = sandboxKey(one);
  const early = await pay(first, token, hold);
  await reaches(first, token, early.path, 'processed');

  // The bank of the last node to start comes first, and the other node uses it too.
  const second = await startServer(two);
  const { output } = await mandate(['terminal', 'list', '--party', 'SANDBOX', '--json'], two);
  const own = (await mandate(['sandbox', 'bankUrl'], two)).output.trim();
  const banks = JSON.parse((await mandate(['bank', 'list', '--json'], two)).output);
  const ownId = banks.find(({ url }: any) => url === own).bankId;
  for (const { bankId, priority } of JSON.parse(output)) expect(priority).toBe(bankId === ownId ? 100 : 101);
  const held = await pay(first, token, hold);
  await reaches(second, token, held.path, 'processed');
  const end = (node: Server, path: string) =>
    request('POST', `${node.url}/v2/processing/${path}/capture`, { token, body: { reason: 'shipped' } });
  expect((await end(second, early.path)).status).toBe(202);
  await reaches(second, token, early.path, 'captured');

  await second.stop('SIGKILL');
  const after = await pay(first, token);
  await reaches(first, token, after.path, 'captured');
  expect((await end(first, held.path)).status).toBe(202);
  expect((await request('GET', `${first.url}/v2/processing/${held.path}`, { token })).body.status).toBe(
    'processed',
  );

  // The bank's state is in the node's folder, so after a restart its payments continue.
  const again = await startServer(two);
  await reaches(first, token, held.path, 'captured');
  expect(await again.stop()).toBe(0);
  expect(await first.stop()).toBe(0);
}, 180_000);
