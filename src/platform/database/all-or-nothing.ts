// A transaction whose work may be refused. What a refused work has written is rolled back, as after an error.
import type { Outcome } from '../../refusal.ts';
import type { Database } from './database.ts';

type Result = Outcome<unknown, string> | 'versionConflict';

class RollBack<T> extends Error {
  readonly result: T;
  constructor(result: T) {
    super('The transaction was rolled back: its work was refused.');
    this.result = result;
  }
}

export async function allOrNothing<T extends Result>(
  db: Database,
  work: (tx: Database) => Promise<T>,
): Promise<T> {
  const attempt = async (tx: Database) => {
    const result = await work(tx);
    if (result === 'versionConflict' || !result.ok) throw new RollBack(result);
    return result;
  };
  return db.transaction(attempt).catch((error: unknown) => {
    if (error instanceof RollBack) return error.result as T;
    throw error;
  });
}
