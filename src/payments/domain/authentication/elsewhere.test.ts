// Which results of another 3-D Secure server fit a payment: a table worked out from the rules of the networks, not from the code.
import { expect, test } from 'vitest';
import type { CardDetails, PaymentSystem } from '../../../cards/domain/card.ts';
import { parseInstant, type Instant } from '../../../clock.ts';
import type { Currency } from '../../../money.ts';
import { requireFitting } from './elsewhere.ts';

const now = parseInstant('2026-11-26T12:00:00Z') as Instant;
const rub = (minor: bigint) => ({ minor, currency: 'RUB' as Currency });
const visa: CardDetails = {
  bin: '424242',
  lastDigits: '4242',
  mask: '424242******4242',
  paymentSystem: 'visa',
};
const mastercard: CardDetails = {
  bin: '555555',
  lastDigits: '4444',
  mask: '555555******4444',
  paymentSystem: 'mastercard',
};
const of = (paymentSystem: PaymentSystem): CardDetails => ({ ...visa, paymentSystem });

type Case = {
  readonly at?: string;
  readonly status?: 'Y' | 'A';
  readonly eci?: string;
  readonly amount?: bigint;
  readonly currency?: string;
  readonly bin?: string;
  readonly lastDigits?: string;
  readonly card?: CardDetails;
};

function said({ at = '2026-11-26T11:59:00Z', status = 'Y', eci = '05', card = visa, ...more }: Case) {
  const { amount = 6_000n, currency = 'RUB', bin = card.bin, lastDigits = card.lastDigits } = more;
  const fitting = requireFitting(
    {
      version: '2.2.0',
      status,
      eci,
      dsTransId: 'd',
      at: parseInstant(at) as Instant,
      for: { amount: { minor: amount, currency: currency as Currency }, card: { bin, lastDigits } },
    },
    { amount: rub(6_000n), card },
    now,
  );
  return fitting.ok ? 'fits' : fitting.refusal.code;
}

const mismatch = 'authenticationMismatch';
const notCurrent = 'authenticationNotCurrent';

test.each<[string, Case, string]>([
  ['this payment, a minute ago', {}, 'fits'],
  ['exactly a day ago', { at: '2026-11-25T12:00:00Z' }, 'fits'],
  ['a day and a second ago', { at: '2026-11-25T11:59:59Z' }, notCurrent],
  ['a clock five minutes ahead', { at: '2026-11-26T12:05:00Z' }, 'fits'],
  ['a clock further ahead', { at: '2026-11-26T12:05:01Z' }, notCurrent],
  ['less', { amount: 5_999n }, mismatch],
  ['more', { amount: 6_001n }, mismatch],
  ['a hundredth, as with another exponent', { amount: 60n }, mismatch],
  ['another currency', { currency: 'USD' }, mismatch],
  ['another card by its last digits', { lastDigits: '4241' }, mismatch],
  ['another card by its first digits', { bin: '424243' }, mismatch],
  ['the same card with eight first digits', { bin: '42424242' }, 'fits'],
  ['a Visa attempt', { status: 'A', eci: '06' }, 'fits'],
  ['a Visa attempt as a full authentication', { status: 'A', eci: '05' }, mismatch],
  ['a full Visa authentication as an attempt', { eci: '06' }, mismatch],
  ['a Visa payment without authentication', { eci: '07' }, mismatch],
  ['a Visa card with an ECI of Mastercard', { eci: '02' }, mismatch],
  ['Mastercard', { card: mastercard, eci: '02' }, 'fits'],
  ['a Mastercard attempt', { card: mastercard, status: 'A', eci: '01' }, 'fits'],
  ['a Mastercard with an ECI of Visa', { card: mastercard, eci: '05' }, mismatch],
  ['a Mastercard without authentication', { card: mastercard, eci: '00' }, mismatch],
  ['a Mastercard with data only', { card: mastercard, eci: '04' }, mismatch],
  ['a recurring charge of Mastercard', { card: mastercard, eci: '07' }, mismatch],
  ['American Express', { card: of('amex'), eci: '05' }, 'fits'],
  ['an attempt of JCB', { card: of('jcb'), status: 'A', eci: '06' }, 'fits'],
  ['a Diners Club card without authentication', { card: of('dinersclub'), eci: '07' }, mismatch],
  ['UnionPay with an ECI of Mastercard', { card: of('unionpay'), eci: '02' }, mismatch],
  ['Mir, whose ECI is passed on', { card: of('nspkmir'), eci: '97' }, 'fits'],
])('of %s', (_what, given, expected) => {
  expect(said(given)).toBe(expected);
});
