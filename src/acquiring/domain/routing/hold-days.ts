// How many days a bank keeps a hold: a terminal's own rows, by card network and initiation, or the usual time.

export const initiations = ['payerPresent', 'withoutPayer'] as const;
export type Initiation = (typeof initiations)[number];
export type HoldDays = {
  readonly terminalId: string;
  readonly network: string;
  readonly initiation: Initiation;
  readonly days: number;
};

/** Shorter than any network allows. A bank that keeps holds longer has rows that say so. */
const usualDays = 3;

type Limits = Readonly<Record<Initiation, number>>;
/** Visa, for cards that are not present. A network that publishes no limit is treated alike. */
const visa: Limits = { payerPresent: 10, withoutPayer: 5 };
/** A final authorisation. */
const mastercard: Limits = { payerPresent: 7, withoutPayer: 7 };
const limits: Readonly<Record<string, Limits>> = { mastercard, maestro: mastercard };
/** Banks let a hold go up to a day before the network's time is over. */
const marginDays = 1;

export function longestHoldDays(network: string, initiation: Initiation): number {
  return (limits[network] ?? visa)[initiation] - marginDays;
}

export function holdDaysOf(
  rows: readonly HoldDays[],
  terminalId: string,
  network: string,
  initiation: Initiation,
): number {
  const row = rows.find(
    (each) => each.terminalId === terminalId && each.network === network && each.initiation === initiation,
  );
  return row?.days ?? usualDays;
}

/** A hold moves only to a terminal with the same rows, because the merchant has seen how long it lasts. */
export function areHoldsAlike(rows: readonly HoldDays[], terminalId: string, otherId: string): boolean {
  const textOf = (id: string) =>
    rows
      .filter((row) => row.terminalId === id)
      .map(({ network, initiation, days }) => `${network}.${initiation}=${days}`)
      .sort()
      .join();
  return textOf(terminalId) === textOf(otherId);
}
