// mandate webhooks: the commands, while a service runs.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { expect, inject, onTestFinished, test } from 'vitest';
import { eventually, mandate, request, sandboxKey, startServer } from '../../support/processes/program.ts';
import { contentIsSigned, standardIsSigned, startReceiver } from '../../support/receivers/receiver.ts';
import { temporaryFolder } from '../../support/database/test-cluster.ts';
import { createTestDatabase } from '../../support/database/test-database.ts';

test(
  'listen forwards signed events, replay sends them again, list shows the webhook',
  { timeout: 120_000 },
  async () => {
    const testDatabase = await createTestDatabase();
    onTestFinished(() => testDatabase.drop());
    const { folder, remove } = temporaryFolder();
    onTestFinished(remove);
    const environment = {
      MANDATE_DATA: folder,
      DATABASE_URL: testDatabase.url,
      MANDATE_MASTER_KEY: Buffer.alloc(32, 9).toString('base64'),
    };
    const server = await startServer(environment);
    const token = sandboxKey(environment);
    const [developer, merchant] = [await startReceiver(), await startReceiver()];
    onTestFinished(() => developer.stop());
    onTestFinished(() => merchant.stop());
    const webhook = await request('POST', `${server.url}/v2/processing/webhooks`, {
      token,
      body: {
        scope: { topic: 'InvoicesTopic', shopID: 'TEST', eventTypes: ['InvoiceCreated'] },
        url: merchant.url,
      },
    });
    expect(webhook.status).toBe(201);

    const { PATH = '' } = process.env;
    const listening = spawn(
      process.execPath,
      [inject('builtProgram'), 'webhooks', 'listen', '--forward', developer.url],
      {
        env: { PATH, ...environment },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    onTestFinished(() => void listening.kill('SIGKILL'));
    const lines: string[] = [];
    createInterface(listening.stdout).on('line', (line) => lines.push(line));
    const has = (text: string) => () =>
      Promise.resolve(lines.some((line) => line.includes(text)) ? true : undefined);
    await eventually(has('Listening'), 60_000, 'it listens');

    const created = await request('POST', `${server.url}/v2/processing/invoices`, {
      token,
      body: { shopID: 'TEST', dueDate: '2040-01-01T00:00:00Z', amount: 100, currency: 'RUB', product: 'x' },
    });
    const { id } = created.body.invoice;
    await eventually(has('InvoiceCreated  → 200'), 60_000, 'it is forwarded');
    const [handed] = developer.deliveries;
    expect(handed!.body).toMatchObject({ eventType: 'InvoiceCreated', invoice: { id } });
    const output = lines.join('\n');
    const [publicKey = ''] = /-----BEGIN PUBLIC KEY-----[^]*-----END PUBLIC KEY-----/.exec(output) ?? [];
    const [, secret = ''] = /signingSecret (\S+)/.exec(output) ?? [];
    expect(contentIsSigned(handed!, publicKey)).toBe(true);
    const [, signingPublicKey = ''] = /^signingPublicKey (\S+)$/m.exec(output) ?? [];
    for (const key of [secret, signingPublicKey])
      expect(standardIsSigned(handed!, key, Math.floor(Date.now() / 1_000))).toBe(true);
    expect(lines.slice(0, 2)).toEqual(['Temporary keys for this run:', `signingSecret ${secret}`]);
    listening.kill('SIGINT');

    const arrived = (times: number) => () =>
      Promise.resolve(merchant.deliveries.length === times ? true : undefined);
    await eventually(arrived(1), 60_000, 'the webhook is delivered too');
    expect(merchant.deliveries[0]!.raw.equals(handed!.raw)).toBe(true);
    // Only what the service has noted as delivered is sent again.
    const isNoted = () =>
      testDatabase.database.withClient(async (client) => {
        const { rowCount } = await client.query(
          'select from webhook_queue where webhook_id = $1 and wake_at is null',
          [webhook.body.id],
        );
        return rowCount === 1 || undefined;
      });
    await eventually(isNoted, 60_000, 'the delivery is noted');
    const replayed = await mandate(['webhooks', 'replay', webhook.body.id, '--since', '1h'], environment);
    expect(replayed.output).toContain('Queues to replay: 1.');
    await eventually(arrived(2), 60_000, 'it is sent again');
    expect(merchant.deliveries[1]!.raw.equals(handed!.raw)).toBe(true);

    const listed = await mandate(['webhooks', 'list', '--party', 'SANDBOX', '--json'], environment);
    const [shown] = JSON.parse(listed.output);
    expect(shown).toMatchObject({ id: webhook.body.id, url: merchant.url });
    expect(Object.keys(shown)).toEqual(['id', 'partyId', 'topic', 'owner', 'url', 'eventTypes', 'createdAt']);
    expect((await mandate(['webhooks', 'parked', webhook.body.id], environment)).output).toContain(
      'No queue is parked',
    );
    const unknown = await mandate(['webhooks', 'resume', '12345'], environment);
    expect(unknown).toMatchObject({ code: 1, errors: expect.stringContaining('Webhook 12345 not found') });
    const unknownToo = await mandate(['webhooks', 'parked', '12345'], environment);
    expect(unknownToo).toMatchObject({
      code: 1,
      errors: expect.stringContaining('Webhook 12345 not found'),
    });
    const wrong = await mandate(['webhooks', 'replay', webhook.body.id, '--since', 'yesterday'], environment);
    expect(wrong.errors).toContain('--since is "yesterday". Use a date-time');
    expect(await server.stop()).toBe(0);
  },
);
