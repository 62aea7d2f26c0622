// mandate serve: the service, from start to clean end.
import { styleText } from 'node:util';
import { buildService, layFoundation } from '../compose.ts';
import { readConfig } from '../config.ts';
import { openLog } from '../log.ts';
import { sandboxShopIds, setUpSandbox, type SandboxFacts } from '../merchants/sandbox-setup.ts';
import { invoiceExample } from '../invoices/invoice.wire.ts';

/** A second signal, or this long after the first, ends the process whatever it is doing. */
const drainMsMost = 20_000;

export async function serve(): Promise<void> {
  const config = readConfig(process.env, process.cwd());
  const log = openLog({ level: config.logLevel, human: process.stdout.isTTY });
  const foundation = await layFoundation(config, log);
  const service = buildService(foundation);
  let address: string;
  try {
    address = await service.app.listen({ host: config.host, port: config.port });
  } catch (error) {
    await service.stop();
    await foundation.close();
    throw readable(error, config);
  }
  service.engine.start();

  if (config.mode === 'sandbox') {
    const { database: db, apiKeys, ports } = foundation;
    // With PORT=0 the address is known only now.
    const publicUrl = config.port === 0 ? address : config.publicUrl;
    const facts = await setUpSandbox({
      db,
      clock: ports.clock,
      apiKeys,
      dataFolder: config.dataFolder,
      publicUrl,
    });
    greet(facts);
  }
  log.info({ address, mode: config.mode, pid: process.pid }, 'ready');

  const signal = await firstSignal();
  log.info({ signal }, 'stopping: no new requests, what runs may finish');
  const hurry = setTimeout(() => process.exit(1), drainMsMost).unref();
  process.once('SIGINT', () => process.exit(1));
  process.once('SIGTERM', () => process.exit(1));
  await service.stop();
  await foundation.close();
  clearTimeout(hurry);
  log.info('stopped');
}

function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve(signal));
  });
}

function readable(error: unknown, { host, port }: { host: string; port: number }): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') {
    return new Error(
      `port ${port} is taken; stop what listens there, or choose another: PORT=8081 npm start`,
    );
  }
  if (code === 'EACCES') return new Error(`this user may not listen on port ${port}; choose one above 1024`);
  if (code === 'EADDRNOTAVAIL') return new Error(`${host} is no address of this machine; see HOST`);
  return error;
}

function greet(facts: SandboxFacts): void {
  const bold = (text: string) => (process.stdout.isTTY ? styleText('bold', text) : text);
  console.log(`
${bold('Mandate is ready.')} This is a sandbox: everything works, no real money moves.

  API      ${facts.apiUrl}
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
