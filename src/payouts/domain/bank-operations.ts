// The message to the bank about a payout, built from the withdrawal alone: a repeat has the same content.
import type { BankOperation, BankResponse } from '../../acquiring/domain/bank-port.ts';
import {
  contentOf,
  exchangesBetween,
  type ExchangeWrite,
  type OpenExchange,
} from '../../acquiring/exchange-log/domain/exchange.ts';
import type { Instant } from '../../clock.ts';
import { defined } from '../../defined.ts';
import { operationIdOf, type Route, type Withdrawal } from './withdrawal.ts';

function routeOf({ id, route }: Withdrawal): Route {
  if (!route) throw new Error(`withdrawal ${id} has no route`);
  return route;
}

export function payoutOf(withdrawal: Withdrawal): BankOperation {
  const { amount, cardToken, sender: who } = withdrawal;
  return {
    kind: 'payout',
    operationId: operationIdOf(withdrawal),
    terminal: routeOf(withdrawal).terminal,
    amount,
    card: { token: cardToken },
    ...(who ? { sender: who.sent, purpose: who.purpose, ...defined({ recipient: who.recipient }) } : {}),
  };
}

/** Undefined if the payout has ended. */
function openExchangeOf(withdrawal: Withdrawal): OpenExchange | undefined {
  if (withdrawal.state.status !== 'sending') return undefined;
  return { content: contentOf(payoutOf(withdrawal)), isChallenged: false };
}

/** Nothing was sent to the terminal of before, or that bank says that it did nothing. */
export function exchangesOfMove(moved: Withdrawal, at: Instant): ExchangeWrite[] {
  return [{ content: contentOf(payoutOf(moved)), at, state: 'begun' }];
}

/** What a change of the withdrawal writes into the exchange log. Without an answer, an operator has ended it. */
export function exchangesOfChange(
  before: Withdrawal | undefined,
  after: Withdrawal,
  at: Instant,
  answer?: BankResponse,
): ExchangeWrite[] {
  const isSettled = answer === undefined;
  return exchangesBetween(before && openExchangeOf(before), openExchangeOf(after), { at, answer, isSettled });
}
