// Formats and checks what is typed into the card fields. Pure; valid numbers follow the service's own rules.
import {
  passesLuhn,
  paymentSystemOf,
  paymentSystems,
  type PaymentSystem,
} from '../../../src/cards/domain/card.ts';

export type Problem =
  | 'numberMissing'
  | 'numberShort'
  | 'numberWrong'
  | 'numberUnknown'
  | 'expiryMissing'
  | 'expiryWrong'
  | 'expiryPast'
  | 'expiryFar'
  | 'codeMissing'
  | 'codeWrong'
  | 'holderMissing'
  | 'holderWrong'
  | 'emailMissing'
  | 'emailWrong'
  | 'consentMissing';

const maxDigits = 19;

export function digitsOf(text: string): string {
  return text.replace(/\D/g, '');
}

/** Some networks are certain after two digits, all after the whole number. */
export function networkOf(text: string): PaymentSystem | undefined {
  const digits = digitsOf(text);
  return digits === '' ? undefined : paymentSystemOf(digits);
}

/** In groups, as on the card. */
export function groupedNumber(text: string): string {
  const digits = digitsOf(text).slice(0, maxDigits);
  const groups =
    networkOf(digits) === 'amex'
      ? [4, 6, 5]
      : digits.length === 14 && /^3/.test(digits)
        ? [4, 6, 4]
        : [4, 4, 4, 4, 3];
  let start = 0;
  return groups
    .map((length) => digits.slice(start, (start += length)))
    .concat(digits.slice(start))
    .filter((group) => group !== '')
    .join(' ');
}

/** The caret's position in regrouped text: behind as many digits as before. */
export function caretBehind(grouped: string, digits: number): number {
  let seen = 0;
  for (let place = 0; place < grouped.length; place++) {
    if (seen === digits) return place;
    if (/\d/.test(grouped[place] ?? '')) seen++;
  }
  return grouped.length;
}

/** `4` becomes `04 / `, `130` becomes `01 / 30`, and what browsers and password stores fill in becomes the same: 12/2030, 2030-12. */
export function groupedExpiry(text: string, isDeleting = false): string {
  const yearFirst = /^\s*(20\d\d)\D+(\d{1,2})\s*$/.exec(text);
  const whole = yearFirst ? `${yearFirst[2]}/${yearFirst[1]}` : text;
  const [first = '', second = ''] = whole.split(/\D+/).filter((part) => part !== '');
  const hasBreak = /\d\D/.test(whole.trim()) || (second !== '' && !isDeleting);
  // No month begins with 13 to 19: the second digit is of the year.
  const isOver = second === '' && /^1[3-9]/.test(first);
  const single = isOver || (first.length === 1 && (hasBreak || (/[2-9]/.test(first) && !isDeleting)));
  const month = single ? `0${first.slice(0, 1)}` : first.slice(0, 2);
  const rest = first.slice(single ? 1 : 2) + second;
  const year =
    rest.length === 4 && rest.startsWith('20') ? rest.slice(2) : rest.slice(0, rest.startsWith('20') ? 4 : 2);
  if (year !== '') return `${month} / ${year}`;
  return month.length === 2 && !isDeleting ? `${month} / ` : month;
}

export function numberProblem(text: string): Problem | undefined {
  const digits = digitsOf(text);
  if (digits === '') return 'numberMissing';
  const system = paymentSystemOf(digits);
  if (!system) return digits.length < 4 ? 'numberShort' : 'numberUnknown';
  const { lengths } = paymentSystems[system];
  if (digits.length < Math.min(...lengths)) return 'numberShort';
  if (passesLuhn(digits) && lengths.includes(digits.length)) return undefined;
  // A number of sixteen digits is complete, even if its network has longer ones.
  return digits.length < 16 && lengths.some((length) => length > digits.length)
    ? 'numberShort'
    : 'numberWrong';
}

/** Longer than issuers make cards for. */
const maxValidMonths = 20 * 12;

/** A card is valid to the end of its month. */
export function expiryProblem(text: string, today: Date): Problem | undefined {
  if (digitsOf(text) === '') return 'expiryMissing';
  const expiry = expiryOf(text);
  if (expiry === undefined) return 'expiryWrong';
  const [month = 0, year = 0] = expiry.split('/').map(Number);
  const months = (2000 + year) * 12 + month - 1;
  const thisMonth = today.getUTCFullYear() * 12 + today.getUTCMonth();
  if (months < thisMonth) return 'expiryPast';
  return months > thisMonth + maxValidMonths ? 'expiryFar' : undefined;
}

/** `MM/YY`, as the service takes it. */
export function expiryOf(text: string): string | undefined {
  const [, month, year] = /^(0[1-9]|1[0-2]) ?\/ ?(\d\d)$/.exec(groupedExpiry(text).trim()) ?? [];
  return month === undefined ? undefined : `${month}/${year}`;
}

export function codeLengthsOf(number: string): readonly number[] {
  const system = networkOf(number);
  return (system && paymentSystems[system].codeLengths) ?? [3];
}

export function codeProblem(code: string, number: string): Problem | undefined {
  if (code === '') return 'codeMissing';
  return codeLengthsOf(number).includes(code.length) ? undefined : 'codeWrong';
}

/** The service accepts names of any script, with spaces and punctuation. */
export function holderProblem(text: string): Problem | undefined {
  if (text.trim() === '') return 'holderMissing';
  return /^[\p{L}\p{M}\p{P}\s]{1,100}$/u.test(text.trim()) ? undefined : 'holderWrong';
}

const maxEmailLength = 100;
/** The common form of what the service accepts: no quotes, and a host with a dot in its name. */
const emailPattern =
  /^[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*@([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;

export function emailProblem(text: string, isRequired: boolean): Problem | undefined {
  const address = text.trim();
  if (address === '') return isRequired ? 'emailMissing' : undefined;
  return address.length <= maxEmailLength && emailPattern.test(address) ? undefined : 'emailWrong';
}
