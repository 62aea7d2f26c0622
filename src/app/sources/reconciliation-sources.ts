// What every module that sends operations to banks expects in a bank's transaction report.
import { bindingEntries } from '../../customers/store/reconciliation.ts';
import { paymentEntries, refundEntries, repeatedUndoEntries } from '../../payments/store/reconciliation.ts';
import { comparisonWith } from '../../acquiring/reconciliation/comparison.store.ts';
import { payoutEntries } from '../../payouts/store/reconciliation.ts';

export const reconciliationSources = comparisonWith([
  paymentEntries,
  refundEntries,
  repeatedUndoEntries,
  bindingEntries,
  payoutEntries,
]);
