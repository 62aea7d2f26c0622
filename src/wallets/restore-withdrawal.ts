// A payout that a restored database lost is written down again, as it would have been made and ended: its row, both its events and
// its money, in one transaction. Nothing is asked of the bank, and nothing is due of it afterwards.
import type { Instant } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { decideLost, type AroundLost, type Paid } from './lost-withdrawal.ts';
import { fingerprintOf } from './made-once.ts';
import { storeNewWithdrawal } from './new-withdrawal.store.ts';
import { findWithdrawal, storeEnd, type Realm } from './withdrawal.store.ts';
import type { WithdrawalTerms } from './withdrawal.ts';

export type Restored = 'restored' | 'knownBefore' | { readonly problem: string };

/** Takes back what the transaction has written. */
class NotRestored extends Error {}

export async function restoreWithdrawal(
  db: Database,
  paid: Paid,
  around: AroundLost,
  options: { readonly realm: Realm; readonly reason: string; readonly now: Instant },
): Promise<Restored> {
  const known = await whatIsKnown(db, paid, around);
  if (known) return known;
  const decided = decideLost(paid, around);
  if ('problem' in decided) return decided;
  const { started } = decided;
  const { terms } = started;
  const { realm, reason, now } = options;
  try {
    await db.transaction(async (tx) => {
      const made = await storeNewWithdrawal(tx, started, {
        realm,
        // The bank has paid: it counts, and no limit undoes it.
        limits: {},
        fingerprint: fingerprintOfRequest(terms),
        claim: { wake_at: null, attempts: 0 },
      });
      if ('notMade' in made)
        throw new NotRestored(`another withdrawal of the merchant is called ${terms.externalId} by now`);
      if (made.state.status !== 'sending') throw new NotRestored(lacking(terms));
      const succeeded = { type: 'withdrawal_succeeded', reference: 'operator', reason } as const;
      if (!(await storeEnd(tx, { withdrawal: made, version: 1 }, succeeded, { realm, now })))
        throw new NotRestored('it was changed by somebody else');
    });
  } catch (error) {
    if (error instanceof NotRestored) return { problem: error.message };
    throw error;
  }
  return 'restored';
}

/** Undefined when nobody here knows of it. */
async function whatIsKnown(
  db: Database,
  { withdrawalId, line }: Paid,
  { route }: AroundLost,
): Promise<Restored | undefined> {
  const stored = await findWithdrawal(db, null, withdrawalId);
  if (!stored) return undefined;
  const { state, amount, route: known } = stored.withdrawal;
  const isSame =
    amount.minor === line.minor && amount.currency === line.currency && known?.bankId === route.bankId;
  if (state.status === 'succeeded' && isSame) return 'knownBefore';
  if (state.status === 'sending')
    return { problem: `withdrawal ${withdrawalId} is known, and under way: a node asks the bank about it` };
  return {
    problem: `withdrawal ${withdrawalId} is known, and ${state.status}; mandate reconcile says what to do about it`,
  };
}

/** Of the request as it most likely was, so that the same one comes to this withdrawal; any other is a conflict, and pays nothing. */
function fingerprintOfRequest({ walletId, destinationId, amount, externalId }: WithdrawalTerms): Buffer {
  const request = [walletId, destinationId, Number(amount.minor), amount.currency, undefined, externalId];
  return fingerprintOf([...request, undefined, undefined]);
}

function lacking({ walletId, amount, feeMinor }: WithdrawalTerms): string {
  const fee = feeMinor > 0n ? ` and its fee of ${feeMinor}` : '';
  return `wallet ${walletId} has less than ${amount.minor} ${amount.currency}${fee}; put on it what is lacking (mandate wallet deposit), and try again`;
}
