// A slow receiver that rejects a third of its requests, and a sender; both are killed three times.
// At the end the receiver has the 20 events of each of WEBHOOK_INVOICES invoices, in order.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, onTestFinished, test } from 'vitest';
import { instantAt } from '../../src/clock.ts';
import { positionOf, type WebhookEvent } from '../../src/platform/events/domain/topic.ts';
import { messageIdOf } from '../../src/webhooks/feed/message.ts';
import { invoicesTopic } from '../../src/payments/webhook-events.ts';
import { freePort } from '../../tools/free-port.ts';
import { often } from '../support/service/campaign.ts';
import { eventually, request, sandboxKey, type Server, startServer } from '../support/processes/program.ts';
import { temporaryFolder } from '../support/database/test-cluster.ts';
import { createTestDatabase } from '../support/database/test-database.ts';
import { factsOfInvoice, writeInvoices } from '../support/database/seeded-events.ts';

const invoices = Number(process.env['WEBHOOK_INVOICES'] ?? often(30, 60));
const eventsEach = 20;
const kills = 3;
/** The share of the requests that the receiver rejects. */
const failing = 0.3;
const timeoutMs = 300_000 + invoices * 600;
const receiverFile = join(inject('plainSources'), 'test/support/receivers/receiver-child.js');

type Entry = {
  id: string;
  /** Of the bytes as received. */
  hash: string;
  eventID: number;
  eventType: string;
  invoice: string;
  status: string;
  accepted: boolean;
  isSigned: boolean;
};

test(
  'an unreliable receiver gets all webhook events in order from a sender that is killed',
  { timeout: 300_000 + timeoutMs },
  async () => {
    const testDatabase = await createTestDatabase();
    onTestFinished(() => testDatabase.drop());
    const { folder, remove } = temporaryFolder();
    onTestFinished(remove);
    const environment = {
      MANDATE_DATA: folder,
      DATABASE_URL: testDatabase.url,
      MANDATE_MASTER_KEY: Buffer.alloc(32, 9).toString('base64'),
      WEBHOOK_TIMEOUT_SECONDS: '1',
      WEBHOOK_DELAYS_SECONDS: Array(60).fill('0.2').join(','),
    };
    let sender: Server = await startServer(environment);
    const token = sandboxKey(environment);

    const scratch = mkdtempSync(join(tmpdir(), 'mandate-receiver-'));
    onTestFinished(() => rmSync(scratch, { recursive: true }));
    const journal = join(scratch, 'journal');
    const port = await freePort();
    const created = await request('POST', `${sender.url}/v2/processing/webhooks`, {
      token,
      body: {
        scope: { topic: 'InvoicesTopic', shopID: 'TEST', eventTypes: invoicesTopic.eventTypes },
        url: `http://127.0.0.1:${port}/webhook-events`,
      },
    });
    expect(created.status).toBe(201);
    const badly = {
      RECEIVER_PORT: String(port),
      RECEIVER_JOURNAL: journal,
      RECEIVER_FAILING: String(failing),
      RECEIVER_KEYS: JSON.stringify(created.body),
    };
    let receiver = await startReceiver(badly);
    const owner = { partyId: 'SANDBOX', shopId: 'TEST' };
    const shape = { invoices, eventsEach, writers: 4, pauseMs: 200 };
    const writing = writeInvoices(testDatabase.database, owner, shape);

    for (let kill = 0; kill < kills; kill++) {
      const before = journalOf(journal).length;
      // Kill in the middle of the deliveries.
      await eventually(
        () => Promise.resolve(journalOf(journal).length - before >= invoices ? true : undefined),
        60_000,
        'something has been delivered',
      );
      await sender.stop('SIGKILL');
      receiver.kill('SIGKILL');
      receiver = await startReceiver(badly);
      sender = await startServer(environment);
    }
    const ids = await writing;
    await eventually(
      async () => {
        const { rows } = await testDatabase.database.withClient((client) =>
          client.query<{ done: number; parked: number }>(
            `select count(*) filter (where wake_at is null and stuck_at is null)::int as done,
             count(*) filter (where stuck_at is not null)::int as parked from webhook_queue`,
          ),
        );
        expect(rows[0]?.parked).toBe(0);
        return rows[0]?.done === invoices && (await isRouted()) ? true : undefined;
      },
      timeoutMs,
      'every queue is done',
    );

    async function isRouted(): Promise<boolean> {
      const { rows } = await testDatabase.database.withClient((client) =>
        client.query('select min(next_position) as least from webhook_queue'),
      );
      return Number(rows[0].least) > eventsEach * 8;
    }

    const entries = journalOf(journal);
    expect(entries.filter(({ isSigned }) => !isSigned)).toEqual([]);
    const refused = entries.filter(({ accepted }) => !accepted).length;
    // Each receiver counts from zero, and the last line of a killed one may be missing.
    expect(refused).toBeGreaterThanOrEqual(Math.floor(entries.length * failing) - 2 * (kills + 1));
    const bytes = new Map<string, string>();
    for (const { id, hash } of entries) {
      expect(bytes.get(id) ?? hash, `${id} came with other bytes`).toBe(hash);
      bytes.set(id, hash);
    }
    const byInvoice = new Map<string, Entry[]>(ids.map((id) => [id, []]));
    for (const entry of entries) byInvoice.get(entry.invoice)!.push(entry);
    for (const [invoiceId, arrivals] of byInvoice) {
      const facts = factsOfInvoice({ ...owner, invoiceId }, eventsEach, instantAt(0));
      const log = facts.map((each, index) => ({ sequence: index + 1, createdAt: instantAt(0), facts: each }));
      const expected = invoicesTopic.webhookEventsOf(log);
      let known = 0;
      for (const arrival of arrivals) {
        const isThe = (event: WebhookEvent | undefined) =>
          event !== undefined && arrival.id === messageIdOf(invoiceId, positionOf(event));
        const isNext = isThe(expected[known]);
        // Only an event that was acknowledged but not recorded before the kill comes again.
        const isRepeat = isThe(expected[known - 1]);
        expect(isNext || isRepeat, `${invoiceId}: ${arrival.eventType} after ${known}`).toBe(true);
        if (isNext && arrival.accepted) known += 1;
      }
      const accepted = arrivals.filter((entry) => entry.accepted);
      const distinct = [...new Map(accepted.map((entry) => [entry.id, entry])).values()];
      expect(distinct.map(({ eventType }) => eventType)).toEqual(expected.map(({ eventType }) => eventType));
      expect(distinct.at(-1)!.status).toBe('cancelled');
      const numbers = distinct.map(({ eventID }) => eventID);
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
      expect(new Set(numbers).size).toBe(eventsEach);
    }
    const all = new Set(entries.map(({ eventID }) => eventID));
    expect(all.size).toBe(invoices * eventsEach);
    console.log(`${entries.length} requests for ${all.size} webhook events, ${refused} of them rejected`);
    expect(await sender.stop()).toBe(0);
  },
);

function journalOf(file: string): Entry[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return [];
  }
  // A kill may have cut the last line, and then its request got no response.
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Entry);
}

async function startReceiver(environment: Record<string, string>): Promise<ChildProcess> {
  for (;;) {
    const { PATH = '' } = process.env;
    const child = fork(receiverFile, {
      env: { PATH, ...environment },
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const line = await Promise.race([once(child.stdout!, 'data'), once(child, 'exit')]);
    if (Buffer.isBuffer(line[0])) return child;
    await sleep(50); // the port of the killed receiver is still in use
  }
}
