// The bank operation that is open in a payment's state, and what a change of the payment writes into the exchange log.
import {
  contentOf,
  exchangesBetween,
  type ExchangeContent,
  type ExchangeWrite,
  type OpenExchange,
} from '../../../acquiring/exchange-log/domain/exchange.ts';
import type { BankResponse } from '../../../acquiring/domain/bank-port.ts';
import type { Instant } from '../../../clock.ts';
import { nextAction } from '../bank-actions.ts';
import { authorisedOf, followUpOf, undoOf } from '../bank-operations.ts';
import type { Payment, PaymentFact, UndoFact } from '../payment.ts';

/** Undefined while no operation may be at the bank. */
export function openExchangeOf(payment: Payment, now: Instant): OpenExchange | undefined {
  const content = openContentOf(payment, now);
  return content && { content, isChallenged: payment.state.name === 'challenged' };
}

function openContentOf(payment: Payment, now: Instant): ExchangeContent | undefined {
  const next = nextAction(payment, now);
  switch (next.do) {
    case 'authorise':
    case 'inquire':
      return authorisationContent(payment);
    case 'nothing':
    case 'wait':
    case 'write':
    case 'fundRefund':
      return undefined;
    default:
      return contentOf(followUpOf(payment, next));
  }
}

function authorisationContent(payment: Payment): ExchangeContent {
  return { cardToken: payment.payer.token, ...authorisedOf(payment) };
}

export function exchangesOfChange(
  before: Payment | undefined,
  after: Payment,
  facts: readonly PaymentFact[],
  at: Instant,
  answer?: BankResponse,
): ExchangeWrite[] {
  const isSettled = facts.some((fact) => 'settledBecause' in fact && fact.settledBecause !== undefined);
  const open = before && openExchangeOf(before, at);
  const written = exchangesBetween(open, openExchangeOf(after, at), { at, answer, isSettled });
  if (before?.state.name !== 'reversing') return written;
  const content = authorisationContent(before);
  // The charge that was given up: the bank gives it back, or neither that nor a reversal, and then it counts.
  if (facts.some(({ type }) => type === 'payment_processed'))
    return [...written, { content, at, state: 'approved' }];
  return answer?.outcome === 'approved' ? [...written, { content, at, state: 'takenBack' }] : written;
}

/** Of a charge that does not decide the payment. An operator says how it ended, or the bank. */
export function exchangesOfUndo(
  payment: Payment,
  undo: Parameters<typeof undoOf>[1],
  fact: UndoFact,
  at: Instant,
  answer?: BankResponse,
): ExchangeWrite[] {
  const exchange = { content: contentOf(undoOf(payment, undo)), isChallenged: false };
  if (fact.type === 'payment_undo_started')
    return exchangesBetween(undefined, exchange, { at, isSettled: false });
  const isSettled = 'settledBecause' in fact && fact.settledBecause !== undefined;
  return exchangesBetween(exchange, undefined, { at, answer, isSettled });
}

/** Nothing was sent to the terminal of before. */
export function exchangesOfReroute(payment: Payment, at: Instant): ExchangeWrite[] {
  return [{ content: authorisationContent(payment), at, state: 'begun' }];
}
