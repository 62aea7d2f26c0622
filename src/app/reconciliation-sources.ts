// What every room that asks banks for anything expects in their books, put together for the reconciliation with one.
import { bindingsAtBank } from '../customers/store/reconciliation.ts';
import { paymentsAtBank, refundsAtBank } from '../payments/store/reconciliation.ts';
import { comparisonWith } from '../acquiring/reconciliation/comparison.store.ts';
import { payoutsAtBank } from '../payouts/store/reconciliation.ts';

export const bankComparison = comparisonWith([paymentsAtBank, refundsAtBank, bindingsAtBank, payoutsAtBank]);
