// Reads a bank's transaction report or clearing file: pages of `GET /book`, JSON lines, or CSV with the same names.
// An incomplete file or an invalid line is an error, which never quotes the line: it may contain a card number.
import { createReadStream } from 'node:fs';
import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { BookEntry } from '../adapters/http/messages.ts';
import { openCsvReader } from './csv-records.ts';
import { openJsonReader } from './json-records.ts';
import { UnreadableRecord, type RecordReader } from './record-reader.ts';

/** Clearing files may lack these fields. */
const FileEntry = Type.Object({
  ...BookEntry.properties,
  sequence: Type.Optional(BookEntry.properties.sequence),
  cardMask: Type.Optional(BookEntry.properties.cardMask),
});
const fileEntry = Compile(FileEntry);
type FileEntry = Static<typeof FileEntry> & { readonly sequence: number };

export async function* readBookFile(path: string): AsyncGenerator<readonly FileEntry[]> {
  let reader: RecordReader | undefined;
  let entries = 0;
  let sequence = 0;

  const check = (record: unknown): FileEntry => {
    entries += 1;
    if (!fileEntry.Check(record)) throw new Error(`entry ${entries}: ${complaint(record)}`);
    const next = record.sequence ?? sequence + 1;
    if (next <= sequence) {
      throw new Error(
        `entry ${entries}: sequence ${next} follows ${sequence}; part of the file may be repeated`,
      );
    }
    sequence = next;
    return { ...record, sequence };
  };

  try {
    for await (const piece of createReadStream(path, { encoding: 'utf8' }) as AsyncIterable<string>) {
      const text = entries === 0 && !reader ? piece.replace(/^\uFEFF?\s*/, '') : piece;
      if (text === '') continue;
      reader ??= /^[[{]/.test(text) ? openJsonReader() : openCsvReader();
      yield (await reader.push(text)).map(check);
    }
    if (!reader) throw new Error('the file is empty');
    yield (await reader.end()).map(check);
  } catch (error) {
    throw new Error(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

function complaint(record: unknown): string {
  if (record instanceof UnreadableRecord) return record.message;
  const [first] = fileEntry.Errors(record);
  const missing = first?.keyword === 'required' ? first.params.requiredProperties[0] : undefined;
  if (missing !== undefined) return `${missing} is missing`;
  return `${first?.instancePath.slice(1) || 'the entry'} does not match the bank protocol`;
}
