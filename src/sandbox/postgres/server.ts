// The private PostgreSQL in the data folder, used without DATABASE_URL. The first process starts it, later processes
// share it, and the last one stops it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { NotSetUp } from '../../not-set-up.ts';
import { chooseAddress, rememberPort, type Address } from './address.ts';
import { binarySources, findBinaries, type Binaries, type BinarySources } from './binaries.ts';
import {
  createFiles,
  dataMajor,
  explainRefusal,
  openCluster,
  removeOldBinaries,
  removeOldLogs,
  type Cluster,
} from './cluster.ts';
import { findPostmaster, launch, removeStaleLocks, stopPostmaster, type Launch } from './postmaster.ts';
import { databaseName, enter, userName, type Presence } from './shared-use.ts';
import { choosePlace, holdsCluster, hostUsers, type HostUsers, type Log } from './run-as.ts';

export type EmbeddedServer = {
  readonly connection: { host: string; port: number; user: string; password: string; database: string };
  /** The data folder in use. It differs from the requested one if the server's user cannot enter that. */
  readonly folder: string;
  readonly startedHere: boolean;
  /** Call it after closing all connections. Stops the server unless other processes use it. */
  stop(): Promise<void>;
};

export type EmbeddedOptions = {
  readonly dataFolder: string;
  /** False: use only an existing database. */
  readonly mayCreate?: boolean;
  /** The operator's folder with postgres and initdb. */
  readonly binFolder?: string;
  readonly log: Log;
  /** More settings, as in postgresql.conf. */
  readonly settings?: Record<string, string>;
  /** Replaced in tests. */
  readonly machine?: Partial<HostUsers & BinarySources>;
};

type Arrival = { readonly presence: Presence; readonly address: Address; readonly pid: number };
type Start = Arrival & { readonly startedHere: boolean };

const readyTimeoutMs = 60_000;
const pollIntervalMs = 15;
/** How many launches may fail before the server counts as unable to start. */
const maxFailedLaunches = 3;
const launchPauseMs = 100;

/** Uses the server of this folder, or starts it. Call it again after losing the server. */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const { cluster, start } = await startOrEnter(options);
  return serverOf(cluster, start, () => departFrom(cluster, start.presence, options.log));
}

async function startOrEnter(options: EmbeddedOptions): Promise<{ cluster: Cluster; start: Start }> {
  if (process.platform === 'win32') {
    throw new Error(
      'The private PostgreSQL does not run on Windows. Set DATABASE_URL to a PostgreSQL of your own.',
    );
  }
  const { dataFolder, machine, log } = options;
  const startedMs = performance.now();
  try {
    const place = choosePlace(dataFolder, { ...hostUsers, ...machine }, log);
    if (options.mayCreate === false && !holdsCluster(place.folder)) {
      // Creating a database takes seconds, and its folder exists from the start.
      const soon = existsSync(join(place.folder, 'pg'))
        ? ' If another process is creating one there, try again in a moment.'
        : '';
      throw new NotSetUp(
        `No database in ${dataFolder}. Set DATABASE_URL or MANDATE_DATA as for the service, or start one with "mandate serve".${soon}`,
      );
    }
    const cluster = openCluster(place);
    const running = await enterRunning(cluster, log);
    const start = running ? { ...running, startedHere: false } : await startServer(cluster, options);
    const tookMs = Math.round(performance.now() - startedMs);
    const fields = { folder: cluster.folder, pid: start.pid, ...start.address, tookMs };
    log(start.startedHere ? 'private PostgreSQL started' : 'private PostgreSQL found running', fields);
    return { cluster, start };
  } catch (error) {
    throw explainRefusal(error, dataFolder);
  }
}

/** Undefined without a server. Waits for a server that is starting or stopping. */
async function enterRunning(cluster: Cluster, log: Log): Promise<Arrival | undefined> {
  const deadline = Date.now() + readyTimeoutMs;
  const onLost = (error: Error) => log('private PostgreSQL connection lost', { reason: error.message });
  for (let server = findPostmaster(cluster); server; server = findPostmaster(cluster)) {
    const { pid, address } = server;
    const presence = server.ready ? await enter(address, cluster.password, onLost) : undefined;
    if (presence) return { presence, address, pid };
    if (Date.now() > deadline) {
      throw new Error(
        `The private PostgreSQL (process ${pid}) is not ready after ${readyTimeoutMs / 1000} s. It may still be ` +
          `recovering from a crash. Check ${cluster.logs} and start this program again.`,
      );
    }
    await sleep(pollIntervalMs);
  }
  return undefined;
}

async function startServer(cluster: Cluster, options: EmbeddedOptions): Promise<Start> {
  const binaries = await prepareFiles(cluster, options);
  const start = await launchUntilReady(cluster, binaries, options);
  if (start.startedHere) {
    rememberPort(cluster, start.address);
    removeOldBinaries(cluster, binaries);
  }
  return start;
}

async function prepareFiles(cluster: Cluster, options: EmbeddedOptions): Promise<Binaries> {
  const major = dataMajor(cluster);
  const request = {
    binFolder: options.binFolder,
    copyInto: cluster.pg,
    dataMajor: major,
    user: cluster.user,
  };
  const binaries = await findBinaries(request, { ...binarySources, ...options.machine });
  if (major === undefined) {
    options.log('creating private PostgreSQL', { folder: cluster.folder });
    await createFiles(cluster, binaries, options.settings?.['fsync'] !== 'off');
  }
  removeOldLogs(cluster);
  return binaries;
}

async function launchUntilReady(
  cluster: Cluster,
  binaries: Binaries,
  options: EmbeddedOptions,
): Promise<Start> {
  const deadline = Date.now() + readyTimeoutMs;
  let lastWords = '';
  for (let failed = 0; failed < maxFailedLaunches && Date.now() < deadline; await sleep(launchPauseMs)) {
    removeStaleLocks(cluster);
    const attempt = launch(cluster, binaries, await chooseAddress(cluster), options.settings ?? {});
    try {
      const arrival = await outcomeOf(attempt, cluster, options.log);
      if (arrival) return { ...arrival, startedHere: arrival.pid === attempt.pid };
      lastWords = attempt.lastWords();
    } finally {
      attempt.forgetOutput();
    }
    if (!isPassing(lastWords)) failed++;
  }
  throw new Error(
    `The private PostgreSQL does not start: ${lastWords}. Programs: ${binaries.folder}. Logs: ${cluster.logs}.`,
  );
}

/** When several processes launch a server, one launch succeeds and all processes use that server. */
async function outcomeOf(attempt: Launch, cluster: Cluster, log: Log): Promise<Arrival | undefined> {
  const deadline = Date.now() + readyTimeoutMs;
  while (!attempt.hasEnded() && !findPostmaster(cluster) && Date.now() < deadline) {
    await sleep(pollIntervalMs);
  }
  return enterRunning(cluster, log);
}

/** Another server has the lock file, or child processes of a killed server still use its memory. */
function isPassing(lastWords: string): boolean {
  return /lock file|still in use/.test(lastWords);
}

async function departFrom(cluster: Cluster, held: Presence, log: Log): Promise<void> {
  const presence = held.isLost() ? (await enterRunning(cluster, log))?.presence : held;
  if (!presence) return;
  try {
    if (await presence.takeAlone()) {
      await stopPostmaster(cluster);
      log('private PostgreSQL stopped', { folder: cluster.folder });
    } else {
      log('private PostgreSQL left running for other processes', { folder: cluster.folder });
    }
  } finally {
    await presence.leave();
  }
}

function serverOf(cluster: Cluster, start: Start, depart: () => Promise<void>): EmbeddedServer {
  let departure: Promise<void> | undefined;
  return {
    connection: { ...start.address, user: userName, password: cluster.password, database: databaseName },
    folder: cluster.folder,
    startedHere: start.startedHere,
    stop: () => (departure ??= depart()),
  };
}
