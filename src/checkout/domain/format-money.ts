// An amount as people read it. Pure, and used by the checkout's server side and by its page, so that both print the same.

export type PrintedMoney = {
  readonly amountMinor: number;
  readonly currency: string;
  /** How many digits the currency has behind the point. */
  readonly minorDigits: number;
};

/** `60,00 ₽` and `RUB 60.00`: the standard's digits, not those of usage. */
export function printMoney({ amountMinor, currency, minorDigits }: PrintedMoney, locale: string): string {
  return new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    minimumFractionDigits: minorDigits,
    maximumFractionDigits: minorDigits,
  }).format(amountMinor / 10 ** minorDigits);
}

/** How large it can stand above the form without being broken in two. */
export function sizeOfPrinted(text: string): 'large' | 'middle' | 'small' {
  return text.length <= 9 ? 'large' : text.length <= 13 ? 'middle' : 'small';
}
