// One transaction for the work of many callers, in which a statement that several ask in one turn is sent once. Work that cannot be
// part of it is left out, and runs again in its own.
import { allOrNothing } from '../all-or-nothing.ts';
import type { Outcome } from '../../../refusal.ts';
import type { Database } from '../database.ts';
import type { Columns, Statement, Values } from '../statement.ts';
import { inTurns, maxAlone } from './in-turns.ts';
import { listed, maxTogether, openLines, rowsByAsker, type Ask } from './lines.ts';
import { valuesOf } from './values-of.ts';

type Result = Outcome<unknown, string> | 'versionConflict';
type Work<T> = (tx: Database) => Promise<T>;

/** As `allOrNothing`, of one database. The work may run twice. */
export type SharedTransactions = <T extends Result>(work: Work<T>) => Promise<T>;

type Caller = {
  readonly work: Work<Result>;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
};

/** The transaction is rolled back for the sake of some. */
class SomeLeftOut extends Error {}
/** Of one caller's work: it would have to wait for a lock, or to undo a part. */
class LeftOut extends Error {}

export function openSharedTransactions(db: Database): SharedTransactions {
  const alone = inTurns(maxAlone);
  let gathering: Caller[] | undefined;

  async function runAll(callers: Caller[]): Promise<void> {
    // After the others of this turn.
    await new Promise((resolve) => setImmediate(resolve));
    while (callers.length > 0) await runTogether(callers.splice(0, maxTogether));
    gathering = undefined;
  }

  function runAlone({ work, resolve, reject }: Caller): void {
    alone(() => allOrNothing(db, work)).then(resolve, reject);
  }

  async function runTogether(callers: readonly Caller[], isLastTry = false): Promise<void> {
    if (callers.length === 1) return callers.forEach(runAlone);
    const leftOut = new Set<Caller>();
    try {
      const results = await db.transaction(async (tx) => {
        leftOut.clear();
        const shared = sharedBy(tx);
        const ended = await Promise.all(
          callers.map(async (caller) => {
            const result = await caller.work(shared).catch(() => undefined);
            if (result === undefined || result === 'versionConflict' || !result.ok) leftOut.add(caller);
            return result;
          }),
        );
        if (leftOut.size > 0) throw new SomeLeftOut();
        return ended;
      });
      for (const [index, { resolve }] of callers.entries()) resolve(results[index] as Result);
    } catch (error) {
      if (!(error instanceof SomeLeftOut)) return callers.forEach(({ reject }) => reject(error));
      const others = callers.filter((caller) => !leftOut.has(caller));
      leftOut.forEach(runAlone);
      if (isLastTry) others.forEach(runAlone);
      else if (others.length > 0) await runTogether(others, true);
    }
  }

  return <T extends Result>(work: Work<T>) =>
    new Promise<T>((resolve, reject) => {
      const caller = { work, resolve: resolve as Caller['resolve'], reject };
      if (gathering) return void gathering.push(caller);
      gathering = [caller];
      void runAll(gathering);
    });
}

/** The transaction as each of its callers sees it. None waits for a lock, because all would. */
function sharedBy(tx: Database): Database {
  // A connection takes one statement at a time.
  const inTurn = inTurns(1);
  const ask = openLines<Statement>(async (statement, waiting) => {
    let batch: Ask[] = [];
    try {
      const together = togetherOf(statement);
      const [list = ''] = together.parameterNames;
      const rows = await inTurn(() => {
        batch = waiting.splice(0, maxTogether);
        return tx.run(together, { [list]: listed(statement, batch) });
      });
      for (const [index, own] of rowsByAsker(batch, rows).entries()) batch[index]?.resolve(own);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  });

  async function run<P extends Columns, R extends Columns>(statement: Statement<P, R>, values: Values<P>) {
    if (statement.together === undefined) return inTurn(() => tx.run(statement, values));
    const rows = await ask(statement, valuesOf(statement, values));
    // Another transaction holds the row, or there is none: that is seen alone.
    if (rows.length === 0 && statement.leavesOut === 'held') throw new LeftOut();
    return rows as Values<R>[];
  }

  const undoable = <T>(work: (part: Database) => Promise<T>): Promise<T> =>
    work(shared).catch((error: unknown) => {
      throw new LeftOut(undefined, { cause: error });
    });
  const shared: Database = {
    run,
    transaction: undoable,
    withSavepoint: undoable,
    afterCommit: tx.afterCommit,
  };
  return shared;
}

function togetherOf({ name, together }: Statement): Statement {
  if (!together) throw new Error(`Statement ${name} is not one for many callers.`);
  return together;
}
