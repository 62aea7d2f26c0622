// Writes that are sent together: one statement outside a transaction, so they are durable together. A change that was not written goes
// again alone, where it waits for locks and gets its own answer.
import { readRow } from '../statement.ts';
import { DatabaseUnavailable, OutcomeUnknown } from '../connections/unavailable.ts';
import { listOf, maxTogether, openLines, rowsByAsker, type Ask, type BatchDeps, type Row } from './lines.ts';
import type { WriteStatement } from './write-statement.ts';

export type BatchedWrites = (statement: WriteStatement, values: readonly unknown[]) => Promise<Row[]>;

export function openBatchedWrites({ withClient, query }: BatchDeps): BatchedWrites {
  async function sendNext(statement: WriteStatement, waiting: Ask[]): Promise<void> {
    let batch: readonly Ask[] | undefined;
    try {
      const rows = await withClient((client) => {
        // Only now: who asks while all connections are in use joins too.
        batch = waiting.splice(0, maxTogether);
        return query(client, statement.together, [listOf(statement, batch)]);
      });
      if (batch) answer(statement, batch, rows);
    } catch (error) {
      const failed = batch ?? waiting.splice(0);
      if (failed.length === 1 || !provesRollback(error)) for (const { reject } of failed) reject(error);
      else await sendHalves(statement, failed);
    }
  }

  /** One change is at fault, or two that do not go together. */
  async function sendHalves(statement: WriteStatement, failed: readonly Ask[]): Promise<void> {
    const middle = failed.length >> 1;
    for (const half of [failed.slice(0, middle), failed.slice(middle)]) {
      if (half.length === 1) void sendNext(statement, half);
      else await sendNext(statement, half);
    }
  }

  function answer(statement: WriteStatement, batch: readonly Ask[], rows: readonly Row[]): void {
    for (const [index, own] of rowsByAsker(batch, rows).entries()) {
      const ask = batch[index];
      if (!ask) continue;
      // The next batch does not wait for a change that is alone.
      if (own.length === 0 && batch.length > 1) void sendNext(statement, [ask]);
      else resolveWith(statement, ask, own);
    }
  }

  return openLines(sendNext);
}

function resolveWith(statement: WriteStatement, { resolve, reject }: Ask, own: Row[]): void {
  try {
    for (const row of own) readRow(statement, row);
    resolve(own);
  } catch (error) {
    reject(error);
  }
}

/** PostgreSQL has answered that it rolled back. After a lost connection a second try could refuse what the first one wrote. */
function provesRollback(error: unknown): boolean {
  const isOutage = error instanceof DatabaseUnavailable || error instanceof OutcomeUnknown;
  return !isOutage && error instanceof Error && 'severity' in error;
}
