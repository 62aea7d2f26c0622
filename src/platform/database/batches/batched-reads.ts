// Reads that are asked together. While one batch of a statement is with PostgreSQL the next gathers; a caller alone waits for no
// other and sends what they always sent.
import type pg from 'pg';
import { codeOf } from '../../../error-code.ts';
import { readRow, type Statement } from '../statement.ts';
import type { ReadStatement } from './read-statement.ts';

type Row = Record<string, unknown>;
type Ask = {
  /** As the driver sends them. */
  readonly values: readonly unknown[];
  readonly resolve: (rows: Row[]) => void;
  readonly reject: (error: unknown) => void;
};

/** So that one batch stays a matter of a few milliseconds. */
const maxTogether = 200;

export type BatchedReads = (statement: ReadStatement, values: readonly unknown[]) => Promise<Row[]>;

/** Returns the rows as the driver gives them. */
export type ReadOn = (
  client: pg.ClientBase,
  statement: Statement,
  values: readonly unknown[],
) => Promise<Row[]>;

export function openBatchedReads(options: {
  readonly withClient: <T>(work: (client: pg.ClientBase) => Promise<T>) => Promise<T>;
  readonly query: ReadOn;
}): BatchedReads {
  const { withClient, query } = options;
  /** Who waits for the next batch of a statement. A statement without an entry has none with PostgreSQL. */
  const gathering = new Map<string, Ask[]>();

  async function sendAll(statement: ReadStatement, waiting: Ask[]): Promise<void> {
    while (waiting.length > 0) await sendNext(statement, waiting);
    gathering.delete(statement.name);
  }

  async function sendNext(statement: ReadStatement, waiting: Ask[], isHalf = false): Promise<void> {
    let batch: Ask[] | undefined;
    const asked = waiting.length;
    try {
      const rows = await withClient((client) => {
        // Only now: who asks while all connections are in use joins too.
        batch = waiting.splice(0, maxTogether);
        const [first, ...others] = batch;
        if (first && others.length === 0) return query(client, statement, first.values);
        return query(client, statement.together, [JSON.stringify(batch.map(askedBy(statement)))]);
      });
      if (batch) giveRows(statement, batch, rows);
    } catch (error) {
      // Without a connection: those who asked since may still get one.
      const failed = batch ?? waiting.splice(0, asked);
      const parts = isHalf ? [failed] : partsAfter(error, failed);
      if (parts.length > 1) await Promise.all(parts.map((part) => sendNext(statement, part, true)));
      else for (const { reject } of failed) reject(error);
    }
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

/** A value that PostgreSQL cannot take is the fault of one caller. A batch that takes too long is sent once more, in halves. */
function partsAfter(error: unknown, failed: Ask[]): Ask[][] {
  const code = codeOf(error);
  if (code.startsWith('22')) return failed.map((ask) => [ask]);
  const half = Math.ceil(failed.length / 2);
  return code === '57014' && failed.length > 1 ? [failed.slice(0, half), failed.slice(half)] : [failed];
}

function askedBy({ parameterNames }: Statement) {
  return ({ values }: Ask, asker: number): Row => {
    const asked: Row = { asker };
    for (const [index, name] of parameterNames.entries()) {
      const value = values[index];
      asked[name] = Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value;
    }
    return asked;
  };
}

/** Each caller gets their own rows, and an unreadable row fails its own caller. */
function giveRows(statement: ReadStatement, batch: readonly Ask[], rows: readonly Row[]): void {
  const found = batch.map((): Row[] => []);
  if (batch.length === 1) found[0] = [...rows];
  else for (const { asker, ...row } of rows) found[asker as number]?.push(row);
  for (const [index, { resolve, reject }] of batch.entries()) {
    const own = found[index] ?? [];
    try {
      for (const row of own) readRow(statement, row);
      resolve(own);
    } catch (error) {
      reject(error);
    }
  }
}
