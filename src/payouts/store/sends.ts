// Who may send a payout, in SQL: a node claims a send before the first byte, and gives it back once nothing was provably done.
// Between the two the payout may have been sent, and no node sends it.
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { statement } from '../../platform/database/statement.ts';
import type { StoredWithdrawal } from './withdrawals.ts';

const guarded = { withdrawal_id: 'text', version: 'int4', sends: 'int4' } as const;

/** Not a stuck one: an operator may have asked the bank about it. */
const claim = statement({
  name: 'claim_send_of_withdrawal',
  parameters: guarded,
  row: { withdrawal_id: 'text' },
  text: `update withdrawal set sends = sends + 1, is_unsent = false
         where withdrawal_id = :withdrawal_id and version = :version and sends = :sends and is_unsent and status = 'sending'
           and stuck_at is null
         returning withdrawal_id`,
});

/**
 * One that another run has claimed since, or that is stuck, is due again, so that the other run's mark misses. In this run's own lease the
 * attempts count on.
 */
const giveBack = statement({
  name: 'give_back_send_of_withdrawal',
  parameters: { ...guarded, leased_until: 'timestamptz', now: 'timestamptz' },
  row: {},
  text: `update withdrawal set is_unsent = true, stuck_at = null, stuck_reason = null,
           wake_at = case when wake_at = :leased_until then wake_at else :now end,
           attempts = case when wake_at = :leased_until then attempts else 2 end
         where withdrawal_id = :withdrawal_id and version = :version and sends = :sends and status = 'sending'`,
});

/** Without a key: an operator runs it after a restore, while no node runs. */
const doubt = statement({
  name: 'doubt_sends_of_withdrawals',
  parameters: {},
  row: { withdrawal_id: 'text' },
  text: `update withdrawal set is_unsent = false where status = 'sending' and is_unsent returning withdrawal_id`,
});

/** A restored database does not know what was sent since. Returns how many payouts were held for unsent. */
export async function doubtSends(db: Database): Promise<number> {
  return (await db.run(doubt, {})).length;
}

/** Undefined if another writer was first: the payout may be on its way. */
export async function claimSend(
  db: Database,
  stored: StoredWithdrawal,
): Promise<StoredWithdrawal | undefined> {
  const rows = await db.run(claim, guardOf(stored));
  return rows.length > 0 ? { ...stored, sends: stored.sends + 1, isUnsent: false } : undefined;
}

/** Only with proof. A claim that was followed by another cannot be given back any more. */
export async function giveBackSend(
  db: Database,
  stored: StoredWithdrawal,
  /** The run of the job that has sent it. */
  run: { readonly leasedUntil: Instant; readonly now: Instant },
): Promise<StoredWithdrawal> {
  await db.run(giveBack, { ...guardOf(stored), leased_until: run.leasedUntil, now: run.now });
  return { ...stored, isUnsent: true };
}

function guardOf({ withdrawal, version, sends }: StoredWithdrawal) {
  return { withdrawal_id: withdrawal.id, version, sends };
}
