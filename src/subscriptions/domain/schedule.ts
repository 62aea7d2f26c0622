// When the periods of a subscription start, end and are charged. Every date is counted from the anchor, in days of one time zone.
import { latest, type Instant } from '../../clock.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import {
  dateText,
  dayOfDate,
  isDate,
  monthNumberOf,
  monthsLater,
} from '../../retry-rules/domain/calendar.ts';
import { startOfPeriod, type Every } from '../../retry-rules/domain/periods.ts';
import { instantOnDay, isTimeZone, startOfDay } from '../../retry-rules/domain/time-zones.ts';
import { momentIn, windowProblem, type DayWindow } from './day-window.ts';

/** A day of the local calendar, such as `2027-01-31`. */
export type LocalDate = string;

/** What the period before a fixed anchor costs. */
export type FirstPeriod = 'free' | 'full' | 'proRata';

/** A day of the month, or of the year with `month`. A month that is too short for it uses its last day. */
export type FixedAnchor = {
  readonly day: number;
  readonly month?: number;
  readonly firstPeriod: FirstPeriod;
};

export type ScheduleTerms = {
  readonly every: Every;
  /** The IANA name of the time zone. */
  readonly zone: string;
  readonly chargeAt: DayWindow;
  readonly anchor: 'atStart' | FixedAnchor;
  readonly trialDays?: number;
  /** After so many periods without trial and short first one, or with the last period that starts before the date. */
  readonly ends?: { readonly periods: number } | { readonly before: LocalDate };
};

export type PeriodKind = 'regular' | 'trial' | 'first';

/** Half-open: the day `endsOn` belongs to the next period. */
export type PeriodDates = {
  readonly number: number;
  readonly kind: PeriodKind;
  readonly startsOn: LocalDate;
  readonly endsOn: LocalDate;
};

export type PeriodTimes = { readonly startsAt: Instant; readonly endsAt: Instant; readonly dueAt: Instant };

export type Schedule = {
  readonly every: Every;
  readonly zone: string;
  readonly chargeAt: DayWindow;
  readonly anchor: LocalDate;
  /** The day of the month that the periods start on, if the anchor's month is too short for it. */
  readonly anchorDay?: number;
  /** The number of the period that starts at the anchor. */
  readonly anchorNumber: number;
  /** The trial and the short first period. */
  readonly leading: readonly PeriodDates[];
  readonly ends?: { readonly afterNumber: number } | { readonly before: LocalDate };
};

/** As ISO 8601 writes it. */
export function isoOf({ count, unit }: Every): string {
  return `P${count}${unit}`;
}

const maxCount: Readonly<Record<Every['unit'], number>> = { D: 999, W: 520, M: 120, Y: 10 };
const maxTrialDays = 730;
const maxPeriods = 1_000;
/** What the longest month of each number has. */
const daysOfMonth = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

export function checkSchedule(terms: ScheduleTerms): Outcome<ScheduleTerms, 'invalidRequest'> {
  const problem = scheduleProblem(terms);
  return problem === undefined ? accept(terms) : refuse('invalidRequest', { hint: problem });
}

function scheduleProblem({ every, zone, chargeAt, anchor, trialDays, ends }: ScheduleTerms) {
  const { count, unit } = every;
  if (!isWhole(count, maxCount[unit])) return `\`every\` must be 1 to ${maxCount[unit]} of its unit.`;
  if (!isTimeZone(zone)) return `\`zone\` "${zone}" is unknown. Use an IANA name such as Europe/Moscow.`;
  if (trialDays !== undefined && !isWhole(trialDays, maxTrialDays))
    return `\`trialDays\` must be 1 to ${maxTrialDays}.`;
  if (ends && 'periods' in ends && !isWhole(ends.periods, maxPeriods))
    return `\`ends.periods\` must be 1 to ${maxPeriods}.`;
  if (ends && 'before' in ends && !isDate(ends.before)) return '`endsOn` must be a date.';
  const window = windowProblem(chargeAt);
  if (window !== undefined) return `\`chargeAt\` ${window}`;
  return anchor === 'atStart' ? undefined : anchorProblem(anchor, every);
}

function anchorProblem({ day, month }: FixedAnchor, { unit, count }: Every) {
  if (unit === 'D' || unit === 'W') return '`anchor` needs a period of months or years. Use `atStart`.';
  if (month === undefined) {
    if (unit === 'Y') return '`anchor.month` is needed with a period of years.';
    return isWhole(day, 31) ? undefined : '`anchor.day` must be 1 to 31.';
  }
  if (!isWhole(month, 12)) return '`anchor.month` must be 1 to 12.';
  if (unit === 'M' && 12 % count !== 0) return '`anchor.month` needs a period that divides a year.';
  return isWhole(day, daysOfMonth[month - 1] ?? 0) ? undefined : 'No year has the day of `anchor`.';
}

function isWhole(value: number, most: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= most;
}

const maxEndDays = 3_660;

/** `today`: of its time zone. */
export function endsOnProblem(endsOn: LocalDate, today: number): string | undefined {
  if (!isDate(endsOn)) return '`endsOn` must be a date.';
  const days = dayOfDate(endsOn) - today;
  return days >= 1 && days <= maxEndDays
    ? undefined
    : '`endsOn` must be of the next 3,660 days, after today.';
}

/** The schedule from a start on. Trial and short first period come before the anchor, and count as periods. */
export function layOut(terms: ScheduleTerms, startsOn: LocalDate, firstNumber = 1): Schedule {
  const { every, zone, chargeAt, trialDays, ends } = terms;
  const leading: PeriodDates[] = [];
  const lead = (kind: PeriodKind, from: number, until: number) => {
    const number = firstNumber + leading.length;
    if (until > from) leading.push({ number, kind, startsOn: dateText(from), endsOn: dateText(until) });
  };
  const start = dayOfDate(startsOn);
  const afterTrial = start + (trialDays ?? 0);
  lead('trial', start, afterTrial);
  const { anchor, day } = anchorOf(terms, afterTrial);
  lead('first', afterTrial, anchor);
  const anchorNumber = firstNumber + leading.length;
  return {
    every,
    zone,
    chargeAt,
    anchor: dateText(anchor),
    ...(day === undefined ? {} : { anchorDay: day }),
    anchorNumber,
    leading,
    ...(ends && { ends: 'periods' in ends ? { afterNumber: anchorNumber + ends.periods - 1 } : ends }),
  };
}

/** The first day from `from` on that the anchor allows. */
function anchorOf({ every, anchor }: ScheduleTerms, from: number): { anchor: number; day?: number } {
  if (anchor === 'atStart') return { anchor: from };
  const { day, month } = anchor;
  const step = every.unit === 'M' ? every.count : 12;
  for (let months = 0; ; months++) {
    const candidate = monthsLater(from, months, day);
    // Month numbers of January leave 1 when divided by 12.
    const fits = month === undefined || (monthNumberOf(candidate) - month) % step === 0;
    if (fits && candidate >= from) return { anchor: candidate, day };
  }
}

export function firstNumberOf({ anchorNumber, leading }: Schedule): number {
  return anchorNumber - leading.length;
}

/** Undefined for a number before the first period or after the last one. */
export function periodDates(schedule: Schedule, number: number): PeriodDates | undefined {
  const { anchorNumber, leading, ends } = schedule;
  if (number < anchorNumber) return leading.find((period) => period.number === number);
  if (ends && 'afterNumber' in ends && number > ends.afterNumber) return undefined;
  const startsOn = regularStart(schedule, number);
  if (ends && 'before' in ends && startsOn >= ends.before) return undefined;
  return { number, kind: 'regular', startsOn, endsOn: regularStart(schedule, number + 1) };
}

/** The start of the regular period with this number. It may lie before the anchor. */
function regularStart({ anchor, anchorDay, anchorNumber, every }: Schedule, number: number): LocalDate {
  return dateText(startOfPeriod(dayOfDate(anchor), every, number - anchorNumber, anchorDay));
}

/** Which of how many regular periods. Undefined for one before them, and where their number is not agreed. */
export function instalmentOf(
  { anchorNumber, ends }: Schedule,
  number: number,
): { readonly number: number; readonly of: number } | undefined {
  if (!ends || !('afterNumber' in ends) || number < anchorNumber) return undefined;
  return { number: number - anchorNumber + 1, of: ends.afterNumber - anchorNumber + 1 };
}

/** How many regular periods there are. Undefined while nothing ends them. */
export function regularCountOf(schedule: Schedule): number | undefined {
  const { anchorNumber, ends } = schedule;
  if (!ends) return undefined;
  if ('afterNumber' in ends) return ends.afterNumber - anchorNumber + 1;
  let number = anchorNumber;
  while (regularStart(schedule, number) < ends.before) number++;
  return number - anchorNumber;
}

export function isLast(schedule: Schedule, number: number): boolean {
  return periodDates(schedule, number + 1) === undefined;
}

/** The days of a short first period, and of the whole one that would end with it. */
export function shareOfFirst(schedule: Schedule, { startsOn, endsOn }: PeriodDates) {
  const whole = regularStart(schedule, schedule.anchorNumber - 1);
  return { days: dayOfDate(endsOn) - dayOfDate(startsOn), ofDays: dayOfDate(endsOn) - dayOfDate(whole) };
}

/**
 * Reckoned once and stored with the period. It starts where the one before was stored to end, so a change of zone leaves
 * neither a hole nor an overlap.
 */
export function periodTimes(
  { zone, chargeAt }: Schedule,
  { startsOn, endsOn }: PeriodDates,
  subscriptionId: string,
  endOfPrevious?: Instant,
): PeriodTimes {
  const startDay = dayOfDate(startsOn);
  const startsAt = endOfPrevious ?? startOfDay(startDay, zone);
  const dueAt = latest(startsAt, instantOnDay(startDay, momentIn(chargeAt, subscriptionId), zone));
  // West of the date line a day may end before it starts in the zone that the payer left.
  return { startsAt, endsAt: latest(startsAt, startOfDay(dayOfDate(endsOn), zone)), dueAt };
}
