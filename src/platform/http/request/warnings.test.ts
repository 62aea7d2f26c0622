import { describe, expect, test } from 'vitest';
import { noUnknownMembers, type UnknownMember } from './declared-members.ts';
import { warningsOf } from './warnings.ts';

const known = ['makeRecurrent', 'externalID', 'shopID', 'email'];
const unknownMember = (name: string, within = ''): UnknownMember => ({ within, name, known });

function warnings(first: UnknownMember[], count = first.length): string {
  return warningsOf({ body: { first, count }, query: noUnknownMembers() });
}

describe('the warnings of a request', () => {
  test('name each unknown member with its path', () => {
    expect(warnings([unknownMember('colour'), unknownMember('size', 'cart[3]')])).toBe(
      'unknownMember;field="colour", unknownMember;field="cart[3].size"',
    );
  });

  test('name unknown parameters of the query', () => {
    const query = { first: [{ within: '', name: 'limt', known: ['limit', 'eventID'] }], count: 1 };
    expect(warningsOf({ body: noUnknownMembers(), query })).toBe(
      'unknownParameter;field="limt";nearest="limit"',
    );
  });

  test.each([
    ['makeRecuring', 'makeRecurrent'],
    ['makeRecurent', 'makeRecurrent'],
    ['externalId', 'externalID'],
    ['external_id', 'externalID'],
    ['shopid', 'shopID'],
    ['mail', 'email'],
    ['id', undefined],
    ['amountMinor', undefined],
  ])('suggest for %s the nearest name: %s', (name, nearest) => {
    const suggestion = nearest === undefined ? '' : `;nearest="${nearest}"`;
    expect(warnings([unknownMember(name)])).toBe(`unknownMember;field="${name}"${suggestion}`);
  });

  test.each([
    ['a line break', 'a\r\nSet-Cookie: b=1', 'a%0D%0ASet-Cookie%3A%20b%3D1'],
    ['a quotation mark', 'a"b\\c', 'a%22b%5Cc'],
    ['other scripts', 'имя', '%D0%B8%D0%BC%D1%8F'],
    ['a surrogate pair cut in two', 'x'.repeat(39) + '😀', `${'x'.repeat(39)}%EF%BF%BD...`],
    ['a card number', '4242424242424242', '424242******4242'],
    ['a card number at the cut', 'n'.repeat(30) + '4242424242424242', `${'n'.repeat(30)}424242****...`],
  ])('encode and cut a name with %s', (_, name, shown) => {
    expect(warnings([unknownMember(name)])).toBe(`unknownMember;field="${shown}"`);
  });

  test('are short, whatever was sent, and count the rest', () => {
    const long = Array.from({ length: 20 }, (_, index) =>
      unknownMember(`${index}${'я'.repeat(60_000)}`, 'a.b'),
    );
    const text = warnings(long, 30_000);
    expect(text.length).toBeLessThan(2_100);
    const shown = text.split('unknownMember').length - 1;
    expect(shown).toBeGreaterThan(3);
    expect(text).toMatch(new RegExp(`, more;count=${30_000 - shown}$`));
  });
});
