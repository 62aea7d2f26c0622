// What every room that asks banks for anything expects in their books, put together for the reconciliation with one.
import { bindingEntries } from '../customers/store/reconciliation.ts';
import { paymentEntries, refundEntries } from '../payments/store/reconciliation.ts';
import { comparisonWith } from '../acquiring/reconciliation/comparison.store.ts';
import { payoutEntries } from '../payouts/store/reconciliation.ts';

export const reconciliationSources = comparisonWith([
  paymentEntries,
  refundEntries,
  bindingEntries,
  payoutEntries,
]);
