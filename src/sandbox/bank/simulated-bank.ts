// Assembles the simulated bank: journal, server, callbacks and timers.
// It runs inside `mandate serve` in a sandbox, alone as `mandate bank`, or in a test.
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { codeOf } from '../../error-code.ts';
import { isSigned } from '../../acquiring/adapters/http/signature.ts';
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../platform/log.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import { sandboxMasterKey } from '../../platform/keys/master-key.ts';
import { defined } from '../../defined.ts';
import type { AbilitiesAnswer } from '../../acquiring/adapters/http/capabilities.ts';
import type { Speaks } from './state/answer.ts';
import { openCallbacks } from './callbacks.ts';
import { claimAgain, claimFolder, type Claim } from './folder-lock.ts';
import { isOfCallback, openFaults, type Faults } from './faults.ts';
import { interactionOf } from './issuer.ts';
import { memoryJournal, openFileJournal, type Journal } from './journal.ts';
import { buildBankServer } from './server.ts';
import { specialAmount } from './special-amounts.ts';
import { openOperationProcessor, type OperationProcessor } from './operation-processor.ts';

export type SimulatedBank = {
  readonly url: string;
  /** False while another process runs this folder's bank at the same address. When it dies, this process takes over. */
  isOurs(): boolean;
  readonly faults: Faults;
  stop(): Promise<void>;
};

export type SimulatedBankOptions = {
  readonly clock: Clock;
  readonly secret: string;
  readonly log: Pick<Logger, 'warn'>;
  /** The folder of the journal. Without one, the state is in memory and lost on stop. */
  readonly folder?: string;
  readonly host?: string;
  /** 0, the default: the previous port, or a free one. */
  readonly port?: number;
  /** The address for payers' browsers, if it differs from the listening address. */
  readonly publicUrl?: string;
  readonly seed?: number;
  readonly holdMs?: number;
  /** `first version`: without the later additions to the protocol. */
  readonly speaks?: Speaks;
  readonly abilities?: AbilitiesAnswer;
  /** Tests replace both to get a faulty bank. */
  readonly employ?: (processor: OperationProcessor) => OperationProcessor;
  readonly admit?: typeof isSigned;
};

const usualHoldMs = 7 * 24 * 3_600_000;
const sweepEveryMs = 1_000;

/** The secret a sandbox and its bank share, created on the first start and kept in the folder. */
export function bankSecretIn(folder: string): string {
  return sandboxMasterKey(join(folder, 'secret')).toString('base64');
}

/** Identifies the bank of this folder. */
export function bankIdIn(folder: string): string {
  return bankIdOf(keyIn(folder));
}

function keyIn(folder: string): Buffer {
  return sandboxMasterKey(join(folder, 'key'));
}

function bankIdOf(key: Buffer): string {
  return createHash('sha256').update('bank id|').update(key).digest('hex').slice(0, 16);
}

export async function openSimulatedBank(options: SimulatedBankOptions): Promise<SimulatedBank> {
  const { clock, secret, log, folder, host = '127.0.0.1', port = 0, seed = 1 } = options;
  const { speaks = 'today' } = options;
  if (folder !== undefined) makeFolder(folder);
  const key = folder === undefined ? randomBytes(32) : keyIn(folder);
  const bankId = bankIdOf(key);
  const faults = openFaults(seed);
  const callbacks = openCallbacks(secret, clock);
  let app: FastifyInstance | undefined;
  let journal: Journal | undefined;
  let processor: OperationProcessor | undefined;

  const addressOf = (listening: number) => `http://${reachable(host)}:${listening}`;

  async function listen(wanted: number): Promise<number | undefined> {
    const server = buildBankServer({
      processor: () => processor,
      faults,
      clock,
      speaks,
      ...defined({ abilities: options.abilities }),
      isSigned: (...message) => (options.admit ?? isSigned)(secret, ...message),
      bankId,
    });
    try {
      // Not shared with other workers: who has the port has the journal.
      await server.listen({ host, port: wanted, exclusive: true });
    } catch (error) {
      await server.close();
      if (codeOf(error) === 'EADDRINUSE') return undefined;
      throw error;
    }
    app = server;
    return (server.server.address() as { port: number }).port;
  }

  async function stopListening(): Promise<void> {
    await app?.close();
    app = undefined;
  }

  /** Only the process that has the port may open the journal. */
  async function openBook(listening: number): Promise<void> {
    const publicUrl = options.publicUrl ?? addressOf(listening);
    const opened =
      folder === undefined
        ? { journal: memoryJournal(), facts: [] }
        : await openFileJournal(join(folder, 'journal'));
    journal = opened.journal;
    const honest = openOperationProcessor({
      clock,
      ...opened,
      key,
      holdMs: options.holdMs ?? usualHoldMs,
      speaks,
      declineOf: (message) => faults.declineOf(message),
      interactionOf: (waiting) => interactionOf(publicUrl, waiting),
      onChanged({ operationId, kind, amount = 0, callbackUrl }) {
        if (callbackUrl === undefined) return;
        const special = specialAmount(amount, kind)?.fault;
        const fault = faults.ofCallback() ?? (special && isOfCallback(special) ? special : undefined);
        callbacks.send(operationId, callbackUrl, fault);
      },
    });
    processor = options.employ ? options.employ(honest) : honest;
  }

  const claimable = { folder: folder ?? '', port, bankId, addressOf, listen, stopListening };

  async function claim(): Promise<Claim> {
    if (folder !== undefined) return claimFolder(claimable);
    const listening = await listen(port);
    if (listening === undefined)
      throw new Error(`Port ${port} is in use. Choose another for the simulated bank.`);
    return { port: listening, is: 'ours' };
  }

  /** Takes over when the process that had the bank open has died. */
  async function becomeOwner(): Promise<void> {
    const again = await claimAgain(claimable);
    if (!again) return;
    try {
      await openBook(again.port);
      log.warn({ port: again.port }, 'simulated bank taken over from another process');
    } catch (error) {
      log.warn({ err: error }, 'simulated bank takeover failed');
      await stopListening();
    }
  }

  let sweeping: Promise<void> | undefined;
  let sweepTimer: NodeJS.Timeout | undefined;
  function sweep(): void {
    if (sweeping) return;
    sweeping = (processor ? processor.endOverdue() : becomeOwner())
      .catch((error: unknown) => log.warn({ err: error }, 'simulated bank could not end overdue operations'))
      .finally(() => (sweeping = undefined));
  }

  async function stop(): Promise<void> {
    clearInterval(sweepTimer);
    await sweeping;
    // The port is freed last, because its next owner opens the journal.
    processor = undefined;
    await journal?.close();
    await stopListening();
    await callbacks.stop();
  }

  try {
    const claimed = await claim();
    if (claimed.is === 'ours') await openBook(claimed.port);
    sweepTimer = setInterval(sweep, sweepEveryMs).unref();
    return { url: addressOf(claimed.port), isOurs: () => processor !== undefined, faults, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The address to connect to when the server listens on all addresses. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
