// Reads that are asked together. A caller alone sends what they always sent.
import { codeOf } from '../../../error-code.ts';
import { readRow, type Statement } from '../statement.ts';
import { listOf, maxTogether, openLines, rowsByAsker, type Ask, type BatchDeps, type Row } from './lines.ts';
import type { ReadStatement } from './read-statement.ts';

export type BatchedReads = (statement: ReadStatement, values: readonly unknown[]) => Promise<Row[]>;

export function openBatchedReads({ withClient, query }: BatchDeps): BatchedReads {
  async function sendNext(statement: ReadStatement, waiting: Ask[], isHalf = false): Promise<void> {
    let batch: Ask[] | undefined;
    const asked = waiting.length;
    try {
      const rows = await withClient((client) => {
        // Only now: who asks while all connections are in use joins too.
        batch = waiting.splice(0, maxTogether);
        const [first, ...others] = batch;
        if (first && others.length === 0) return query(client, statement, first.values);
        return query(client, statement.together, [listOf(statement, batch)]);
      });
      if (batch) giveRows(statement, batch, rows);
    } catch (error) {
      // Without a connection: those who asked since may still get one.
      const failed = batch ?? waiting.splice(0, asked);
      const parts = partsAfter(error, failed, isHalf);
      if (parts.length > 1) await Promise.all(parts.map((part) => sendNext(statement, part, true)));
      else for (const { reject } of failed) reject(error);
    }
  }
  return openLines(sendNext);
}

/** A value that PostgreSQL cannot take is the fault of one caller. A batch that takes too long is sent once more, in halves. */
function partsAfter(error: unknown, failed: Ask[], isHalf: boolean): Ask[][] {
  const code = codeOf(error);
  if (code.startsWith('22')) return failed.map((ask) => [ask]);
  const half = Math.ceil(failed.length / 2);
  const mayHalve = code === '57014' && !isHalf && failed.length > 1;
  return mayHalve ? [failed.slice(0, half), failed.slice(half)] : [failed];
}

/** Each caller gets their own rows, and an unreadable row fails its own caller. */
function giveRows(statement: Statement, batch: readonly Ask[], rows: readonly Row[]): void {
  const found = batch.length === 1 ? [[...rows]] : rowsByAsker(batch, rows);
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
