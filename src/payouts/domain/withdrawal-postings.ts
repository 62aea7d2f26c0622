// The ledger transfers of a withdrawal: reserved when it is created, posted or released when its outcome is known.
import type { Money } from '../../money.ts';
import {
  feeIncome,
  payoutInTransit,
  reconSuspense,
  walletAccount,
} from '../../platform/ledger/domain/account.ts';
import {
  completions,
  unlessZero,
  type Entry,
  type FundsCheckedJournal,
  type Journal,
} from '../../platform/ledger/domain/ledger.ts';

export type LedgerWithdrawal = {
  readonly livemode: boolean;
  readonly withdrawalId: string;
  readonly walletId: string;
  readonly acquirerId: string;
  /** How often it went to another acquirer before it was sent. */
  readonly moves?: number;
};

/** The fee is added to the amount, and the wallet must have both. */
export function withdrawalCreated(
  withdrawal: LedgerWithdrawal,
  { minor, currency }: Money,
  feeMinor: bigint,
): FundsCheckedJournal {
  const wallet = walletAccount({ ...withdrawal, currency });
  const transit = payoutInTransit({ ...withdrawal, currency });
  const fee = feeIncome({ ...withdrawal, currency, fee: 'payout' });
  const entries: Entry[] = [
    { phase: 'pending', step: 'payout', debit: wallet, credit: transit, minor },
    ...unlessZero({ phase: 'pending', step: 'payout_fee', debit: wallet, credit: fee, minor: feeMinor }),
  ];
  return { ...ofWithdrawal(withdrawal, entries), checksFunds: true };
}

/** The fee is the one it was created with. While the outcome is unknown nothing is written: the money stays reserved. */
export function withdrawalSucceeded(withdrawal: LedgerWithdrawal, feeMinor: bigint): Journal {
  return ofWithdrawal(withdrawal, [
    ...completions('post', 'payout', feeMinor),
    ...movesOf(withdrawal, 'post'),
  ]);
}

export function withdrawalFailed(withdrawal: LedgerWithdrawal, feeMinor: bigint): Journal {
  return ofWithdrawal(withdrawal, [
    ...completions('void', 'payout', feeMinor),
    ...movesOf(withdrawal, 'void'),
  ]);
}

/** The money stays reserved, now for the other acquirer. */
export function withdrawalMoved(
  from: LedgerWithdrawal,
  to: LedgerWithdrawal,
  { minor, currency }: Money,
): Journal {
  const debit = payoutInTransit({ ...from, currency });
  const credit = payoutInTransit({ ...to, currency });
  return ofWithdrawal(to, [{ phase: 'pending', step: `moved${to.moves}`, debit, credit, minor }]);
}

/** To the wallet, or aside if the wallet is blocked. The fee is kept. */
export function withdrawalReturned(
  withdrawal: LedgerWithdrawal & { readonly isAside: boolean },
  { minor, currency }: Money,
): Journal {
  const debit = payoutInTransit({ ...withdrawal, currency });
  const credit = withdrawal.isAside
    ? reconSuspense({ ...withdrawal, currency })
    : walletAccount({ ...withdrawal, currency });
  return ofWithdrawal(withdrawal, [{ phase: 'single', step: 'returned', debit, credit, minor }]);
}

function movesOf({ moves = 0 }: LedgerWithdrawal, phase: 'post' | 'void'): Entry[] {
  return Array.from({ length: moves }, (_, at) => ({ phase, step: `moved${at + 1}` }));
}

function ofWithdrawal({ withdrawalId }: LedgerWithdrawal, entries: Entry[]): Journal {
  return { aggregateId: withdrawalId, operationId: 'withdrawal', entries };
}
