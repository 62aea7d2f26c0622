// The ledger transfers of a top-up and of taking it back.
import type { Money } from '../../money.ts';
import { bankNostro, settlementAccount } from '../../platform/ledger/domain/account.ts';
import type { Entry, FundsCheckedJournal, Journal } from '../../platform/ledger/domain/ledger.ts';

export type LedgerTopUp = {
  readonly livemode: boolean;
  readonly topUpId: string;
  readonly partyId: string;
  readonly shopId: string;
  readonly bankAccountId: string;
};

/** The merchant has paid money in for the shop. */
export function shopToppedUp(topUp: LedgerTopUp, { minor, currency }: Money): Journal {
  const debit = bankNostro({ ...topUp, currency });
  const credit = settlementAccount({ ...topUp, currency });
  return ofTopUp(topUp, [{ phase: 'single', step: 'top_up', debit, credit, minor }]);
}

/** A top-up booked by mistake. The shop must have the money: its overdraft is for refunds alone. */
export function topUpReversed(topUp: LedgerTopUp, { minor, currency }: Money): FundsCheckedJournal {
  const debit = settlementAccount({ ...topUp, currency });
  const credit = bankNostro({ ...topUp, currency });
  const entries: Entry[] = [{ phase: 'single', step: 'reversal', debit, credit, minor }];
  return { ...ofTopUp(topUp, entries), checksFunds: true };
}

function ofTopUp({ topUpId }: LedgerTopUp, entries: Entry[]): Journal {
  return { aggregateId: topUpId, operationId: 'top_up', entries };
}
