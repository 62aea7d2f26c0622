// A payout that a restored database lost is written down again, as it would have been made and ended: its row, both its events and
// its money, in one transaction. Nothing is asked of the bank, and nothing is due of it afterwards.
import type { Instant } from '../clock.ts';
import { defined } from '../defined.ts';
import type { Database } from '../platform/database/database.ts';
import { decideRecovery, type RecoveryContext, type Paid } from './domain/recovered-withdrawal.ts';
import { withdrawalFingerprint } from './api/create-withdrawal.ts';
import { storeNewWithdrawal, type NotMade } from './store/new-withdrawal.ts';
import { findWithdrawal, storeEnd } from './store/withdrawals.ts';
import type { WithdrawalTerms } from './domain/withdrawal.ts';

export type Recovered =
  | 'restored'
  | 'knownBefore'
  /** `isKnown` when it is written down, but otherwise than was said. */
  | { readonly problem: string; readonly isKnown?: true };

/** Takes back what the transaction has written. */
class NotRestored extends Error {}

export async function recoverWithdrawal(
  db: Database,
  paid: Paid,
  context: RecoveryContext,
  options: {
    readonly livemode: boolean;
    readonly reason: string;
    readonly now: Instant;
    /** The token of the grant by which he who asked paid out from the wallet. */
    readonly walletGrant?: string;
  },
): Promise<Recovered> {
  const known = await whatIsKnown(db, paid, context);
  if (known) return known;
  const decided = decideRecovery(paid, context);
  if ('problem' in decided) return decided;
  const { started } = decided;
  const { terms } = started;
  const { livemode, reason, now, walletGrant } = options;
  try {
    await db.transaction(async (tx) => {
      const made = await storeNewWithdrawal(tx, started, {
        livemode,
        // The bank has paid: it counts, and no limit undoes it.
        limits: {},
        fingerprint: fingerprintOfRequest(terms, walletGrant),
        claim: { wake_at: null, attempts: 0 },
        ...(context.walletGrant ? { grantId: context.walletGrant.id } : {}),
      });
      if ('notMade' in made) throw new NotRestored(inTheWay(terms, made.notMade));
      if (made.withdrawal.state.status !== 'sending') throw new NotRestored(lacking(terms));
      const succeeded = { type: 'withdrawal_succeeded', reference: 'operator', reason } as const;
      if (!(await storeEnd(tx, made, succeeded, { livemode, now })))
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
  context: RecoveryContext,
): Promise<Recovered | undefined> {
  const known = (await findWithdrawal(db, null, withdrawalId))?.withdrawal;
  if (!known) return undefined;
  const { state, amount, route } = known;
  if (state.status === 'sending')
    return { problem: `withdrawal ${withdrawalId} is known, and under way: a node asks the bank about it` };
  const isPaid = amount.minor === line.minor && amount.currency === line.currency;
  if (state.status !== 'succeeded' || !isPaid || route?.bankId !== context.route.bankId) {
    return {
      problem: `withdrawal ${withdrawalId} is known, and ${state.status}; mandate reconcile says what to do about it`,
    };
  }
  if (isAsSaid(known, context)) return 'knownBefore';
  const { partyId, walletId, destinationId, externalId } = known;
  const name = externalId === undefined ? 'without a name' : `called ${externalId}`;
  return {
    problem: `withdrawal ${withdrawalId} is known already: of party ${partyId}, from wallet ${walletId} to destination ${destinationId}, ${name}; that stays so`,
    isKnown: true,
  };
}

function isAsSaid(known: WithdrawalTerms, said: RecoveryContext): boolean {
  return (
    known.partyId === said.partyId &&
    known.walletId === said.wallet.id &&
    known.destinationId === said.destination.id &&
    (said.externalId === undefined || known.externalId === said.externalId)
  );
}

/** Of the request as it most likely was, so that the same one comes to this withdrawal; any other is a conflict, and pays nothing. */
function fingerprintOfRequest(terms: WithdrawalTerms, walletGrant: string | undefined): Buffer {
  const { walletId, destinationId, amount, externalId } = terms;
  return withdrawalFingerprint({
    wallet: walletId,
    destination: destinationId,
    body: { amount: Number(amount.minor), currency: amount.currency },
    ...defined({ externalID: externalId, walletGrant }),
  });
}

function inTheWay({ partyId, externalId }: WithdrawalTerms, because: NotMade): string {
  return because === 'externalIdTaken'
    ? `another withdrawal of party ${partyId} is called ${externalId} by now`
    : 'that grant of the wallet was used or ended by now; --wallet-grant lost writes the payout down without it';
}

function lacking({ walletId, amount, feeMinor }: WithdrawalTerms): string {
  const fee = feeMinor > 0n ? ` and its fee of ${feeMinor}` : '';
  return `wallet ${walletId} has less than ${amount.minor} ${amount.currency}${fee}; put on it what is lacking (mandate wallet deposit), and try again`;
}
