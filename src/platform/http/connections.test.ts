import { connect, createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { limitConnections } from './connections.ts';

let server: Server;
let accepted: Socket[];
let clients: Socket[];

async function listen(maxConnections: number, proxy?: string): Promise<void> {
  accepted = [];
  clients = [];
  server = createServer();
  limitConnections(server, maxConnections, (address) => address === proxy);
  server.on('connection', (socket) => {
    socket.on('error', () => undefined);
    if (!socket.destroyed) accepted.push(socket);
    if (!socket.destroyed) socket.write('hello');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}

/** True if the server keeps the connection. */
async function opens(): Promise<boolean> {
  const { port } = server.address() as { port: number };
  const socket = connect(port, '127.0.0.1');
  clients.push(socket);
  socket.on('error', () => undefined);
  return Promise.race([once(socket, 'data').then(() => true), once(socket, 'close').then(() => false)]);
}

afterEach(async () => {
  for (const socket of clients) socket.destroy();
  server.close();
  await once(server, 'close');
});

test('one address has half of the connections, and gets the place of one that it closes', async () => {
  await listen(6);
  expect([await opens(), await opens(), await opens(), await opens()]).toEqual([true, true, true, false]);
  const [first] = accepted;
  clients[0]?.destroy();
  await once(first as Socket, 'close');
  expect([await opens(), await opens()]).toEqual([true, false]);
});

test('a proxy has all of them', async () => {
  await listen(4, '127.0.0.1');
  const opened = [await opens(), await opens(), await opens(), await opens(), await opens()];
  expect(opened).toEqual([true, true, true, true, false]);
});

test('0 is no limit', async () => {
  await listen(0);
  expect([await opens(), await opens(), await opens()]).toEqual([true, true, true]);
});
