// Double entry: every movement of money is a transfer from one account to another, so that nothing appears or vanishes.
// A transfer happens at once, or in two phases: what is pending is reserved on both sides, and is later posted, up to its
// amount, or void. This file is pure; which transfers belong to which event of the business is in postings.ts, how they
// are written in platform/ledger/store/journals.ts.
import type { Account } from './account.ts';

/** The step tells the transfers of one operation apart. A resolution bears the step of what it resolves. */
export type Entry =
  | {
      readonly phase: 'single' | 'pending';
      readonly step: string;
      readonly debit: Account;
      readonly credit: Account;
      readonly minor: bigint;
    }
  /** Without an amount, all that is pending. What is left of it returns. */
  | { readonly phase: 'post'; readonly step: string; readonly minor?: bigint }
  | { readonly phase: 'void'; readonly step: string };

/** Transfers that happen together. The same journal again changes nothing; another in its place is an error. */
export type Journal = {
  /** The invoice, withdrawal, deposit or customer that is changed in the same transaction. */
  readonly aggregateId: string;
  /** Of that aggregate. */
  readonly operationId: string;
  readonly entries: readonly Entry[];
};

/** Takes from an account that forbids an overdraft, which may lack the money: the one journal that can be refused. */
export type FundsCheckedJournal = Journal & { readonly checksFunds: true };

/** All accounts a journal names; those of a resolution are open already. */
export function accountsIn(journal: Journal): Account[] {
  const accounts = journal.entries.flatMap((entry) => ('debit' in entry ? [entry.debit, entry.credit] : []));
  return [...new Map(accounts.map((account) => [account.id, account])).values()];
}
