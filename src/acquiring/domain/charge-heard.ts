// How charges that Mandate begins automatically end at a bank, and how long they wait when too many fail there.

/** `other`: approved, or declined for a reason of the card's. */
export type ChargeHeard = {
  readonly bankId: string;
  readonly partyId: string;
  readonly ended: 'technical' | 'vague' | 'other';
  /** It repeats a declined charge, so it is more likely to be declined. */
  readonly isRetry: boolean;
};

/** What is held is looked at again after `soonest`, spread over as long as `spread`. */
export const heldChargeMs = { soonest: 5 * 60_000, spread: 10 * 60_000 } as const;
