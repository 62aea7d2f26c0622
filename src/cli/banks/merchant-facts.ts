// The facts of a merchant that an operator gives with a terminal, checked as the bank protocol wants them.
import type { MerchantFacts } from '../../acquiring/domain/bank-port.ts';
import { defined } from '../../defined.ts';
import { refuseCardNumber } from '../option-values.ts';

const forms: Readonly<Record<keyof MerchantFacts, readonly [option: string, RegExp, form: string]>> = {
  mcc: ['--mcc', /^\d{4}$/, '4 digits'],
  name: ['--name', /^[\x20-\x7e]{1,100}$/, '1 to 100 ASCII characters'],
  city: ['--city', /^[\x20-\x7e]{1,50}$/, '1 to 50 ASCII characters'],
  country: ['--country', /^[A-Z]{3}$/, 'an ISO 3166-1 alpha-3 code such as RUS'],
  url: ['--url', /^https?:\/\/[\x21-\x7e]{1,2000}$/, 'an address such as https://shop.example'],
  subMerchant: ['--sub-merchant', /^[\x20-\x7e]{1,40}$/, '1 to 40 ASCII characters'],
};

/** Undefined if none is given: then the bank uses what it knows. */
export function merchantFactsIn(given: { readonly [Name in keyof MerchantFacts]: string | undefined }) {
  const { mcc, name, city, country, url, subMerchant } = given;
  const facts: MerchantFacts = defined({ mcc, name, city, country, url, subMerchant });
  const named = Object.entries(facts) as [keyof MerchantFacts, string][];
  for (const [member, text] of named) {
    const [option, form, words] = forms[member];
    refuseCardNumber(option, text);
    if (!form.test(text) || text.trim() === '') throw new Error(`${option} is "${text}". Use ${words}.`);
  }
  return named.length === 0 ? undefined : facts;
}
