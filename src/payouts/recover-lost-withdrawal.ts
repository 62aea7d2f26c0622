// Recovers a payout that a restored database has lost: one transaction writes its row, both events and its journals. No bank is
// contacted, and no job is due afterwards.
import type { Instant } from '../clock.ts';
import { defined } from '../defined.ts';
import type { Database } from '../platform/database/database.ts';
import { decideRecovery, type RecoveryContext, type Paid } from './domain/lost-withdrawal.ts';
import { withdrawalFingerprint } from './api/create-withdrawal.ts';
import { storeNewWithdrawal, type NotMade } from './store/new-withdrawal.ts';
import { findWithdrawal, storeEnd } from './store/withdrawals.ts';
import type { WithdrawalTerms } from './domain/withdrawal.ts';

export type Recovered =
  | 'restored'
  | 'knownBefore'
  /** `isKnown`: the payout is stored, but differs from what the operator said. */
  | { readonly problem: string; readonly isKnown?: true };

/** Thrown to roll the transaction back. */
class NotRecovered extends Error {}

export async function recoverWithdrawal(
  db: Database,
  paid: Paid,
  context: RecoveryContext,
  options: {
    readonly livemode: boolean;
    readonly reason: string;
    readonly now: Instant;
    /** The token of the grant the payout was requested with. */
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
        // The bank has paid, so no limit applies. The payout still counts towards limits.
        counters: (terms.countedFor ?? []).map((subject) => ({ subject, limits: {} })),
        fingerprint: fingerprintOfRequest(terms, walletGrant),
        claim: { wake_at: null, attempts: 0 },
        ...(context.walletGrant ? { grantId: context.walletGrant.id } : {}),
      });
      if ('notMade' in made) throw new NotRecovered(inTheWay(terms, made.notMade));
      if (made.withdrawal.state.status !== 'sending') throw new NotRecovered(lacking(terms));
      const succeeded = { type: 'withdrawal_succeeded', reference: 'operator', reason } as const;
      if (!(await storeEnd(tx, made, succeeded, { livemode, now })))
        throw new NotRecovered(`Withdrawal ${terms.id} was changed meanwhile. Try again`);
    });
  } catch (error) {
    if (error instanceof NotRecovered) return { problem: error.message };
    throw error;
  }
  return 'restored';
}

/** Undefined if the withdrawal is not stored. */
async function whatIsKnown(
  db: Database,
  { withdrawalId, line }: Paid,
  context: RecoveryContext,
): Promise<Recovered | undefined> {
  const known = (await findWithdrawal(db, null, withdrawalId))?.withdrawal;
  if (!known) return undefined;
  const { state, amount, route } = known;
  if (state.status === 'sending')
    return {
      problem: `Withdrawal ${withdrawalId} exists and is pending: a node is asking the bank about it`,
    };
  const isPaid = amount.minor === line.minor && amount.currency === line.currency;
  if (state.status !== 'succeeded' || !isPaid || route?.bankId !== context.route.bankId) {
    return {
      problem: `Withdrawal ${withdrawalId} exists, with status ${state.status}. "mandate reconcile" says what to do about it`,
    };
  }
  if (isAsSaid(known, context)) return 'knownBefore';
  const { partyId, walletId, destinationId, externalId } = known;
  const name = externalId === undefined ? 'without an external ID' : `with external ID ${externalId}`;
  return {
    problem: `Withdrawal ${withdrawalId} exists already: of party ${partyId}, from wallet ${walletId} to destination ${destinationId}, ${name}`,
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

/** Of the request as it most likely was. Its repeat finds this withdrawal; any other request is a conflict and pays nothing. */
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
    ? `Another withdrawal of party ${partyId} has the external ID ${externalId}`
    : 'The wallet grant was already used or revoked. To recover the payout without it, pass --wallet-grant lost';
}

function lacking({ walletId, amount, feeMinor }: WithdrawalTerms): string {
  const fee = feeMinor > 0n ? ` and its fee of ${feeMinor}` : '';
  return `Wallet ${walletId} has less than ${amount.minor} ${amount.currency}${fee}. Deposit what is missing with "mandate wallet deposit", then try again`;
}
