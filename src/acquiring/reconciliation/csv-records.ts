// Reads report records from a CSV stream (RFC 4180): a header row, then a line per record, with commas or semicolons.
// Empty fields are left out.
import { CsvError, parse, type Parser } from 'csv-parse';
import {
  maxRecordCharacters,
  openProgressGuard,
  UnreadableRecord,
  type RecordReader,
} from './record-reader.ts';

/** The numeric columns. */
const numbers = ['sequence', 'amount', 'sign'];

export function openCsvReader(): RecordReader {
  /** The text up to the end of the header row. */
  let head = '';
  let heading: readonly string[] | undefined;
  let parser: Parser | undefined;
  let found: unknown[] = [];
  let isLineOpen = false;
  // Lines of separators alone never reach the parser's size limit.
  const guard = openProgressGuard(tooLong);

  function take(fields: readonly string[]): void {
    if (heading) found.push(recordOf(heading, fields));
    else if (fields.includes('operationId')) heading = fields;
    else throw new Error('the header row has no column operationId');
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
      if (isLineOpen) throw new Error('the last line has no line end; the file may be incomplete');
      return takeFound(parser && (await ended(parser)));
    },
  };
}

const tooLong = 'a line is too long for an entry';

/** Undefined until the header row is complete, because it shows the separator. */
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
    // Records still in the stream would be lost if a later line is invalid.
    on_record: (fields: readonly string[]) => void take(fields),
  });
  // The callbacks of `write` and `end` receive the error too.
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
  return new UnreadableRecord(code === 'CSV_MAX_RECORD_SIZE' ? tooLong : 'the quotation marks do not match');
}

function recordOf(heading: readonly string[], fields: readonly string[]): unknown {
  if (fields.length !== heading.length) {
    return new UnreadableRecord(`the line has ${fields.length} fields, the header row ${heading.length}`);
  }
  const named = heading.map((name, index) => [name, valueOf(name, fields[index] ?? '')] as const);
  return Object.fromEntries(named.filter(([, value]) => value !== ''));
}

function valueOf(name: string, text: string): string | number {
  return numbers.includes(name) && /^[+-]?\d{1,15}$/.test(text) ? Number(text) : text;
}
