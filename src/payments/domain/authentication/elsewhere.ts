// A 3-D Secure result of another server, with which a payment is charged without being authenticated again. It is checked before
// anything is sent, and belongs to one payment.
import type { CardDetails, PaymentSystem } from '../../../cards/domain/card.ts';
import { type Instant, dayMs, laterBy } from '../../../clock.ts';
import type { Money } from '../../../money.ts';
import { accept, refuse, type Outcome } from '../../../refusal.ts';

/** What is kept as evidence. The value itself waits in the vault, until the message to the bank takes it out. */
export type AuthenticatedElsewhere = {
  readonly version: string;
  /** Y: authenticated. A: attempted, without proof of the payer. */
  readonly status: 'Y' | 'A';
  readonly eci: string;
  readonly dsTransId: string;
  readonly acsTransId?: string;
  readonly at: Instant;
};

/** What the other server authenticated. */
export type AuthenticatedFor = {
  readonly amount: Money;
  readonly card: { readonly bin: string; readonly lastDigits: string };
};

/** By how much the clocks of the two servers may differ. */
const clockSkewMs = 300_000;

type EciByStatus = Readonly<Record<AuthenticatedElsewhere['status'], string>>;
const usual: EciByStatus = { Y: '05', A: '06' };
const ofMastercard: EciByStatus = { Y: '02', A: '01' };
/** Of other networks it is passed on as it is. */
const eciOf: Readonly<Partial<Record<PaymentSystem, EciByStatus>>> = {
  visa: usual,
  amex: usual,
  jcb: usual,
  dinersclub: usual,
  unionpay: usual,
  mastercard: ofMastercard,
  maestro: ofMastercard,
};

export function requireFitting(
  { status, eci, at, for: { amount, card } }: AuthenticatedElsewhere & { readonly for: AuthenticatedFor },
  charged: { readonly amount: Money; readonly card: CardDetails },
  now: Instant,
): Outcome<undefined, 'authenticationMismatch' | 'authenticationNotCurrent'> {
  const mismatch = (hint: string) => refuse('authenticationMismatch', { hint });
  if (at > laterBy(now, clockSkewMs))
    return refuse('authenticationNotCurrent', { hint: `\`authenticated.at\` is later than now, ${now}.` });
  if (at < laterBy(now, -dayMs))
    return refuse('authenticationNotCurrent', {
      hint: `\`authenticated.at\` is more than a day before ${now}.`,
    });
  if (amount.currency !== charged.amount.currency)
    return mismatch(`The currency of the invoice is ${charged.amount.currency}.`);
  if (amount.minor !== charged.amount.minor)
    return mismatch(`The amount of the invoice is ${charged.amount.minor}.`);
  // Issuers have numbers of six or eight digits; six are known here.
  if (!card.bin.startsWith(charged.card.bin) || card.lastDigits !== charged.card.lastDigits)
    return mismatch('The card of the payment has other digits.');
  const expected = eciOf[charged.card.paymentSystem]?.[status];
  if (expected !== undefined && eci !== expected)
    return mismatch(`With status ${status}, the ECI of this network is ${expected}.`);
  return accept(undefined);
}
