// mandate payout returned: record what a bank says in writing about the money of a payout.
import type { ReturnCode } from '../../acquiring/domain/bank-port.ts';
import { parseInstant } from '../../clock.ts';
import { livemodeOf } from '../../livemode.ts';
import { returnWithdrawal } from '../../payouts/return-withdrawal.ts';
import type { Returned, Withdrawal } from '../../payouts/domain/withdrawal.ts';
import { findWithdrawal } from '../../payouts/store/withdrawals.ts';
import { requireReason, withFoundation } from '../foundation.ts';
import { minorOf } from '../option-values.ts';

export async function recordReturn(
  id: string,
  options: { code: ReturnCode; at: string; reason: string; amount?: string },
): Promise<void> {
  requireReason(options.reason);
  const text = await withFoundation(async ({ config, database: db, ports }) => {
    const stored = await findWithdrawal(db, null, id);
    if (!stored) throw new Error(`Withdrawal ${id} not found. Check the ID.`);
    const returned = returnedOf(stored.withdrawal, options);
    const { state } = stored.withdrawal;
    if (state.status !== 'succeeded')
      throw new Error(
        `Withdrawal ${id} is ${state.status}, so no money can have come back. Nothing was recorded.`,
      );
    if (state.returned) return knownText(id, state.returned, returned);
    let isAside = false;
    const deps = { db, livemode: livemodeOf(config.mode), log: { error: () => void (isAside = true) } };
    const fact = { type: 'withdrawal_returned', returned, reason: options.reason } as const;
    if (!(await returnWithdrawal(deps, stored, fact, ports.clock.now())))
      throw new Error(`Another writer changed withdrawal ${id}. Run the command again.`);
    const { minor, currency } = returned.amount;
    const where = isAside
      ? `aside in recon.suspense, because wallet ${stored.withdrawal.walletId} is blocked`
      : `to wallet ${stored.withdrawal.walletId}`;
    return `Recorded: ${minor} ${currency} of withdrawal ${id} came back ${where}.`;
  });
  console.log(text);
}

function returnedOf(
  { id, amount }: Withdrawal,
  options: { code: ReturnCode; at: string; amount?: string },
): Returned {
  const at = parseInstant(options.at);
  if (!at) throw new Error(`--at is "${options.at}". Use a time such as 2026-11-20T10:00:00Z.`);
  const minor = options.amount === undefined ? amount.minor : minorOf('--amount', options.amount);
  if (minor < 1n || minor > amount.minor)
    throw new Error(`--amount is ${minor}. Withdrawal ${id} paid ${amount.minor} ${amount.currency}.`);
  return { at, code: options.code, amount: { minor, currency: amount.currency } };
}

/** The bank and an operator may say the same with different times. */
function knownText(id: string, known: Returned, said: Returned): string {
  const { minor, currency } = known.amount;
  const text = `${minor} ${currency} of withdrawal ${id} came back at ${known.at}, as ${known.code}`;
  if (known.code === said.code && minor === said.amount.minor) return `Recorded before: ${text}.`;
  throw new Error(`${text}. That differs from what you say, so nothing was changed.`);
}
