// mandate serve: the service, from start to clean end.
import { join } from 'node:path';
import { styleText } from 'node:util';
import { codeOf } from '../error-code.ts';
import { buildService, openFoundation, type Foundation, type RunningService } from '../app/compose.ts';
import { readConfig } from '../app/config.ts';
import { openLog } from '../platform/log.ts';
import { sandboxShopIds, setUpSandbox, type SandboxInfo } from '../sandbox/sandbox-setup.ts';
import { firstSignal } from './signals.ts';
import { invoiceExample } from '../invoices/api/schema.ts';

/** A second signal, or this long after the first, ends the process whatever it is doing. */
const maxDrainMs = 20_000;
/** Of that, what remains for closing the database when all else hangs. */
const lastResortMs = 5_000;

export async function serve(): Promise<void> {
  // From the first moment: a signal during the start is heeded as soon as there is something to stop.
  const signal = firstSignal();
  const config = readConfig(process.env, process.cwd());
  const log = openLog({ level: config.logLevel, human: process.stdout.isTTY });
  const foundation = await openFoundation(config, log, { mayCreate: true });
  let publicUrl = config.publicUrl;
  const service = buildService(foundation, () => publicUrl);
  let apiKey: string | undefined;
  let closeBank: (() => Promise<void>) | undefined;
  let hurry: NodeJS.Timeout | undefined;
  try {
    if (config.mode === 'sandbox') {
      await openGate(service);
      const { addDemoShop } = await import('../sandbox/demo/demo-shop.ts');
      addDemoShop(service.app, {
        apiKey: () => apiKey,
        shopId: 'TEST',
        url: () => publicUrl,
        nowMs: Date.now,
      });
    }
    const address = await service.app.listen({ host: config.host, port: config.port });
    // With PORT=0 the address is known only now.
    if (new URL(publicUrl).port === '0') publicUrl = address;
    if ((config.mode === 'live' || isForAll(config.host)) && isLoopback(publicUrl)) {
      log.warn(
        { publicUrl },
        'payers and banks elsewhere do not find this address: set PUBLIC_URL to one they do',
      );
    }
    if (config.mode === 'sandbox') {
      const sandbox = await openSandbox(foundation, service, publicUrl);
      ({ apiKey } = sandbox.facts);
      closeBank = sandbox.close;
    }
    service.jobs.start();
    service.webhooks.start();
    log.info({ address, mode: config.mode, pid: process.pid }, 'ready');

    log.info({ signal: await signal }, 'stopping: no new requests, what runs may finish');
    const endAnyway = () => void endAfter(foundation.close());
    hurry = setTimeout(endAnyway, maxDrainMs - lastResortMs).unref();
    for (const again of ['SIGTERM', 'SIGINT'] as const) process.once(again, endAnyway);
  } catch (error) {
    throw readable(error, config);
  } finally {
    await service.stop();
    await closeBank?.();
    await foundation.close();
    clearTimeout(hurry);
  }
  log.info('stopped');
}

/** What hangs is left to hang, but the private PostgreSQL is not left running if that can be helped. */
async function endAfter(closed: Promise<void>): Promise<never> {
  const timer = setTimeout(() => process.exit(1), lastResortMs);
  await closed.catch(() => undefined);
  clearTimeout(timer);
  process.exit(1);
}

/** Before the service listens: a path cannot be added afterwards. */
async function openGate({ app, banks }: RunningService): Promise<void> {
  const { addIssuerGate } = await import('../sandbox/issuer-proxy.ts');
  addIssuerGate(app, async (bankId) => (await banks.settingsOf(bankId))?.url);
}

/** The world around a sandbox: its merchant, and a bank unless there is one outside. */
async function openSandbox(
  foundation: Foundation,
  service: RunningService,
  publicUrl: string,
): Promise<{ facts: SandboxInfo; close: () => Promise<void> }> {
  const { config, database: db, apiKeys, ports, log } = foundation;
  const { bankIdIn, bankSecretIn, openSimulatedBank } = await import('../sandbox/bank/simulated-bank.ts');
  const { issuerUrlOf, simulatedBankIdOf } = await import('../sandbox/issuer-proxy.ts');
  const folder = join(config.dataFolder, 'bank');
  const secret = config.bankSecret ?? bankSecretIn(folder);
  const { bankPort: port, bankUrl } = config;
  const id = bankUrl === undefined ? simulatedBankIdOf(bankIdIn(folder)) : 'OUTSIDE';
  const simulated = { clock: ports.clock, secret, log, folder, port, publicUrl: issuerUrlOf(publicUrl, id) };
  const bank = bankUrl === undefined ? await openSimulatedBank(simulated) : undefined;
  const facts = await setUpSandbox({
    db,
    clock: ports.clock,
    apiKeys,
    banks: service.banks,
    bank: { id, url: bankUrl ?? bank?.url ?? '', secret },
    dataFolder: config.dataFolder,
    publicUrl,
  });
  greet(facts);
  return { facts, close: async () => bank?.stop() };
}

function isForAll(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

function isLoopback(url: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);
}

function readable(error: unknown, { host, port }: { host: string; port: number }): unknown {
  const code = codeOf(error);
  if (code === 'EADDRINUSE') {
    return new Error(
      `port ${port} is taken; stop what listens there, or choose another: PORT=8081 npm start`,
    );
  }
  if (code === 'EACCES') return new Error(`this user may not listen on port ${port}; choose one above 1024`);
  if (code === 'EADDRNOTAVAIL') return new Error(`${host} is no address of this machine; see HOST`);
  return error;
}

function greet(facts: SandboxInfo): void {
  const bold = (text: string) => (process.stdout.isTTY ? styleText('bold', text) : text);
  console.log(`
${bold('Mandate is ready.')} This is a sandbox: everything works, no real money moves.

  API      ${facts.apiUrl}
  Demo     ${facts.demoUrl}   a shop to buy from, with both sides shown
  Docs     ${facts.docsUrl}
  API key  ${facts.apiKey}
  Shops    ${sandboxShopIds.join(', ')}

Create an invoice:

  curl ${facts.apiUrl}/v2/processing/invoices \\
    -H 'Authorization: Bearer ${facts.apiKey}' \\
    -H 'X-Request-ID: first' -H 'Content-Type: application/json' \\
    -d '${JSON.stringify({ ...invoiceExample, cart: undefined, description: undefined })}'
`);
}
