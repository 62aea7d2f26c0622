// Withdrawals in SQL. Making one and ending one are each a transaction of two statements: the row with its event, its place in
// the limits and when to look again; then the journal, last, so that the wallet's balance is locked for no longer than the
// ledger needs. Whether the money is there is what the journal says.
import type { Instant } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { statement, type Values } from '../database/statement.ts';
import { appendEvent, appendParameters } from '../events/log.ts';
import { postJournal } from '../ledger/ledger.store.ts';
import {
  withdrawalCreated,
  withdrawalFailed,
  withdrawalSucceeded,
  type LedgerWithdrawal,
} from '../ledger/postings.ts';
import type { Currency } from '../money.ts';
import type { Refusal } from '../refusal.ts';
import { useGrant } from './grant.store.ts';
import type { Named } from './made-once.ts';
import { insufficientFunds, noRoute, type PayoutFailure } from './payout-failure.ts';
import { periodsOf, requireTurnover, type PayoutLimits, type TurnoverRefusal } from './payout-limits.ts';
import { claimName, listOf, placesOf } from './store-parts.ts';
import {
  evolve,
  type Withdrawal,
  type WithdrawalEnd,
  type WithdrawalFact,
  type WithdrawalState,
  type WithdrawalTerms,
} from './withdrawal.ts';

export type StoredWithdrawal = { readonly withdrawal: Withdrawal; readonly version: number };
export type Realm = 'test' | 'live';

export const withdrawalColumns = {
  withdrawal_id: 'text',
  party_id: 'text',
  wallet_id: 'text',
  destination_id: 'text',
  identity_id: 'text',
  version: 'int4',
  status: 'text',
  created_at: 'timestamptz',
  amount_minor: 'int8',
  fee_minor: 'int8',
  currency: 'text',
  terms: 'json',
  result: 'json?',
  external_id: 'text?',
} as const;
const columns = withdrawalColumns;
const columnList = listOf(columns);

const insertWithdrawal = statement({
  name: 'insert_withdrawal',
  parameters: {
    ...columns,
    ...appendParameters,
    fingerprint: 'bytea',
    wake_at: 'timestamptz',
    attempts: 'int4',
    is_counted: 'bool',
    day: 'text',
    month: 'text',
  },
  row: { day_minor: 'int8?', day_payouts: 'int8?', month_minor: 'int8?' },
  text: `
    with ${claimName('createWithdrawal', 'withdrawal_id')}, changed as (
      insert into withdrawal (${columnList}, wake_at, attempts)
      select ${placesOf(columns)}, :wake_at, :attempts from named
      returning withdrawal_id, party_id, version
    ), logged as (
      ${appendEvent('withdrawal', 'withdrawal_id')}
    ), counted as (
      insert into payout_turnover as turnover (wallet_id, period, amount_minor, payouts)
      select :wallet_id, period, :amount_minor, 1 from named, unnest(array[:month, :day]) as period
      where :is_counted
      on conflict (wallet_id, period) do update
        set amount_minor = turnover.amount_minor + excluded.amount_minor, payouts = turnover.payouts + 1
      returning period, amount_minor, payouts
    )
    select (select amount_minor from counted where period = :day) as day_minor,
      (select payouts from counted where period = :day) as day_payouts,
      (select amount_minor from counted where period = :month) as month_minor
    from changed`,
});

/** One that failed gives back its place in the limits of the day it was made. */
const endWithdrawalRow = statement({
  name: 'end_withdrawal',
  parameters: {
    ...appendParameters,
    withdrawal_id: 'text',
    version: 'int4',
    status: 'text',
    result: 'json',
    is_uncounted: 'bool',
    day: 'text',
    month: 'text',
  },
  row: { version: 'int4' },
  text: `
    with changed as (
      update withdrawal set version = version + 1, status = :status, result = :result,
        wake_at = null, attempts = 0, stuck_at = null, stuck_reason = null
      where withdrawal_id = :withdrawal_id and version = :version
      returning withdrawal_id, party_id, wallet_id, amount_minor, version
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
    )
    select version from changed`,
});

const readWithdrawal = statement({
  name: 'read_withdrawal',
  parameters: { withdrawal_id: 'text', party_id: 'text?' },
  row: columns,
  text: `select ${columnList} from withdrawal
         where withdrawal_id = :withdrawal_id and (:party_id is null or party_id = :party_id)`,
});

const readWithdrawalNamed = statement({
  name: 'read_withdrawal_named',
  parameters: { party_id: 'text', external_id: 'text' },
  row: { ...columns, fingerprint: 'bytea' },
  text: `select ${listOf(columns, 'withdrawal')}, claimed.fingerprint
         from external_id as claimed join withdrawal on withdrawal_id = entity_id
         where claimed.party_id = :party_id and operation = 'createWithdrawal' and claimed.external_id = :external_id`,
});

/** The attempts go on counting: by them the engine knows when an operator has to look. */
const rescheduleWithdrawal = statement({
  name: 'reschedule_withdrawal',
  parameters: { withdrawal_id: 'text', version: 'int4', wake_at: 'timestamptz?' },
  row: {},
  text: `update withdrawal set wake_at = :wake_at where withdrawal_id = :withdrawal_id and version = :version`,
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

/**
 * The withdrawal as it stands afterwards: one whose wallet lacks the money, or that no bank can pay out, has failed already,
 * in the same transaction and by an event of its own.
 */
export async function storeNewWithdrawal(
  db: Database,
  started: WithdrawalFact & { type: 'withdrawal_started' },
  options: {
    readonly realm: Realm;
    readonly limits: PayoutLimits;
    readonly fingerprint: Buffer;
    readonly claim: { wake_at: Instant; attempts: number };
    /** To be used up. */
    readonly grantId?: string;
  },
): Promise<Withdrawal | { readonly notMade: NotMade }> {
  const withdrawal = evolve(undefined, started);
  const { createdAt, amount, feeMinor, isCounted } = withdrawal;
  try {
    return await db.transaction(async (tx) => {
      const { grantId } = options;
      if (grantId !== undefined && !(await useGrant(tx, grantId, withdrawal.id))) {
        throw new Abandoned({ code: 'noSuchWallet' });
      }
      const [made] = await tx.run(insertWithdrawal, {
        ...rowOf(withdrawal),
        ...options.claim,
        ...periodsOf(createdAt),
        fingerprint: options.fingerprint,
        is_counted: isCounted,
        happened_at: createdAt,
        facts: [factToJson(started)],
      });
      if (!made) throw new Abandoned('nameTaken');
      const { day_minor: dayMinor, day_payouts: dayPayouts, month_minor: monthMinor } = made;
      if (dayMinor !== null && dayPayouts !== null && monthMinor !== null) {
        const turnover = { dayMinor, dayPayouts, monthMinor };
        const within = requireTurnover(options.limits, turnover, createdAt);
        if (!within.ok) throw new Abandoned(within.refusal);
      }
      const hold = ledgerOf(withdrawal, options.realm);
      if (!hold) return fail(tx, withdrawal, noRoute);
      const posted = await postJournal(tx, withdrawalCreated(hold, amount, feeMinor), createdAt);
      return posted === 'posted' ? withdrawal : fail(tx, withdrawal, insufficientFunds);
    });
  } catch (error) {
    if (error instanceof Abandoned) return { notMade: error.because };
    throw error;
  }
}

async function fail(tx: Database, withdrawal: Withdrawal, failure: PayoutFailure): Promise<Withdrawal> {
  const fact: WithdrawalEnd = { type: 'withdrawal_failed', failure };
  const ended = await endRow(tx, { withdrawal, version: 1 }, fact, withdrawal.createdAt);
  if (!ended) throw new Error(`withdrawal ${withdrawal.id} was changed before it was made`);
  return ended;
}

/** With what it means for the money. Undefined when somebody else ended it since it was read. */
export async function storeEnd(
  db: Database,
  stored: StoredWithdrawal,
  fact: WithdrawalEnd,
  options: { readonly realm: Realm; readonly now: Instant },
): Promise<Withdrawal | undefined> {
  const { withdrawal } = stored;
  const { now } = options;
  const hold = ledgerOf(withdrawal, options.realm);
  if (!hold) throw new Error(`withdrawal ${withdrawal.id} has no bank and yet an outcome`);
  return db.transaction(async (tx) => {
    const ended = await endRow(tx, stored, fact, now);
    if (!ended) return undefined;
    const settle = fact.type === 'withdrawal_succeeded' ? withdrawalSucceeded : withdrawalFailed;
    await postJournal(tx, settle(hold, withdrawal.feeMinor), now);
    return ended;
  });
}

async function endRow(
  tx: Database,
  { withdrawal, version }: StoredWithdrawal,
  fact: WithdrawalEnd,
  now: Instant,
): Promise<Withdrawal | undefined> {
  const ended = evolve(withdrawal, fact);
  const { status, ...result } = ended.state;
  const rows = await tx.run(endWithdrawalRow, {
    withdrawal_id: withdrawal.id,
    version,
    status,
    result,
    is_uncounted: status === 'failed' && withdrawal.isCounted,
    ...periodsOf(withdrawal.createdAt),
    happened_at: now,
    facts: [fact],
  });
  return rows.length > 0 ? ended : undefined;
}

/** Of that party; of any where none is named. */
export async function findWithdrawal(
  db: Database,
  partyId: string | null,
  id: string,
): Promise<StoredWithdrawal | undefined> {
  const [row] = await db.run(readWithdrawal, { withdrawal_id: id, party_id: partyId });
  return row && storedFromRow(row);
}

export async function findWithdrawalNamed(
  db: Database,
  partyId: string,
  externalId: string,
): Promise<Named<Withdrawal> | undefined> {
  const [row] = await db.run(readWithdrawalNamed, { party_id: partyId, external_id: externalId });
  return row && { value: storedFromRow(row).withdrawal, fingerprint: row.fingerprint };
}

export async function lookAgainAt(
  db: Database,
  { withdrawal, version }: StoredWithdrawal,
  at: Instant | null,
): Promise<void> {
  await db.run(rescheduleWithdrawal, { withdrawal_id: withdrawal.id, version, wake_at: at });
}

function ledgerOf({ id, walletId, route }: Withdrawal, realm: Realm): LedgerWithdrawal | undefined {
  return route && { realm, withdrawalId: id, walletId, acquirerId: route.bankId };
}

type TermsJson = Pick<WithdrawalTerms, 'walletPartyId' | 'cardToken' | 'isCounted' | 'route' | 'metadata'>;

function rowOf(withdrawal: Withdrawal): Values<typeof columns> {
  const { walletPartyId, cardToken, isCounted, route, metadata } = withdrawal;
  const terms: TermsJson = {
    walletPartyId,
    cardToken,
    isCounted,
    ...(route === undefined ? {} : { route }),
    ...(metadata === undefined ? {} : { metadata }),
  };
  return {
    withdrawal_id: withdrawal.id,
    party_id: withdrawal.partyId,
    wallet_id: withdrawal.walletId,
    destination_id: withdrawal.destinationId,
    identity_id: withdrawal.identityId,
    version: 1,
    status: withdrawal.state.status,
    created_at: withdrawal.createdAt,
    amount_minor: withdrawal.amount.minor,
    fee_minor: withdrawal.feeMinor,
    currency: withdrawal.amount.currency,
    terms,
    result: null,
    external_id: withdrawal.externalId ?? null,
  };
}

/** What the log tells others: no handle of the card, and nothing of how the bank is reached. */
function factToJson({ type, terms }: WithdrawalFact & { type: 'withdrawal_started' }): unknown {
  const { cardToken: _card, route: _route, isCounted: _counted, amount, feeMinor, ...told } = terms;
  const money = {
    amountMinor: Number(amount.minor),
    currency: amount.currency,
    feeMinor: Number(feeMinor),
  };
  return { type, terms: { ...told, ...money } };
}

export function storedFromRow(row: Values<typeof columns>): StoredWithdrawal {
  const terms = row.terms as TermsJson;
  return {
    version: row.version,
    withdrawal: {
      ...terms,
      id: row.withdrawal_id,
      partyId: row.party_id,
      walletId: row.wallet_id,
      identityId: row.identity_id,
      destinationId: row.destination_id,
      createdAt: row.created_at,
      amount: { minor: row.amount_minor, currency: row.currency as Currency },
      feeMinor: row.fee_minor,
      ...(row.external_id === null ? {} : { externalId: row.external_id }),
      state: { status: row.status, ...(row.result as object | null) } as WithdrawalState,
    },
  };
}
