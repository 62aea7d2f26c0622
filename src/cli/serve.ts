// mandate serve: run the service, from start to shutdown.
import { join, resolve } from 'node:path';
import { styleText } from 'node:util';
import { codeOf } from '../error-code.ts';
import { buildService, type RunningService } from '../app/compose.ts';
import { openFoundation, type Foundation } from '../app/composition/foundation.ts';
import { misspeltIn, readConfig, type Config } from '../app/config.ts';
import { isLoopback } from '../platform/http/loopback.ts';
import { consoleLinkOf } from '../console/sessions.ts';
import { openLog, type Logger } from '../platform/log.ts';
import {
  leaveSandbox,
  readSandboxFacts,
  sandboxPartyId,
  sandboxShopIds,
  setUpSandbox,
  type SandboxInfo,
} from '../sandbox/sandbox-setup.ts';
import { firstSignal } from './signals.ts';
import { invoiceExample } from '../invoices/api/schema.ts';
import { superviseWorkers, workersOf } from './workers/supervisor.ts';
import { openWorkerLink, type WorkerLink } from './workers/worker.ts';

/** The process ends this long after the first signal, or on a second one. */
const maxDrainMs = 20_000;
/** The part of it that is left for closing the database. */
const lastResortMs = 5_000;

export async function serve(): Promise<void> {
  const worker = openWorkerLink();
  try {
    await serveAs(worker);
  } finally {
    worker?.leave();
  }
}

async function serveAs(worker: WorkerLink | undefined): Promise<void> {
  const config = readConfig(process.env, process.cwd());
  const log = openLog({ level: config.logLevel, human: process.stdout.isTTY });
  const workers = worker ? 1 : workersOf(config);
  if (worker === undefined) warnOfSettings(log, config);
  if (workers > 1) process.exitCode = await superviseWorkers(config, workers, log);
  else await serveAlone(config, log, worker);
}

async function serveAlone(config: Config, log: Logger, worker: WorkerLink | undefined): Promise<void> {
  // A signal during the start counts as soon as there is something to stop.
  const signal = firstSignal(worker ? ['SIGTERM'] : undefined);
  // Without a listener it would end the process.
  process.on('SIGUSR2', () => log.warn('SIGUSR2 ignored: this process has no workers to restart'));
  const foundation = await openFoundation(config, log, { mayCreate: true }, worker);
  let publicUrl = config.publicUrl;
  const service = buildService(foundation, () => publicUrl);
  let apiKey: string | undefined;
  let closeBank: (() => Promise<void>) | undefined;
  let hurry: NodeJS.Timeout | undefined;
  try {
    if (config.mode === 'sandbox') {
      await openGate(service);
      await openDemo(service, { apiKey: () => apiKey, url: () => publicUrl });
    }
    // So that the first request finds what each bank can do, and that nothing is sent before its report is read. The bank of a sandbox
    // starts later.
    if (config.mode === 'live') {
      await service.learnAbilities().catch(() => undefined);
      await service.bankWatch.begin();
    }
    const address = await listen(service, config);
    // With PORT=0 the address is known only after listening.
    if (new URL(publicUrl).port === '0') publicUrl = address;
    if (config.mode === 'live' || isForAll(config.host)) warnOfLoopback(log, publicUrl);
    if (config.mode === 'sandbox') {
      const sandbox = await openSandbox(foundation, service, publicUrl, worker?.isFirst ?? true);
      ({ apiKey } = sandbox.facts);
      closeBank = sandbox.close;
      await service.bankWatch.begin();
    }
    startWork(service);
    if (worker) worker.reportServing(address);
    else log.info({ address, mode: config.mode, pid: process.pid }, 'ready');

    log.info({ signal: await signal, pid: process.pid, drainTimeoutMs: maxDrainMs }, 'shutting down');
    const endNow = () => void endAfter(foundation.close());
    hurry = setTimeout(endNow, maxDrainMs - lastResortMs).unref();
    for (const again of ['SIGTERM', 'SIGINT'] as const) process.once(again, endNow);
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

function startWork({ learnAbilities, jobs, webhooks, search }: RunningService): void {
  jobs.attend(learnAbilities());
  jobs.start();
  webhooks.start();
  search.start();
}

/** Gives the private PostgreSQL a last chance to stop. */
async function endAfter(closed: Promise<void>): Promise<never> {
  const timer = setTimeout(() => process.exit(1), lastResortMs);
  await closed.catch(() => undefined);
  clearTimeout(timer);
  process.exit(1);
}

/** Call it before the service listens: paths cannot be added later. */
async function openGate({ app, banks }: RunningService): Promise<void> {
  const { addIssuerGate } = await import('../sandbox/issuer-proxy.ts');
  addIssuerGate(app, async (bankId) => (await banks.settingsOf(bankId))?.url);
}

/** Before the service listens, too. */
async function openDemo(
  { app }: RunningService,
  of: { readonly apiKey: () => string | undefined; readonly url: () => string },
): Promise<void> {
  const { addDemoShop } = await import('../sandbox/demo/demo-shop.ts');
  addDemoShop(app, { ...of, shopId: 'TEST', nowMs: Date.now });
}

/** The merchant of the sandbox, and the simulated bank unless BANK_URL names another. */
async function openSandbox(
  foundation: Foundation,
  service: RunningService,
  publicUrl: string,
  greets: boolean,
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
  if (greets) {
    const operator = { kind: 'operator', partyId: sandboxPartyId } as const;
    const { credential } = await service.consoleSessions.makeLink(operator, 'mandate serve');
    greet(facts, config.dataFolder, consoleLinkOf(publicUrl, credential));
  }
  const close = async () => {
    try {
      leaveSandbox(config.dataFolder);
    } finally {
      await bank?.stop();
    }
  };
  return { facts, close };
}

function isForAll(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

async function listen(service: RunningService, { host, port }: Config): Promise<string> {
  // What a crash left behind: expired security codes, and the keys of older ones.
  await service.purgeVault();
  return service.app.listen({ host, port });
}

function warnOfSettings(log: Logger, { warnings }: Config): void {
  for (const warning of warnings) log.warn(warning);
  for (const { name, nearest } of misspeltIn(process.env))
    log.warn({ name, nearest }, 'unknown setting ignored; run "mandate config" to see all settings');
}

function warnOfLoopback(log: Logger, publicUrl: string): void {
  if (isLoopback(new URL(publicUrl).hostname))
    log.warn({ publicUrl }, 'PUBLIC_URL is a loopback address; payers and banks cannot reach it');
}

function readable(error: unknown, { host, port }: { host: string; port: number }): unknown {
  const code = codeOf(error);
  if (code === 'EADDRINUSE') {
    return new Error(
      `Port ${port} is in use. Stop the program that listens there, or choose another port: PORT=8081 npm start`,
    );
  }
  if (code === 'EACCES') return new Error(`This user may not listen on port ${port}. Choose one above 1024.`);
  if (code === 'EADDRNOTAVAIL') return new Error(`${host} is not an address of this machine. Correct HOST.`);
  return error;
}

function greet(facts: SandboxInfo, dataFolder: string, consoleLink: string): void {
  const quoted = `'${dataFolder.replaceAll("'", `'\\''`)}'`;
  const elsewhere = dataFolder === resolve('data') ? '' : `  export MANDATE_DATA=${quoted}\n`;
  // While another node runs, the commands name that one.
  const isNamed = readSandboxFacts(dataFolder)?.apiUrl === facts.apiUrl;
  const access = isNamed
    ? 'URL=$(npx mandate sandbox url) KEY=$(npx mandate sandbox apiKey)'
    : `URL=${facts.apiUrl} KEY=${facts.apiKey}`;
  const bold = (text: string) => (process.stdout.isTTY ? styleText('bold', text) : text);
  console.log(`
${bold('Mandate is ready.')} This is a sandbox: no real money moves.

  API      ${facts.apiUrl}
  Demo     ${facts.demoUrl}   a shop that shows checkout and webhooks
  Docs     ${facts.docsUrl}
  Console  ${consoleLink}
           opens once, within ten minutes; then make another: npx mandate console link --operator
  API key  ${facts.apiKey}
  Shops    ${sandboxShopIds.join(', ')}

In another terminal, in the same folder:

${elsewhere}  export ${access}

Create an invoice:

  curl ${facts.apiUrl}/v2/processing/invoices \\
    -H 'Authorization: Bearer ${facts.apiKey}' \\
    -H 'X-Request-ID: first' -H 'Content-Type: application/json' \\
    -d '${JSON.stringify({ ...invoiceExample, cart: undefined, description: undefined })}'
`);
}
