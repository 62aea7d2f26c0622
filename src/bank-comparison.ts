// What every room that asks banks for anything expects in their books, put together for the reconciliation with one.
import { bindingsAtBank } from './customers/binding.expected.ts';
import { paymentsAtBank, refundsAtBank } from './payments/payment.expected.ts';
import { comparisonWith } from './reconciliation/comparison.ts';
import { payoutsAtBank } from './wallets/withdrawal.expected.ts';

export const bankComparison = comparisonWith([paymentsAtBank, refundsAtBank, bindingsAtBank, payoutsAtBank]);
