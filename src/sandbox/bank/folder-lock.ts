// The owner of a bank's folder is the process that listens on the port written in it.
// The kernel frees the port when that process dies, so there is never a stale lock.
import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openLink } from '../../acquiring/adapters/http/link.ts';
import { parseMessage } from '../../acquiring/adapters/http/responses.ts';
import { codeOf } from '../../error-code.ts';
import { randomText } from '../../ids.ts';

/** `theirs`: another process has this bank open, on that port. */
export type Claim = { readonly port: number; readonly is: 'ours' | 'theirs' };

type Folder = {
  readonly folder: string;
  /** 0: the previous port, or any free one. */
  readonly port: number;
  readonly bankId: string;
  /** The address of a bank on a port, such as `http://127.0.0.1:9090`. */
  readonly addressOf: (port: number) => string;
  /** Returns the port, or undefined when it is taken. */
  readonly listen: (port: number) => Promise<number | undefined>;
  readonly stopListening: () => Promise<void>;
};

/** Long enough for a bank that is still reading a long journal. */
const answerMs = 5_000;

export async function claimFolder(options: Folder): Promise<Claim> {
  const { folder, port, listen } = options;
  const known = readPort(folder);
  if (known === undefined) return claimNew(options);
  if (port !== 0 && port !== known) {
    if (await isOurBank(options, known)) return { port: known, is: 'theirs' };
    return takeOver(options, await listenOrFail(options));
  }
  const listening = await listen(known);
  if (listening !== undefined) return { port: listening, is: 'ours' };
  if (await isOurBank(options, known)) return { port: known, is: 'theirs' };
  // Another program has the previous port.
  return takeOver(options, await listenOrFail(options));
}

/** Undefined until the folder's owner has died and its port is free. */
export async function claimAgain({ folder, listen }: Folder): Promise<Claim | undefined> {
  const known = readPort(folder);
  const listening = known === undefined ? undefined : await listen(known);
  return listening === undefined ? undefined : { port: listening, is: 'ours' };
}

async function claimNew(options: Folder): Promise<Claim> {
  const listening = await listenOrFail(options);
  const aside = writeAside(options.folder, listening);
  try {
    // When two processes start together, only one creates the file.
    linkSync(aside, portFile(options.folder));
    return { port: listening, is: 'ours' };
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    await options.stopListening();
    return await claimFolder(options);
  } finally {
    rmSync(aside, { force: true });
  }
}

function takeOver({ folder }: Folder, listening: number): Claim {
  renameSync(writeAside(folder, listening), portFile(folder));
  return { port: listening, is: 'ours' };
}

async function listenOrFail({ port, listen }: Folder): Promise<number> {
  const listening = await listen(port);
  if (listening !== undefined) return listening;
  throw new Error(
    `Port ${port} is in use. Choose another for the simulated bank, for example BANK_PORT=9091.`,
  );
}

async function isOurBank({ addressOf, bankId }: Folder, port: number): Promise<boolean> {
  const link = openLink(addressOf(port), answerMs);
  const question = { method: 'GET', target: '/health', headers: {}, answerMs } as const;
  const exchange = await link.ask(question);
  await link.stop();
  const health = exchange.kind === 'answer' ? parseMessage(exchange.body) : undefined;
  return typeof health === 'object' && health !== null && 'bank' in health && health.bank === bankId;
}

function readPort(folder: string): number | undefined {
  const file = portFile(folder);
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8').trim();
  if (!/^\d{1,5}$/.test(text))
    throw new Error(`${file} does not contain a port. Remove the file and start again.`);
  return Number(text);
}

function writeAside(folder: string, port: number): string {
  const aside = `${portFile(folder)}.${randomText(8)}`;
  writeFileSync(aside, `${port}\n`);
  return aside;
}

function portFile(folder: string): string {
  return join(folder, 'port');
}
