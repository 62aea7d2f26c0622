// Reads withdrawals, and ends them with one statement that writes the row, its event and the journal.
import type { Instant } from '../../clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { currency, oneOf } from '../../platform/database/codec.ts';
import {
  columnList,
  optional,
  statement,
  stored,
  storedBeside,
  type Values,
} from '../../platform/database/statement.ts';
import { appendEvent, changedAt, changedWith } from '../../platform/events/log.ts';
import {
  journalParameters,
  journalValues,
  recording,
  recordJournal,
} from '../../platform/ledger/store/journals.ts';
import {
  withdrawalFailed,
  withdrawalSucceeded,
  type LedgerWithdrawal,
} from '../../platform/ledger/domain/postings.ts';
import { periodsOf } from '../domain/payout-limits.ts';
import { searchFilters } from '../../identities/store/sql-fragments.ts';
import { readsOf } from '../../identities/store/reads.ts';
import { evolve, type Withdrawal, type WithdrawalEnd, type WithdrawalState } from '../domain/withdrawal.ts';
import { defined } from '../../defined.ts';
import { endState, rowTerms, withdrawalFact, type RowTerms } from './codec.ts';
import { rescheduleStatement } from '../../platform/jobs/reschedule.ts';

export type StoredWithdrawal = { readonly withdrawal: Withdrawal; readonly version: number };

export const withdrawalColumns = {
  withdrawal_id: 'text',
  party_id: 'text',
  wallet_id: 'text',
  destination_id: 'text',
  identity_id: 'text',
  version: 'int4',
  status: stored('text', oneOf('sending', 'succeeded', 'failed')),
  created_at: 'timestamptz',
  amount_minor: 'int8',
  fee_minor: 'int8',
  currency: stored('text', currency),
  terms: stored('json', rowTerms),
  ...optional({ result: storedBeside('status', 'status', endState) }),
  external_id: 'text?',
} as const;
const columns = withdrawalColumns;
const selectedColumns = columnList(columns);

/** A failed withdrawal is subtracted from the turnover of the day and month it was created in. */
const endWithdrawalRow = statement({
  name: 'end_withdrawal',
  parameters: {
    ...changedWith(withdrawalFact),
    withdrawal_id: 'text',
    version: 'int4',
    status: columns.status,
    result: columns.result,
    is_uncounted: 'bool',
    day: 'text',
    month: 'text',
    ...journalParameters,
  },
  row: { journal: 'text?' },
  text: `
    with changed as (
      update withdrawal set version = version + 1, ${changedAt('withdrawal')}, status = :status, result = :result,
        wake_at = null, attempts = 0, stuck_at = null, stuck_reason = null
      where withdrawal_id = :withdrawal_id and version = :version
      returning withdrawal_id, party_id, wallet_id, amount_minor, version, changed_at
    ), logged as (
      ${appendEvent('withdrawal', 'withdrawal_id')}
    ), locked as (
      select turnover.wallet_id, period, changed.amount_minor from payout_turnover as turnover
      join changed using (wallet_id)
      where :is_uncounted and period in (:month, :day)
      order by period for no key update of turnover
    ), uncounted as (
      update payout_turnover as turnover
      set amount_minor = turnover.amount_minor - locked.amount_minor, payouts = payouts - 1
      from locked where turnover.wallet_id = locked.wallet_id and turnover.period = locked.period
      returning turnover.period
    )
    select ${recordJournal('withdrawal_id')} as journal from changed, (select count(*) from uncounted) as before`,
});

export const {
  find: findWithdrawal,
  findByExternalId: findWithdrawalByExternalId,
  list: listWithdrawals,
} = readsOf({
  table: 'withdrawal',
  createdBy: 'createWithdrawal',
  row: columns,
  filters: {
    wallet_id: 'text?',
    identity_id: 'text?',
    withdrawal_id: 'text?',
    destination_id: 'text?',
    status: 'text?',
    currency: 'text?',
    ...searchFilters,
  },
  storedOf: storedFromRow,
  valueOf: ({ withdrawal }) => withdrawal,
});

const rescheduleWithdrawal = rescheduleStatement('withdrawal', ['withdrawal_id'], 'continue');

const takeStuckWithdrawal = statement({
  name: 'take_stuck_withdrawal',
  parameters: { withdrawal_id: 'text' },
  row: columns,
  text: `update withdrawal set stuck_at = null, stuck_reason = null
         where withdrawal_id = :withdrawal_id and stuck_at is not null
         returning ${selectedColumns}`,
});

/** Also writes the journal. Undefined on a version conflict. */
export async function storeEnd(
  db: Database,
  { withdrawal, version }: StoredWithdrawal,
  fact: WithdrawalEnd,
  options: { readonly livemode: boolean; readonly now: Instant },
): Promise<Withdrawal | undefined> {
  const hold = ledgerOf(withdrawal, options.livemode);
  if (!hold) throw new Error(`withdrawal ${withdrawal.id} has an outcome but no route`);
  const ended = evolve(withdrawal, fact);
  const { status, result } = rowOf(ended, version);
  const settle = fact.type === 'withdrawal_succeeded' ? withdrawalSucceeded : withdrawalFailed;
  const journal = settle(hold, withdrawal.feeMinor);
  const rows = await recording(db, journal, () =>
    db.withSavepoint((part) =>
      part.run(endWithdrawalRow, {
        withdrawal_id: withdrawal.id,
        version,
        status,
        result,
        is_uncounted: status === 'failed' && withdrawal.isCounted,
        ...periodsOf(withdrawal.createdAt),
        happened_at: options.now,
        facts: [fact],
        ...journalValues(journal),
      }),
    ),
  );
  return rows.length > 0 ? ended : undefined;
}

/**
 * Takes a stuck withdrawal off the stuck-jobs list, in the transaction in which the operator resolves it, so that no node
 * claims it meanwhile. Undefined if it is not stuck.
 */
export async function claimStuckJob(tx: Database, id: string): Promise<StoredWithdrawal | undefined> {
  const [row] = await tx.run(takeStuckWithdrawal, { withdrawal_id: id });
  return row && storedFromRow(row);
}

export async function reschedule(
  db: Database,
  { withdrawal, version }: StoredWithdrawal,
  at: Instant | null,
): Promise<void> {
  await db.run(rescheduleWithdrawal, { withdrawal_id: withdrawal.id, version, wake_at: at });
}

export function ledgerOf(
  { id, walletId, route }: Withdrawal,
  livemode: boolean,
): LedgerWithdrawal | undefined {
  return route && { livemode, withdrawalId: id, walletId, acquirerId: route.bankId };
}

export function rowOf(withdrawal: Withdrawal, version: number): Values<typeof columns> {
  const { walletPartyId, destinationIdentityId, cardToken, isCounted, route, metadata } = withdrawal;
  const terms: RowTerms = {
    walletPartyId,
    ...defined({ destinationIdentityId }),
    cardToken,
    isCounted,
    ...defined({ route, metadata }),
  };
  const { state } = withdrawal;
  return {
    withdrawal_id: withdrawal.id,
    party_id: withdrawal.partyId,
    wallet_id: withdrawal.walletId,
    destination_id: withdrawal.destinationId,
    identity_id: withdrawal.identityId,
    version,
    status: state.status,
    created_at: withdrawal.createdAt,
    amount_minor: withdrawal.amount.minor,
    fee_minor: withdrawal.feeMinor,
    currency: withdrawal.amount.currency,
    terms,
    result: state.status === 'sending' ? null : state,
    external_id: withdrawal.externalId ?? null,
  };
}

function storedFromRow(row: Values<typeof columns>): StoredWithdrawal {
  return {
    version: row.version,
    withdrawal: {
      ...row.terms,
      id: row.withdrawal_id,
      partyId: row.party_id,
      walletId: row.wallet_id,
      identityId: row.identity_id,
      destinationId: row.destination_id,
      createdAt: row.created_at,
      amount: { minor: row.amount_minor, currency: row.currency },
      feeMinor: row.fee_minor,
      ...defined({ externalId: row.external_id }),
      state: stateFromRow(row),
    },
  };
}

function stateFromRow({ status, result }: Values<typeof columns>): WithdrawalState {
  if (status === 'sending') return { status };
  if (result === null) throw new Error('a withdrawal is stored as final without a result');
  return result;
}
