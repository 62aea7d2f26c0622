// Prints an amount for payers. Pages and receipts all use it, so that they print the same.

export type PrintedMoney = {
  readonly amountMinor: number;
  readonly currency: string;
  /** How many digits the currency has behind the point. */
  readonly minorDigits: number;
};

/** `₽` and `RUB`, as the amounts have it. */
export function printedCurrency(currency: string, locale: string): string {
  const parts = new Intl.NumberFormat(locale, { style: 'currency', currency }).formatToParts(0);
  return parts.find(({ type }) => type === 'currency')?.value ?? currency;
}

/** `60,00 ₽` and `RUB 60.00`, with the decimals of ISO 4217. */
export function printMoney({ amountMinor, currency, minorDigits }: PrintedMoney, locale: string): string {
  return new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    minimumFractionDigits: minorDigits,
    maximumFractionDigits: minorDigits,
  }).format(amountMinor / 10 ** minorDigits);
}
