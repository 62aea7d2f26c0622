// The engine's step of a destination: ask the bank whether the card takes payouts, or what became of that question, without
// holding a connection, and write what it says. Running it twice is harmless: a check moves no money, and the bank knows it by
// its one id.
import type { Banks } from '../acquiring/banks.ts';
import type { Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import { checkIdOf, interpret } from './domain/destination.ts';
import { findDestination, letRest, storeDestinationFact } from './store/destinations.ts';
import { sendOrInquire } from '../acquiring/send-or-inquire.ts';

/** The bank said nothing that proves anything. Tried again later and later, then in the operator's list. */
class CardCheckPending extends Error {
  override readonly name = 'CardCheckPending';
}

export type DestinationJobDeps = { readonly db: Database; readonly banks: Banks };

export async function runDestinationJob(
  { db, banks }: DestinationJobDeps,
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
  if (!bank) throw new CardCheckPending('no bank pays out for this party');
  const operationId = checkIdOf(destination, stored.version);
  const { terminal } = route;
  const send = () =>
    bank.send({
      kind: 'verify',
      operationId,
      terminal,
      currency: destination.currency,
      card: { token: destination.cardToken },
    });
  const inquire = () => bank.inquire(operationId, terminal);
  const meaning = interpret(await sendOrInquire(attempt === 1, { send, inquire }));
  if ('unknown' in meaning) throw new CardCheckPending(meaning.unknown);
  await storeDestinationFact(db, stored, meaning.fact, now);
  if (meaning.fact.type === 'destination_check_failed')
    throw new CardCheckPending(`the bank cannot tell now, ${meaning.fact.code}`);
}
