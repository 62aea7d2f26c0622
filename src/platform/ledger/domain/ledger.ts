// Double entry: every movement of money is a transfer between two accounts, either single or first pending. A pending amount is reserved
// on both sides, and later posted, up to its amount, or voided.
import type { Account } from './account.ts';

/** The step distinguishes the transfers of one operation. A posting or voiding has the step of what it completes. */
export type Entry =
  | {
      readonly phase: 'single' | 'pending';
      readonly step: string;
      readonly debit: Account;
      readonly credit: Account;
      readonly minor: bigint;
      /** Its journal can take the account to its overdraft limit. */
      readonly mayOverdraw?: true;
    }
  /** Without an amount, everything pending. What is left of it is released. */
  | { readonly phase: 'post'; readonly step: string; readonly minor?: bigint }
  | { readonly phase: 'void'; readonly step: string };

/** Transfers that are written together. The same journal again changes nothing; another in its place is an error. */
export type Journal = {
  /** The invoice, withdrawal, deposit or customer that is changed in the same transaction. */
  readonly aggregateId: string;
  /** Unique within that aggregate. */
  readonly operationId: string;
  readonly entries: readonly Entry[];
};

/** Takes from an account that forbids an overdraft, which may lack the money. Only such a journal can be refused. */
export type FundsCheckedJournal = Journal & { readonly checksFunds: true };

/** All accounts a journal names. Those of a posting or voiding are already open. */
export function accountsIn(journal: Journal): Account[] {
  const accounts = journal.entries.flatMap((entry) => ('debit' in entry ? [entry.debit, entry.credit] : []));
  return [...new Map(accounts.map((account) => [account.id, account])).values()];
}

/** Nothing, where nothing would be moved. */
export function unlessZero(entry: Entry & { minor: bigint }): Entry[] {
  return entry.minor === 0n ? [] : [entry];
}

/** Completes what an operation has reserved: its amount, and its fee if there is one. */
export function completions(phase: 'post' | 'void', step: string, feeMinor: bigint): Entry[] {
  return [{ phase, step }, ...(feeMinor === 0n ? [] : [{ phase, step: `${step}_fee` }])];
}
