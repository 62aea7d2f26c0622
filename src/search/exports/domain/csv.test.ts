import { describe, expect, test } from 'vitest';
import { csvLine, decimalText } from './csv.ts';

describe('a line of an export', () => {
  test.each([
    ['=1+1', `'=1+1`],
    ['+7900', `'+7900`],
    ['-2', `'-2`],
    ['@SUM(A1)', `'@SUM(A1)`],
    ['\tx', `'\tx`],
    ['\r=1', `"'\r'=1"`],
    ['\n1', `"'\n1"`],
    [' =1', `' =1`],
    ['fp;=1+1;x', `fp;'=1+1;x`],
    ['fp; \u00A0@A1', `fp;' \u00A0@A1`],
    ['a,-1', `"a,'-1"`],
    ['a\t+1', `a\t'+1`],
    ['a\n=1', `"a\n'=1"`],
    ['a;"=1', `"a;""'=1"`],
    ['a; b - c', 'a; b - c'],
    ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
    ['a=1', 'a=1'],
    ['', ''],
    ['one, two', '"one, two"'],
    ['say "yes"', '"say ""yes"""'],
    ['two\nlines', '"two\nlines"'],
    ['иначе', 'иначе'],
  ])('keeps the text %j a text', (text, cell) => {
    expect(csvLine([{ text }], ',')).toBe(`${cell}\r\n`);
  });

  test('leaves facts as they are, also negative amounts', () => {
    expect(csvLine([{ fact: '-100' }, { fact: '2026-01-01T00:00:00.000000Z' }], ',')).toBe(
      '-100,2026-01-01T00:00:00.000000Z\r\n',
    );
  });

  test('quotes the delimiter in use alone', () => {
    expect(csvLine([{ text: 'a;b' }, { text: 'a,b' }], ';')).toBe('"a;b";a,b\r\n');
  });

  test.each([',', ';'] as const)('begins no formula, whatever splits a file of %j', (written) => {
    const signs = ['=', '+', '-', '@'];
    const breaks = [',', ';', '\t', '\r', '\n', '\r\n', '"', ';"', ';""', ',"', '; ', ';\u3000', ''];
    const texts = breaks.flatMap((before) =>
      signs.flatMap((sign) => [`${before}${sign}1`, `fp${before}${sign}1;x`]),
    );
    const line = csvLine(
      texts.map((text) => ({ text })),
      written,
    );
    // A reader may take any of these for the end of a cell, and a quote for nothing or for a part of the text.
    for (const cell of line.split(/[,;\t\r\n"]/)) expect(cell.trim()).not.toMatch(/^[=+\-@]/);
  });
});

test.each([
  [1250n, 2, '12.50'],
  [5n, 2, '0.05'],
  [0n, 3, '0.000'],
  [-1005n, 3, '-1.005'],
  [700n, 0, '700'],
])('%s with %s decimals is %s', (minor, decimals, text) => {
  expect(decimalText(minor, decimals)).toBe(text);
});
