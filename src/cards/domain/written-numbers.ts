// Finds card numbers in text. One rule holds for every text that is kept; a search of what is stored also looks behind other separators.
import { isCardNumber } from './card.ts';
import { withoutOtherNumbers } from './other-numbers.ts';

const minDigits = 13;
const maxDigits = 19;

/** Groups of digits. Spaces of every width and dashes between them are ignored. */
const runs = /\d+(?:[\s\u00ad\u200b-\u200d\u2010-\u2015\u2060\u2212\ufe63\uff0d-]+\d+)*/g;
/** Between groups is punctuation of up to three characters, or one line ends and the next is indented. */
const looseRuns = /\d+(?:(?:[^0-9A-Za-z]{1,3}|\s+)\d+)*/g;
/** Between groups is one space or dash, or a line ends: tabs and several spaces stand between columns. */
const evenRuns = /\d+(?:(?:[ \u00a0\u2000-\u200d\u2010-\u2015\u202f\u2060-]|\r?\n)\d+)*/g;
const brokenRuns = /\d+(?:\r?\n[ \t]*\d+)*/g;

/**
 * The rule for every text that is kept: a whole run of digits, or groups as cards print them. Any other groups would make telephone
 * numbers and identifiers card numbers.
 */
export function holdsCardNumber(text: string): boolean {
  return holds(text, (each) =>
    groupsIn(each, runs).some(
      (groups) => isWholeNumber(groups) || isDigitByDigit(groups) || beginsAnywhere(groups, isPrinted),
    ),
  );
}

/**
 * For a search of files, where one line has many numbers. A card number stands alone, in the groups that cards print, in equal groups,
 * digit by digit, or broken by the end of a line.
 */
export function mayHoldCardNumber(text: string): boolean {
  return holds(
    text,
    (each) =>
      groupsIn(each, looseRuns).some(
        (groups) => isDigitByDigit(groups) || beginsAnywhere(groups, isPrinted),
      ) ||
      groupsIn(each, evenRuns).some((groups) => beginsAnywhere(groups, isEven)) ||
      groupsIn(each, brokenRuns).some((groups) => beginsAnywhere(groups, isBroken)),
  );
}

/** Other numbers are looked for only in the few texts that seem to hold a card's. */
function holds(text: string, isFound: (text: string) => boolean): boolean {
  const plain = withPlainDigits(text);
  if (!hasEnoughDigits(plain)) return false;
  return [...new Set([plain, asInAddress(plain)])].some(
    (each) => isFound(each) && isFound(withoutOtherNumbers(each)),
  );
}

const address = /^https?:/i;

/** An address has %20 for a space, or + between groups of digits. */
function asInAddress(text: string): string {
  const decoded = text.replace(/(?:%[0-9a-f]{2})+/gi, (encoded) => {
    try {
      return withPlainDigits(decodeURIComponent(encoded));
    } catch {
      return encoded;
    }
  });
  return address.test(text) ? decoded.replace(/(?<=\d)\+(?=\d)/g, ' ') : decoded;
}

/** Keyboards of Japan, India and Arab countries have digits of their own, in sets of ten that begin with zero. */
function withPlainDigits(text: string): string {
  return text.length < minDigits ? text : text.replace(/[^\P{Nd}0-9]/gu, plainDigit);
}

function plainDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value += 1;
  return String(value);
}

/** Few texts have so many digits, so this is all that most of them cost. */
function hasEnoughDigits(text: string): boolean {
  if (text.length < minDigits) return false;
  let digits = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code >= 48 && code <= 57 && ++digits === minDigits) return true;
  }
  return false;
}

function groupsIn(text: string, pattern: RegExp): string[][] {
  return (text.match(pattern) ?? [])
    .filter((run) => run.length >= minDigits)
    .map((run) => run.match(/\d+/g) ?? []);
}

function isWholeNumber(groups: readonly string[]): boolean {
  const run = groups.join('');
  return run.length >= minDigits && isCardNumber(run);
}

/** The longest sequences of single digits: 4 2 4 2 …. */
function isDigitByDigit(groups: readonly string[]): boolean {
  const spelt = groups.map((group) => (group.length === 1 ? group : ' ')).join('');
  return spelt.split(/ +/).some((digits) => digits.length >= minDigits && isCardNumber(digits));
}

function beginsAnywhere(
  groups: readonly string[],
  isNumber: (groups: readonly string[]) => boolean,
): boolean {
  return groups.some((_, first) => {
    let digits = 0;
    for (let end = first + 1; end <= groups.length; end++) {
      digits += groups[end - 1]?.length ?? 0;
      if (digits > maxDigits) return false;
      if (digits >= minDigits && isNumber(groups.slice(first, end))) return true;
    }
    return false;
  });
}

const printedForms = new Set(['4,4,4,4', '4,4,4,4,3', '4,4,4,1', '4,6,5', '4,6,4']);

function isPrinted(groups: readonly string[]): boolean {
  const form = groups.map((group) => group.length).join();
  return (groups.length === 1 || printedForms.has(form)) && isCardNumber(groups.join(''));
}

function isEven(groups: readonly string[]): boolean {
  const [first = '', ...others] = groups;
  const last = others.pop() ?? '';
  const isSameLength = others.every((group) => group.length === first.length) && last.length <= first.length;
  return isSameLength && isCardNumber(groups.join(''));
}

function isBroken(groups: readonly string[]): boolean {
  return groups.length === 2 && isCardNumber(groups.join(''));
}
