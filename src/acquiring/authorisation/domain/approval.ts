// What a bank returns when it approves an authorisation, as payments and bindings keep it.
import { defined } from '../../../defined.ts';
import type { AuthenticationResult } from '../../domain/authentication.ts';
import type { BankResponse } from '../../domain/bank-port.ts';
import type { NetworkId, References } from '../../domain/references.ts';

export type Approved = Extract<BankResponse, { readonly outcome: 'approved' }>;

export type Approval = {
  readonly reference: string;
  readonly approvalCode?: string;
  readonly networkTransactionId?: string;
  readonly eci?: string;
  /** Absent: the reference is the retrieval reference. */
  readonly references?: References;
  readonly networkIds?: readonly NetworkId[];
  readonly authenticated?: AuthenticationResult;
  readonly liabilityShift?: boolean;
};

export function approvalOf(answer: Approved): Approval {
  const { reference, references, approvalCode, networkTransactionId, networkIds, eci } = answer;
  const { authenticated, liabilityShift } = answer;
  return {
    reference,
    ...defined({ approvalCode, networkTransactionId, eci }),
    ...defined({ references, networkIds, authenticated, liabilityShift }),
  };
}

/** By their kinds: without them, the reference is the retrieval reference. */
export function referencesOf({ reference, references }: Approval | Approved): References {
  return references ?? { rrn: reference };
}
