// Chooses where the private server listens: a socket in its own folder, which only its user and root can open.
// If the socket path is too long, the server takes a free port on the loopback address.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { asideName } from '../../platform/make-folder.ts';
import type { Cluster } from './cluster.ts';

/** The host is a folder with a socket, or the loopback address. */
export type Address = { readonly host: string; readonly port: number };

/** Linux allows 107 bytes, macOS 103. */
const socketPathMostBytes = 100;
const usualPort = 5432;

export async function chooseAddress(cluster: Cluster): Promise<Address> {
  const socket = join(cluster.run, `.s.PGSQL.${usualPort}`);
  if (Buffer.byteLength(socket) <= socketPathMostBytes) return { host: cluster.run, port: usualPort };
  const host = '127.0.0.1';
  const remembered = rememberedPort(cluster);
  return {
    host,
    port: (remembered && (await freePort(host, remembered))) || (await freePort(host, 0)) || usualPort,
  };
}

/** Keeps the port for the next start, because open connection pools continue to use it. */
export function rememberPort(cluster: Cluster, address: Address): void {
  if (address.host === cluster.run) return;
  const aside = asideName(portFile(cluster));
  writeFileSync(aside, `${address.port}\n`, { flag: 'wx' });
  renameSync(aside, portFile(cluster));
}

function rememberedPort(cluster: Cluster): number | undefined {
  const text = existsSync(portFile(cluster)) ? readFileSync(portFile(cluster), 'utf8') : '';
  return Number.parseInt(text, 10) || undefined;
}

function portFile(cluster: Cluster): string {
  return join(cluster.pg, 'port');
}

/** Returns the port if it is free, any free port for 0, and undefined if it is taken. */
function freePort(host: string, port: number): Promise<number | undefined> {
  return new Promise((answer) => {
    const server = createServer();
    server.once('error', () => answer(undefined));
    server.listen(port, host, () => {
      const bound = server.address();
      server.close(() => answer(typeof bound === 'object' ? bound?.port : undefined));
    });
  });
}
