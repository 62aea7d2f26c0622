// Caps on open connections: for the node, and for each network half of that, so that one caller cannot take all of them.
import type { Server, Socket } from 'node:net';
import { networkOf } from './request/client-address.ts';

export function limitConnections(
  server: Server,
  maxConnections: number,
  /** A proxy of the operator brings the connections of all callers. */
  isProxy: (address: string) => boolean,
): void {
  if (maxConnections === 0) return;
  server.maxConnections = maxConnections;
  const maxOfNetwork = Math.max(1, Math.floor(maxConnections / 2));
  const open = new Map<string, number>();

  server.prependListener('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined || isProxy(remoteAddress)) return;
    const network = networkOf(remoteAddress);
    const count = open.get(network) ?? 0;
    if (count >= maxOfNetwork) return void socket.destroy();
    open.set(network, count + 1);
    socket.once('close', () => {
      const left = (open.get(network) ?? 1) - 1;
      if (left === 0) open.delete(network);
      else open.set(network, left);
    });
  });
}
