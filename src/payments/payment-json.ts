// The facts of payments as JSON in the invoice's log. Money is a JSON integer there: the largest amount is far below 2^53.
import type { Currency, Money } from '../money.ts';
import type { PaymentFact } from './payment.ts';

/** In the invoice's log a fact says which payment it is about. */
export function factToJson(fact: PaymentFact, paymentId: string): unknown {
  const about = { ...fact, paymentId };
  if (fact.type === 'payment_started') {
    return { ...about, terms: { ...fact.terms, amount: moneyToJson(fact.terms.amount) } };
  }
  if ('amount' in fact) return { ...about, amount: moneyToJson(fact.amount) };
  if ('minor' in fact) return { ...about, minor: Number(fact.minor) };
  return about;
}

type MoneyJson = { readonly minor: number; readonly currency: Currency };

/** A fact of the log that is about a payment; undefined when it is about something else. */
export function paymentFactFromJson(json: unknown): { paymentId: string; fact: PaymentFact } | undefined {
  const { paymentId, ...fact } = json as {
    paymentId?: string;
    type: string;
    terms?: { amount: MoneyJson };
    amount?: MoneyJson;
    minor?: number;
  };
  if (paymentId === undefined) return undefined;
  const read = {
    ...fact,
    ...(fact.terms ? { terms: { ...fact.terms, amount: moneyFromJson(fact.terms.amount) } } : {}),
    ...(fact.amount ? { amount: moneyFromJson(fact.amount) } : {}),
    ...(fact.minor === undefined ? {} : { minor: BigInt(fact.minor) }),
  };
  return { paymentId, fact: read as PaymentFact };
}

function moneyToJson({ minor, currency }: Money): MoneyJson {
  return { minor: Number(minor), currency };
}

function moneyFromJson({ minor, currency }: MoneyJson): Money {
  return { minor: BigInt(minor), currency };
}
