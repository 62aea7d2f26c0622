// A proxy between two processes that can be cut.
// Then the bytes on their way are lost, and no connection gets through until it is healed.
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type NetConnectOpts, type Socket } from 'node:net';

export type Proxy = {
  readonly port: number;
  /** Where it leads from now on. */
  leadTo(target: NetConnectOpts): void;
  /** `reset` closes connections; `silent` keeps them open and delivers nothing. */
  cut(how: 'reset' | 'silent'): void;
  heal(): void;
  stop(): Promise<void>;
};

export async function openProxy(first: NetConnectOpts): Promise<Proxy> {
  let target = first;
  let state: 'whole' | 'reset' | 'silent' = 'whole';
  const open = new Set<Socket>();
  const server = createServer((near) => {
    // A failure on one side closes the other.
    near.on('error', () => near.destroy());
    hold(near);
    if (state === 'reset') return void near.destroy();
    if (state === 'silent') return;
    const far = connect(target);
    hold(far);
    far.on('error', () => far.destroy());
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    near.pipe(far);
    far.pipe(near);
  });

  function hold(socket: Socket): void {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  }
  function breakAll(): void {
    for (const socket of open) socket.destroy();
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    leadTo: (next) => void (target = next),
    cut(how) {
      state = how;
      if (how === 'reset') return breakAll();
      for (const socket of open) socket.unpipe().pause();
    },
    heal() {
      if (state === 'silent') breakAll();
      state = 'whole';
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      breakAll();
      await closed;
    },
  };
}
