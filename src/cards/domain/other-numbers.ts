// Numbers that are written like a card's and are none: UUIDs, bank accounts and telephone numbers.

/** With and without dashes. */
const uuids = /(?<![0-9a-z])[0-9a-f]{8}(-?)(?:[0-9a-f]{4}\1){3}[0-9a-f]{12}(?![0-9a-z])/gi;

/** E.164 has at most 15 digits after +. In an address + may stand for a space. */
const phones = /(?<![0-9a-z])\+\d(?:[ -]?\d){6,14}(?![ -]*\d)/gi;

/** Of an IBAN, by country (ISO 13616). */
const lengths: Readonly<Record<number, string>> = {
  15: 'NO',
  16: 'BE',
  18: 'DK FI FK FO GL NL SD',
  19: 'MK SI',
  20: 'AT BA EE KZ LT LU MN XK',
  21: 'CH HR LI LV',
  22: 'BG BH CR DE GB GE IE ME RS VA',
  23: 'AE GI IL IQ OM SO TL',
  24: 'AD CZ ES MD PK RO SA SE SK TN VG',
  25: 'LY PT ST',
  26: 'IS TR',
  27: 'BI DJ FR GR IT MC MR SM',
  28: 'AL AZ BY CY DO GT HN HU LB NI PL SV',
  29: 'BR EG PS QA UA',
  30: 'JO KW MU YE',
  31: 'MT SC',
  32: 'LC',
  33: 'RU',
};

const written = Object.entries(lengths).map(
  ([length, countries]) =>
    `(?:${countries.replaceAll(' ', '|')})\\d\\d(?:[ \u00a0]?[0-9a-z]){${Number(length) - 4}}`,
);
/** In groups, usually of four, or without spaces. */
const ibans = new RegExp(`(?<![0-9a-z])(?:${written.join('|')})(?![0-9a-z])`, 'gi');

/** An x in the place of each, so that what is around it does not become one number. */
export function withoutOtherNumbers(text: string): string {
  return text
    .replace(uuids, 'x')
    .replace(ibans, (iban) => (hasCheckDigits(iban) ? 'x' : iban))
    .replace(phones, 'x');
}

/** ISO 7064, MOD 97-10: the check digits stand last, and A counts 10. */
function hasCheckDigits(iban: string): boolean {
  const characters = iban.replace(/\s/g, '');
  let rest = 0;
  for (const character of characters.slice(4) + characters.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}
