// The form of a check, and the data a check gets.
import type { OwnSums } from './money/balances.ts';
import type { Books } from './rows.ts';
import type { Assurance } from './clients/assurances.ts';
import type { History } from './events/history.ts';
import type { ClockMove } from '../clients/knowledge.ts';
import type { BankEntry, Delivery, Finding } from './world.ts';

export type Seen = {
  readonly books: Books;
  /** By aggregate. */
  readonly histories: ReadonlyMap<string, History>;
  /** The entries of the bank's report, by the aggregate in their operation IDs. */
  readonly bank: ReadonlyMap<string, readonly BankEntry[]>;
  /** What responses assured clients about these objects. */
  readonly assurances: readonly Assurance[];
  /** Sums of all transfers seen so far. */
  readonly sums: OwnSums;
  /** All webhook events that receivers accepted, from the start. */
  readonly received: readonly Delivery[];
  readonly clockMoves: readonly ClockMove[];
  /** Faults have stopped and nothing is due. */
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
