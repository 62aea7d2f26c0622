// Card data for tests: the test cards of the documents, and a body that tokenises.
export const testCards = {
  '4242424242424242': 'visa',
  '5555555555554444': 'mastercard',
  '586824160825533338': 'maestro',
  '2201382000000013': 'nspkmir',
  '4012888888881881': 'visa',
  '5169147129584558': 'mastercard',
  '4556418324571052': 'visa',
  '4929172190150505': 'visa',
  '4556724110260093': 'visa',
  '4987654321098769': 'visa',
  '5123456789012346': 'mastercard',
  '4342561111111118': 'visa',
  '5112000200000002': 'mastercard',
  '4000000000000002': 'visa',
  '5100000000000412': 'mastercard',
  '4222222222222220': 'visa',
  '5100000000000511': 'mastercard',
  '4003830171874018': 'visa',
  '5496198584584769': 'mastercard',
  '4000000000000069': 'visa',
  '5105105105105100': 'mastercard',
  '4111110000000112': 'visa',
  '5124990000000002': 'mastercard',
  '4300000000000777': 'visa',
  '5000000000000009': 'maestro',
  '2222990905257051': 'mastercard',
  '2222405343248877': 'mastercard',
  '2223577120017656': 'mastercard',
  '2223007648726984': 'mastercard',
} as const;

export const paymentResourcesUrl = '/v2/processing/payment-resources';

/** The card data of a payer, with changes for the test; undefined leaves a field out. */
export function cardBody(different: Record<string, unknown> = {}, beside: Record<string, unknown> = {}) {
  return {
    paymentTool: {
      paymentToolType: 'CardData',
      cardNumber: '4242424242424242',
      expDate: '12/30',
      cvv: '123',
      cardHolder: 'LEXA SVOTIN',
      ...different,
    },
    clientInfo: { fingerprint: 'a browser' },
    ...beside,
  };
}
