// The turnover of identities and cards in SQL: a statement that moves money adds to it, and fails if a limit is exceeded. The rows
// are locked in one order, so that no two transactions wait for each other.
import type { Instant } from '../../clock.ts';
import { list, minorUnits, object, storedAs, text, type Codec } from '../../platform/database/codec.ts';
import type { Values } from '../../platform/database/statement.ts';
import type { Refusal } from '../../refusal.ts';
import {
  periodsOf,
  requireTurnover,
  type Counter,
  type Turnover,
  type TurnoverRefusal,
} from '../domain/payout-limits.ts';

export const turnoverParameters = { counters: 'json', day: 'text', month: 'text' } as const;

export function turnoverValues(counters: readonly Counter[], at: Instant): Values<typeof turnoverParameters> {
  const ofCounter = ({ subject, limits }: Counter) => ({
    subject,
    day_minor_most: limits.perDayMinor?.toString(),
    day_payouts_most: limits.payoutsPerDay?.toString(),
    month_minor_most: limits.perMonthMinor?.toString(),
  });
  return { counters: counters.map(ofCounter), ...periodsOf(at) };
}

/**
 * Two parts of a statement that has `claimed`, `:amount_minor` and `:currency`. The second, `exceeded`, has one row, whose `found`
 * is null within the limits.
 */
export const countTurnover = `counted as (
      insert into payout_usage as usage (subject, currency, period, amount_minor, payouts)
      select subject, :currency, period, :amount_minor, 1
      from claimed, json_to_recordset(:counters) as counter (subject text), unnest(array[:month, :day]) as period
      order by subject collate "C", period collate "C"
      on conflict (subject, currency, period) do update
        set amount_minor = usage.amount_minor + excluded.amount_minor, payouts = usage.payouts + 1
      returning subject, period, amount_minor, payouts
    ), exceeded as (
      select json_agg(turnover) as found
      from (
        select subject, max(amount_minor) filter (where period = :day) as day_minor,
          max(payouts) filter (where period = :day) as day_payouts,
          max(amount_minor) filter (where period = :month) as month_minor
        from counted group by subject
      ) as turnover
      join json_to_recordset(:counters) as counter (subject text, day_minor_most int8, day_payouts_most int8, month_minor_most int8)
        using (subject)
      where day_minor > day_minor_most or day_payouts > day_payouts_most or month_minor > month_minor_most
    )`;

const turnovers: Codec<readonly Turnover[]> = list(
  object<Turnover>({
    subject: text,
    dayMinor: storedAs('day_minor', minorUnits),
    dayPayouts: storedAs('day_payouts', minorUnits),
    monthMinor: storedAs('month_minor', minorUnits),
  }),
);

/** The limit that the statement failed at. Undefined for any other error. */
export function exceededLimit(
  error: unknown,
  counters: readonly Counter[],
  at: Instant,
): Refusal<TurnoverRefusal> | undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'PL001' && 'detail' in error))
    return undefined;
  const within = requireTurnover(counters, turnovers.read(JSON.parse(String(error.detail))), at);
  return within.ok ? undefined : within.refusal;
}
