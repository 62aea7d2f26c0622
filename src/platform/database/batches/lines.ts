// The callers of statements that are sent together, in a line for each statement. While one batch is with PostgreSQL the next gathers; a
// caller alone waits for no other.
import type pg from 'pg';
import type { Statement } from '../statement.ts';

export type Row = Record<string, unknown>;
export type Ask = {
  readonly values: readonly unknown[];
  readonly resolve: (rows: Row[]) => void;
  readonly reject: (error: unknown) => void;
};

/** So that one batch stays a matter of a few milliseconds. */
export const maxTogether = 200;

export type BatchDeps = {
  readonly withClient: <T>(work: (client: pg.ClientBase) => Promise<T>) => Promise<T>;
  /** Returns the rows as the driver gives them. */
  readonly query: (client: pg.ClientBase, statement: Statement, values: readonly unknown[]) => Promise<Row[]>;
};

/** `sendNext` takes a batch from the callers that wait, and answers them. */
export function openLines<S extends Statement>(
  sendNext: (statement: S, waiting: Ask[]) => Promise<void>,
): (statement: S, values: readonly unknown[]) => Promise<Row[]> {
  /** Who waits for the next batch of a statement. A statement without an entry has none with PostgreSQL. */
  const gathering = new Map<string, Ask[]>();

  async function sendAll(statement: S, waiting: Ask[]): Promise<void> {
    while (waiting.length > 0) await sendNext(statement, waiting);
    gathering.delete(statement.name);
  }

  return (statement, values) =>
    new Promise((resolve, reject) => {
      const ask = { values, resolve, reject };
      const waiting = gathering.get(statement.name);
      if (waiting) return void waiting.push(ask);
      const first = [ask];
      gathering.set(statement.name, first);
      // After the other requests that arrived in this turn.
      setImmediate(() => void sendAll(statement, first));
    });
}

/** Of a change that is alone in its statement. */
export const mayWait = { mayWait: true };

/** A row of each statement to copy. Many members that are added one by one are slow to add and to print in V8. */
const blanks = new Map<Statement, Row>();

function blankOf(statement: Statement): Row {
  const known = blanks.get(statement);
  if (known) return known;
  const members = ['asker', ...statement.parameterNames].map((member) => `${JSON.stringify(member)}:null`);
  const blank = JSON.parse(`{${members.join(',')}}`) as Row;
  blanks.set(statement, blank);
  return blank;
}

/** What the callers ask. `more` is added to each. */
export function listed(statement: Statement, batch: readonly Pick<Ask, 'values'>[], more?: Row): Row[] {
  const { parameterNames } = statement;
  const blank = blankOf(statement);
  return batch.map(({ values }, asker) => {
    const asked = { ...blank };
    asked['asker'] = asker;
    parameterNames.forEach((name, index) => (asked[name] = inJson(values[index])));
    return more ? { ...asked, ...more } : asked;
  });
}

/** The same as one JSON list. */
export function listOf(...asked: Parameters<typeof listed>): string {
  return JSON.stringify(listed(...asked));
}

/** Half a character fails a list, while the driver replaces it in a value of its own. */
function inJson(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  return typeof value === 'string' ? value.toWellFormed() : value;
}

/** The rows of each caller. */
export function rowsByAsker(batch: readonly unknown[], rows: readonly Row[]): Row[][] {
  const found = batch.map((): Row[] => []);
  for (const { asker, ...row } of rows) found[asker as number]?.push(row);
  return found;
}
