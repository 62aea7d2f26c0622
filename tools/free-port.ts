// Finds a port for a server whose address must be known before it runs. It avoids the kernel's range for outgoing connections,
// where a connection could take the port before the server does.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Above the ports that browsers block. */
const lowest = 11_000;
/** Linux uses ports from 32,768 on for outgoing connections. */
const ports = 20_000;
const pollIntervalMs = 5;

/** Of the thread of a test, so that no other thread takes the port before the server listens. Other programs have the first part. */
const parts = 8;
const portsOfPart = ports / parts;
const own = Number(process.env['VITEST_POOL_ID'] ?? 0) % parts;

/** The first server may not listen yet when the port for the second is looked for. */
const given = new Set<number>();

export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowest + Math.floor((own + Math.random()) * portsOfPart);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
}

/**
 * Waits until a server of this process has left its port. After it has closed, a child that another thread has forked meanwhile
 * still has its socket, until the child runs its program.
 */
export async function untilFree(port: number): Promise<void> {
  while (!(await isFree(port))) await sleep(pollIntervalMs);
}

/** It asks by a connection, because a socket that listens for a moment could be inherited too. */
async function isFree(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return false;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    // A socket that closes while it is asked resets the connection.
    if (code === 'ECONNREFUSED' || code === 'ECONNRESET') return code === 'ECONNREFUSED';
    throw error;
  } finally {
    socket.destroy();
  }
}
