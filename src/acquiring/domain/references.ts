// The names that acquirers and networks give to an operation.

/** What card networks call a payment, which later charges without the payer quote. */
export type NetworkId = { readonly kind: NetworkIdKind; readonly value: string };

export const networkIdKinds = ['visaTid', 'mcTrace', 'mcLink', 'other'] as const;
export type NetworkIdKind = (typeof networkIdKinds)[number];

/** The names of an operation outside of Mandate. */
export type References = {
  /** The retrieval reference, 12 alphanumeric characters. */
  readonly rrn?: string;
  /** The acquirer's own, at most 64 visible characters. */
  readonly acquirer?: string;
  /** The acquirer reference number of a refund: 23 digits. */
  readonly arn?: string;
};
