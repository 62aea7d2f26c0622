// A node that can be killed inside a test, between two messages to the database or the bank. From then on everything it does fails, also
// its clean-up, and another node finds rows, a lease, and the bank's report.
import type { Bank } from '../../../src/acquiring/domain/bank-port.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import type { TestService } from './test-service.ts';

class Killed extends Error {}

export type CrashableNode = {
  /** The messages so far, in order: `bank authorise`, `database change_binding`. */
  readonly said: string[];
  /** Kills it at the n-th message from now on, before or after the receiver gets it. */
  dieAt(place: number, when: 'before' | 'after'): void;
  readonly isDead: boolean;
  /** Since `dieAt`. */
  readonly hasDied: boolean;
  /** Another node takes over: messages pass again, and it never dies. */
  revive(): void;
};

/** Only statements of these names count; others fail once it is dead, as they would. */
export function mortalNode(service: TestService, statements: readonly string[]): CrashableNode {
  const said: string[] = [];
  let countdown = Number.POSITIVE_INFINITY;
  let dies: 'before' | 'after' = 'before';
  let isDead = false;
  let hasDied = false;

  async function say<T>(what: string, go: () => Promise<T>): Promise<T> {
    if (isDead) throw new Killed(what);
    said.push(what);
    const isLast = --countdown === 0;
    if (isLast && dies === 'before') isDead = hasDied = true;
    if (isDead) throw new Killed(what);
    const heard = await go();
    if (isLast) isDead = hasDied = true;
    if (isDead) throw new Killed(what);
    return heard;
  }

  const { database, banks } = service;
  const { run, transaction } = database;

  function runOn(go: Database['run'], noticed: () => void = () => {}): Database['run'] {
    return (statement, values) => {
      if (statements.includes(statement.name)) {
        noticed();
        return say(`database ${statement.name}`, () => go(statement, values));
      }
      return isDead ? Promise.reject(new Killed(statement.name)) : go(statement, values);
    };
  }

  /** A node that dies inside a transaction has written nothing; after its commit, everything. */
  async function dyingTransaction<T>(work: (tx: Database) => Promise<T>): Promise<T> {
    if (isDead) throw new Killed('begin');
    let isNoticed = false;
    const notice = () => void (isNoticed = true);
    const watched = (tx: Database): Database => ({
      ...tx,
      run: runOn(tx.run, notice),
      withSavepoint: (inner) => tx.withSavepoint((part) => inner(watched(part))),
    });
    const value = await transaction.call(database, (tx) => work(watched(tx)));
    return isNoticed ? say('database commit', () => Promise.resolve(value as T)) : (value as T);
  }

  const withSavepoint: Database['withSavepoint'] = (work) => work(database);
  Object.assign(database, { run: runOn(run), withSavepoint, transaction: dyingTransaction });
  const { bankOf } = banks;
  const mortal = (bank: Bank): Bank => ({
    ...bank,
    send: (operation) => say(`bank ${operation.kind}`, () => bank.send(operation)),
    inquire: (operation) => say('bank inquire', () => bank.inquire(operation)),
    resume: (operation, returned) => say('bank resume', () => bank.resume(operation, returned)),
  });
  Object.assign(banks, {
    bankOf: async (terminal: never) => {
      if (isDead) throw new Killed('bankOf');
      return mortal(await bankOf(terminal));
    },
  });

  return {
    said,
    dieAt(place, when) {
      countdown = place;
      dies = when;
      hasDied = false;
    },
    get isDead() {
      return isDead;
    },
    get hasDied() {
      return hasDied;
    },
    revive() {
      isDead = false;
      countdown = Number.POSITIVE_INFINITY;
    },
  };
}
