import { subscribe, unsubscribe } from 'node:diagnostics_channel';
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

/** A server that returns what it receives, after a word. */
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

/** Resolves once the proxy has the next connection. The system connects a caller before that. */
function nextAccepted(): Promise<void> {
  return new Promise((resolve) => {
    const seen = (message: unknown) => {
      if ((message as { socket: Socket }).socket.localPort !== proxy.port) return;
      unsubscribe('net.server.socket', seen);
      resolve();
    };
    subscribe('net.server.socket', seen);
  });
}

/** Resolves however the socket closes. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

async function said(socket: Socket, words: string): Promise<string> {
  socket.write(words);
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  return bytes.toString();
}

test('the proxy carries bytes both ways and can lead to another target', async () => {
  expect(await said(await caller(), 'hello')).toBe('hello');
  proxy.leadTo({ host: '127.0.0.1', port: await echo('other ') });
  expect(await said(await caller(), 'hello')).toBe('other hello');
});

test('a proxy cut with reset closes open and new connections until it is healed', async () => {
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

test('a proxy cut silently keeps connections waiting until it is healed and loses their bytes', async () => {
  const open = await caller();
  await said(open, 'hello');
  proxy.cut('silent');
  const accepted = nextAccepted();
  const late = await caller();
  await accepted;
  let heard = '';
  for (const socket of [open, late]) {
    socket.on('data', (bytes: Buffer) => (heard += bytes.toString()));
    socket.write('hello again');
  }
  const ended = Promise.all([closed(open), closed(late)]);
  proxy.heal();
  await ended;
  expect(heard).toBe('');
  expect(await said(await caller(), 'hello')).toBe('hello');
});
