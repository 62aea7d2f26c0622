// More nodes of a service inside a test, which share only the database, the keys and, by default, the clock with the first. A node may
// have a fuse, by which it dies at a chosen moment as a killed process does.
import type { Bank } from '../../../src/acquiring/domain/bank-port.ts';
import { laterBy, type Clock } from '../../../src/clock.ts';
import { buildService, type RunningService } from '../../../src/app/compose.ts';
import { foundationOn, type Ports } from '../../../src/app/composition/foundation.ts';
import { defined } from '../../../src/defined.ts';
import type { Database, DatabasePool } from '../../../src/platform/database/database.ts';
import { callsTo, type TestService } from './test-service.ts';

export type Node = RunningService & Pick<TestService, 'call'>;

/** Counts the moments at which a node may die, and kills it at one of them. */
export type Fuse = {
  /** The node dies at that moment, counted from now; 0 for never. */
  set(moment: number): void;
  /** The moments passed since it was set, by name. */
  readonly passed: readonly string[];
  /** Where it died, if it did. */
  blownAt(): string | undefined;
  /** Marks a moment: fails if it is the chosen one, and from then on. */
  pass(name: string): void;
  /** Fails if the node is dead. */
  check(): void;
};

export function openFuse(): Fuse {
  let blowsAt = 0;
  let passed: string[] = [];
  let blown: string | undefined;
  function check(): void {
    if (blown !== undefined) throw new Error(`this node died ${blown}`);
  }
  return {
    set(moment) {
      blowsAt = moment;
      passed = [];
      blown = undefined;
    },
    get passed() {
      return passed;
    },
    blownAt: () => blown,
    pass(name) {
      check();
      passed.push(name);
      if (passed.length === blowsAt) blown = name;
      check();
    },
    check,
  };
}

const noFuse: Fuse = openFuse();

export async function startNode(
  { config, log, ports, database }: TestService,
  options: {
    fuse?: Fuse;
    bankOf?: (bank: Bank) => Bank;
    publicUrl?: () => string;
    makeKeyPairs?: Ports['makeKeyPairs'];
    /** How far its clock is ahead of the others', or, if negative, behind. */
    aheadMs?: number;
  } = {},
): Promise<Node> {
  const { fuse = noFuse, bankOf = (bank: Bank) => bank, publicUrl, aheadMs = 0 } = options;
  const { makeKeyPairs = ports.makeKeyPairs } = options;
  const clock: Clock = { now: () => laterBy(ports.clock.now(), aheadMs) };
  const opened = { database: fusedDatabase(database, fuse), close: () => Promise.resolve() };
  const foundation = await foundationOn(opened, config, log, {
    ...ports,
    clock,
    ...defined({ makeKeyPairs }),
  });
  const service = buildService(foundation, publicUrl);
  await service.app.ready();
  const { banks } = service;
  const realBankOf = banks.bankOf;
  banks.bankOf = async (terminal) => fusedBank(bankOf(await realBankOf(terminal)), fuse);
  return {
    ...service,
    call: callsTo(service),
    async stop() {
      await service.stop();
      await foundation.close();
    },
  };
}

const changes = /\b(insert into|update|delete from)\b/;
/** Jobs of cards, and what a bank says of itself, come at no fixed moment and have their own tests. */
const besides = /^(claim_due_card(_\d+)?|(reschedule|delete)_retained_card|store_abilities)$/;

/** A moment after each write, before the caller learns of it. A transaction is one write. */
function fusedDatabase(database: DatabasePool, fuse: Fuse): DatabasePool {
  const run =
    (db: Pick<Database, 'run'>, hasWritten: (name: string) => void): Database['run'] =>
    async (statement, parameters) => {
      fuse.check();
      const rows = await db.run(statement, parameters);
      fuse.check();
      // A statement that found no row has changed nothing.
      const wrote = rows.length > 0 || Object.keys(statement.row).length === 0;
      if (wrote && !besides.test(statement.name) && (statement.writes || changes.test(statement.text)))
        hasWritten(statement.name);
      return rows;
    };
  const inTransaction = (tx: Database, hasWritten: () => void): Database => ({
    run: run(tx, hasWritten),
    transaction: (work) => tx.transaction((inner) => work(inTransaction(inner, hasWritten))),
    withSavepoint: (work) => tx.withSavepoint((inner) => work(inTransaction(inner, hasWritten))),
    afterCommit: (effect) => tx.afterCommit(effect),
  });
  const fused: DatabasePool = {
    ...database,
    run: run(database, (name) => fuse.pass(`after ${name}`)),
    withSavepoint: (work) => work(fused),
    lookups: { run: run(database.lookups, () => {}) },
    async transaction(work) {
      fuse.check();
      return database.transaction((tx) => {
        let isMoment = false;
        tx.afterCommit(() => (isMoment ? fuse.pass('after a commit') : fuse.check()));
        return work(inTransaction(tx, () => (isMoment = true)));
      });
    },
    afterCommit(effect) {
      fuse.check();
      effect();
    },
    async withClient(work) {
      fuse.check();
      return database.withClient(work);
    },
  };
  return fused;
}

/** A moment before each message to the bank, and one after the bank's response, before it is read. */
function fusedBank(bank: Bank, fuse: Fuse): Bank {
  return {
    ...bank,
    async send(operation) {
      fuse.pass(`before ${operation.kind}`);
      const answer = await bank.send(operation);
      fuse.pass(`after ${operation.kind}`);
      return answer;
    },
    async inquire(operation) {
      fuse.pass('before inquiry');
      const answer = await bank.inquire(operation);
      fuse.pass('after inquiry');
      return answer;
    },
  };
}
