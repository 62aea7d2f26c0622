// Limits what callbacks cost a bank: about an operation that has its outcome, one in a minute leads to an inquiry, on all nodes together.
// A stranger who has recorded a callback could otherwise send it again and again.
import { laterBy, type Clock } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { isOpen } from './domain/exchange.ts';
import { findExchange } from './store/exchange-rows.ts';
import { claimCallback } from './store/notes.ts';

export const callbackEveryMs = 60_000;

export type TakenCallback =
  /** The job of its operation asks the bank. */
  | 'open'
  /** The bank is asked now. */
  | 'ended'
  /** The bank has to call again. */
  | 'tooSoon';

export async function takeCallback(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  called: { readonly operationId: string; readonly bankId: string },
): Promise<TakenCallback> {
  const exchange = await findExchange(db, called.operationId);
  if (exchange?.bankId === called.bankId && isOpen(exchange.state)) return 'open';
  const now = clock.now();
  return (await claimCallback(db, called, now, laterBy(now, -callbackEveryMs))) ? 'ended' : 'tooSoon';
}
