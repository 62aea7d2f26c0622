// kill -9 while payments are created, captured and refunded, with a bank in another process that stays.
// Acknowledged payments exist, and the bank's report, the payments and the ledger agree.
import { expect, onTestFinished, test } from 'vitest';
import { readSandboxFacts } from '../../../src/sandbox/sandbox-setup.ts';
import { often } from '../../support/service/campaign.ts';
import { differences, readBook, notFinal } from '../../support/checks/ledger-check.ts';
import { cardBody, paymentResourcesUrl } from '../../support/worlds/cards.ts';
import { invoicesUrl, order } from '../../support/worlds/invoices.ts';
import { eventually, request, startBank, startServer, type Server } from '../../support/processes/program.ts';
import { temporaryFolder } from '../../support/database/test-cluster.ts';
import { createTestDatabase } from '../../support/database/test-database.ts';

const secret = 'a secret of the tests that is long enough';
const clients = 8;
/** So many kills have to interrupt something. Reaching the limit of rounds is a failure. */
const kills = 2;
const mostRounds = 8;
const acknowledgedBeforeKill = often(24, 40);
const hours = 3_600_000;

test('a service killed in the middle of payments loses and doubles no money', async () => {
  const testDatabase = await createTestDatabase();
  onTestFinished(() => testDatabase.drop());
  const folders = [temporaryFolder(), temporaryFolder()] as const;
  for (const { remove } of folders) onTestFinished(remove);
  const bank = await startBank({ MANDATE_DATA: folders[0].folder, BANK_SECRET: secret });
  // Slow enough that operations are in progress at every moment.
  await fetch(`${bank.url}/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ kind: 'latency', curve: { shape: 'fixed', ms: 100 } }),
  });
  const environment = {
    MANDATE_DATA: folders[1].folder,
    DATABASE_URL: testDatabase.url,
    MANDATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    BANK_URL: bank.url,
    BANK_SECRET: secret,
  };
  let server: Server;
  let token: string;
  const start = async () => {
    server = await startServer(environment);
    token = readSandboxFacts(folders[1].folder)!.apiKey;
  };
  const call = (method: 'GET' | 'POST', path: string, body?: unknown) =>
    request(method, `${server.url}${path}`, { token, ...(body === undefined ? {} : { body }) });

  /** Invoice IDs by the payment's external ID. */
  const acknowledged = new Map<string, string>();
  /** An invoice, its payment, and what the merchant does next. Throws if the service dies. */
  async function trade(name: string, flow: 'PaymentFlowInstant' | 'PaymentFlowHold'): Promise<void> {
    const { body: made } = await call('POST', invoicesUrl, order);
    const { body: card } = await call('POST', paymentResourcesUrl, cardBody());
    const payments = `${invoicesUrl}/${made.invoice.id}/payments`;
    const { paymentToolToken } = card;
    const payer = { payerType: 'PaymentResourcePayer', paymentToolToken, contactInfo: {} };
    const paid = await call('POST', payments, { externalID: name, flow: { type: flow }, payer });
    expect(paid.status, JSON.stringify(paid.body)).toBe(201);
    acknowledged.set(name, made.invoice.id);
    const leaves = (status: string) =>
      eventually(
        async () => ((await call('GET', `${payments}/1`)).body.status === status ? undefined : true),
        60_000,
        `${name} is no longer ${status}`,
      );
    await leaves('pending');
    if (flow === 'PaymentFlowHold') {
      await call('POST', `${payments}/1/capture`, { reason: 'sent', amount: 5_000, currency: 'RUB' });
      await leaves('processed');
    }
    await call('POST', `${payments}/1/refunds`, { externalID: name, amount: 1_000 });
  }

  let interrupting = 0;
  for (let round = 0; interrupting < kills && round < mostRounds; round++) {
    await start();
    const before = acknowledged.size;
    let running = true;
    const client = async (number: number) => {
      for (let n = 0; running; n++) {
        const flow = n % 2 ? 'PaymentFlowInstant' : 'PaymentFlowHold';
        // The service is down, so this trade ends.
        await trade(`${round}-${number}-${n}`, flow).catch((error: unknown) => {
          if (!(error instanceof TypeError)) throw error;
        });
      }
    };
    const all = Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
    await Promise.race([
      all,
      eventually(
        () => Promise.resolve(acknowledged.size - before >= acknowledgedBeforeKill ? true : undefined),
        120_000,
        `${acknowledgedBeforeKill} payments acknowledged`,
      ),
    ]);
    running = false;
    await server!.stop('SIGKILL');
    await all;
    if ((await notFinal(testDatabase.database)).length > 0) interrupting += 1;
  }
  expect(interrupting, `kills while something was in progress, of at most ${mostRounds}`).toBe(kills);

  await start();
  // The leases of the killed nodes expire, and their jobs run to the end.
  const now = Date.parse((await call('GET', '/sandbox/clock')).body.now);
  for (const afterMs of [hours, 2 * hours]) {
    await call('POST', '/sandbox/clock', { now: new Date(now + afterMs).toISOString() });
  }
  expect(await notFinal(testDatabase.database)).toEqual([]);
  for (const [name, invoiceId] of acknowledged) {
    const { body } = await call('GET', `/v2/processing/payments?externalID=${name}`);
    expect(body, name).toMatchObject({ id: '1', invoiceID: invoiceId });
    expect(['captured', 'processed']).toContain(body.status);
  }
  const book = await readBook(bank.url, secret, Date.now());
  expect(await differences(testDatabase.database, book)).toEqual([]);
  expect(await server!.stop()).toBe(0);
}, 300_000);
