// What a card is: its network, whether the entered data can be a card, and what may be shown of it. It is pure and handles full
// numbers, so only the vault and tokenisation call it.
import type { Instant } from '../../clock.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import { defined } from '../../defined.ts';

export type PaymentSystem =
  | 'visa'
  | 'mastercard'
  | 'maestro'
  | 'nspkmir'
  | 'amex'
  | 'unionpay'
  | 'jcb'
  | 'dinersclub'
  | 'discover'
  | 'dankort';

/** As entered. The schema has checked that there are digits where digits belong. */
export type EnteredCard = {
  readonly number: string;
  /** `MM/YY` or `MM/YYYY`. */
  readonly expDate: string;
  readonly securityCode?: string;
  readonly holder?: string;
};

export type Card = {
  readonly number: string;
  /** `2030-12`: year first, so that it compares with an instant. A card for payouts may lack it. */
  readonly expiry?: string;
  readonly holder?: string;
};

/** Everything that is ever shown of a card. */
export type CardDetails = {
  readonly bin: string;
  readonly lastDigits: string;
  /** One star for each hidden digit. */
  readonly mask: string;
  readonly paymentSystem: PaymentSystem;
};

const between = (shortest: number, longest: number) =>
  Array.from({ length: longest - shortest + 1 }, (_, more) => shortest + more);

/** The possible lengths of a number, and of a security code, which usually has three digits. */
export const paymentSystems: Readonly<
  Record<PaymentSystem, { readonly lengths: readonly number[]; readonly codeLengths?: readonly number[] }>
> = {
  visa: { lengths: [13, 16, 19] },
  mastercard: { lengths: [16] },
  maestro: { lengths: between(12, 19) },
  nspkmir: { lengths: between(16, 19) },
  amex: { lengths: [15], codeLengths: [3, 4] },
  unionpay: { lengths: between(16, 19) },
  jcb: { lengths: between(16, 19) },
  dinersclub: { lengths: between(14, 19) },
  discover: { lengths: between(16, 19) },
  dankort: { lengths: [16] },
};

const maxDigits = 19;

/** Leading digits, from and to. The first match counts, so narrow ranges stand before the wide ones around them. */
const ranges: readonly (readonly [PaymentSystem, from: string, to: string])[] = [
  ['nspkmir', '2200', '2204'],
  ['mastercard', '2221', '2720'],
  ['dinersclub', '300', '305'],
  ['amex', '34', '34'],
  ['jcb', '3528', '3589'],
  ['dinersclub', '36', '36'],
  ['amex', '37', '37'],
  ['dinersclub', '38', '39'],
  ['visa', '4', '4'],
  ['dankort', '5019', '5019'],
  ['maestro', '50', '50'],
  ['mastercard', '51', '55'],
  ['maestro', '56', '58'],
  ['discover', '6011', '6011'],
  ['unionpay', '62', '62'],
  ['discover', '644', '649'],
  ['discover', '65', '65'],
  ['maestro', '6', '6'],
];

export function paymentSystemOf(number: string): PaymentSystem | undefined {
  return ranges.find(([, from, to]) => {
    const leading = number.slice(0, from.length);
    return from <= leading && leading <= to;
  })?.[0];
}

/** Checks in the order of the contract, each with its message. */
export function checkCard(entered: EnteredCard, now: Instant): Outcome<Card, 'invalidRequest'> {
  const { number, securityCode, holder } = entered;
  const system = paymentSystemOf(number);
  if (!system) return invalid('Unrecognized bank card issuer');
  if (!passesLuhn(number)) return invalid('Invalid cardNumber checksum');
  const { lengths, codeLengths = [3] } = paymentSystems[system];
  if (!lengths.includes(number.length)) return invalid('Invalid cardNumber length');
  if (securityCode !== undefined && !codeLengths.includes(securityCode.length)) {
    return invalid('Invalid cvv length');
  }
  const expiry = expiryOf(entered.expDate);
  if (!isExpiry(expiry) || isPast(expiry, now)) return invalid('Invalid expiration date');
  return accept({ number, expiry, ...defined({ holder }) });
}

function invalid(message: string) {
  return refuse('invalidRequest', { message });
}

/** Year and month as entered, whether or not that month exists. Two-digit years are of this century. */
export function expiryOf(expDate: string): string {
  const [month = '', year = ''] = expDate.split('/');
  return `${year.length === 2 ? `20${year}` : year}-${month}`;
}

/** Cards show two digits of the year, so only years of this century are possible. */
export function isExpiry(expiry: string): boolean {
  return /^20\d\d-(0[1-9]|1[0-2])$/.test(expiry);
}

/** A card is valid until the end of its month, in UTC. */
export function isPast(expiry: string, now: Instant): boolean {
  return expiry < now.slice(0, 7);
}

export function passesLuhn(number: string): boolean {
  let sum = 0;
  for (let index = 0; index < number.length; index++) {
    const digit = Number(number[number.length - 1 - index]);
    const weighted = index % 2 === 1 ? digit * 2 : digit;
    sum += weighted > 9 ? weighted - 9 : weighted;
  }
  return sum % 10 === 0;
}

export function maskOf(number: string): string {
  return number.slice(0, 6) + '*'.repeat(number.length - 10) + number.slice(-4);
}

export function detailsOf(mask: string, paymentSystem: PaymentSystem): CardDetails {
  return { bin: mask.slice(0, 6), lastDigits: mask.slice(-4), mask, paymentSystem };
}

/** What may separate the digits of a number. */
const separators = /[\s.-]+/g;

/** Whether a text that is stored in the clear contains a card's number, also written with spaces, dashes or dots. */
export function givesAway(text: string, number: string): boolean {
  return text.replace(separators, '').includes(number);
}

/**
 * Whether it contains the number of any card. All groups of digits but the last need at least three digits, which excludes dates,
 * amounts and most telephone numbers.
 */
export function givesAnyNumberAway(text: string): boolean {
  return (text.match(/\d+(?:[\s.-]+\d+)*/g) ?? []).some((written) => {
    const groups = written.split(separators);
    return groups.some((_, first) => startsWithCard(groups.slice(first)));
  });
}

function startsWithCard(groups: readonly string[]): boolean {
  let number = '';
  for (const group of groups) {
    number += group;
    if (number.length > maxDigits) return false;
    if (isCardNumber(number)) return true;
    if (group.length < 3) return false;
  }
  return false;
}

export function isCardNumber(number: string): boolean {
  const system = paymentSystemOf(number);
  return system !== undefined && paymentSystems[system].lengths.includes(number.length) && passesLuhn(number);
}
