// A separate program that uses the private server, for tests that kill programs or start several together. It reports its start in one
// line of JSON, and exits when its input ends.
import { once } from 'node:events';
import { startEmbedded } from '../../../src/sandbox/postgres/server.ts';
import type { EmbeddedServer } from '../../../src/sandbox/postgres/server.ts';
import { startTestCluster, throwAwaySettings } from '../database/test-cluster.ts';

export type ChildReport = Omit<EmbeddedServer, 'stop'> | { readonly error: string };

const [dataFolder, binFolder] = process.argv.slice(2);

try {
  const { stop, ...report } = await start();
  console.log(JSON.stringify(report satisfies ChildReport));
  process.stdin.resume();
  await once(process.stdin, 'end');
  await stop();
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  console.log(JSON.stringify({ error: message } satisfies ChildReport));
}

async function start(): Promise<EmbeddedServer> {
  if (!dataFolder) return { ...(await startTestCluster()), folder: '', startedHere: true };
  const options = { dataFolder, log: () => {}, settings: throwAwaySettings };
  return startEmbedded(binFolder ? { ...options, binFolder } : options);
}
