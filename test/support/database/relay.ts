// An address in front of PostgreSQL servers, which can move to another one. Open connections stay where they are, as after a silent
// fail-over.
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A socket's folder, or a loopback address. */
type Place = { readonly host: string; readonly port: number };

export type Relay = {
  readonly host: string;
  readonly port: number;
  /** New connections lead there from now on. */
  moveTo(place: Place): void;
  /** Nothing passes any more on the open connections, and neither side learns of it. */
  silence(): void;
  /** Whether anything was sent in vain to the server since. */
  hasSwallowed(): boolean;
  /** Ends the open connections without a word. */
  cut(): void;
  close(): void;
};

export async function openRelay(first: Place): Promise<Relay> {
  let target = first;
  let hasSwallowed = false;
  const silent = new Set<Socket>();
  const nears = new Set<Socket>();
  const server = createServer((near) => {
    const { host, port } = target;
    const far = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    nears.add(near);
    near.on('data', (bytes) => {
      if (silent.has(near)) hasSwallowed = true;
      else far.write(bytes);
    });
    far.on('data', (bytes) => silent.has(near) || near.write(bytes));
    near.on('error', () => far.destroy());
    near.on('close', () => {
      nears.delete(near);
      far.destroy();
    });
    far.on('error', () => near.destroy());
    far.on('close', () => silent.has(near) || near.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const near of nears) near.destroy();
  };
  return {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    moveTo: (place) => void (target = place),
    silence() {
      for (const near of nears) silent.add(near);
    },
    hasSwallowed: () => hasSwallowed,
    cut,
    close() {
      server.close();
      cut();
    },
  };
}
