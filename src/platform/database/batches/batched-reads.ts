// Reads that are asked together. A caller alone sends what they always sent.
import { codeOf } from '../../../error-code.ts';
import { readRow, type Statement } from '../statement.ts';
import { listOf, maxTogether, openLines, rowsByAsker, type Ask, type BatchDeps, type Row } from './lines.ts';
import type { ReadStatement } from './read-statement.ts';

export type BatchedReads = (statement: ReadStatement, values: readonly unknown[]) => Promise<Row[]>;

export function openBatchedReads({ withClient, query }: BatchDeps): BatchedReads {
  async function sendNext(statement: ReadStatement, waiting: Ask[]): Promise<void> {
    let batch: Ask[] | undefined;
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
      const failed = batch ?? waiting.splice(0);
      // A value that PostgreSQL cannot take is the fault of one caller, and the others get their rows.
      if (failed.length > 1 && codeOf(error).startsWith('22'))
        await Promise.all(failed.map((ask) => sendNext(statement, [ask])));
      else for (const { reject } of failed) reject(error);
    }
  }
  return openLines(sendNext);
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
