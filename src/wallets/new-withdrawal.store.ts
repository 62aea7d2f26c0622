// A new withdrawal in SQL: one statement of the row, its events, when to look again, and the journal, so that the wallet's
// balance is locked for no longer than the end of that statement and the commit. Whether the money is there is what the
// journal says: without it nothing of the statement is written.
import type { Instant } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { statement, type Values } from '../database/statement.ts';
import { appendEvents, appendEventsParameters } from '../events/log.ts';
import type { DrawingJournal } from '../ledger/ledger.ts';
import { journalParameters, journalValues, recording, recordJournal } from '../ledger/ledger.store.ts';
import { withdrawalCreated } from '../ledger/postings.ts';
import type { Refusal } from '../refusal.ts';
import { useGrant } from './grant.store.ts';
import { insufficientFunds, noRoute, type PayoutFailure } from './payout-failure.ts';
import {
  periodsOf,
  requireTurnover,
  type PayoutLimits,
  type Turnover,
  type TurnoverRefusal,
} from './payout-limits.ts';
import { claimName, listOf, placesOf } from './store-parts.ts';
import { ledgerOf, rowOf, withdrawalColumns as columns, type Realm } from './withdrawal.store.ts';
import { evolve, type Withdrawal, type WithdrawalFact } from './withdrawal.ts';

/** A name used before leaves no row, and nothing is written. */
const insertWithdrawal = statement({
  name: 'insert_withdrawal',
  parameters: {
    ...columns,
    ...appendEventsParameters,
    ...journalParameters,
    fingerprint: 'bytea',
    wake_at: 'timestamptz?',
    attempts: 'int4',
  },
  row: { journal: 'text?' },
  text: `
    with ${claimName('createWithdrawal', 'withdrawal_id')}, changed as (
      insert into withdrawal (${listOf(columns)}, wake_at, attempts)
      select ${placesOf(columns)}, :wake_at, :attempts from named
      returning withdrawal_id, party_id, version
    ), logged as (
      ${appendEvents('withdrawal', 'withdrawal_id')}
    )
    select ${recordJournal('withdrawal_id')} as journal from changed`,
});

const countPayout = statement({
  name: 'count_payout',
  parameters: { wallet_id: 'text', amount_minor: 'int8', day: 'text', month: 'text' },
  row: { period: 'text', amount_minor: 'int8', payouts: 'int8' },
  text: `
    insert into payout_turnover as turnover (wallet_id, period, amount_minor, payouts)
    select :wallet_id, period, :amount_minor, 1 from unnest(array[:month, :day]) as period
    on conflict (wallet_id, period) do update
      set amount_minor = turnover.amount_minor + excluded.amount_minor, payouts = turnover.payouts + 1
    returning period, amount_minor, payouts`,
});

export type NotMade = 'nameTaken' | Refusal<'noSuchWallet' | TurnoverRefusal>;

/** Takes back what the transaction has written so far. */
class Abandoned extends Error {
  readonly because: NotMade;
  constructor(because: NotMade) {
    super('a withdrawal was not made');
    this.because = because;
  }
}

type Started = WithdrawalFact & { readonly type: 'withdrawal_started' };
type NewWithdrawal = {
  readonly realm: Realm;
  readonly limits: PayoutLimits;
  readonly fingerprint: Buffer;
  readonly claim: { wake_at: Instant; attempts: number };
  /** To be used up. */
  readonly grantId?: string;
};

/**
 * The withdrawal as it stands afterwards: one whose wallet lacks the money, or that no bank can pay out, has failed as it was
 * made, by an event of its own.
 */
export async function storeNewWithdrawal(
  db: Database,
  started: Started,
  options: NewWithdrawal,
): Promise<Withdrawal | { readonly notMade: NotMade }> {
  const withdrawal = evolve(undefined, started);
  const hold = ledgerOf(withdrawal, options.realm);
  try {
    if (!hold) return await storeFailed(db, started, noRoute, options);
    const journal = withdrawalCreated(hold, withdrawal.amount, withdrawal.feeMinor);
    const made = await recording(db, journal, () =>
      withWhatIsUsed(db, withdrawal, options, (on) =>
        insert(on, withdrawal, [factToJson(started)], { ...options, ...options.claim, journal }),
      ),
    );
    if (made === 'insufficient') return await storeFailed(db, started, insufficientFunds, options);
    return withdrawal;
  } catch (error) {
    if (error instanceof Abandoned) return { notMade: error.because };
    throw error;
  }
}

/** Accepted, and over: both events at once. It has held nothing and counts towards no limit. */
async function storeFailed(
  db: Database,
  started: Started,
  failure: PayoutFailure,
  options: NewWithdrawal,
): Promise<Withdrawal> {
  const fact = { type: 'withdrawal_failed', failure } as const;
  const failed = evolve(evolve(undefined, started), fact);
  await withWhatIsUsed(db, { ...failed, isCounted: false }, options, (on) =>
    insert(on, failed, [factToJson(started), fact], { ...options, wake_at: null, attempts: 0 }),
  );
  return failed;
}

/** The grant it uses up and its place in the limits are written with it, in a transaction; most have neither. */
async function withWhatIsUsed(
  db: Database,
  { id, walletId, amount, createdAt, isCounted }: Withdrawal,
  { grantId, limits }: NewWithdrawal,
  write: (on: Database) => Promise<void>,
): Promise<void> {
  if (grantId === undefined && !isCounted) return write(db);
  await db.transaction(async (tx) => {
    if (grantId !== undefined && !(await useGrant(tx, grantId, id))) {
      throw new Abandoned({ code: 'noSuchWallet' });
    }
    if (isCounted) {
      const periods = periodsOf(createdAt);
      const counted = await tx.run(countPayout, {
        wallet_id: walletId,
        amount_minor: amount.minor,
        ...periods,
      });
      const within = requireTurnover(limits, turnoverFrom(counted, periods), createdAt);
      if (!within.ok) throw new Abandoned(within.refusal);
    }
    await write(tx);
  });
}

function turnoverFrom(
  counted: readonly Values<typeof countPayout.row>[],
  { day, month }: ReturnType<typeof periodsOf>,
): Turnover {
  const ofDay = counted.find(({ period }) => period === day);
  const ofMonth = counted.find(({ period }) => period === month);
  if (!ofDay || !ofMonth) throw new Error('a payout was counted in other periods than its own');
  return { dayMinor: ofDay.amount_minor, dayPayouts: ofDay.payouts, monthMinor: ofMonth.amount_minor };
}

async function insert(
  on: Database,
  withdrawal: Withdrawal,
  facts: readonly unknown[],
  options: {
    readonly fingerprint: Buffer;
    readonly wake_at: Instant | null;
    readonly attempts: number;
    readonly journal?: DrawingJournal;
  },
): Promise<void> {
  const { fingerprint, wake_at, attempts, journal } = options;
  const rows = await on.runApart(insertWithdrawal, {
    ...rowOf(withdrawal, facts.length),
    ...journalValues(journal),
    fingerprint,
    wake_at,
    attempts,
    happened_at: withdrawal.createdAt,
    events: facts.map((fact) => [fact]),
  });
  if (rows.length === 0) throw new Abandoned('nameTaken');
}

/** What the log tells others: no handle of the card, and nothing of how the bank is reached. */
function factToJson({ type, terms }: Started): unknown {
  const { cardToken: _card, route: _route, isCounted: _counted, amount, feeMinor, ...told } = terms;
  const money = {
    amountMinor: Number(amount.minor),
    currency: amount.currency,
    feeMinor: Number(feeMinor),
  };
  return { type, terms: { ...told, ...money } };
}
