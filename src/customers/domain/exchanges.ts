// The bank operation that is open in a binding's state, and what a change of the binding writes into the exchange log.
import {
  contentOf,
  exchangesBetween,
  type ExchangeWrite,
  type OpenExchange,
} from '../../acquiring/exchange-log/domain/exchange.ts';
import type { BankOperation, BankResponse } from '../../acquiring/domain/bank-port.ts';
import type { Instant } from '../../clock.ts';
import { chargeOf, giveBackOf } from './bank-operations.ts';
import type { Binding } from './binding.ts';

/** Undefined while no operation may be at the bank. */
function openExchangeOf(binding: Binding): OpenExchange | undefined {
  const operation = openOperationOf(binding);
  return operation && { content: contentOf(operation), isChallenged: binding.state.name === 'challenged' };
}

function openOperationOf(binding: Binding): BankOperation | undefined {
  switch (binding.state.name) {
    case 'authorising':
    case 'challenged':
      return chargeOf(binding, '');
    case 'reversing':
    case 'returning':
      return giveBackOf(binding, 'reverse');
    case 'refunding':
      return giveBackOf(binding, 'refund');
    default:
      return undefined;
  }
}

export function exchangesOfChange(
  before: Binding | undefined,
  after: Binding,
  at: Instant,
  {
    answer,
    isSettled = false,
  }: { readonly answer?: BankResponse | undefined; readonly isSettled?: boolean } = {},
): ExchangeWrite[] {
  const open = before && openExchangeOf(before);
  const written = exchangesBetween(open, openExchangeOf(after), { at, answer, isSettled });
  // The charge that the reversal has undone.
  if (before?.state.name !== 'reversing' || answer?.outcome !== 'approved') return written;
  return [...written, { content: contentOf(chargeOf(before, '')), at, state: 'takenBack' }];
}

/** Nothing was sent to the terminal of before. */
export function exchangesOfReroute(binding: Binding, at: Instant): ExchangeWrite[] {
  const open = openExchangeOf(binding);
  return open ? [{ content: open.content, at, state: 'begun' }] : [];
}
