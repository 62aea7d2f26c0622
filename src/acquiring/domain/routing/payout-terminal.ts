// What a payout terminal serves and demands: agreed with its bank, and set by an operator.

/** What a bank may ask for about the sender of a payout. */
export const senderFields = [
  'name',
  'address',
  'city',
  'country',
  'birthDate',
  'nationality',
  'occupation',
  'account',
] as const;
export type SenderField = (typeof senderFields)[number];

/** Visa's codes, which other networks understand too. */
export const sourcesOfFunds = ['01', '02', '03', '04', '05', '06'] as const;
export type SourceOfFunds = (typeof sourcesOfFunds)[number];

export type PayoutTerminalTerms = {
  /** The currencies it pays out, with the largest amount of one payout. Absent: every currency, as for a simulated bank. */
  readonly currencies?: Readonly<Record<string, { readonly maxMinor?: bigint }>>;
  /** The fields that a network demands of a sender; under `*`, every network. */
  readonly demands?: Readonly<Record<string, readonly SenderField[]>>;
  readonly sourceOfFunds?: SourceOfFunds;
  /** The purposes that a payout may have. The first is the usual one. */
  readonly purposes?: readonly string[];
};

/** Without an amount, any of the currency. */
export type WantedPayout = {
  readonly currency: string;
  readonly minor?: bigint;
  /** Of the card. */
  readonly network?: string;
};

export function serves({ currencies }: PayoutTerminalTerms, { currency, minor = 0n }: WantedPayout): boolean {
  if (!currencies) return true;
  const terms = termsOf(currencies, currency);
  return terms !== undefined && (terms.maxMinor === undefined || minor <= terms.maxMinor);
}

/** The largest of the limits that the terminals have for a currency. Undefined: none has one. */
export function largestLimitOf(
  terminals: readonly PayoutTerminalTerms[],
  currency: string,
): bigint | undefined {
  const limits = terminals.flatMap(({ currencies = {} }) => termsOf(currencies, currency)?.maxMinor ?? []);
  return limits.sort((a, b) => (a < b ? 1 : -1))[0];
}

function termsOf(currencies: NonNullable<PayoutTerminalTerms['currencies']>, currency: string) {
  return Object.hasOwn(currencies, currency) ? currencies[currency] : undefined;
}

export function demandedBy({ demands = {} }: PayoutTerminalTerms, network: string): SenderField[] {
  const wanted = ['*', network].flatMap((name) =>
    Object.hasOwn(demands, name) ? (demands[name] ?? []) : [],
  );
  return senderFields.filter((field) => wanted.includes(field));
}
