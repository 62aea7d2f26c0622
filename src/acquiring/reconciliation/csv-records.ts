// The records of a bank's book in CSV (RFC 4180) as it streams by: a heading with names, then a line for each record, with
// commas or semicolons. Empty fields are left out.
import { CsvError, parse, type Parser } from 'csv-parse';
import {
  maxRecordCharacters,
  openProgressGuard,
  UnreadableRecord,
  type RecordReader,
} from './record-reader.ts';

/** Columns that are numbers. */
const numbers = ['sequence', 'amount', 'sign'];

export function openCsvReader(): RecordReader {
  /** The text up to the end of the heading. */
  let head = '';
  let heading: readonly string[] | undefined;
  let parser: Parser | undefined;
  let found: unknown[] = [];
  let isLineOpen = false;
  // Lines of nothing but separators never become too large for the parser.
  const guard = openProgressGuard(tooLong);

  function take(fields: readonly string[]): void {
    if (heading) found.push(recordOf(heading, fields));
    else if (fields.includes('operationId')) heading = fields;
    else throw new Error('it has no heading with the name operationId');
  }

  function takeFound(error?: Error | null): readonly unknown[] {
    if (error && !(error instanceof CsvError)) throw error;
    const records = error ? [...found, problemOf(error)] : found;
    found = [];
    return records;
  }

  return {
    async push(piece) {
      isLineOpen = leavesLineOpen(piece, isLineOpen);
      const text = parser ? piece : (head += piece);
      parser ??= openParser(head, take);
      const error = parser && (await written(parser, text));
      const hasRecord = found.length > 0;
      const records = takeFound(error);
      guard(piece, hasRecord);
      return records;
    },
    async end() {
      if (isLineOpen) throw new Error('its last line has no end; was it cut off?');
      return takeFound(parser && (await ended(parser)));
    },
  };
}

const tooLong = 'it has a line that is too long for an entry';

/** Undefined while the heading has not ended: it tells the separator. */
function openParser(head: string, take: (fields: readonly string[]) => void): Parser | undefined {
  const heading = /\S[^\n]*\n/.exec(head)?.[0];
  if (heading === undefined) return undefined;
  const parser = parse({
    delimiter: heading.includes(';') ? ';' : ',',
    record_delimiter: ['\r\n', '\n'],
    skip_empty_lines: true,
    trim: true,
    relax_column_count: true,
    max_record_size: maxRecordCharacters,
    // What waits in the stream would be lost when a later line is wrong.
    on_record: (fields: readonly string[]) => void take(fields),
  });
  // The callbacks of `write` and `end` have the error too.
  parser.on('error', () => {});
  return parser;
}

function leavesLineOpen(piece: string, wasOpen: boolean): boolean {
  const lastBreak = piece.lastIndexOf('\n');
  return piece.slice(lastBreak + 1).trim() !== '' || (wasOpen && lastBreak < 0);
}

function written(parser: Parser, text: string): Promise<Error | null | undefined> {
  return new Promise((resolve) => void parser.write(text, resolve));
}

function ended(parser: Parser): Promise<Error | null | undefined> {
  return new Promise((resolve) => void parser.end(resolve));
}

function problemOf({ code }: CsvError): UnreadableRecord {
  return new UnreadableRecord(code === 'CSV_MAX_RECORD_SIZE' ? tooLong : 'its quotes do not match');
}

function recordOf(heading: readonly string[], fields: readonly string[]): unknown {
  if (fields.length !== heading.length) {
    return new UnreadableRecord(
      `it cannot be understood: ${fields.length} fields under a heading of ${heading.length}`,
    );
  }
  const named = heading.map((name, index) => [name, valueOf(name, fields[index] ?? '')] as const);
  return Object.fromEntries(named.filter(([, value]) => value !== ''));
}

function valueOf(name: string, text: string): string | number {
  return numbers.includes(name) && /^[+-]?\d{1,15}$/.test(text) ? Number(text) : text;
}
