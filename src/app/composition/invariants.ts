// What must be true of the ledger, and between it and the modules that post to it.
import { bindingInvariants } from '../../customers/store/invariants.ts';
import { paymentInvariants } from '../../payments/store/invariants.ts';
import { payoutInvariants } from '../../payouts/store/invariants.ts';
import { ledgerInvariants, type Invariant } from '../../platform/ledger/store/invariants.ts';

export const everyInvariant: readonly Invariant[] = [
  ...ledgerInvariants,
  ...paymentInvariants,
  ...bindingInvariants,
  ...payoutInvariants,
];
