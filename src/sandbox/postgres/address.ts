// Where the private server listens: on a socket in its own folder, which only its user and root can reach. The path of
// a socket may have some 100 bytes; where it is longer, the server takes a free port of this machine, not of the network.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { asideName } from './atomic-create.ts';
import type { Cluster } from './cluster.ts';

/** The host is a folder with a socket, or an address of this machine. */
export type Address = { readonly host: string; readonly port: number };

/** Linux allows 107, macOS 103. */
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

/** The port of the last time is taken again if it is free, for pools that have been told it go on using it. */
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

/** The port if nobody has it, any free one for 0, undefined if it is taken. */
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
