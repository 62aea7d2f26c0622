// The payout terms of a party: its limits, those for every party, and its fees.
import type { Database } from '../../platform/database/database.ts';
import { oneOf } from '../../platform/database/codec.ts';
import {
  columnList,
  parameterList,
  statement,
  stored,
  type Values,
} from '../../platform/database/statement.ts';
import type { FeeSchedule } from '../../platform/ledger/domain/fee.ts';
import { any, type LimitRule } from '../../wallets/domain/payout-limits.ts';
import { levels } from '../../identities/domain/provider.ts';
import { defined } from '../../defined.ts';

const limitColumns = {
  party_id: 'text',
  network: 'text',
  currency: 'text',
  level: stored('text', oneOf(any, ...levels)),
  min_minor: 'int8?',
  per_payout_minor: 'int8?',
  per_day_minor: 'int8?',
  per_month_minor: 'int8?',
  payouts_per_day: 'int8?',
  card_per_day_minor: 'int8?',
  card_per_month_minor: 'int8?',
  card_payouts_per_day: 'int8?',
  set_by: 'text',
  set_at: 'timestamptz',
  reason: 'text',
} as const;
const limitKey = { party_id: 'text', currency: 'text', network: 'text', level: 'text' } as const;

const feeColumns = { currency: 'text', basis_points: 'int8', fixed_minor: 'int8' } as const;

/** The party's own rows, and those for every party. */
const readLimits = statement({
  name: 'read_payout_limits',
  parameters: { party_id: 'text', any: 'text' },
  row: limitColumns,
  text: `select ${columnList(limitColumns)} from payout_limit_rule
         where party_id in (:party_id, :any) order by party_id, currency, network, level`,
});

const readFees = statement({
  name: 'read_payout_fees',
  parameters: { party_id: 'text' },
  row: feeColumns,
  text: `select ${columnList(feeColumns)} from payout_fee where party_id = :party_id order by currency`,
});

const upsertLimit = statement({
  name: 'upsert_payout_limit',
  parameters: limitColumns,
  row: {},
  text: `insert into payout_limit_rule (${columnList(limitColumns)})
         values (${parameterList(limitColumns)})
         on conflict (party_id, currency, network, level) do update set ${Object.keys(limitColumns)
           .filter((column) => !Object.hasOwn(limitKey, column))
           .map((column) => `${column} = excluded.${column}`)
           .join(', ')}`,
});

const deleteLimit = statement({
  name: 'delete_payout_limit',
  parameters: limitKey,
  row: { currency: 'text' },
  text: `delete from payout_limit_rule
         where party_id = :party_id and currency = :currency and network = :network and level = :level
         returning currency`,
});

const upsertFee = statement({
  name: 'upsert_payout_fee',
  parameters: { party_id: 'text', ...feeColumns },
  row: {},
  text: `insert into payout_fee (party_id, ${columnList(feeColumns)})
         values (:party_id, ${parameterList(feeColumns)})
         on conflict (party_id, currency) do update
           set basis_points = excluded.basis_points, fixed_minor = excluded.fixed_minor`,
});

export type AgreedTerms = {
  readonly limits: readonly LimitRule[];
  readonly fees: ReadonlyMap<string, FeeSchedule>;
};

export async function readPayoutTerms(db: Pick<Database, 'run'>, partyId: string): Promise<AgreedTerms> {
  const fees = await db.run(readFees, { party_id: partyId });
  return {
    limits: await readLimitRules(db, partyId),
    fees: new Map(
      fees.map((row) => [row.currency, { basisPoints: row.basis_points, fixedMinor: row.fixed_minor }]),
    ),
  };
}

/** The rows of a party, or with `any` only those for every party. */
export async function readLimitRules(db: Pick<Database, 'run'>, partyId: string): Promise<LimitRule[]> {
  return (await db.run(readLimits, { party_id: partyId, any })).map(ruleFromRow);
}

function ruleFromRow(row: Values<typeof limitColumns>): LimitRule {
  const card = defined({
    perDayMinor: row.card_per_day_minor,
    perMonthMinor: row.card_per_month_minor,
    payoutsPerDay: row.card_payouts_per_day,
  });
  return {
    partyId: row.party_id,
    network: row.network,
    currency: row.currency,
    level: row.level,
    limits: {
      ...defined({
        minMinor: row.min_minor,
        perPayoutMinor: row.per_payout_minor,
        perDayMinor: row.per_day_minor,
        perMonthMinor: row.per_month_minor,
        payoutsPerDay: row.payouts_per_day,
      }),
      ...(Object.keys(card).length === 0 ? {} : { card }),
    },
    source: { setBy: row.set_by, setAt: row.set_at, reason: row.reason },
  };
}

export async function storeLimitRule(db: Database, rule: LimitRule): Promise<void> {
  const { partyId, network, currency, level, limits, source } = rule;
  await db.run(upsertLimit, {
    party_id: partyId,
    network,
    currency,
    level,
    min_minor: limits.minMinor ?? null,
    per_payout_minor: limits.perPayoutMinor ?? null,
    per_day_minor: limits.perDayMinor ?? null,
    per_month_minor: limits.perMonthMinor ?? null,
    payouts_per_day: limits.payoutsPerDay ?? null,
    card_per_day_minor: limits.card?.perDayMinor ?? null,
    card_per_month_minor: limits.card?.perMonthMinor ?? null,
    card_payouts_per_day: limits.card?.payoutsPerDay ?? null,
    set_by: source.setBy,
    set_at: source.setAt,
    reason: source.reason,
  });
}

/** False if there is no such row. */
export async function removeLimitRule(
  db: Database,
  { partyId, currency, network, level }: Omit<LimitRule, 'limits' | 'source'>,
): Promise<boolean> {
  const rows = await db.run(deleteLimit, { party_id: partyId, currency, network, level });
  return rows.length > 0;
}

export async function storePayoutFee(
  db: Database,
  partyId: string,
  currency: string,
  fee: FeeSchedule,
): Promise<void> {
  await db.run(upsertFee, {
    party_id: partyId,
    currency,
    basis_points: fee.basisPoints,
    fixed_minor: fee.fixedMinor,
  });
}
