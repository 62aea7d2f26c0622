// When a failed charge of a subscription is tried again, and when Mandate gives up. A policy can only be slower than the rule packs.
import type { DeclineClass } from '../../../acquiring/domain/decline-class.ts';
import { laterBy, type Instant } from '../../../clock.ts';
import { accept, refuse, type Outcome } from '../../../refusal.ts';
import { dateText } from '../../../retry-rules/domain/calendar.ts';
import type { Every } from '../../../retry-rules/domain/periods.ts';
import { packIdOf, packsInForce, type RulePack } from '../../../retry-rules/domain/rule-packs.ts';
import { localDayOf } from '../../../retry-rules/domain/time-zones.ts';
import { momentOnDay, nextMoment, windowProblem, type DayWindow } from '../day-window.ts';

/** Classes that time can heal. With the others, a try without the payer, the merchant or the operator is useless. */
export const healedByTime = ['funds', 'vague', 'issuer', 'technical'] as const;
export type HealedByTime = (typeof healedByTime)[number];

export type ClassRule = {
  /** Replaces the tries of the policy. After `technical`, they are days after that failure: the bank was away, and the payer owes no wait. */
  readonly tries?: readonly number[];
  /** How many tries may follow declines of this class. */
  readonly maxTries?: number;
  /** A try moves to the next of these days of the month, if it is at most `within` days later. 31 is the last day. */
  readonly onDays?: { readonly days: readonly number[]; readonly within: number };
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
  /** Days after the first failure on which the payer gets an email. */
  readonly emailDays?: readonly number[];
  readonly finally: 'unpaid' | 'end' | 'pause';
  /** Each period has its own invoice while older ones are unpaid. The oldest is tried first. */
  readonly stack?: boolean;
  /** This share of the subscriptions has another policy of the shop. */
  readonly trial?: { readonly policy: string; readonly percent: number };
};

/** Otherwise the first email is a reminder. */
export function emailsDecline({ emailDays }: DunningPolicy): boolean {
  return emailDays?.includes(0) ?? true;
}

/** For monthly periods: it ends before the next one is due. */
export const monthlyPolicy: DunningPolicy = {
  name: 'monthly',
  version: 1,
  tries: [1, 3, 6, 10, 16, 23],
  at: { from: '06:00', until: '10:00' },
  byClass: {
    funds: { onDays: { days: [1, 2, 10, 15, 25, 31], within: 3 } },
    technical: { tries: [1] },
  },
  windowDays: 26,
  emailDays: [0, 5, 14, 24],
  finally: 'unpaid',
};

/** Of the policy that no shop has saved. */
export const builtInName = 'usual';

/** The policy of a schedule whose merchant says only what follows. Undefined if its periods are too short for a retry. */
export function usualPolicy(
  { count, unit }: Every,
  action: DunningPolicy['finally'],
): DunningPolicy | undefined {
  const windowDays = Math.min(monthlyPolicy.windowDays, count * shortestDays[unit] - 2);
  if (windowDays < 1) return undefined;
  const within = (days: readonly number[] = []) => days.filter((day) => day <= windowDays);
  const { tries, emailDays } = monthlyPolicy;
  const days = { tries: within(tries), emailDays: within(emailDays), windowDays };
  return { ...monthlyPolicy, ...days, name: builtInName, finally: action };
}

/** Where the policy says nothing: an unclear decline is tried less often, an issuer once. */
const defaultMaxTries: Readonly<Partial<Record<HealedByTime, number>>> = { vague: 3, issuer: 1 };
const dayMs = 86_400_000;
const counterDays = 30;
const maxStackDays = 30;
/** One of each pack that may apply: the card is not known when a policy is saved. */
const networks = ['visa', 'mastercard', 'nspkmir', 'other'];
const shortestDays: Readonly<Record<Every['unit'], number>> = { D: 1, W: 7, M: 28, Y: 365 };

/** Refuses a policy that is quicker than a rule pack, with the name of the rule. Whether it fits a schedule is another question. */
export function checkPolicy(
  policy: DunningPolicy,
  now: Instant,
): Outcome<DunningPolicy, 'invalidDunningPolicy'> {
  return outcomeOf(policy, policyProblem(policy, now));
}

/** Refuses a policy for a schedule whose next period would start before its tries are over. */
export function checkFits(
  policy: DunningPolicy,
  { count, unit }: Every,
): Outcome<DunningPolicy, 'invalidDunningPolicy'> {
  const shortest = count * shortestDays[unit];
  if (policy.stack || policy.windowDays < shortest - 1) return accept(policy);
  const most = `\`windowDays\` of policy ${policy.name} must be less than ${shortest - 1}`;
  return outcomeOf(policy, `Rule nextPeriod: ${most}, or choose \`stack\`.`);
}

function outcomeOf(policy: DunningPolicy, problem: string | undefined) {
  return problem === undefined ? accept(policy) : refuse('invalidDunningPolicy', { hint: problem });
}

function policyProblem(policy: DunningPolicy, now: Instant): string | undefined {
  const { at, windowDays, byClass = {}, emailDays = [] } = policy;
  const window = windowProblem(at);
  if (window !== undefined) return `\`at\` ${window}`;
  if (!isDay(windowDays)) return '`windowDays` must be a whole number of days, 1 or more.';
  const rules = healedByTime.map((name) => byClass[name] ?? {});
  for (const tries of [policy.tries, ...rules.flatMap((rule) => (rule.tries ? [rule.tries] : []))]) {
    const problem = triesProblem(tries, windowDays, now);
    if (problem !== undefined) return problem;
  }
  const days = emailDays.every((day) => Number.isInteger(day) && day >= 0 && day <= windowDays);
  if (!days || new Set(emailDays).size < emailDays.length)
    return '`emailDays` must be different days from 0 to `windowDays`.';
  return rules.map(classProblem).find((problem) => problem !== undefined) ?? stackProblem(policy);
}

/** A window that closes on its own day ends the younger invoices too. */
function stackProblem({ stack = false, windowDays }: DunningPolicy): string | undefined {
  return stack && windowDays > maxStackDays
    ? `With \`stack\`, \`windowDays\` must be ${maxStackDays} at most.`
    : undefined;
}

/** Each once, although several networks share it. */
function packsOfAll(now: Instant): RulePack[] {
  return [...new Set(networks.flatMap((network) => packsInForce(network, now)))];
}

function triesProblem(tries: readonly number[], windowDays: number, now: Instant): string | undefined {
  if (!tries.every(isDay)) return '`tries` must be whole numbers of days, 1 or more.';
  for (const pack of packsOfAll(now)) {
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
  return days.every((day) => isDay(day) && day <= 31) ? undefined : '`onDays` must be days of the month.';
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

/** What failed so far of one period. */
export type Case = {
  readonly firstFailedAt: Instant;
  readonly retries: number;
  /** Of the retries, those that followed a decline of the class that it is asked for. */
  readonly retriesOfClass: number;
};

/** Undefined if only the payer, the merchant or the operator can help, or if no try is left. */
export function nextTryAt(
  policy: DunningPolicy,
  { firstFailedAt, retries, retriesOfClass }: Case,
  { at, declineClass, retryAfter }: Failure,
  { id, zone }: Tried,
): Instant | undefined {
  if (!isHealedByTime(declineClass) || 1 + retries >= maxAttempts(at)) return undefined;
  const { tries, onDays, maxTries } = policy.byClass?.[declineClass] ?? {};
  if (retriesOfClass >= (maxTries ?? defaultMaxTries[declineClass] ?? Infinity)) return undefined;
  const failedOn = localDayOf(at, zone);
  const firstDay = tries && declineClass === 'technical' ? failedOn : localDayOf(firstFailedAt, zone);
  const days = (tries ?? policy.tries)
    .map((after) => movedTo(firstDay + after, onDays))
    .filter((day) => day > failedOn);
  if (days.length === 0) return undefined;
  const planned = momentOnDay(policy.at, id, Math.min(...days), zone);
  const allowed =
    retryAfter === undefined || retryAfter <= planned ? planned : nextMoment(policy.at, id, retryAfter, zone);
  return allowed < givesUpAt(policy, firstFailedAt) ? allowed : undefined;
}

/** How many are left with the next one, if each fails as the last did. `after`: the case once the next one has failed. */
export function triesLeft(
  policy: DunningPolicy,
  next: Pick<Failure, 'at' | 'declineClass'>,
  after: Case,
  tried: Tried,
): number {
  const { at: time, declineClass } = next;
  const at = nextTryAt(policy, after, { at: time, declineClass }, tried);
  const { retries, retriesOfClass } = after;
  const later = { ...after, retries: retries + 1, retriesOfClass: retriesOfClass + 1 };
  return 1 + (at === undefined ? 0 : triesLeft(policy, { at, declineClass }, later, tried));
}

/** The card of a later try is not known, so the strictest network decides. */
function maxAttempts(now: Instant): number {
  const counters = packsOfAll(now).flatMap((pack) => pack.counters);
  return Math.min(...counters.flatMap((counter) => (counter.of === 'charge' ? [counter.maxDeclines] : [])));
}

/** When the final action is due. */
export function givesUpAt({ windowDays }: DunningPolicy, firstFailedAt: Instant): Instant {
  return laterBy(firstFailedAt, windowDays * dayMs);
}

export function isHealedByTime(declineClass: DeclineClass): declineClass is HealedByTime {
  return healedByTime.some((name) => name === declineClass);
}

function movedTo(day: number, onDays: ClassRule['onDays']): number {
  if (!onDays) return day;
  for (let later = day; later <= day + onDays.within; later++)
    if (onDays.days.some((wanted) => isDayOfMonth(later, wanted))) return later;
  return day;
}

/** A day that a month does not have is its last one. */
function isDayOfMonth(day: number, wanted: number): boolean {
  const date = Number(dateText(day).slice(8));
  return date === wanted || (date < wanted && dateText(day + 1).endsWith('-01'));
}
