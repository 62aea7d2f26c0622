// kill -9 under load: an acknowledged invoice exists once with its event.
// One that was not acknowledged exists completely or not at all.
import { onTestFinished, expect, test } from 'vitest';
import { often } from '../support/service/campaign.ts';
import { eventually, request, sandboxKey, type Server, startServer } from '../support/processes/program.ts';
import { temporaryFolder } from '../support/database/test-cluster.ts';

const clients = 50;
const kills = 3;
const acknowledgedBeforeKill = often(60, 300);

test('a server killed while 50 clients create invoices loses and doubles nothing', async () => {
  const { folder: data, remove } = temporaryFolder();
  onTestFinished(remove);
  const environment = { MANDATE_DATA: data, LOG_LEVEL: 'warn' };
  const acknowledged = new Map<string, string>();
  const asked = new Set<string>();

  let server: Server | undefined;
  for (let round = 0; round < kills; round++) {
    server = await startServer({ ...environment, LOG_LEVEL: 'info' });
    const token = sandboxKey(environment);
    const before = acknowledged.size;
    let running = true;
    const client = async (number: number) => {
      for (let n = 0; running; n++) {
        const externalID = `${round}-${number}-${n}`;
        asked.add(externalID);
        const body = {
          shopID: 'TEST',
          dueDate: '2030-01-01T00:00:00Z',
          amount: 1 + n,
          currency: 'RUB',
          product: 'x',
          externalID,
        };
        const answer = await request('POST', `${server!.url}/v2/processing/invoices`, { token, body }).catch(
          () => undefined,
        );
        if (answer?.status === 201) acknowledged.set(externalID, answer.body.invoice.id);
      }
    };
    const all = Array.from({ length: clients }, (_, number) => client(number));
    await eventually(
      () => Promise.resolve(acknowledged.size - before >= acknowledgedBeforeKill ? true : undefined),
      60_000,
      `${acknowledgedBeforeKill} invoices acknowledged`,
    );
    await server.stop('SIGKILL');
    running = false;
    await Promise.all(all);
  }

  server = await startServer({ ...environment, LOG_LEVEL: 'info' });
  const token = sandboxKey(environment);
  const invoices = `${server.url}/v2/processing/invoices`;
  const ids = new Set<string>();
  let unacknowledged = 0;
  for (const externalID of asked) {
    const found = await request('GET', `${invoices}?externalID=${externalID}`, { token });
    const expected = acknowledged.get(externalID);
    if (found.status === 404) {
      expect(expected, `${externalID} was acknowledged and is lost`).toBeUndefined();
      continue;
    }
    if (expected === undefined) unacknowledged += 1;
    else expect(found.body.id).toBe(expected);
    expect(ids.has(found.body.id), `${externalID} shares an invoice`).toBe(false);
    ids.add(found.body.id);
    const events = await request('GET', `${invoices}/${found.body.id}/events?limit=10`, { token });
    expect(events.body).toMatchObject([
      { id: 1, changes: [{ changeType: 'InvoiceCreated', invoice: { id: found.body.id } }] },
    ]);
    expect(events.body).toHaveLength(1);
  }
  expect(acknowledged.size).toBeGreaterThanOrEqual(kills * acknowledgedBeforeKill);
  expect(ids.size).toBe(acknowledged.size + unacknowledged);
  // At most the one request that each client had in progress when the server died.
  expect(unacknowledged).toBeLessThanOrEqual(clients * kills);
  expect(await server.stop()).toBe(0);
}, 120_000);
