// What a text in the console's search box is taken for. The first way is used, and the others are offered.
import { describe, expect, test } from 'vitest';
import { searchesFor } from '../../../pages/console/search-box.ts';

const id = '1xX0acOFC9RLzle2EQTEsKd';

describe('the search box', () => {
  test.each([
    ['', []],
    ['   ', []],
    [id, ['invoice', 'customer', 'external']],
    [`${id}/1`, ['payment', 'external']],
    [`${id}.12`, ['payment', 'external']],
    ['Ada@Example.com', ['email', 'external']],
    ['4242', ['last4', 'amount', 'external']],
    ['424242', ['approval', 'first6', 'amount', 'external']],
    ['900000000003', ['rrn', 'external', 'amount']],
    ['499.00', ['amount', 'external', 'rrn']],
    ['1 490,50', ['amount', 'external', 'rrn']],
    ['A1B2C3', ['approval', 'external', 'invoice']],
    ['order-77', ['external', 'invoice', 'customer']],
    ['0', ['external', 'rrn']],
    ['<b>', ['external', 'invoice', 'customer']],
  ])('takes %j for %j', (text, ways) => {
    const found = searchesFor(text, 'RUB');
    expect(found === 'cardNumber' ? found : found.map(({ way }) => way)).toEqual(ways);
  });

  test.each(['4242424242424242', '4242 4242 4242 4242', ' 4242-4242-4242-4242 ', 'card 2201382000000013'])(
    'refuses %j',
    (text) => expect(searchesFor(text, 'RUB')).toBe('cardNumber'),
  );

  test.each([
    ['499', 'RUB', '49900'],
    ['499.5', 'USD', '49950'],
    ['499', 'JPY', '499'],
    ['1 490,50', 'RUB', '149050'],
    ['0.500', 'KWD', '500'],
  ])('reads the amount %j in %s', (text, currency, paymentAmount) => {
    const found = searchesFor(text, currency);
    expect(found).toContainEqual({ way: 'amount', filters: { paymentAmount }, isExact: false });
  });

  test('keeps the case of an ID, and splits that of a payment', () => {
    expect(searchesFor(` ${id}/1 `, 'RUB')[0]).toEqual({
      way: 'payment',
      filters: { invoiceID: id, paymentID: '1' },
      isExact: true,
    });
  });
});
