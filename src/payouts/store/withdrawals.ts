// Reads withdrawals, and ends them with one statement that writes the row, its event and the journal.
import type { BankResponse } from '../../acquiring/domain/bank-port.ts';
import { exchangeParameters, recordExchanges } from '../../acquiring/exchange-log/store/exchange-rows.ts';
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
  withdrawalReturned,
  withdrawalSucceeded,
  type LedgerWithdrawal,
} from '../domain/withdrawal-postings.ts';
import { periodsOf } from '../../wallets/domain/payout-limits.ts';
import { searchFilters } from '../../platform/lists/list-statement.ts';
import { readsOf } from '../../platform/lists/stored-reads.ts';
import {
  evolve,
  type Withdrawal,
  type WithdrawalEnd,
  type WithdrawalReturned,
  type WithdrawalState,
} from '../domain/withdrawal.ts';
import { exchangesOfChange } from '../domain/bank-operations.ts';
import { defined } from '../../defined.ts';
import { endState, rowTerms, withdrawalFact, type RowTerms } from './codec.ts';
import { rescheduleStatement } from '../../platform/jobs/reschedule.ts';

export type StoredWithdrawal = {
  readonly withdrawal: Withdrawal;
  readonly version: number;
  /** How often a node has claimed to send it. It names the last send, with its bank: neither events nor attempts of the job do. */
  readonly sends: number;
  /** Nothing of it has reached a bank, by proof. Otherwise it may have, and is never sent again. */
  readonly isUnsent: boolean;
};

/** Its jobs wait for this bank. */
export const bankOfWithdrawal = "terms -> 'route' ->> 'bankId'";

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
const storedColumns = { ...columns, sends: 'int4', is_unsent: 'bool' } as const;
const selectedColumns = columnList(storedColumns);

/**
 * Nothing is ended by what was heard about an earlier send, perhaps of another bank. A failed withdrawal is subtracted from the turnover of
 * the day and month it was created in.
 */
const endWithdrawalRow = statement({
  name: 'end_withdrawal',
  parameters: {
    ...changedWith(withdrawalFact),
    withdrawal_id: 'text',
    version: 'int4',
    sends: 'int4',
    status: columns.status,
    result: columns.result,
    wake_at: 'timestamptz?',
    uncounted: 'json',
    day: 'text',
    month: 'text',
    ...exchangeParameters,
    ...journalParameters,
  },
  row: { journal: 'text?' },
  text: `
    with changed as (
      update withdrawal set version = version + 1, ${changedAt('withdrawal')}, status = :status, result = :result,
        wake_at = :wake_at, attempts = 0, stuck_at = null, stuck_reason = null
      where withdrawal_id = :withdrawal_id and version = :version and sends = :sends
      returning withdrawal_id, party_id, currency, amount_minor, version, changed_at
    ), logged as (
      ${appendEvent('withdrawal', 'withdrawal_id')}
    ), exchanged as (
      ${recordExchanges('changed')}
    ), uncounted as (
      insert into payout_usage as usage (subject, currency, period, amount_minor, payouts)
      select subject, changed.currency, period, -changed.amount_minor, -1
      from changed, json_array_elements_text(:uncounted) as subject, unnest(array[:month, :day]) as period
      order by subject collate "C", period collate "C"
      on conflict (subject, currency, period) do update
        set amount_minor = usage.amount_minor + excluded.amount_minor, payouts = usage.payouts - 1
      returning period
    )
    select ${recordJournal('withdrawal_id')} as journal from changed, (select count(*) from uncounted) as before`,
});

/** The destination counts how often money came back from it. */
const returnWithdrawalRow = statement({
  name: 'return_withdrawal',
  parameters: {
    ...changedWith(withdrawalFact),
    withdrawal_id: 'text',
    destination_id: 'text',
    version: 'int4',
    result: columns.result,
    ...journalParameters,
  },
  row: { version: 'int4', journal: 'text?' },
  text: `
    with changed as (
      update withdrawal set version = version + 1, changed_at = greatest(changed_at, :happened_at), result = :result,
        wake_at = null, attempts = 0, stuck_at = null, stuck_reason = null
      where withdrawal_id = :withdrawal_id and version = :version
      returning withdrawal_id, party_id, version, changed_at
    ), counted as (
      update destination set returns = returns + 1
      where destination_id = :destination_id and exists (select from changed)
      returning destination_id
    )
    select append_event('withdrawal', withdrawal_id, version, party_id, changed_at, :facts) as version,
      record_journal(withdrawal_id, :journal_operation, changed_at, :journal_entries) as journal
    from changed, (select count(*) from counted) as before`,
});

/** A bank has something to say about a payout that has succeeded. */
const expectReturn = statement({
  name: 'expect_return_of_withdrawal',
  parameters: { withdrawal_id: 'text', now: 'timestamptz' },
  row: { withdrawal_id: 'text' },
  text: `update withdrawal set wake_at = :now, attempts = 0
         where withdrawal_id = :withdrawal_id and status = 'succeeded' and result -> 'returned' is null
           and wake_at is null and stuck_at is null
         returning withdrawal_id`,
});

export const {
  find: findWithdrawal,
  findByExternalId: findWithdrawalByExternalId,
  list: listWithdrawals,
} = readsOf({
  table: 'withdrawal',
  createdBy: 'createWithdrawal',
  row: storedColumns,
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

const rescheduleWithdrawal = rescheduleStatement('withdrawal', ['withdrawal_id'], 'continue', {
  unlessStuck: true,
});

const takeStuckWithdrawal = statement({
  name: 'take_stuck_withdrawal',
  parameters: { withdrawal_id: 'text', since: 'timestamptz?' },
  row: storedColumns,
  text: `update withdrawal set stuck_at = null, stuck_reason = null
         where withdrawal_id = :withdrawal_id and stuck_at = coalesce(:since, stuck_at)
         returning ${selectedColumns}`,
});

/** Also writes the journal. Undefined if another writer has changed or sent it meanwhile. */
export async function storeEnd(
  db: Database,
  { withdrawal, version, sends }: StoredWithdrawal,
  fact: WithdrawalEnd,
  options: {
    readonly livemode: boolean;
    readonly now: Instant;
    /** When to ask the bank once more. */
    readonly wakeAt?: Instant;
    /** Absent if an operator ends it. */
    readonly answer?: BankResponse;
  },
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
        sends,
        status,
        result,
        wake_at: options.wakeAt ?? null,
        uncounted: status === 'failed' ? (withdrawal.countedFor ?? []) : [],
        ...periodsOf(withdrawal.createdAt),
        happened_at: options.now,
        facts: [fact],
        exchanges: exchangesOfChange(withdrawal, ended, options.now, options.answer),
        ...journalValues(journal),
      }),
    ),
  );
  return rows.length > 0 ? ended : undefined;
}

/** Writes that the money came back, with its journal. Undefined on a version conflict. */
export async function storeReturn(
  db: Database,
  { withdrawal, version }: StoredWithdrawal,
  fact: WithdrawalReturned,
  options: { readonly livemode: boolean; readonly now: Instant; readonly isAside: boolean },
): Promise<Withdrawal | undefined> {
  const { livemode, now, isAside } = options;
  const hold = ledgerOf(withdrawal, livemode);
  if (!hold) throw new Error(`withdrawal ${withdrawal.id} came back and has no route`);
  const after = evolve(withdrawal, fact);
  const journal = withdrawalReturned({ ...hold, isAside }, fact.returned.amount);
  const rows = await recording(db, journal, () =>
    db.withSavepoint((part) =>
      part.run(returnWithdrawalRow, {
        withdrawal_id: withdrawal.id,
        destination_id: withdrawal.destinationId,
        version,
        result: rowOf(after, version).result,
        happened_at: now,
        facts: [fact],
        ...journalValues(journal),
      }),
    ),
  );
  return rows.length > 0 ? after : undefined;
}

/** Makes its job due, to query the bank once more. False if there is nothing to ask. */
export async function lookForReturn(db: Database, id: string, now: Instant): Promise<boolean> {
  return (await db.run(expectReturn, { withdrawal_id: id, now })).length > 0;
}

/**
 * Takes a stuck withdrawal off the stuck-jobs list, in the transaction in which the operator resolves it, so that no node
 * claims it meanwhile. Undefined if it is not stuck, or not since then.
 */
export async function claimStuckJob(
  tx: Database,
  id: string,
  since: Instant | undefined,
): Promise<StoredWithdrawal | undefined> {
  const [row] = await tx.run(takeStuckWithdrawal, { withdrawal_id: id, since: since ?? null });
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
  { id, walletId, route, movedFrom = [] }: Withdrawal,
  livemode: boolean,
): LedgerWithdrawal | undefined {
  const moves = movedFrom.length;
  return route && { livemode, withdrawalId: id, walletId, acquirerId: route.bankId, moves };
}

export function rowOf(withdrawal: Withdrawal, version: number): Values<typeof columns> {
  const { walletPartyId, destinationIdentityId, cardToken, isCounted, countedFor } = withdrawal;
  const { sender, route, movedFrom, metadata } = withdrawal;
  const terms: RowTerms = {
    walletPartyId,
    ...defined({ destinationIdentityId }),
    cardToken,
    isCounted,
    ...defined({ countedFor, sender, route, movedFrom, metadata }),
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

function storedFromRow(row: Values<typeof storedColumns>): StoredWithdrawal {
  return {
    version: row.version,
    sends: row.sends,
    isUnsent: row.is_unsent,
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
