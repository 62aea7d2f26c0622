// The driver's client with a shorter way for statements that have a name. The driver's own way sends four messages in pieces
// and has the server describe its rows each time; here a statement is one buffer, and how its rows look is remembered with the
// connection that prepared it. A quarter of the program's time was the difference. All else the client does is the driver's.
import type { Duplex } from 'node:stream';
import pg from 'pg';
import { typeParsers } from './statement.ts';

/** What the driver calls on the query whose turn it is, and what it keeps of a connection. */
type Connection = { readonly stream: Duplex; readonly parsedStatements: Readonly<Record<string, string>> };
type Field = { readonly name: string; readonly dataTypeID: number };
type Row = Record<string, unknown>;
type Column = { readonly name: string; readonly read: (text: string) => unknown };

/** As text, or as bytes where they are bytes. */
type Value = string | number | boolean | Buffer | null;
type NamedStatement = {
  readonly name: string;
  readonly text: string;
  readonly values: readonly Value[];
  readonly query_timeout?: number;
};

export class StatementClient extends pg.Client {
  /** By the name of a statement. Without an entry it has not been answered here yet. */
  readonly #columns = new Map<string, readonly Column[]>();

  // The driver declares a type for each of its ways, which all stay as they are; `never` fits all of them.
  override query(...asked: unknown[]): never {
    const [question] = asked;
    if (asked.length > 1 || !isNamed(question)) return Reflect.apply(super.query, this, asked) as never;
    const answered = new Promise<{ rows: readonly Row[] }>((resolve, reject) => {
      const callback = (error: Error | null, rows: readonly Row[]) =>
        error ? reject(error) : resolve({ rows });
      super.query(new Asked(question, this.#columns, callback));
    });
    return answered as never;
  }
}

function isNamed(question: unknown): question is NamedStatement {
  return (
    typeof question === 'object' &&
    question !== null &&
    'name' in question &&
    question.name !== undefined &&
    !('submit' in question)
  );
}

/** One statement on its way. The names of its members are the driver's. */
class Asked implements pg.Submittable {
  readonly name: string;
  readonly text: string;
  readonly query_timeout: number | undefined;
  /** The driver puts its limit on the waiting around it. */
  callback: (error: Error | null, rows: readonly Row[]) => void;
  readonly #run: Buffer;
  readonly #known: Map<string, readonly Column[]>;
  readonly #rows: Row[] = [];
  #columns: readonly Column[] | undefined;
  #unreadable: Error | undefined;

  constructor(asked: NamedStatement, known: Map<string, readonly Column[]>, callback: Asked['callback']) {
    this.name = asked.name;
    this.text = asked.text;
    this.query_timeout = asked.query_timeout;
    // Now, while whoever asks can be told what cannot be sent: the driver has no ear for what fails in `submit`.
    this.#run = runMessages(asked.name, asked.values);
    this.#known = known;
    this.#columns = known.get(asked.name);
    this.callback = callback;
  }

  submit(connection: unknown): void {
    const { stream, parsedStatements } = connection as Connection;
    const { name } = this;
    const isParsed = parsedStatements[name] !== undefined;
    const beginning = isParsed ? [] : [parseMessage(name, this.text)];
    if (!this.#columns) beginning.push(describeMessage(name));
    if (stream.writable)
      stream.write(beginning.length === 0 ? this.#run : Buffer.concat([...beginning, this.#run]));
  }

  handleRowDescription({ fields }: { fields: readonly Field[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({
      name,
      read: typeParsers.getTypeParser(dataTypeID),
    }));
    this.#known.set(this.name, this.#columns);
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const row: Row = {};
    const columns = this.#columns ?? [];
    try {
      for (let place = 0; place < columns.length; place++) {
        const { name, read } = columns[place] as Column;
        const text = fields[place] ?? null;
        row[name] = text === null ? null : read(text);
      }
      this.#rows.push(row);
    } catch (error) {
      this.#unreadable = error as Error;
    }
  }

  handleCommandComplete(): void {
    // It has no rows to describe.
    if (!this.#columns) this.#known.set(this.name, []);
  }

  handleError(error: Error): void {
    this.callback(error, []);
  }

  handleReadyForQuery(): void {
    this.callback(this.#unreadable ?? null, this.#rows);
  }

  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyInResponse(): void {}
  handleCopyData(): void {}
}

// The messages, as https://www.postgresql.org/docs/current/protocol-message-formats.html has them: a letter, the length of what
// follows with these four bytes, and texts that end with a nought.

function parseMessage(name: string, text: string): Buffer {
  return message('P', Buffer.from(`${name}\0${text}\0\0\0`));
}

function describeMessage(name: string): Buffer {
  return message('D', Buffer.from(`S${name}\0`));
}

function message(letter: string, content: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(letter, 0, 'latin1');
  head.writeInt32BE(content.length + 4, 1);
  return Buffer.concat([head, content]);
}

/** Execute, of the portal without a name and all its rows, and sync. */
const executeAndSync = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0x53, 0, 0, 0, 4]);

/** Bind, execute and sync, in one buffer. */
function runMessages(name: string, values: readonly Value[]): Buffer {
  const texts = values.map((value, place) => sendable(value, name, place));
  const lengths = texts.map((value) =>
    value === null ? 0 : typeof value === 'string' ? Buffer.byteLength(value) : value.length,
  );
  const nameLength = Buffer.byteLength(name);
  const count = texts.length;
  // Portal, statement, formats, values, and that the answer is wanted as text.
  const length = 4 + 1 + nameLength + 1 + 2 + 2 * count + 2 + 4 * count + sumOf(lengths) + 2;
  const buffer = Buffer.allocUnsafe(1 + length + executeAndSync.length);
  let at = buffer.writeUInt8(0x42, 0);
  at = buffer.writeInt32BE(length, at);
  at = buffer.writeUInt8(0, at);
  at += buffer.write(name, at);
  at = buffer.writeUInt8(0, at);
  at = buffer.writeInt16BE(count, at);
  for (const value of texts) at = buffer.writeInt16BE(Buffer.isBuffer(value) ? 1 : 0, at);
  at = buffer.writeInt16BE(count, at);
  for (let place = 0; place < count; place++) {
    const value = texts[place] ?? null;
    at = buffer.writeInt32BE(value === null ? -1 : (lengths[place] ?? 0), at);
    if (typeof value === 'string') at += buffer.write(value, at);
    else if (value) at += value.copy(buffer, at);
  }
  at = buffer.writeInt16BE(0, at);
  executeAndSync.copy(buffer, at);
  return buffer;
}

/** Null is a value; what was forgotten is none, and would otherwise be sent as the word for it. */
function sendable(value: Value, name: string, place: number): string | Buffer | null {
  if (value === null || typeof value === 'string' || Buffer.isBuffer(value)) return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new TypeError(
    `parameter ${place + 1} of the statement ${name} cannot be sent: it is ${typeof value}`,
  );
}

function sumOf(lengths: readonly number[]): number {
  return lengths.reduce((sum, length) => sum + length, 0);
}
