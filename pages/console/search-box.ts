// What a text in the search box can mean: the exact search that it probably asks for, and others that it could. Pure.
import { holdsCardNumber } from '../../src/cards/domain/written-numbers.ts';
import { decimalsOf, type Currency } from '../../src/money.ts';
import { minorIn } from '../payment-link/amount-text.ts';

export type Way =
  | 'invoice'
  | 'payment'
  | 'external'
  | 'customer'
  | 'rrn'
  | 'approval'
  | 'email'
  | 'last4'
  | 'first6'
  | 'amount';

export type Search = {
  readonly way: Way;
  /** Parameters of the search. */
  readonly filters: Readonly<Record<string, string>>;
  /** Found at any time; others need a period. */
  readonly isExact: boolean;
};

/** The likeliest first; none for an empty text. IDs are case-sensitive: only blanks around the text are ignored. */
export function searchesFor(written: string, currency: string): readonly Search[] | 'cardNumber' {
  const text = written.trim();
  if (text === '') return [];
  if (holdsCardNumber(text)) return 'cardNumber';
  return waysOf(text).flatMap((way) => {
    const filters = filtersOf(way, text, currency);
    return filters ? [{ way, filters, isExact: !needsPeriod.has(way) }] : [];
  });
}

const needsPeriod: ReadonlySet<Way> = new Set(['last4', 'first6', 'amount', 'approval']);

function waysOf(text: string): readonly Way[] {
  if (text.includes('@')) return ['email', 'external'];
  if (/^\d{4}$/.test(text)) return ['last4', 'amount', 'external'];
  if (/^\d{6}$/.test(text)) return ['approval', 'first6', 'amount', 'external'];
  if (/^\d{12}$/.test(text)) return ['rrn', 'external', 'amount'];
  if (/^\d[\d\s]*([.,]\d+)?$/.test(text)) return ['amount', 'external', 'rrn'];
  if (/^[0-9A-Za-z]{23}[/.]\d+$/.test(text)) return ['payment', 'external'];
  if (/^[0-9A-Za-z]{23}$/.test(text)) return ['invoice', 'customer', 'external'];
  if (/^[0-9A-Z]{6}$/.test(text)) return ['approval', 'external', 'invoice'];
  return ['external', 'invoice', 'customer'];
}

function filtersOf(way: Way, text: string, currency: string): Readonly<Record<string, string>> | undefined {
  if (way === 'amount') {
    const minor = minorIn(text, decimalsOf(currency as Currency));
    return minor === undefined || minor < 1 ? undefined : { paymentAmount: String(minor) };
  }
  if (way === 'payment') {
    const [invoiceID = '', paymentID = ''] = text.split(/[/.]/);
    return { invoiceID, paymentID };
  }
  return { [parameterOf[way]]: text };
}

const parameterOf = {
  invoice: 'invoiceID',
  external: 'externalID',
  customer: 'customerID',
  rrn: 'rrn',
  approval: 'approvalCode',
  email: 'payerEmail',
  last4: 'last4',
  first6: 'first6',
} as const;
