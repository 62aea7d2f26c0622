// The rules of recurring charges, without the code that enforces them: slow, and without memory. To find the first
// permitted instant it asks again at every instant at which an answer can change.
import {
  addMonths,
  dayLong,
  dayOf,
  hour,
  localDay,
  type Micros,
  minute,
  periodOf,
  startOf,
} from './calendar.ts';
import { finalMeaningOf, mastercards, meaningOf, type Meaning, type Network } from './declines.ts';
import type {
  Answer,
  Attempt,
  Code,
  Ended,
  Outcome,
  Question,
  Series,
  Shop,
  Story,
  Terms,
  Warning,
} from './story.ts';

const betweenRetries = 22 * hour + 45 * minute;
const windowLength = 31 * dayLong;
const rolling = 30 * dayLong;
const waitingHours = [1, 24, 48, 72, 96, 144, 168, 192, 240];
const isMastercard = (network: Network) => mastercards.includes(network);

/** What was known when the question was asked, and the moment for which it is answered. */
interface Scene {
  story: Story;
  question: Question;
  series: Series;
  shop: Shop;
  network: Network;
  terms: Terms;
  /** Attempts of the series. */
  own: Attempt[];
  at: Micros;
}

interface Refusal {
  code: Code;
  /** Not if it lasts until something happens: a new consent, another card or invoice, the result of a pending attempt. */
  canEnd: boolean;
}

interface Ruling {
  refusals: Refusal[];
  warnings: Warning[];
}

export function answerTo(story: Story, question: Question): Answer {
  const seen = whatWasKnown(story, question.at);
  const { refusals, warnings } = rule(seen, question, question.at);
  if (refusals.length === 0) return { refusals: [], warnings };
  const first = refusals.every(({ canEnd }) => canEnd) ? firstPermitted(seen, question) : undefined;
  return {
    refusals: [...new Set(refusals.map(({ code }) => code))],
    ...(first !== undefined && { retryAfter: first }),
    warnings: [],
  };
}

/** Results that came later are pending, what was made later does not exist. */
function whatWasKnown(story: Story, now: Micros): Story {
  const attempts = story.attempts
    .filter(({ createdAt }) => createdAt <= now)
    .map(({ outcome, ...attempt }) => (outcome && outcome.at <= now ? { ...attempt, outcome } : attempt));
  const series = story.series.map(({ revokedAt, ...each }) => {
    const [root, ...later] = each.consents;
    const consents: Series['consents'] = [root, ...later.filter(({ at }) => at <= now)];
    return { ...each, consents, ...(revokedAt !== undefined && revokedAt <= now && { revokedAt }) };
  });
  const ended = (story.ended ?? []).filter(({ at }) => at <= now);
  return { ...story, attempts, series, ended };
}

function rule(story: Story, question: Question, at: Micros): Ruling {
  const series = found(story.series, ({ id }) => id === question.series);
  const shop = found(story.shops, ({ id }) => id === series.shop);
  const { network } = found(story.cards, ({ fingerprint }) => fingerprint === series.fingerprint);
  const own = story.attempts.filter((attempt) => attempt.series === series.id);
  const { terms } = series.consents.at(-1)!;
  const scene: Scene = { story, question, series, shop, network, terms, own, at };
  const rulings = [
    stops,
    consent,
    card,
    onceADay,
    dayOfAnEnd,
    adviceToWait,
    deadInvoices,
    networkCounters,
    gap,
    latestParent,
    amount,
    period,
  ].map((each) => each(scene));
  return {
    refusals: rulings.flatMap(({ refusals = [] }) => refusals),
    warnings: rulings.flatMap(({ warnings = [] }) => warnings),
  };
}

/** Asks again at every instant at which an answer can turn from no to yes without anything new happening. */
function firstPermitted(story: Story, question: Question): Micros | undefined {
  const series = found(story.series, ({ id }) => id === question.series);
  const { zone } = found(story.shops, ({ id }) => id === series.shop);
  const { trialEnd, schedule } = series.consents.at(-1)!.terms;
  const today = localDay(zone, question.at);
  // A period has to end, and none here is longer than a year.
  const days = Array.from({ length: periodOf(schedule) ? 367 : 3 }, (_, n) => today + n + 1);
  if (trialEnd !== undefined) days.push(dayOf(trialEnd) + 1);
  const instants = story.attempts.flatMap(({ createdAt, outcome }) => [
    ...[betweenRetries, dayLong, rolling].map((length) => createdAt + length),
    ...(outcome ? waitingHours.map((hours) => outcome.at + hours * hour) : []),
  ]);
  const candidates = [...days.map((day) => startOf(zone, day)), ...instants].filter((at) => at > question.at);
  return candidates.sort((a, b) => a - b).find((at) => rule(story, question, at).refusals.length === 0);
}

const nothing: Partial<Ruling> = {};
const refuse = (code: Code): Partial<Ruling> => ({ refusals: [{ code, canEnd: false }] });
const postpone = (code: Code): Partial<Ruling> => ({ refusals: [{ code, canEnd: true }] });
const warn = (warning: Warning): Partial<Ruling> => ({ warnings: [warning] });

/** A stop concerns the consents given before it. */
function stops({ story, question, series }: Scene): Partial<Ruling> {
  const agreedAt = series.consents.at(-1)!.at;
  const isStopped = story.attempts.some((attempt) => {
    const meaning = declineOf(story, attempt);
    if (!meaning?.stops || attempt.outcome!.at < agreedAt) return false;
    const sameCard = attempt.fingerprint === series.fingerprint;
    if (meaning.stops === 'invoice') return attempt.invoice.id === question.invoice.id;
    if (meaning.stops === 'series') return attempt.series === series.id;
    return sameCard && (meaning.stops === 'card' || attempt.shop === series.shop);
  });
  return isStopped ? refuse('recurrentStopped') : nothing;
}

/** The consent ends when it is revoked, and with the last day it was given for. */
function consent({ series, shop, terms, at }: Scene): Partial<Ruling> {
  if (series.revokedAt !== undefined && series.revokedAt >= series.consents.at(-1)!.at) {
    return refuse('recurrentConsentRevoked');
  }
  const isOver = terms.validUntil !== undefined && localDay(shop.zone, at) > dayOf(terms.validUntil);
  return isOver ? refuse('recurrentConsentExpired') : nothing;
}

/** A card lives until the month has ended everywhere. */
function card({ story, series, at }: Scene): Partial<Ruling> {
  const { expires } = found(story.cards, ({ fingerprint }) => fingerprint === series.fingerprint);
  const monthEnds = addMonths(dayOf(`${expires}-01`), 1) * dayLong + 12 * hour;
  return at >= monthEnds ? refuse('recurrentCardExpired') : nothing;
}

/** Another local date, and 22 h 45 min, since the last attempt was made. */
function onceADay({ shop, own, story, series, at }: Scene): Partial<Ruling> {
  const isFailing = episodes(story, series).some(({ from, to }) => from <= at && at <= to);
  if (!isFailing) return nothing;
  const attempts = own.filter((attempt) => !attempt.payerPresent && usesTheDay(story, attempt));
  if (attempts.some(({ outcome }) => !outcome)) return refuse('recurrentRetryTooEarly');
  const last = Math.max(...attempts.map(({ createdAt }) => createdAt));
  const isAnotherDay = localDay(shop.zone, at) > localDay(shop.zone, last);
  return isAnotherDay && at >= last + betweenRetries ? nothing : postpone('recurrentRetryTooEarly');
}

/** The day that an ended obligation has used stays used, until a success. */
function dayOfAnEnd({ shop, own, story, series, at }: Scene): Partial<Ruling> {
  const mustWait = endsOf(story, series).some((end) => {
    const wasPaid = own.some(({ outcome }) => isApproved(outcome) && outcome!.at > end.at);
    const wasFailing = episodes(story, series).some(({ from, to }) => from <= end.at && end.at - 1 <= to);
    const tries = own.filter(
      (attempt) =>
        !attempt.payerPresent &&
        attempt.createdAt <= end.at &&
        (usesTheDay(story, attempt) || attempt.outcome!.at > end.at),
    );
    if (wasPaid || !wasFailing || tries.length === 0) return false;
    const last = Math.max(...tries.map(({ createdAt }) => createdAt));
    return localDay(shop.zone, at) <= localDay(shop.zone, last) || at < last + betweenRetries;
  });
  return mustWait ? postpone('recurrentRetryTooEarly') : nothing;
}

/** The issuer's advice, and the waits of single codes, until a success. */
function adviceToWait({ story, own, at }: Scene): Partial<Ruling> {
  const mustWait = own.some((attempt) => {
    const wait = declineOf(story, attempt)?.wait;
    if (wait === undefined) return false;
    const declinedAt = attempt.outcome!.at;
    const wasPaid = own.some(({ outcome }) => isApproved(outcome) && outcome!.at > declinedAt);
    return !wasPaid && at < declinedAt + wait * hour;
  });
  return mustWait ? postpone('recurrentRetryTooEarly') : nothing;
}

/** What was unpaid when 31 days of failing ended is never charged again. */
function deadInvoices({ story, series, question, at }: Scene): Partial<Ruling> {
  const isDead = episodes(story, series).some(
    ({ to, ranOut }) => ranOut && to < at && question.invoice.createdAt <= to,
  );
  const hasEnded = endsOf(story, series).some(({ invoice }) => invoice === question.invoice.id);
  return isDead || hasEnded ? refuse('recurrentRetryWindowExpired') : nothing;
}

/** Rolling counters over declined attempts. */
function networkCounters({ story, question, series, shop, network, at }: Scene): Partial<Ruling> {
  const declines = story.attempts.filter(
    ({ fingerprint, outcome }) => fingerprint === series.fingerprint && outcome?.kind === 'declined',
  );
  const inMonth = declines.filter(
    (attempt) =>
      !attempt.payerPresent &&
      attempt.shop === shop.id &&
      attempt.amount === question.amount &&
      attempt.currency === question.currency &&
      attempt.createdAt + rolling > at,
  );
  const inDay = declines.filter(({ createdAt }) => createdAt + dayLong > at);
  const isFull = inDay.length >= 9 || inMonth.length >= (isMastercard(network) ? 30 : 15);
  return isFull ? postpone('recurrentRetryLimitReached') : nothing;
}

/** Six months of the calendar since the newest payment was made that succeeded. */
function gap({ own, series, shop, at }: Scene): Partial<Ruling> {
  const paid = own.filter(({ outcome, payerPresent }) => isApproved(outcome) && !payerPresent);
  const last = Math.max(series.consents[0].at, ...paid.map(({ createdAt }) => createdAt));
  const inDay = last % dayLong;
  const limit = addMonths(Math.floor(last / dayLong), 6) * dayLong + inDay;
  if (at <= limit) return nothing;
  return shop.enforceMaxGap ? refuse('recurrentParentStale') : warn('recurrentGapExceeded');
}

/** An older parent is accepted, and reported. */
function latestParent({ own, question }: Scene): Partial<Ruling> {
  const named = capturedAtOf(own.find(({ id }) => id === question.parent));
  if (named === undefined) return nothing;
  const others = own.filter(({ makeRecurrent }) => makeRecurrent).map(capturedAtOf);
  const hasNewer = others.some((at) => at !== undefined && at > named && at <= question.at);
  return hasNewer ? warn('recurrentParentNotLatest') : nothing;
}

function capturedAtOf(attempt: Attempt | undefined): Micros | undefined {
  return attempt?.outcome?.kind === 'captured' ? attempt.outcome.capturedAt : undefined;
}

/** Not more than was agreed, in the currency of the consent. */
function amount({ question, series, shop, terms, at }: Scene): Partial<Ruling> {
  const { rule, trialEnd, amountAfterTrial, currency } = terms;
  const trialIsOver = trialEnd !== undefined && localDay(shop.zone, at) > dayOf(trialEnd);
  const inTrial = rule && rule.kind !== 'variable' ? rule.amount : Infinity;
  const agreed = trialIsOver ? (amountAfterTrial ?? inTrial) : inTrial;
  if (question.currency !== currency || question.amount > agreed) {
    const isRefused = !series.isOld || shop.enforceAmount;
    return isRefused ? postpone('recurrentAmountAboveConsent') : warn('amountAboveConsent');
  }
  return rule?.kind === 'fixed' && question.amount < agreed ? warn('amountBelowConsent') : nothing;
}

/** One charge in each period of the schedule. */
function period({ question, series, shop, terms, own, at }: Scene): Partial<Ruling> {
  const length = periodOf(terms.schedule);
  if (!length) return nothing;
  const [from, until] = periodAround(localDay(shop.zone, at), {
    first: localDay(shop.zone, series.consents.at(-1)!.at),
    afterTrial: terms.trialEnd === undefined ? undefined : dayOf(terms.trialEnd) + 1,
    length,
  });
  const isOpen = ({ invoice, outcome }: Attempt) =>
    !outcome || (isHeld(outcome, question.at) && invoice.id !== question.invoice.id);
  if (shop.periodRule === 'refuse' && own.some(isOpen)) return refuse('recurrentPeriodAlreadyCharged');
  const isCharged = own.some(({ outcome, invoice, payerPresent }) => {
    if (outcome?.kind !== 'captured' || outcome.capturedAt > question.at) return false;
    if (payerPresent || invoice.id === question.invoice.id) return false;
    const day = localDay(shop.zone, outcome.capturedAt);
    return from <= day && day < until;
  });
  if (!isCharged) return nothing;
  return shop.periodRule === 'refuse'
    ? postpone('recurrentPeriodAlreadyCharged')
    : warn('periodAlreadyCharged');
}

function isApproved(outcome: Outcome | undefined): boolean {
  return outcome?.kind === 'captured' || outcome?.kind === 'released';
}

/** Approved, and its money may still be taken. */
function isHeld(outcome: Outcome, now: Micros): boolean {
  if (outcome.kind === 'captured') return outcome.capturedAt > now;
  return outcome.kind === 'released' && outcome.releasedAt > now;
}

/** Every period is reckoned from the first day, half open. A trial is a period of its own, and the next begins after it. */
export function periodAround(
  day: number,
  {
    first,
    afterTrial,
    length,
  }: { first: number; afterTrial?: number | undefined; length: { months: number; days: number } },
): [from: number, until: number] {
  if (afterTrial !== undefined && day < afterTrial) return [first, afterTrial];
  const anchor = Math.max(first, afterTrial ?? first);
  const begins = (n: number) => addMonths(anchor, n * length.months) + n * length.days;
  let n = 0;
  while (begins(n + 1) <= day) n += 1;
  return [begins(n), begins(n + 1)];
}

interface Episode {
  from: Micros;
  /** The last instant at which it is open. */
  to: Micros;
  /** Its 31 days passed before a charge succeeded. */
  ranOut: boolean;
}

/** All episodes of a series from its history. A retry made in one that fails after its end opens no other. */
function episodes(story: Story, series: Series): Episode[] {
  const own = story.attempts.filter((attempt) => attempt.series === series.id && !attempt.payerPresent);
  const failures = own
    .filter((attempt) => isFailure(story, attempt))
    .sort((a, b) => a.outcome!.at - b.outcome!.at);
  return episodesOf(failures, own, endsOf(story, series));
}

/** One that the end of its obligation cuts short is followed by that of the next failure in it, of another obligation. */
function episodesOf(failures: Attempt[], own: Attempt[], ends: readonly Ended[]): Episode[] {
  const [first, ...later] = failures;
  if (!first) return [];
  const whole = episodeFrom(first.outcome!.at, own);
  const { from, to, ranOut } = whole;
  const end = ends.find(({ invoice, at }) => invoice === first.invoice.id && from <= at && at <= to);
  const isOver = ({ createdAt, outcome }: Attempt) =>
    outcome!.at <= to || (ranOut && from <= createdAt && createdAt <= to);
  if (!end)
    return [
      whole,
      ...episodesOf(
        later.filter((each) => !isOver(each)),
        own,
        ends,
      ),
    ];
  const others = later.filter(({ invoice, outcome }) => invoice.id !== end.invoice || outcome!.at > end.at);
  return [{ from, to: end.at - 1, ranOut: false }, ...episodesOf(others, own, ends)];
}

function endsOf({ ended = [] }: Story, { id }: Series): readonly Ended[] {
  return ended.filter(({ series }) => series === id);
}

function episodeFrom(from: Micros, own: Attempt[]): Episode {
  const end = from + windowLength;
  const successes = own.flatMap(({ outcome }) => (isApproved(outcome) ? [outcome!.at] : []));
  const paidAt = Math.min(...successes.filter((at) => at >= from));
  const ranOut = paidAt > end;
  return { from, to: ranOut ? end : paidAt - 1, ranOut };
}

function isFailure(story: Story, attempt: Attempt): boolean {
  const kind = attempt.outcome?.kind;
  return kind === 'lost' || (kind === 'declined' && declineOf(story, attempt)!.class !== 'configuration');
}

/** Refused before it was sent, or declined because the set-up is wrong: no attempt of the day. */
function usesTheDay(story: Story, attempt: Attempt): boolean {
  return attempt.outcome?.kind !== 'unsent' && declineOf(story, attempt)?.class !== 'configuration';
}

function declineOf(story: Story, { outcome, fingerprint, payerPresent }: Attempt): Meaning | undefined {
  if (outcome?.kind !== 'declined') return undefined;
  const { network } = found(story.cards, (card) => card.fingerprint === fingerprint);
  const meaning = payerPresent ? finalMeaningOf : meaningOf;
  return meaning(network, outcome.code, outcome.advice);
}

function found<T>(all: readonly T[], isIt: (each: T) => boolean): T {
  const it = all.find(isIt);
  if (it === undefined) throw new Error('the story does not name it');
  return it;
}
