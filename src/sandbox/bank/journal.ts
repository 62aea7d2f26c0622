// Keeps the simulated bank's facts in an append-only file, or in memory for tests.
// Appends that arrive during a sync share the next one.
import { open, type FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { Fact } from './state/state.ts';

export type Journal = {
  /** Resolves when the fact would survive a crash. */
  append(fact: Fact): Promise<void>;
  /** Resolves when all appended facts would survive a crash. Await it before any response. */
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

/** Opens or creates the file and returns its facts. An incomplete last line, left by a crash, is removed. */
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
    // Batches are written one after another, so that the file stays in order. After a failed write every later append
    // fails too, because the content of the disk is unknown.
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
  // A crash leaves only an incomplete end. A valid line after an invalid one means that the file is damaged.
  const isWholeBehind = bytes
    .toString('utf8', at)
    .split('\n')
    .slice(0, -1)
    .some((line) => factOf(line) !== undefined);
  if (isWholeBehind)
    throw new Error(`${file} is damaged at byte ${at}. Move the file away to start with an empty bank.`);
  return { facts, goodBytes: at };
}

function factOf(line: string): Fact | undefined {
  const text = line.slice(9);
  return line.slice(0, 9) === `${checksum(text)} ` ? (JSON.parse(text) as Fact) : undefined;
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}
