// Money is an integer count of minor units and a currency. This file neither rounds nor prints amounts: pages and receipts do.

export type Currency = string & { readonly brand: 'Currency' };
export type Money = { readonly minor: bigint; readonly currency: Currency };

/** The largest amount one operation may carry: twelve digits, the width of the amount field on card networks. */
export const largestAmountMinor = 999_999_999_999n;

// ISO 4217 exponents. Intl is not used, because it follows usage and differs from the standard (HUF, IDR, IQD, ...).
const exponents: Record<string, number> = {
  ...exponentOf(0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'),
  ...exponentOf(3, 'BHD IQD JOD KWD LYD OMR TND'),
  ...exponentOf(4, 'CLF UYW'),
  ...exponentOf(
    2,
    'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC ' +
      'CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR ' +
      'IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR ' +
      'MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS ' +
      'SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG',
  ),
};

export function isKnownCurrency(code: string): code is Currency {
  return Object.hasOwn(exponents, code);
}

/** How many digits of minor units follow the decimal point. */
export function decimalsOf(currency: Currency): number {
  return exponents[currency] ?? 2;
}

function exponentOf(exponent: number, codes: string): Record<string, number> {
  return Object.fromEntries(codes.split(' ').map((code) => [code, exponent]));
}
