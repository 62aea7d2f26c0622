// Writes what a bank tells about a payout that had succeeded. Run it in the transaction that takes the update from the bank's list.
import { returnCodes } from '../acquiring/domain/bank-port.ts';
import type { OperationUpdate, UpdateOutcome } from '../acquiring/domain/bank-updates.ts';
import type { Instant } from '../clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { Logger } from '../platform/log.ts';
import { withdrawalOfOperation, type Withdrawal, type WithdrawalReturned } from './domain/withdrawal.ts';
import { returnWithdrawal } from './return-withdrawal.ts';
import { findWithdrawal } from './store/withdrawals.ts';

type Deps = { readonly db: Database; readonly livemode: boolean; readonly log: Pick<Logger, 'error'> };

export async function applyUpdate(deps: Deps, update: OperationUpdate, now: Instant): Promise<UpdateOutcome> {
  const { operationId, what } = update;
  const [id] = withdrawalOfOperation(operationId) ?? [];
  const stored = id === undefined ? undefined : await findWithdrawal(deps.db, null, id);
  const meaning = stored ? factOf(update, stored.withdrawal) : contradiction('there is no such payout');
  if (stored && 'type' in meaning) {
    if (await returnWithdrawal(deps, stored, meaning, now)) return { outcome: 'applied' };
    throw new Error(`Withdrawal ${stored.withdrawal.id} was changed meanwhile.`);
  }
  if ('type' in meaning) throw new Error(`The update of ${operationId} has a meaning without its payout.`);
  if (meaning.outcome === 'contradiction')
    deps.log.error({ operationId, what, why: meaning.why }, 'bank update contradicts the stored result');
  return meaning;
}

const contradiction = (why: string) => ({ outcome: 'contradiction', why }) as const;

/** Once, and at most what was paid. */
export function factOf(
  { what, at, code, amount: told }: OperationUpdate,
  { state, amount }: Withdrawal,
): WithdrawalReturned | UpdateOutcome {
  if (what !== 'payoutReturned' && what !== 'approvedLate')
    return contradiction('a payout can only come back, or be made late');
  if (state.status === 'sending') return { outcome: 'tooEarly' };
  // The wallet has its money again, and only an operator can take it back.
  if (state.status === 'failed') return contradiction('the payout had failed');
  if (what === 'approvedLate') return { outcome: 'nothing' };
  if (state.returned) return { outcome: 'nothing' };
  const back = told ?? amount;
  if (back.currency !== amount.currency || back.minor < 1n || back.minor > amount.minor)
    return contradiction('the amount is more than was paid');
  const known = returnCodes.find((one) => one === code) ?? 'unknown';
  return { type: 'withdrawal_returned', returned: { at, code: known, amount: back } };
}
