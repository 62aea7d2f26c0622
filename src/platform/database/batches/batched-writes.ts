// Writes that are sent together: one statement outside a transaction, which waits for no lock. A change that was not written goes again
// alone, where it may wait, and no other change waits for it.
import { codeOf } from '../../../error-code.ts';
import { readRow } from '../statement.ts';
import { DatabaseUnavailable, CommitUnknown } from '../connections/unavailable.ts';
import { inTurns, maxAlone } from './in-turns.ts';
import {
  listOf,
  maxTogether,
  mayWait,
  openLines,
  rowsByAsker,
  type Ask,
  type BatchDeps,
  type Row,
} from './lines.ts';
import type { WriteStatement } from './write-statement.ts';

export type BatchedWrites = (statement: WriteStatement, values: readonly unknown[]) => Promise<Row[]>;

export function openBatchedWrites({ withClient, query }: BatchDeps): BatchedWrites {
  const alone = inTurns(maxAlone);

  async function sendNext(statement: WriteStatement, waiting: Ask[]): Promise<void> {
    let batch: readonly Ask[] | undefined;
    const asked = waiting.length;
    try {
      const rows = await withClient((client) => {
        // Only now: who asks while all connections are in use joins too.
        batch = waiting.splice(0, maxTogether);
        return query(client, statement.together, [listOf(statement, batch)]);
      });
      if (batch) answer(statement, batch, rows);
    } catch (error) {
      // Without a connection: those who asked since may still get one.
      const failed = batch ?? waiting.splice(0, asked);
      if (provesFault(error)) await sendParts(statement, failed);
      else for (const { reject } of failed) reject(error);
    }
  }

  /** One change is at fault, or two that do not go together. */
  async function sendParts(statement: WriteStatement, failed: readonly Ask[]): Promise<void> {
    for (const part of halvesOf(failed)) {
      const [first, ...others] = part;
      if (first && others.length === 0) sendAlone(statement, first);
      else if (first) await sendNext(statement, part);
    }
  }

  function answer(statement: WriteStatement, batch: readonly Ask[], rows: readonly Row[]): void {
    for (const [index, own] of rowsByAsker(batch, rows).entries()) {
      const ask = batch[index];
      if (!ask) continue;
      if (own.length === 0 && statement.leavesOut === 'held') sendAlone(statement, ask);
      else resolveWith(statement, ask, own);
    }
  }

  function sendAlone(statement: WriteStatement, ask: Ask): void {
    const list = listOf(statement, [ask], mayWait);
    const sent = alone(() => withClient((client) => query(client, statement.together, [list])));
    sent.then((rows) => resolveWith(statement, ask, rowsByAsker([ask], rows)[0] ?? []), ask.reject);
  }

  return openLines(sendNext);
}

function halvesOf(failed: readonly Ask[]): Ask[][] {
  const middle = failed.length >> 1;
  return [failed.slice(0, middle), failed.slice(middle)];
}

function resolveWith(statement: WriteStatement, { resolve, reject }: Ask, own: Row[]): void {
  try {
    for (const row of own) readRow(statement, row);
    resolve(own);
  } catch (error) {
    reject(error);
  }
}

/**
 * PostgreSQL has answered that it rolled back, for a reason that lies in a change. After a lost connection a second try could refuse
 * what the first one wrote, and after a time-out the parts would time out in turn.
 */
function provesFault(error: unknown): boolean {
  const isOutage = error instanceof DatabaseUnavailable || error instanceof CommitUnknown;
  return !isOutage && error instanceof Error && 'severity' in error && codeOf(error) !== '57014';
}
