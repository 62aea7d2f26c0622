// A bank's book, or its clearing file of a day, on disk: JSON as `GET /book` gives it, page after page, JSON lines, or CSV with a
// heading of the same names. Read as it streams by, and strictly: a file that was cut off, or a line nobody can understand,
// is a fault and never a shorter book. What a line holds is not quoted: it may be a card number.
import { createReadStream } from 'node:fs';
import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { BookEntry } from '../adapters/http/messages.ts';
import { openCsvScanner } from './scan-csv.ts';
import { openJsonScanner } from './scan-json.ts';

/** Clearing files may lack what a book has. */
const FileEntry = Type.Object({
  ...BookEntry.properties,
  sequence: Type.Optional(BookEntry.properties.sequence),
  cardMask: Type.Optional(BookEntry.properties.cardMask),
});
const fileEntry = Compile(FileEntry);
type FileEntry = Static<typeof FileEntry> & { readonly sequence: number };

/** What cuts a stream of text into records. A problem is told as an error without the text itself. */
export type Scanner = {
  /** The records that are complete with this piece; undefined for one that cannot be understood. */
  push(piece: string): unknown[];
  /** Throws when the text may not have been all. */
  end(): void;
};

export async function* readBookFile(path: string): AsyncGenerator<readonly FileEntry[]> {
  let scanner: Scanner | undefined;
  let entries = 0;
  let sequence = 0;

  const check = (record: unknown): FileEntry => {
    entries += 1;
    if (!fileEntry.Check(record)) throw new Error(`entry ${entries}: ${complaint(record)}`);
    const next = record.sequence ?? sequence + 1;
    if (next <= sequence) {
      throw new Error(
        `entry ${entries}: sequence ${next} comes after ${sequence}; is a part in the file twice?`,
      );
    }
    sequence = next;
    return { ...record, sequence };
  };

  try {
    for await (const piece of createReadStream(path, { encoding: 'utf8' }) as AsyncIterable<string>) {
      const text = entries === 0 && !scanner ? piece.replace(/^\uFEFF?\s*/, '') : piece;
      if (text === '') continue;
      scanner ??= /^[[{]/.test(text) ? openJsonScanner() : openCsvScanner();
      yield scanner.push(text).map(check);
    }
    if (!scanner) throw new Error('it is empty');
    scanner.end();
  } catch (error) {
    throw new Error(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

function complaint(record: unknown): string {
  if (record === undefined) return 'it cannot be understood';
  const [first] = fileEntry.Errors(record);
  const missing = first?.keyword === 'required' ? first.params.requiredProperties[0] : undefined;
  if (missing !== undefined) return `${missing} is missing`;
  return `${first?.instancePath.slice(1) || 'it'} is not as the bank protocol says`;
}
