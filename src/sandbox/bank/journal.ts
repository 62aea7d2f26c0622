// Where the simulated bank's facts are kept: a file that is only ever appended to, or memory for tests. A fact counts when
// its append has ended; the file gathers what comes while it syncs, so that one sync serves many.
import { open, type FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { Fact } from './state.ts';

export type Journal = {
  /** Ends when the fact would survive a crash. */
  append(fact: Fact): Promise<void>;
  /** Ends when everything appended so far would: what is told must be safe, also to a second asker. */
  settled(): Promise<void>;
  close(): Promise<void>;
};

export function memoryJournal(): Journal {
  return {
    append: () => Promise.resolve(),
    settled: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

/** Opens or makes the file, and answers what is in it. Half a line at its end, of a crash, is cut off. */
export async function openFileJournal(file: string): Promise<{ journal: Journal; facts: Fact[] }> {
  const handle = await open(file, 'a+', 0o600);
  try {
    const bytes = await handle.readFile();
    const { facts, goodBytes } = readFacts(bytes, file);
    if (goodBytes < bytes.length) await handle.truncate(goodBytes);
    await handle.sync();
    return { journal: fileJournal(handle), facts };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function fileJournal(handle: FileHandle): Journal {
  type Batch = { lines: string[]; written: Promise<void> };
  let gathering: Batch | undefined;
  let last: Promise<void> = Promise.resolve();

  function gather(): Batch {
    const lines: string[] = [];
    // One batch after the other: the file stays in order, and a batch grows while the one before it syncs. After a failed
    // write nothing is accepted any more, for nobody knows what reached the disk.
    const written = writeAfter(last, lines);
    last = written;
    last.catch(() => undefined);
    return { lines, written };
  }

  async function writeAfter(before: Promise<void>, lines: readonly string[]): Promise<void> {
    await before;
    await nextTurn();
    gathering = undefined;
    await handle.appendFile(lines.join(''));
    await handle.datasync();
  }

  return {
    append(fact) {
      gathering ??= gather();
      gathering.lines.push(lineOf(fact));
      return gathering.written;
    },
    settled: () => last,
    async close() {
      await last.catch(() => undefined);
      await handle.close();
    },
  };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

function lineOf(fact: Fact): string {
  const text = JSON.stringify(fact);
  return `${checksum(text)} ${text}\n`;
}

function readFacts(bytes: Buffer, file: string): { facts: Fact[]; goodBytes: number } {
  const facts: Fact[] = [];
  let at = 0;
  for (;;) {
    const end = bytes.indexOf(0x0a, at);
    const fact = end < 0 ? undefined : factOf(bytes.toString('utf8', at, end));
    if (!fact) break;
    facts.push(fact);
    at = end + 1;
  }
  // A crash leaves a torn end. Something whole behind something broken is damage of another kind, and money is at stake.
  const isWholeBehind = bytes
    .toString('utf8', at)
    .split('\n')
    .slice(0, -1)
    .some((line) => factOf(line) !== undefined);
  if (isWholeBehind)
    throw new Error(`${file} is damaged at byte ${at}; move it away to start with an empty book`);
  return { facts, goodBytes: at };
}

function factOf(line: string): Fact | undefined {
  const text = line.slice(9);
  return line.slice(0, 9) === `${checksum(text)} ` ? (JSON.parse(text) as Fact) : undefined;
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}
