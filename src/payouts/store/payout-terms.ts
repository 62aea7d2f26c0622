// The payout terms of a party: limits by level and currency, and fees.
import type { Database } from '../../platform/database/database.ts';
import { oneOf } from '../../platform/database/codec.ts';
import { columnList, parameterList, statement, stored } from '../../platform/database/statement.ts';
import type { FeeSchedule } from '../../platform/ledger/domain/fee.ts';
import type { PayoutLimits } from '../domain/payout-limits.ts';
import { levels, type Level } from '../../identities/domain/provider.ts';
import { defined } from '../../defined.ts';

const limitColumns = {
  level: stored('text', oneOf(...levels)),
  currency: 'text',
  per_payout_minor: 'int8?',
  per_day_minor: 'int8?',
  per_month_minor: 'int8?',
  payouts_per_day: 'int8?',
} as const;

const feeColumns = { currency: 'text', basis_points: 'int8', fixed_minor: 'int8' } as const;

const readLimits = statement({
  name: 'read_payout_limits',
  parameters: { party_id: 'text' },
  row: limitColumns,
  text: `select ${columnList(limitColumns)}
         from payout_limit where party_id = :party_id order by level, currency`,
});

const readFees = statement({
  name: 'read_payout_fees',
  parameters: { party_id: 'text' },
  row: feeColumns,
  text: `select ${columnList(feeColumns)} from payout_fee where party_id = :party_id order by currency`,
});

const upsertLimit = statement({
  name: 'upsert_payout_limit',
  parameters: { party_id: 'text', ...limitColumns },
  row: {},
  text: `insert into payout_limit (party_id, ${columnList(limitColumns)})
         values (:party_id, ${parameterList(limitColumns)})
         on conflict (party_id, level, currency) do update
           set per_payout_minor = excluded.per_payout_minor, per_day_minor = excluded.per_day_minor,
               per_month_minor = excluded.per_month_minor, payouts_per_day = excluded.payouts_per_day`,
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

export type AgreedLimits = {
  readonly level: Level;
  readonly currency: string;
  readonly limits: PayoutLimits;
};
export type AgreedTerms = {
  readonly limits: readonly AgreedLimits[];
  readonly fees: ReadonlyMap<string, FeeSchedule>;
};

export async function readPayoutTerms(db: Pick<Database, 'run'>, partyId: string): Promise<AgreedTerms> {
  const limits = await db.run(readLimits, { party_id: partyId });
  const fees = await db.run(readFees, { party_id: partyId });
  return {
    limits: limits.map((row) => ({
      level: row.level,
      currency: row.currency,
      limits: defined({
        perPayoutMinor: row.per_payout_minor,
        perDayMinor: row.per_day_minor,
        perMonthMinor: row.per_month_minor,
        payoutsPerDay: row.payouts_per_day,
      }),
    })),
    fees: new Map(
      fees.map((row) => [row.currency, { basisPoints: row.basis_points, fixedMinor: row.fixed_minor }]),
    ),
  };
}

export async function storePayoutLimits(db: Database, partyId: string, agreed: AgreedLimits): Promise<void> {
  const { level, currency, limits } = agreed;
  await db.run(upsertLimit, {
    party_id: partyId,
    level,
    currency,
    per_payout_minor: limits.perPayoutMinor ?? null,
    per_day_minor: limits.perDayMinor ?? null,
    per_month_minor: limits.perMonthMinor ?? null,
    payouts_per_day: limits.payoutsPerDay ?? null,
  });
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
