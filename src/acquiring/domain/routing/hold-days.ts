// How many days a bank keeps a hold: a terminal's own rows, by card network and initiation. Else what the bank declares, or the usual
// time.
import type { Abilities } from '../abilities.ts';

export const initiations = ['payerPresent', 'withoutPayer'] as const;
export type Initiation = (typeof initiations)[number];
export type HoldDays = {
  readonly terminalId: string;
  readonly network: string;
  readonly initiation: Initiation;
  readonly days: number;
};

/** Shorter than any network allows, for a bank that says nothing. */
const usualDays = 3;

type Limits = Readonly<Record<Initiation, number>>;
/** Visa, for cards that are not present. A network that publishes no limit is treated alike. */
const visa: Limits = { payerPresent: 10, withoutPayer: 5 };
/** A final authorisation. */
const mastercard: Limits = { payerPresent: 7, withoutPayer: 7 };
const limits: Readonly<Record<string, Limits>> = { mastercard, maestro: mastercard };
/** A hold may end up to a day before its time is over, and a capture at its end has to come before. */
const marginDays = 1;

export function longestHoldDays(network: string, initiation: Initiation): number {
  return (limits[network] ?? visa)[initiation] - marginDays;
}

export function holdDaysOf(
  rows: readonly HoldDays[],
  terminalId: string,
  network: string,
  initiation: Initiation,
  declared: Abilities['holdDays'] = {},
): number {
  const row = rows.find(
    (each) => each.terminalId === terminalId && each.network === network && each.initiation === initiation,
  );
  if (row) return row.days;
  const days = initiation === 'payerPresent' ? declared.payer : declared.merchant;
  // A hold of no days could not be captured.
  return days ? Math.max(1, Math.min(days - marginDays, longestHoldDays(network, initiation))) : usualDays;
}

/** A hold moves only to a terminal with the same text, because the merchant has seen how long it lasts. */
export function holdTermsOf(
  rows: readonly HoldDays[],
  terminalId: string,
  { payer, merchant }: NonNullable<Abilities['holdDays']> = {},
): string {
  const own = rows
    .filter((row) => row.terminalId === terminalId)
    .map(({ network, initiation, days }) => `${network}.${initiation}=${days}`);
  return [`${payer}/${merchant}`, ...own.sort()].join();
}
