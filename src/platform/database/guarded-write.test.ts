import { expect, test } from 'vitest';
import type { Database } from './database.ts';
import { guardedWrite } from './guarded-write.ts';

/** Keeps what is written, and forgets what a transaction rolls back. */
function databaseInMemory() {
  const written: string[] = [];
  const db = {
    async transaction<T>(work: (tx: unknown) => Promise<T>): Promise<T> {
      const before = written.length;
      try {
        return await work(db);
      } catch (error) {
        written.length = before;
        throw error;
      }
    },
  };
  const write = (rows: readonly string[]) => () => {
    written.push(...rows);
    return Promise.resolve(rows);
  };
  const alsoWrite = () => Promise.resolve(void written.push('also'));
  return { db: db as unknown as Database, written, write, alsoWrite };
}

test('a guarded write has its rows, after what is written with it', async () => {
  const { db, written, write, alsoWrite } = databaseInMemory();
  expect(await guardedWrite(db, write(['row']))).toEqual(['row']);
  expect(await guardedWrite(db, write(['other']), alsoWrite)).toEqual(['other']);
  expect(written).toEqual(['row', 'also', 'other']);
});

test('a version conflict writes nothing, and returns no rows', async () => {
  const { db, written, write, alsoWrite } = databaseInMemory();
  expect(await guardedWrite(db, write([]))).toEqual([]);
  expect(await guardedWrite(db, write([]), alsoWrite)).toEqual([]);
  expect(written).toEqual([]);
});

test('any other error is thrown', async () => {
  const { db, alsoWrite } = databaseInMemory();
  const fails = () => Promise.reject(new Error('broken'));
  await expect(guardedWrite(db, fails, alsoWrite)).rejects.toThrow('broken');
});
