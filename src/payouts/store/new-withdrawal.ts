// New withdrawals in SQL: one statement writes the row, its events and the journal, or nothing if money is missing. So the
// wallet's balance is locked only from the end of the statement to the commit.
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { claimExternalId } from '../../platform/database/external-id.ts';
import { columnList, parameterList, statement } from '../../platform/database/statement.ts';
import { appendEvents, eventsOf } from '../../platform/events/log.ts';
import type { FundsCheckedJournal } from '../../platform/ledger/domain/ledger.ts';
import {
  journalParameters,
  journalValues,
  recording,
  recordJournal,
} from '../../platform/ledger/store/journals.ts';
import { withdrawalCreated } from '../../platform/ledger/domain/postings.ts';
import type { Refusal } from '../../refusal.ts';
import { useGrant } from './grants.ts';
import { insufficientFunds, type PayoutFailure } from '../../wallets/domain/failure-path.ts';
import { noRoute } from '../domain/payout-failure.ts';
import {
  periodsOf,
  requireTurnover,
  type PayoutLimits,
  type TurnoverRefusal,
} from '../domain/payout-limits.ts';
import { turnover, withdrawalFact, type WithdrawalLogFact } from './codec.ts';
import { ledgerOf, rowOf, withdrawalColumns as columns, type StoredWithdrawal } from './withdrawals.ts';
import { evolve, type Withdrawal, type WithdrawalFact } from '../domain/withdrawal.ts';

/** Writes nothing and returns no row if the external ID is taken. Fails if a limit is exceeded or money is missing. */
const insertWithdrawal = statement({
  name: 'insert_withdrawal',
  parameters: {
    ...columns,
    ...eventsOf(withdrawalFact),
    ...journalParameters,
    fingerprint: 'bytea',
    wake_at: 'timestamptz?',
    attempts: 'int4',
    is_counted: 'bool',
    day: 'text',
    month: 'text',
    day_minor_most: 'int8?',
    day_payouts_most: 'int8?',
    month_minor_most: 'int8?',
  },
  row: { journal: 'text?' },
  text: `
    with ${claimExternalId('createWithdrawal', ':withdrawal_id')}, changed as (
      insert into withdrawal (${columnList(columns)}, changed_at, wake_at, attempts)
      select ${parameterList(columns)}, :created_at, :wake_at, :attempts from claimed
      returning withdrawal_id, party_id, version, changed_at
    ), logged as (
      ${appendEvents('withdrawal', 'withdrawal_id')}
    ), counted as (
      insert into payout_turnover as turnover (wallet_id, period, amount_minor, payouts)
      select :wallet_id, period, :amount_minor, 1 from claimed, unnest(array[:month, :day]) as period
      where :is_counted
      on conflict (wallet_id, period) do update
        set amount_minor = turnover.amount_minor + excluded.amount_minor, payouts = turnover.payouts + 1
      returning period, amount_minor, payouts
    ), turnover as (
      select max(amount_minor) filter (where period = :day) as day_minor,
        max(payouts) filter (where period = :day) as day_payouts,
        max(amount_minor) filter (where period = :month) as month_minor
      from counted
    )
    select case
        when day_minor > :day_minor_most or day_payouts > :day_payouts_most or month_minor > :month_minor_most
          then reject_over_limit(to_json(turnover))
        else ${recordJournal('withdrawal_id')}
      end as journal
    from changed, turnover`,
});

export type NotMade = 'externalIdTaken' | Refusal<'noSuchWallet' | TurnoverRefusal>;

/** Thrown to roll the transaction back. */
class Abandoned extends Error {
  readonly because: NotMade;
  constructor(because: NotMade) {
    super('a withdrawal was not created');
    this.because = because;
  }
}

type Started = WithdrawalFact & { readonly type: 'withdrawal_started' };
type NewWithdrawal = {
  readonly livemode: boolean;
  readonly limits: PayoutLimits;
  readonly fingerprint: Buffer;
  readonly claim: { wake_at: Instant | null; attempts: number };
  /** The grant that this withdrawal uses up. */
  readonly grantId?: string;
};

/**
 * The stored withdrawal. If the wallet has too little money, or there is no route, it is stored as failed, with a second
 * event.
 */
export async function storeNewWithdrawal(
  db: Database,
  started: Started,
  options: NewWithdrawal,
): Promise<StoredWithdrawal | { readonly notMade: NotMade }> {
  const withdrawal = evolve(undefined, started);
  const hold = ledgerOf(withdrawal, options.livemode);
  try {
    if (!hold) return await storeFailed(db, started, noRoute, options);
    const journal = withdrawalCreated(hold, withdrawal.amount, withdrawal.feeMinor);
    const facts = [logged(started)];
    const row = { withdrawal, facts, journal, ...options.claim, isCounted: withdrawal.isCounted };
    const made = await recording(db, journal, () => insert(db, row, options));
    if (made === 'insufficient') return await storeFailed(db, started, insufficientFunds, options);
    return { withdrawal, version: facts.length };
  } catch (error) {
    const notMade = error instanceof Abandoned ? error.because : passedLimit(error, withdrawal, options);
    if (notMade === undefined) throw error;
    return { notMade };
  }
}

/** Writes both events together. Such a withdrawal reserves no money and counts towards no limit. */
async function storeFailed(
  db: Database,
  started: Started,
  failure: PayoutFailure,
  options: NewWithdrawal,
): Promise<StoredWithdrawal> {
  const fact = { type: 'withdrawal_failed', failure } as const;
  const withdrawal = evolve(evolve(undefined, started), fact);
  const facts = [logged(started), fact];
  await insert(db, { withdrawal, facts, wake_at: null, attempts: 0, isCounted: false }, options);
  return { withdrawal, version: facts.length };
}

type NewRow = {
  readonly withdrawal: Withdrawal;
  readonly facts: readonly WithdrawalLogFact[];
  readonly wake_at: Instant | null;
  readonly attempts: number;
  readonly journal?: FundsCheckedJournal;
  readonly isCounted: boolean;
};

async function insert(db: Database, row: NewRow, options: NewWithdrawal): Promise<void> {
  const { withdrawal, facts, wake_at, attempts, journal, isCounted } = row;
  const { fingerprint, limits, grantId } = options;
  const write = async (on: Database) => {
    const rows = await on.withSavepoint((part) =>
      part.run(insertWithdrawal, {
        ...rowOf(withdrawal, facts.length),
        ...journalValues(journal),
        ...periodsOf(withdrawal.createdAt),
        fingerprint,
        wake_at,
        attempts,
        is_counted: isCounted,
        day_minor_most: limits.perDayMinor ?? null,
        day_payouts_most: limits.payoutsPerDay ?? null,
        month_minor_most: limits.perMonthMinor ?? null,
        events: facts.map((fact) => [fact]),
      }),
    );
    if (rows.length === 0) throw new Abandoned('externalIdTaken');
  };
  if (grantId === undefined) return write(db);
  await db.transaction(async (tx) => {
    if (!(await useGrant(tx, grantId, withdrawal.id))) throw new Abandoned({ code: 'noSuchWallet' });
    await write(tx);
  });
}

/** The limit that the statement failed at. Undefined for any other error. */
function passedLimit(
  error: unknown,
  { createdAt }: Withdrawal,
  { limits }: NewWithdrawal,
): NotMade | undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'PL001' && 'detail' in error))
    return undefined;
  const within = requireTurnover(limits, turnover.read(JSON.parse(String(error.detail))), createdAt);
  return within.ok ? undefined : within.refusal;
}

function logged({ type, terms }: Started): WithdrawalLogFact {
  const { cardToken: _card, route: _route, isCounted: _counted, ...rest } = terms;
  return { type, terms: rest };
}
