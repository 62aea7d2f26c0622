// Adds up the ledger's transfers again and compares the sums with its balances.
// The sums are carried from one run of the check to the next.
import type { BalanceRow, LedgerRow } from '../rows.ts';
import type { Check, Problem } from '../check.ts';

type Sums = { debitsPosted: bigint; creditsPosted: bigint; debitsPending: bigint; creditsPending: bigint };

/** Codes of accounts that may never have less than zero available. */
const floors = ['wallet.own', 'merchant.settlement'];
/** How far below zero the shops with that ID may go. */
export const overdrafts: Readonly<Record<string, bigint>> = { TEST_USD: 50_000n };

export type OwnSums = {
  /** Adds transfers that were not seen before. */
  add(transfers: readonly LedgerRow[]): void;
  /** Balances that are not the sum of their transfers, and debits that differ from credits. */
  compare(balances: readonly BalanceRow[]): Problem[];
  /** Accounts with a floor that have less than zero available. */
  belowZero(): Problem[];
};

export const balances: Check = {
  name: 'balances',
  says: 'every balance is the sum of its transfers, and debits equal credits in each mode and currency (I1, I2)',
  find: ({ books, sums }) => sums.compare(books.balances),
};

export const floorsHold: Check = {
  name: 'floors',
  says: 'no wallet has less than nothing available after any journal, and no shop less than its overdraft (I4)',
  find: ({ sums }) => sums.belowZero(),
};

export function openSums(): OwnSums {
  const seen = new Set<string>();
  const accounts = new Map<string, Sums>();

  function sumsOf(account: string): Sums {
    const known = accounts.get(account);
    if (known) return known;
    const sums = { debitsPosted: 0n, creditsPosted: 0n, debitsPending: 0n, creditsPending: 0n };
    accounts.set(account, sums);
    return sums;
  }

  return {
    add(transfers) {
      for (const one of transfers) {
        const name = `${one.aggregate_id} ${one.operation_id} ${one.step} ${one.phase}`;
        if (seen.has(name)) continue;
        seen.add(name);
        const debit = sumsOf(one.debit_account);
        const credit = sumsOf(one.credit_account);
        debit.debitsPosted += BigInt(one.posted_minor);
        debit.debitsPending += BigInt(one.pending_minor);
        credit.creditsPosted += BigInt(one.posted_minor);
        credit.creditsPending += BigInt(one.pending_minor);
      }
    },
    compare(balances) {
      const stated = new Map(balances.map((row) => [row.account_id, sumsIn(row)]));
      const problems: Problem[] = [];
      for (const account of new Set([...stated.keys(), ...accounts.keys()])) {
        const ours = textOf(accounts.get(account));
        const theirs = textOf(stated.get(account));
        if (ours !== theirs)
          problems.push([account, `its balance is ${theirs}, its transfers add up to ${ours}`]);
      }
      return [...problems, ...unbalanced(stated)];
    },
    belowZero: () =>
      [...accounts].flatMap(([account, { creditsPosted, debitsPosted, debitsPending }]): Problem[] => {
        const available = creditsPosted - debitsPosted - debitsPending;
        const [, , code = '', , shop = ''] = account.split(':');
        const isTooLow = floors.includes(code) && available < -(overdrafts[shop] ?? 0n);
        return isTooLow ? [[account, `${available} is available on it`]] : [];
      }),
  };
}

/** Debits and credits are the same in each mode and currency. */
function unbalanced(balances: ReadonlyMap<string, Sums>): Problem[] {
  const kinds = new Map<string, readonly [posted: bigint, pending: bigint]>();
  for (const [account, sums] of balances) {
    const kind = account.split(':').slice(0, 2).join(':');
    const [posted, pending] = kinds.get(kind) ?? [0n, 0n];
    kinds.set(kind, [
      posted + sums.debitsPosted - sums.creditsPosted,
      pending + sums.debitsPending - sums.creditsPending,
    ]);
  }
  return [...kinds].flatMap(([kind, [posted, pending]]): Problem[] =>
    posted === 0n && pending === 0n
      ? []
      : [[kind, `debits exceed credits by ${posted} posted and ${pending} pending`]],
  );
}

function sumsIn(row: BalanceRow): Sums {
  return {
    debitsPosted: BigInt(row.debits_posted),
    creditsPosted: BigInt(row.credits_posted),
    debitsPending: BigInt(row.debits_pending),
    creditsPending: BigInt(row.credits_pending),
  };
}

function textOf(sums: Sums | undefined): string {
  return sums
    ? `${sums.debitsPosted}-${sums.creditsPosted} (${sums.debitsPending}-${sums.creditsPending})`
    : '0-0 (0-0)';
}
