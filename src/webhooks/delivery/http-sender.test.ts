// Faulty receivers: none can exceed the time limit or make the sender read without end.
import { createHook } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { whenTimeIsUp } from '../../../test/support/service/time-limit.ts';
import { waitMs } from '../../../tools/tests/waits.ts';
import { systemDnsLookup } from '../registration/address-guard.ts';
import { openSender, type PostResponse } from './http-sender.ts';

/** For receivers that never answer. A busy machine may exceed it. */
const shortMs = 1_500;
let server: Server | undefined;
const sockets = new Set<Socket>();
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
});

/** What a receiver does with a connection after the first bytes. */
async function sendTo(
  behave: (socket: Socket) => void,
  timeoutMs = waitMs,
): Promise<PostResponse & { tookMs: number }> {
  server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => behave(socket));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sender = openSender({ rule: 'anywhere', resolve: systemDnsLookup, timeoutMs });
  const startedMs = performance.now();
  const answer = await sender.post({
    url: new URL(`http://127.0.0.1:${port}/`),
    headers: { 'content-type': 'application/json' },
    body: Buffer.from('{}'),
  });
  const tookMs = performance.now() - startedMs;
  await sender.stop();
  return { ...answer, tookMs };
}

test('a receiver that does not answer fails with a timeout', async () => {
  const { tookMs, ...answer } = await sendTo(() => {}, shortMs);
  expect(answer).toEqual({ kind: 'nothing', why: 'timeout' });
  expect(tookMs).toBeGreaterThanOrEqual(shortMs - 5);
});

test('a delivery that waited for its connection during a suspension is not sent', async () => {
  const received: Buffer[] = [];
  const ends: Promise<unknown>[] = [];
  server = createTcpServer((socket) => {
    ends.push(once(socket, 'close'));
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => received.push(chunk));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sender = openSender({ rule: 'anywhere', resolve: systemDnsLookup, timeoutMs: 100 });
  const connected = once(server, 'connection');
  const post = { url: new URL(`http://127.0.0.1:${port}/`), headers: {}, body: Buffer.from('{}') };
  const { answered } = await new Promise<{ answered: Promise<PostResponse> }>((resolve) => {
    // Within a timer, so that socket events are handled before other due timers.
    setTimeout(() => {
      resolve({ answered: sender.post(post) });
      const untilMs = performance.now() + 300;
      while (performance.now() < untilMs);
    }, 0);
  });
  expect(await answered).toEqual({ kind: 'nothing', why: 'timeout' });
  await connected;
  await sender.stop();
  await Promise.all(ends);
  expect(Buffer.concat(received).toString()).toBe('');
});

test('a receiver that answers byte by byte fails with a timeout', async () => {
  const answer = await sendTo((socket) => {
    const text = 'HTTP/1.1 200 OK\r\nx-filler: ';
    let at = 0;
    const timer = setInterval(() => socket.write(text[at++] ?? 'x'), 10);
    socket.on('close', () => clearInterval(timer));
  }, shortMs);
  expect(answer).toMatchObject({ kind: 'nothing', why: 'timeout' });
});

test('an endless body counts by its status, and little of it is read', async () => {
  const connected: Socket[] = [];
  const seen = (message: unknown) => void connected.push((message as { socket: Socket }).socket);
  subscribe('undici:client:connected', seen);
  onTestFinished(() => void unsubscribe('undici:client:connected', seen));
  const answer = await sendTo((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
    const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
    const timer = setInterval(() => socket.write(chunk), 1);
    socket.on('close', () => clearInterval(timer));
  });
  expect(answer).toMatchObject({ kind: 'status', status: 200 });
  // 16 KB, in reads of at most 64 KB each.
  expect(connected).toHaveLength(1);
  expect(connected[0]!.bytesRead).toBeGreaterThan(16 * 1024);
  expect(connected[0]!.bytesRead).toBeLessThan(256 * 1024);
});

test('a body that stops in the middle counts by its status at the time limit', async () => {
  let isStarted = false;
  const started = () => void (isStarted = true);
  subscribe('undici:request:headers', started);
  onTestFinished(() => void unsubscribe('undici:request:headers', started));
  const half = 'HTTP/1.1 503 No\r\ncontent-length: 10\r\n\r\nx';
  const send = () => sendTo((socket) => socket.write(half));
  const answer = await whenTimeIsUp(waitMs, () => isStarted, send);
  expect(answer).toMatchObject({ kind: 'status', status: 503 });
});

test('a compressed body is not decompressed', async () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000));
  const decompressors: string[] = [];
  const hook = createHook({ init: (_, type) => void (type === 'ZLIB' && decompressors.push(type)) }).enable();
  onTestFinished(() => void hook.disable());
  const answer = await sendTo((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
    socket.write(bomb);
  });
  expect(answer).toMatchObject({ kind: 'status', status: 200 });
  expect(decompressors).toEqual([]);
});

test.each([
  ['endless headers', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}\r\n\r\n`, 'UND_ERR_HEADERS_OVERFLOW'],
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', 'the connection failed'],
])('a receiver that answers with %s has failed', async (_, text, why) => {
  expect(await sendTo((socket) => void socket.end(text))).toMatchObject({ kind: 'nothing', why });
});

test('a receiver that closes the connection or does not exist has failed', async () => {
  expect(await sendTo((socket) => socket.destroy())).toMatchObject({
    kind: 'nothing',
    why: 'UND_ERR_SOCKET',
  });
  const sender = openSender({ rule: 'anywhere', resolve: systemDnsLookup, timeoutMs: waitMs });
  const unreachable = { url: new URL('http://127.0.0.1:9/'), headers: {}, body: Buffer.alloc(0) };
  expect(await sender.post(unreachable)).toEqual({ kind: 'nothing', why: 'ECONNREFUSED' });
  await sender.stop();
});

test.each([
  ['120', 120_000],
  ['soon', undefined],
  ['-1', undefined],
])('Retry-After: %s', async (text, retryAfterMs) => {
  const answer = await sendTo((socket) =>
    socket.write(`HTTP/1.1 503 No\r\nretry-after: ${text}\r\ncontent-length: 0\r\n\r\n`),
  );
  expect('retryAfterMs' in answer ? answer.retryAfterMs : undefined).toBe(retryAfterMs);
});
