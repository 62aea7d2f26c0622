// Finds a port for a server whose address must be known before it runs. It avoids the kernel's range for outgoing connections,
// where a connection could take the port before the server does.
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Above the ports that browsers block. */
const lowest = 11_000;
/** Linux uses ports from 32,768 on for outgoing connections. */
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
