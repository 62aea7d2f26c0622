// Reads the amount that a payer types, and says what is wrong with it. Pure.

export type AmountProblem = 'missing' | 'wrong' | 'low' | 'high';
export type Bounds = { readonly leastMinor: number; readonly mostMinor: number };

/** Digits with spaces between them. A comma or a point stands before the minor units alone: with thousands it is a mistake. */
const typed = /^(\d+)(?:[.,](\d*))?$/;

/** In minor units. Undefined if it is no amount of the currency. */
export function minorIn(text: string, minorDigits: number): number | undefined {
  const [, major, minor = ''] = typed.exec(text.replace(/\s/g, '')) ?? [];
  if (major === undefined || minor.length > minorDigits) return undefined;
  const amount = Number(major + minor.padEnd(minorDigits, '0'));
  return Number.isSafeInteger(amount) ? amount : undefined;
}

export function amountProblem(
  text: string,
  minorDigits: number,
  { leastMinor, mostMinor }: Bounds,
): AmountProblem | undefined {
  if (text.trim() === '') return 'missing';
  const amount = minorIn(text, minorDigits);
  if (amount === undefined) return 'wrong';
  if (amount < leastMinor) return 'low';
  return amount > mostMinor ? 'high' : undefined;
}

/** As a payer would type it. */
export function typedAmount(amountMinor: number, minorDigits: number, locale: string): string {
  return (amountMinor / 10 ** minorDigits).toLocaleString(locale, {
    useGrouping: false,
    minimumFractionDigits: minorDigits,
    maximumFractionDigits: minorDigits,
  });
}
