// The turnover of identities and cards. A statement that moves money adds to it by `count_turnover`, before its journal, and fails if a
// limit is exceeded.
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
