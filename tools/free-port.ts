// A port for a server whose address has to be known before it runs. Out of those the kernel does not give away by itself: there each
// outgoing connection takes one, and might take it between here and there.
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Above those that browsers refuse. */
const lowest = 11_000;
/** Linux gives away those from 32,768 on. */
const ports = 20_000;

export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowest + Math.floor(Math.random() * ports);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}
