// The job of a destination: asks the bank, while it holds no connection, whether the card takes payouts, and writes the result.
// A check moves no money and has one ID, so a repeat asks for nothing new.
import type { Banks } from '../acquiring/banks.ts';
import type { Database } from '../platform/database/database.ts';
import type { Job } from '../platform/jobs/job-table.ts';
import { checkIdOf, interpret } from './domain/destination.ts';
import { findDestination, letRest, storeDestinationFact } from './store/destinations.ts';
import { sendOrInquire, unproved } from '../acquiring/send-or-inquire.ts';

/** The bank's response proves nothing. The job is retried with growing delays, then stuck. */
class CardCheckPending extends Error {
  override readonly name = 'CardCheckPending';
}

export type DestinationJobDeps = { readonly db: Database; readonly banks: Banks };

export async function runDestinationJob(
  { db, banks }: DestinationJobDeps,
  { key: [id = ''], clock, attempt }: Job,
): Promise<void> {
  const stored = await findDestination(db, null, id);
  if (!stored) return;
  const { destination } = stored;
  if (destination.state.status !== 'checking') return letRest(db, stored);
  const { currency, card } = destination;
  const found = await banks.payoutRouteOf(destination.partyId, { currency, network: card.paymentSystem });
  const route = found.ok ? found.value.route : undefined;
  const bank = route && (await banks.bankNamed(route.bankId));
  if (!bank) throw new CardCheckPending(`no payout terminal of this party serves ${currency}`);
  const operation = {
    kind: 'verify',
    operationId: checkIdOf(destination, stored.version),
    terminal: route.terminal,
    currency,
    card: { token: destination.cardToken },
  } as const;
  const answer = await sendOrInquire({ db, bank, operation, attempt, clock });
  const meaning = interpret(answer);
  if ('unknown' in meaning) throw unproved(meaning.unknown, answer);
  await storeDestinationFact(db, stored, meaning.fact, clock.now());
  if (meaning.fact.type === 'destination_check_failed')
    throw new CardCheckPending(`the check was inconclusive, code ${meaning.fact.code}`);
}
