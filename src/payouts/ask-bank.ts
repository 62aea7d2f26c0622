// Asks the bank of a payout: sends it if nothing of it was sent, by proof, and else queries its status. If its bank does not find it, it
// is not sent again, because money pushed to a card does not come back.
import type { Banks } from '../acquiring/banks.ts';
import type { Bank, BankResponse, IsTooLate } from '../acquiring/domain/bank-port.ts';
import { isProvedUndone, saysUndone, wasLeftHere } from '../acquiring/domain/routing/reroute.ts';
import { sendOrInquire } from '../acquiring/send-or-inquire.ts';
import type { Clock, Instant } from '../clock.ts';
import { initialClaim } from '../platform/jobs/job-runner.ts';
import type { Database } from '../platform/database/database.ts';
import type { Logger } from '../platform/log.ts';
import { findWallet } from '../wallets/store/wallets.ts';
import { payoutOf } from './domain/bank-operations.ts';
import type { Withdrawal } from './domain/withdrawal.ts';
import { moveWithdrawal } from './move-to-next-bank.ts';
import { findDestination } from './store/destinations.ts';
import { claimSend, giveBackSend } from './store/sends.ts';
import type { StoredWithdrawal } from './store/withdrawals.ts';

export type AskDeps = {
  readonly db: Database;
  readonly banks: Banks;
  readonly livemode: boolean;
  readonly log: Pick<Logger, 'warn'>;
};

type Heard = {
  /** With the terminal of the last send. */
  readonly stored: StoredWithdrawal;
  /** `taken`: another node sends it at this moment. */
  readonly answer: BankResponse | 'blocked' | 'taken';
};

/** Where a send goes, and what makes it too late there: the next bank has not received it before. */
type Receiver = { readonly bank: Bank; readonly isTooLate?: IsTooLate };

type Run = {
  /** This node has just created it. Later the bank is asked first, because an older node may have sent it. */
  readonly isNew: boolean;
  readonly leasedUntil: Instant;
  readonly clock: Clock;
};

export async function askBank(deps: AskDeps, loaded: StoredWithdrawal, run: Run): Promise<Heard> {
  const { db, banks } = deps;
  const payout = payoutOf(loaded.withdrawal);
  const bank = await banks.bankOf(payout.terminal);
  let stored = loaded;
  const answer = await sendOrInquire<Heard['answer']>({
    db,
    bank,
    operation: payout,
    // Whether it was sent before is in its row: the attempts of its job say nothing about it. One ID is repeated only while the bank
    // remembers it.
    attempt: loaded.isUnsent && loaded.sends > 0 ? 2 : 1,
    inquiresFirst: !run.isNew,
    clock: run.clock,
    refuse: async (notFound) => {
      if (!loaded.isUnsent) return notFound;
      return (await isBlocked(db, loaded.withdrawal)) ? 'blocked' : undefined;
    },
    send: async (isTooLate) => {
      const heard = await sendOnce(deps, { bank, isTooLate }, loaded, run);
      stored = heard.stored;
      return heard.answer;
    },
  });
  return { stored, answer };
}

/** A send that is proved to have done nothing continues at the next terminal, or is given back. */
async function sendOnce(deps: AskDeps, first: Receiver, loaded: StoredWithdrawal, run: Run): Promise<Heard> {
  const { db, banks } = deps;
  const claimed = await claimSend(db, loaded);
  if (!claimed) return { stored: loaded, answer: 'taken' };
  const isFirst = claimed.sends === 1;
  const mayStill = async () => !(await isBlocked(db, loaded.withdrawal));
  let [stored, to, lease] = [claimed, first, run];
  for (;;) {
    const sent = await to.bank.send(payoutOf(stored.withdrawal), mayStill, to.isTooLate);
    const answer = isFirst ? sent : withoutLocalDecline(sent);
    const at = run.clock.now();
    const moved =
      saysUndone(answer) || (isFirst && wasLeftHere(answer))
        ? await orGiveBack(db, stored, lease, moveOn(deps, stored, at))
        : undefined;
    if (!moved) return { stored: isUnsent(answer) ? await giveBack(db, stored, lease) : stored, answer };
    stored = moved;
    lease = { ...run, leasedUntil: initialClaim(at).wake_at };
    to = { bank: await orGiveBack(db, moved, lease, banks.bankOf(payoutOf(moved.withdrawal).terminal)) };
  }
}

/** What the bank declares that it cannot do now, it may have done: an earlier send may have arrived. Only the bank itself ends it. */
function withoutLocalDecline(answer: BankResponse): BankResponse {
  const isLocal = answer.outcome === 'declined' && answer.noBytesSent === true;
  return isLocal ? { outcome: 'notSent', why: `declined here: ${answer.code}`, notBuilt: true } : answer;
}

/** A decline ends the payout instead. */
function isUnsent(answer: BankResponse): boolean {
  return answer.outcome === 'notSent' && isProvedUndone(answer);
}

/** The terminals are bounded in number, and a payout only moves on. */
async function moveOn(
  deps: AskDeps,
  stored: StoredWithdrawal,
  at: Instant,
): Promise<StoredWithdrawal | undefined> {
  if (await isBlocked(deps.db, stored.withdrawal)) return undefined;
  return moveWithdrawal(deps, stored, at);
}

/** If it fails: nothing was sent since the proof, so the send is given back. */
async function orGiveBack<T>(db: Database, stored: StoredWithdrawal, run: Run, what: Promise<T>): Promise<T> {
  try {
    return await what;
  } catch (error) {
    await giveBack(db, stored, run);
    throw error;
  }
}

function giveBack(
  db: Database,
  stored: StoredWithdrawal,
  { leasedUntil, clock }: Run,
): Promise<StoredWithdrawal> {
  return giveBackSend(db, stored, { leasedUntil, now: clock.now() });
}

/** Until the bank has received the payout, a block by the operator still stops it. */
async function isBlocked(db: Database, { walletId, destinationId }: Withdrawal): Promise<boolean> {
  const wallet = await findWallet(db, null, walletId);
  const destination = (await findDestination(db, null, destinationId))?.destination;
  return !wallet || wallet.isBlocked || !destination || destination.isBlocked;
}
