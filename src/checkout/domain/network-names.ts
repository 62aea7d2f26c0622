/** The card networks as their cards name them. */
export const networkNames: Readonly<Record<string, string>> = {
  visa: 'Visa',
  mastercard: 'Mastercard',
  maestro: 'Maestro',
  nspkmir: 'МИР',
  amex: 'American Express',
  unionpay: 'UnionPay',
  jcb: 'JCB',
  dinersclub: 'Diners Club',
  discover: 'Discover',
  dankort: 'Dankort',
};
