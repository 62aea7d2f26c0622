// A relay in front of the simulated bank that delays every response by a number of milliseconds.
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export type SlowBank = { readonly url: string; latencyMs: number; close(): Promise<void> };

export async function openSlowBank(bankUrl: string): Promise<SlowBank> {
  const { hostname, port, pathname } = new URL(bankUrl);
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ host: hostname, port: Number(port), noDelay: true });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      one.on('error', () => other.destroy());
    }
    near.on('data', (bytes) => far.write(bytes));
    far.on('data', (bytes) => {
      // Timers of one length fire in the order they were set, so the bytes keep their order.
      if (bank.latencyMs > 0) setTimeout(() => near.write(bytes), bank.latencyMs);
      else near.write(bytes);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bank: SlowBank = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    latencyMs: 0,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return bank;
}
