// New withdrawals in SQL: one statement writes the row, its events and the journal, or nothing if money is missing. So the
// wallet's balance is locked only from the end of the statement to the commit.
import { exchangeParameters, recordExchanges } from '../../acquiring/exchange-log/store/exchange-rows.ts';
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { columnList, parameterList, statement } from '../../platform/database/statement.ts';
import { appendEvents, eventsOf } from '../../platform/events/log.ts';
import type { FundsCheckedJournal } from '../../platform/ledger/domain/ledger.ts';
import {
  journalParameters,
  journalValues,
  recording,
  recordJournal,
} from '../../platform/ledger/store/journals.ts';
import { withdrawalCreated } from '../domain/withdrawal-postings.ts';
import type { Refusal } from '../../refusal.ts';
import { useGrant } from './grants.ts';
import { insufficientFunds, type PayoutFailure } from '../../wallets/domain/failure-path.ts';
import type { Counter, TurnoverRefusal } from '../../wallets/domain/payout-limits.ts';
import { exceededLimit, turnoverParameters, turnoverValues } from '../../wallets/store/turnover.ts';
import { withdrawalFact, type WithdrawalLogFact } from './codec.ts';
import { ledgerOf, rowOf, withdrawalColumns as columns, type StoredWithdrawal } from './withdrawals.ts';
import { exchangesOfChange } from '../domain/bank-operations.ts';
import { evolve, type Withdrawal, type WithdrawalFact } from '../domain/withdrawal.ts';

/** Writes nothing and returns no row if the external ID is taken. Fails if a limit is exceeded or money is missing. */
const insertWithdrawal = statement({
  name: 'insert_withdrawal',
  parameters: {
    ...columns,
    ...eventsOf(withdrawalFact),
    ...journalParameters,
    ...exchangeParameters,
    livemode: 'bool',
    fingerprint: 'bytea',
    wake_at: 'timestamptz?',
    attempts: 'int4',
    ...turnoverParameters,
  },
  row: { counted: 'int4', journal: 'text?' },
  text: `
    with changed as (
      insert into withdrawal (${columnList(columns)}, changed_at, wake_at, attempts, is_unsent, livemode)
      select ${parameterList(columns)}, :created_at, :wake_at, :attempts, true, :livemode
      where claim_external_id(:party_id, 'createWithdrawal', :external_id, :withdrawal_id, :fingerprint)
      returning withdrawal_id, party_id, version, changed_at
    ), logged as (
      ${appendEvents('withdrawal', 'withdrawal_id')}
    ), begun as (
      ${recordExchanges('changed')}
    )
    select count_turnover(:counters, :currency, :amount_minor, :day, :month) as counted,
      ${recordJournal('withdrawal_id')} as journal
    from changed`,
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

const notSentYet = { sends: 0, isUnsent: true } as const;

type Started = WithdrawalFact & { readonly type: 'withdrawal_started' };
type NewWithdrawal = {
  readonly livemode: boolean;
  /** Whose turnover it adds to: the subjects of its terms, with the limits in force. */
  readonly counters: readonly Counter[];
  readonly fingerprint: Buffer;
  readonly claim: { wake_at: Instant | null; attempts: number };
  /** The grant that this withdrawal uses up. */
  readonly grantId?: string;
};

/** The stored withdrawal. If the wallet has too little money, it is stored as failed, with a second event. */
export async function storeNewWithdrawal(
  db: Database,
  started: Started,
  options: NewWithdrawal,
): Promise<StoredWithdrawal | { readonly notMade: NotMade }> {
  const withdrawal = evolve(undefined, started);
  const hold = ledgerOf(withdrawal, options.livemode);
  try {
    if (!hold) throw new Error(`withdrawal ${withdrawal.id} has no route`);
    const journal = withdrawalCreated(hold, withdrawal.amount, withdrawal.feeMinor);
    const facts = [logged(started)];
    const row = { withdrawal, facts, journal, ...options.claim, counters: options.counters };
    const made = await recording(db, journal, () => insert(db, row, options));
    if (made === 'insufficient') return await storeFailed(db, started, insufficientFunds, options);
    return { withdrawal, version: facts.length, ...notSentYet };
  } catch (error) {
    const notMade =
      error instanceof Abandoned
        ? error.because
        : exceededLimit(error, options.counters, withdrawal.createdAt);
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
  await insert(db, { withdrawal, facts, wake_at: null, attempts: 0, counters: [] }, options);
  return { withdrawal, version: facts.length, ...notSentYet };
}

type NewRow = {
  readonly withdrawal: Withdrawal;
  readonly facts: readonly WithdrawalLogFact[];
  readonly wake_at: Instant | null;
  readonly attempts: number;
  readonly journal?: FundsCheckedJournal;
  readonly counters: readonly Counter[];
};

async function insert(db: Database, row: NewRow, options: NewWithdrawal): Promise<void> {
  const { withdrawal, facts, wake_at, attempts, journal, counters } = row;
  const { livemode, fingerprint, grantId } = options;
  const write = async (on: Database) => {
    const rows = await on.withSavepoint((part) =>
      part.run(insertWithdrawal, {
        ...rowOf(withdrawal, facts.length),
        ...journalValues(journal),
        ...turnoverValues(counters, withdrawal.createdAt),
        livemode,
        fingerprint,
        wake_at,
        attempts,
        events: facts.map((fact) => [fact]),
        exchanges: exchangesOfChange(undefined, withdrawal, withdrawal.createdAt),
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

function logged({ type, terms }: Started): WithdrawalLogFact {
  const {
    cardToken: _card,
    route: _route,
    movedFrom: _from,
    isCounted: _is,
    countedFor: _for,
    sender: _who,
    ...rest
  } = terms;
  return { type, terms: rest };
}
