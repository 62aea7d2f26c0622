// When a failed charge of a subscription is tried again, and when Mandate gives up. A policy can only be slower than the rule packs.
import type { DeclineClass } from '../../acquiring/domain/decline-class.ts';
import { laterBy, type Instant } from '../../clock.ts';
import { accept, refuse, type Outcome } from '../../refusal.ts';
import { dateText } from '../../retry-rules/domain/calendar.ts';
import type { Every } from '../../retry-rules/domain/periods.ts';
import { packIdOf, packsInForce } from '../../retry-rules/domain/rule-packs.ts';
import { localDayOf } from '../../retry-rules/domain/time-zones.ts';
import { momentOnDay, nextMoment, windowProblem, type DayWindow } from './day-window.ts';

/** Classes that time can heal. With the others, a try without the payer, the merchant or the operator is useless. */
const healedByTime = ['funds', 'vague', 'issuer', 'technical'] as const;
type HealedByTime = (typeof healedByTime)[number];

export type ClassRule = {
  /** Replaces the tries of the policy. */
  readonly tries?: readonly number[];
  readonly maxTries?: number;
  /** A try moves to the next of these days of the month, if it is at most `within` days later. */
  readonly onDays?: { readonly days: readonly (number | 'last')[]; readonly within: number };
};

export type DunningPolicy = {
  readonly name: string;
  readonly version: number;
  /** Days after the first failure. */
  readonly tries: readonly number[];
  readonly at: DayWindow;
  readonly byClass?: { readonly [Class in HealedByTime]?: ClassRule };
  /** How long after the first failure Mandate gives up. */
  readonly windowDays: number;
  readonly finally: 'unpaid' | 'end' | 'pause';
  /** Each period has its own invoice while older ones are unpaid. The oldest is tried first. */
  readonly stack?: boolean;
  /** Days after the first failure on which the payer has an email. The first reports it, the last warns. */
  readonly emailDays?: readonly number[];
};

/** For monthly periods: it ends before the next one is due. */
export const monthlyPolicy: DunningPolicy = {
  name: 'monthly',
  version: 1,
  tries: [1, 3, 6, 10, 16, 23],
  at: { from: '06:00', until: '10:00' },
  byClass: {
    funds: { onDays: { days: [1, 2, 10, 15, 25, 'last'], within: 3 } },
    technical: { tries: [1] },
  },
  windowDays: 26,
  finally: 'unpaid',
};

/** The policy of a schedule whose merchant says only what follows. Undefined if its periods are too short for a retry. */
export function usualPolicy(
  { count, unit }: Every,
  action: DunningPolicy['finally'],
): DunningPolicy | undefined {
  const windowDays = Math.min(monthlyPolicy.windowDays, count * shortestDays[unit] - 2);
  if (windowDays < 1) return undefined;
  const tries = monthlyPolicy.tries.filter((day) => day <= windowDays);
  return { ...monthlyPolicy, name: 'usual', tries, windowDays, finally: action };
}

/** Where the policy says nothing: an unclear decline is tried less often, an issuer once. */
const defaultMaxTries: Readonly<Partial<Record<HealedByTime, number>>> = { vague: 3, issuer: 1 };
const dayMs = 86_400_000;
const counterDays = 30;
/** One of each pack that may apply: the card is not known when a policy is saved. */
const networks = ['visa', 'mastercard', 'nspkmir', 'other'];
const shortestDays: Readonly<Record<Every['unit'], number>> = { D: 1, W: 7, M: 28, Y: 365 };

/** Refuses a policy that is quicker than a rule pack, with the name of the rule. */
export function checkPolicy(
  policy: DunningPolicy,
  every: Every,
  now: Instant,
): Outcome<DunningPolicy, 'invalidDunningPolicy'> {
  const problem = policyProblem(policy, every, now);
  return problem === undefined ? accept(policy) : refuse('invalidDunningPolicy', { hint: problem });
}

function policyProblem(policy: DunningPolicy, every: Every, now: Instant): string | undefined {
  const { at, windowDays, byClass = {}, stack = false } = policy;
  const window = windowProblem(at);
  if (window !== undefined) return `\`at\` ${window}`;
  if (!isDay(windowDays)) return '`windowDays` must be a whole number of days, 1 or more.';
  const shortest = every.count * shortestDays[every.unit];
  if (!stack && windowDays >= shortest - 1)
    return `Rule nextPeriod: \`windowDays\` must be less than ${shortest - 1}, or choose \`stack\`.`;
  const rules = healedByTime.map((name) => byClass[name] ?? {});
  for (const tries of [policy.tries, ...rules.flatMap((rule) => (rule.tries ? [rule.tries] : []))]) {
    const problem = triesProblem(tries, windowDays, now);
    if (problem !== undefined) return problem;
  }
  return rules.map(classProblem).find((problem) => problem !== undefined);
}

function triesProblem(tries: readonly number[], windowDays: number, now: Instant): string | undefined {
  if (!tries.every(isDay)) return '`tries` must be whole numbers of days, 1 or more.';
  const packs = networks.flatMap((network) => packsInForce(network, now));
  for (const pack of packs) {
    const by = (rule: string) => `Rule ${rule} of ${packIdOf(pack)}:`;
    if (pack.retries && new Set(tries).size < tries.length)
      return `${by('onceADay')} two \`tries\` are on one day.`;
    if (pack.retries && Math.max(windowDays, ...tries) * dayMs > pack.retries.untilMs)
      return `${by('retryWindow')} a charge is retried for ${pack.retries.untilMs / dayMs} days at most.`;
    // The first failure counts too.
    const attempts = 1 + tries.filter((day) => day <= counterDays).length;
    const full = pack.counters.find((counter) => counter.of === 'charge' && attempts > counter.maxDeclines);
    if (full) return `${by(full.rule)} ${full.maxDeclines} attempts are allowed, with the first.`;
  }
  return Math.max(...tries) > windowDays ? 'A try is after `windowDays`.' : undefined;
}

function classProblem({ maxTries, onDays }: ClassRule): string | undefined {
  if (maxTries !== undefined && !(Number.isInteger(maxTries) && maxTries >= 0))
    return '`maxTries` must be a whole number.';
  if (!onDays) return undefined;
  const { days, within } = onDays;
  if (!isDay(within) || within > counterDays) return `\`within\` must be 1 to ${counterDays}.`;
  return days.every((day) => day === 'last' || (isDay(day) && day <= 31))
    ? undefined
    : '`days` must be days of the month, or `last`.';
}

function isDay(value: number): boolean {
  return Number.isInteger(value) && value >= 1;
}

export type Failure = {
  readonly at: Instant;
  readonly declineClass: DeclineClass;
  /** The earliest time that the rule packs or the bank allow. */
  readonly retryAfter?: Instant;
};

/** Whose calendar counts, and whose moment of the day it is. */
export type Tried = { readonly id: string; readonly zone: string };

/** Undefined if only the payer, the merchant or the operator can help, or if no try is left. */
export function nextTryAt(
  policy: DunningPolicy,
  { firstFailedAt, retries }: { readonly firstFailedAt: Instant; readonly retries: number },
  { at, declineClass, retryAfter }: Failure,
  { id, zone }: Tried,
): Instant | undefined {
  if (!isHealedByTime(declineClass)) return undefined;
  const { tries = policy.tries, onDays, maxTries } = policy.byClass?.[declineClass] ?? {};
  if (retries >= (maxTries ?? defaultMaxTries[declineClass] ?? Infinity)) return undefined;
  const firstDay = localDayOf(firstFailedAt, zone);
  const failedOn = localDayOf(at, zone);
  const days = tries.map((after) => movedTo(firstDay + after, onDays)).filter((day) => day > failedOn);
  if (days.length === 0) return undefined;
  const planned = momentOnDay(policy.at, id, Math.min(...days), zone);
  const allowed =
    retryAfter === undefined || retryAfter <= planned ? planned : nextMoment(policy.at, id, retryAfter, zone);
  return allowed < givesUpAt(policy, firstFailedAt) ? allowed : undefined;
}

/** When the final action is due. */
export function givesUpAt({ windowDays }: DunningPolicy, firstFailedAt: Instant): Instant {
  return laterBy(firstFailedAt, windowDays * dayMs);
}

function isHealedByTime(declineClass: DeclineClass): declineClass is HealedByTime {
  return healedByTime.some((name) => name === declineClass);
}

function movedTo(day: number, onDays: ClassRule['onDays']): number {
  if (!onDays) return day;
  for (let later = day; later <= day + onDays.within; later++)
    if (onDays.days.some((wanted) => isDayOfMonth(later, wanted))) return later;
  return day;
}

function isDayOfMonth(day: number, wanted: number | 'last'): boolean {
  return wanted === 'last' ? dateText(day + 1).endsWith('-01') : Number(dateText(day).slice(8)) === wanted;
}
