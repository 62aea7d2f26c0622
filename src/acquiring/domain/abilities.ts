// What a bank can do. A bank that says nothing can do what version 1 of the protocol always promised.
import type { ChargeReason } from './initiation.ts';

export const operationKinds = ['authorise', 'capture', 'reverse', 'refund', 'payout', 'verify'] as const;
export type OperationKind = (typeof operationKinds)[number];

export const initiationAbilities = ['payer', 'usesStored', 'recurring', 'unscheduled', 'instalment'] as const;
export type InitiationAbility = 'payer' | 'usesStored' | ChargeReason;

/** `hosted`: the bank authenticates the payer. `given`: it takes results from elsewhere. */
export type AuthenticationAbility = 'hosted' | 'given';

export type Abilities = {
  readonly kinds: readonly OperationKind[];
  /** Absent: every currency, and every network. */
  readonly currencies?: readonly string[];
  readonly networks?: readonly string[];
  /** `partial`: less than the hold. `several`: more than one capture of a hold. */
  readonly capture: { readonly partial: boolean; readonly several: boolean };
  /** Whether a part of a hold can be released. */
  readonly reverse: { readonly partial: boolean };
  readonly authentication: readonly AuthenticationAbility[];
  readonly initiations: readonly InitiationAbility[];
  /** It takes the network IDs of a series that began at another acquirer. */
  readonly foreignNetworkIds: boolean;
  readonly holdDays?: { readonly payer?: number; readonly merchant?: number };
  /** For how long a repeat returns what it returned before. */
  readonly repeatableMs: number | 'always';
  /** Whether an approved refund can fail later. */
  readonly refunds: 'final' | 'mayFail';
  /** It takes what the payer's browser brought back. */
  readonly takesReturns: boolean;
  /** It reports what happens after a response. */
  readonly hasUpdates: boolean;
  /** How many operations it takes within a second, and how many that are not answered yet. Absent: any number. */
  readonly perSecond?: number;
  readonly atOnce?: number;
};

export const abilitiesOfVersion1: Abilities = {
  kinds: operationKinds,
  capture: { partial: true, several: false },
  reverse: { partial: false },
  authentication: ['hosted'],
  initiations: ['payer', 'recurring', 'unscheduled'],
  foreignNetworkIds: false,
  repeatableMs: 'always',
  refunds: 'final',
  takesReturns: false,
  hasUpdates: false,
};
