// The engine's step of a destination: ask the bank whether the card takes payouts, without holding a connection, and write
// what it says. A check moves no money: asked twice, it is only asked twice.
import type { Banks } from '../bank/banks.ts';
import type { Instant } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { checkIdOf, meaningOf } from './destination.ts';
import { findDestination, letRest, storeDestinationFact } from './destination.store.ts';

/** The bank said nothing that proves anything. Tried again later and later, then in the operator's list. */
class NotKnownYet extends Error {}

export type DestinationSteps = { readonly db: Database; readonly banks: Banks };

export async function stepDestination(
  { db, banks }: DestinationSteps,
  [id = '']: readonly string[],
  now: Instant,
  attempt: number,
): Promise<void> {
  const stored = await findDestination(db, null, id);
  if (!stored) return;
  const { destination } = stored;
  if (destination.state.status !== 'checking') return letRest(db, stored);
  const route = await banks.payoutRouteOf(destination.partyId);
  const bank = route && (await banks.bankNamed(route.bankId));
  if (!bank) throw new NotKnownYet('no bank pays out for this party');
  const answer = await bank.send({
    kind: 'verify',
    operationId: checkIdOf(destination, attempt),
    terminal: route.terminal,
    currency: destination.currency,
    card: { token: destination.cardToken },
  });
  const meaning = meaningOf(answer);
  if ('unknown' in meaning) throw new NotKnownYet(meaning.unknown);
  await storeDestinationFact(db, stored, meaning.fact, now);
}
