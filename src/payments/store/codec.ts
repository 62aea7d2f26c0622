// The facts of payments as JSON in the invoice's log. Money is a JSON integer there: the largest amount is far below 2^53.
import { livemodeOf, modeName, type ModeName } from '../../livemode.ts';
import { lineFromJson, lineToJson, type LineJson } from '../../invoices/store/codec.ts';
import { feesFromJson, feesToJson, type FeesJson } from '../../platform/ledger/domain/fee.ts';
import type { Currency, Money } from '../../money.ts';
import type { PaymentFact, PaymentTerms, RefundTerms } from '../domain/payment.ts';

/** In the invoice's log a fact says which payment it is about. */
export function factToJson(fact: PaymentFact, paymentId: string): unknown {
  const about = { ...fact, paymentId };
  if (fact.type === 'payment_started') return { ...about, terms: termsToJson(fact.terms) };
  if (fact.type === 'refund_started') return { ...about, refund: refundToJson(fact.refund) };
  return 'amount' in fact ? { ...about, amount: moneyToJson(fact.amount) } : about;
}

/** A fact of the log that is about a payment; undefined when it is about something else. */
export function paymentFactFromJson(json: unknown): { paymentId: string; fact: PaymentFact } | undefined {
  const { paymentId, ...fact } = json as {
    paymentId?: string;
    type: string;
    terms?: TermsJson;
    refund?: RefundJson;
    amount?: MoneyJson;
  };
  if (paymentId === undefined) return undefined;
  const read = {
    ...fact,
    ...(fact.terms ? { terms: termsFromJson(fact.terms) } : {}),
    ...(fact.refund ? { refund: refundFromJson(fact.refund) } : {}),
    ...(fact.amount ? { amount: moneyFromJson(fact.amount) } : {}),
  };
  return { paymentId, fact: read as PaymentFact };
}

type TermsJson = Omit<PaymentTerms, 'amount' | 'fees' | 'livemode'> & {
  amount: MoneyJson;
  fees: FeesJson;
  realm: ModeName;
};

function termsToJson({ amount, fees, livemode, ...terms }: PaymentTerms): TermsJson {
  return { ...terms, amount: moneyToJson(amount), fees: feesToJson(fees), realm: modeName(livemode) };
}

function termsFromJson({ amount, fees, realm, ...terms }: TermsJson): PaymentTerms {
  return { ...terms, amount: moneyFromJson(amount), fees: feesFromJson(fees), livemode: livemodeOf(realm) };
}

type RefundJson = Omit<RefundTerms, 'amount' | 'feeMinor' | 'cart'> & {
  amount: MoneyJson;
  feeMinor: number;
  cart?: LineJson[];
};

function refundToJson({ amount, feeMinor, cart, ...terms }: RefundTerms): RefundJson {
  return {
    ...terms,
    amount: moneyToJson(amount),
    feeMinor: Number(feeMinor),
    ...(cart ? { cart: cart.map(lineToJson) } : {}),
  };
}

function refundFromJson({ amount, feeMinor, cart, ...terms }: RefundJson): RefundTerms {
  return {
    ...terms,
    amount: moneyFromJson(amount),
    feeMinor: BigInt(feeMinor),
    ...(cart ? { cart: cart.map(lineFromJson) } : {}),
  };
}

type MoneyJson = { readonly minor: number; readonly currency: Currency };

function moneyToJson({ minor, currency }: Money): MoneyJson {
  return { minor: Number(minor), currency };
}

function moneyFromJson({ minor, currency }: MoneyJson): Money {
  return { minor: BigInt(minor), currency };
}
