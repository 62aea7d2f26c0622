// Writes names in Latin characters without accents, as card networks take them. Cyrillic follows ICAO 9303, as in passports.

const cyrillic: Readonly<Record<string, string>> = {
  А: 'A',
  Б: 'B',
  В: 'V',
  Г: 'G',
  Ґ: 'G',
  Д: 'D',
  Е: 'E',
  Ё: 'E',
  Є: 'IE',
  Ж: 'ZH',
  З: 'Z',
  И: 'I',
  І: 'I',
  Ї: 'I',
  Й: 'I',
  К: 'K',
  Л: 'L',
  М: 'M',
  Н: 'N',
  О: 'O',
  П: 'P',
  Р: 'R',
  С: 'S',
  Т: 'T',
  У: 'U',
  Ў: 'U',
  Ф: 'F',
  Х: 'KH',
  Ц: 'TS',
  Ч: 'CH',
  Ш: 'SH',
  Щ: 'SHCH',
  Ъ: 'IE',
  Ы: 'Y',
  Ь: '',
  Э: 'E',
  Ю: 'IU',
  Я: 'IA',
};

/** Latin characters that have no accent to take off, and signs. */
const others: Readonly<Record<string, string>> = {
  Æ: 'AE',
  Ø: 'OE',
  Œ: 'OE',
  ß: 'SS',
  ẞ: 'SS',
  Ð: 'D',
  Þ: 'TH',
  Ł: 'L',
  Đ: 'D',
  ı: 'I',
  '’': "'",
  '‘': "'",
  '«': '"',
  '»': '"',
  '“': '"',
  '”': '"',
  '–': '-',
  '—': '-',
  '№': 'No',
  '\u00a0': ' ',
};

/** Undefined if a character has no Latin form here. */
export function transliterated(text: string): string | undefined {
  const characters = Array.from(text.normalize('NFC'));
  const written = characters.map((character, index) => latinOf(character, characters[index + 1] ?? ''));
  return written.includes(undefined) ? undefined : written.join('');
}

/** Several characters for a capital are capitals only within a word of capitals. */
function latinOf(character: string, next: string): string | undefined {
  if (/^[\x20-\x7e]$/.test(character)) return character;
  const upper = character.toUpperCase();
  const isLower = character !== upper;
  const known = cyrillic[upper] ?? others[character] ?? others[upper];
  if (known !== undefined && isLower) return known.toLowerCase();
  if (known !== undefined)
    return next === next.toLowerCase() && next !== next.toUpperCase()
      ? known.slice(0, 1) + known.slice(1).toLowerCase()
      : known;
  const bare = character.normalize('NFD').replace(/\p{M}/gu, '');
  return /^[\x20-\x7e]+$/.test(bare) ? bare : undefined;
}
