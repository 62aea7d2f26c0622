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
  const form = `${locale} ${currency} ${String(minorDigits)}`;
  let format = formats.get(form);
  if (!format) {
    format = new Intl.NumberFormat(locale, {
      style: 'currency',
      currency,
      minimumFractionDigits: minorDigits,
      maximumFractionDigits: minorDigits,
    });
    formats.set(form, format);
  }
  return format.format(amountMinor / 10 ** minorDigits);
}

/** Kept, because making one costs more than the rest of a receipt. There are few currencies and languages. */
const formats = new Map<string, Intl.NumberFormat>();
