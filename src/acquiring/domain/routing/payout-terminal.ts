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
export type WantedPayout = { readonly currency: string; readonly minor?: bigint };

export type Service = 'served' | 'noCurrency' | 'tooMuch';

export function serviceOf(
  { currencies }: PayoutTerminalTerms,
  { currency, minor = 0n }: WantedPayout,
): Service {
  if (!currencies) return 'served';
  const terms = Object.hasOwn(currencies, currency) ? currencies[currency] : undefined;
  if (!terms) return 'noCurrency';
  return terms.maxMinor !== undefined && minor > terms.maxMinor ? 'tooMuch' : 'served';
}

export function demandedBy({ demands = {} }: PayoutTerminalTerms, network: string): SenderField[] {
  const wanted = ['*', network].flatMap((name) =>
    Object.hasOwn(demands, name) ? (demands[name] ?? []) : [],
  );
  return senderFields.filter((field) => wanted.includes(field));
}
