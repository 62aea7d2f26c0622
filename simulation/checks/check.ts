// What a check is, and what is laid before it.
import type { OwnSums } from './money/balances.ts';
import type { Books } from './books.ts';
import type { Assurance } from './clients/assurances.ts';
import type { History } from './events/history.ts';
import type { BankEntry, Delivery, Finding } from './world.ts';

export type Seen = {
  readonly books: Books;
  /** Of each aggregate in the books. */
  readonly histories: ReadonlyMap<string, History>;
  /** The lines of the bank's book, by the aggregate their operations are named after. */
  readonly bank: ReadonlyMap<string, readonly BankEntry[]>;
  /** What clients were told of the objects in the books. */
  readonly assurances: readonly Assurance[];
  /** Of all transfers seen so far. */
  readonly sums: OwnSums;
  /** What receivers were sent, from the beginning. */
  readonly received: readonly Delivery[];
  /** No faults, and nothing due any more. */
  readonly isSettled: boolean;
};

export type Check = {
  readonly name: string;
  /** What must be true. */
  readonly says: string;
  readonly find: (seen: Seen) => readonly Problem[];
};

export type Problem = readonly [about: string, problem: string];

export function findingsOf({ name, find }: Check, seen: Seen): Finding[] {
  return find(seen).map(([about, problem]) => ({ check: name, about, problem }));
}
