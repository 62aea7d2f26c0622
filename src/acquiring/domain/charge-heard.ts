// How attempts to send a charge that Mandate begins automatically end at a bank.

/** `other`: approved, or declined for a reason of the card's. */
export type ChargeHeard = {
  readonly bankId: string;
  readonly partyId: string;
  readonly ended: 'technical' | 'vague' | 'other';
  /** It repeats a declined charge, so it is more likely to be declined. */
  readonly isRetry: boolean;
};
