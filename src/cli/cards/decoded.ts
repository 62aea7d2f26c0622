// Decompresses a stream, and fails unless all of it was read.
import { once } from 'node:events';
import type { Gunzip, Inflate } from 'node:zlib';
import { Unreadable } from './byte-reader.ts';

/** Reads the source to its end, also if the compressed part ends before. */
export async function* decoded(
  coder: Gunzip | Inflate,
  source: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const ended = new AbortController();
  coder.once('end', () => ended.abort());
  let given = 0;
  const giving = (async () => {
    for await (const piece of source) {
      given += piece.length;
      if (ended.signal.aborted) continue;
      if (!coder.write(piece)) await once(coder, 'drain', { signal: ended.signal }).catch(passAbort);
    }
    coder.end();
  })();
  giving.catch((error: Error) => coder.destroy(error));
  try {
    yield* coder as AsyncIterable<Buffer>;
  } catch (error) {
    throw error instanceof Unreadable ? error : new Unreadable(`damaged: ${String(error)}`);
  }
  await giving;
  if (coder.bytesWritten < given) throw new Unreadable('more bytes follow its compressed part');
}

function passAbort(error: Error): void {
  if (error.name !== 'AbortError') throw error;
}
