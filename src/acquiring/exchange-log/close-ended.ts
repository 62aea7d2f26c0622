// Closes the exchange of an operation that an older node has ended: it did not know the log.
import type { Clock } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Certainty } from '../reconciliation/domain/difference.ts';
import { isOpen, type ExchangeState } from './domain/exchange.ts';
import { storeEnd, type Exchange } from './store/exchange-rows.ts';

/** What the module of an operation knows of it; undefined if no module knows it. */
export type CertaintyOf = (db: Database, operationId: string) => Promise<Certainty | undefined>;

type Deps = { readonly db: Database; readonly clock: Clock; readonly certaintyOf: CertaintyOf };

/** Of a charge that failed, the module alone does not know whether the bank declined it or it was given up. */
const ends: Readonly<Record<Exclude<Certainty, 'open'>, ExchangeState>> = {
  done: 'approved',
  undoes: 'approved',
  never: 'declined',
  undone: 'givenUp',
  may: 'settled',
};

/** The exchange as it is now. One whose operation is open stays open. */
export async function closeEnded({ db, clock, certaintyOf }: Deps, exchange: Exchange): Promise<Exchange> {
  if (!isOpen(exchange.state)) return exchange;
  const certainty = await certaintyOf(db, exchange.operationId);
  if (certainty === undefined || certainty === 'open') return exchange;
  const state = ends[certainty];
  await storeEnd(db, exchange.operationId, state, clock.now());
  return { ...exchange, state };
}
