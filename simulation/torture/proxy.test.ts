// The network of our own: what it carries, and what becomes of it when it is cut.
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { openProxy, type Proxy } from './proxy.ts';

let proxy: Proxy;
beforeEach(async () => {
  const port = await echo('');
  proxy = await openProxy({ host: '127.0.0.1', port });
  onTestFinished(() => proxy.stop());
});

/** Says back what it hears, after a word of its own. */
async function echo(word: string): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (bytes) => socket.write(word + bytes.toString()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function caller(): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port: proxy.port });
  socket.on('error', () => socket.destroy());
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** However it comes to its end. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

async function said(socket: Socket, words: string): Promise<string> {
  socket.write(words);
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  return bytes.toString();
}

test('it carries bytes both ways, and leads elsewhere when it is told to', async () => {
  expect(await said(await caller(), 'hello')).toBe('hello');
  proxy.leadTo({ host: '127.0.0.1', port: await echo('other ') });
  expect(await said(await caller(), 'hello')).toBe('other hello');
});

test('cut, it ends what is open and lets nobody through; healed, it carries again', async () => {
  const open = await caller();
  await said(open, 'hello');
  const ended = closed(open);
  proxy.cut('reset');
  await ended;
  const late = await caller();
  await closed(late);
  proxy.heal();
  expect(await said(await caller(), 'hello')).toBe('hello');
});

test('cut silently, it keeps everybody waiting until it is healed, and what was on the way is lost', async () => {
  const open = await caller();
  await said(open, 'hello');
  proxy.cut('silent');
  const late = await caller();
  let heard = '';
  for (const socket of [open, late]) {
    socket.on('data', (bytes: Buffer) => (heard += bytes.toString()));
    socket.write('is anybody there');
  }
  const ended = Promise.all([closed(open), closed(late)]);
  proxy.heal();
  await ended;
  expect(heard).toBe('');
  expect(await said(await caller(), 'hello')).toBe('hello');
});
