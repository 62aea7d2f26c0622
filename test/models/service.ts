// What the service says to the same question. Its pure functions replay the story, and what its statements read from tables is read
// from the replay.
import { epochMsOf, instantAt, laterBy, type Instant } from '../../src/clock.ts';
import { defined } from '../../src/defined.ts';
import type { Currency } from '../../src/money.ts';
import {
  applyOutcome,
  countsAsDecline,
  endObligation,
  evolve,
  stopOfDecline,
  type ChargeOutcome,
  type Series as StoredSeries,
  type SeriesFact,
  type SeriesTerms,
  type Stopped,
} from '../../src/recurring/domain/series.ts';
import { endOfCard, endOfDay } from '../../src/retry-rules/domain/calendar.ts';
import {
  mayCharge,
  type ChargeDecision,
  type ChargeHistory,
  type Decline,
} from '../../src/retry-rules/domain/may-charge.ts';
import type { Micros } from './calendar.ts';
import type { Network } from './declines.ts';
import type { Attempt, Consent, Ended, Outcome, Question, Series, Shop, Story } from './story.ts';

const paymentSystems = {
  visa: 'visa',
  mastercard: 'mastercard',
  maestro: 'maestro',
  mir: 'nspkmir',
} as const;
const longestHold = 10 * 86_400_000_000;
const declinesCountMs = 30 * 86_400_000;

export const instantOf = (at: Micros): Instant => instantAt(at / 1000);
export const microsOf = (at: Instant): Micros => epochMsOf(at) * 1000;

export function serviceAnswer(story: Story, question: Question): ChargeDecision {
  const now = instantOf(question.at);
  const replayed = replay(story, question.at);
  const series = mustHave(story.series.find(({ id }) => id === question.series));
  const { enforceMaxGap, enforceAmount, periodRule } = shopOf(story, series);
  const parent = question.parent === undefined ? undefined : paymentOf(story, question.parent);
  return mayCharge(
    historyOf(story, replayed, series, question),
    {
      invoiceCreatedAt: instantOf(question.invoice.createdAt),
      amount: { minor: BigInt(question.amount), currency: question.currency as Currency },
      ...defined({ parent, enforceMaxGap, enforceAmount, periodRule }),
    },
    now,
  );
}

interface StoredAttempt {
  attempt: Attempt;
  isRetry: boolean;
  capturedAt?: Micros;
  isReleased?: true;
  ended?: {
    at: Micros;
    ending: ChargeOutcome;
    stop?: Stopped | undefined;
    declineClass?: string | undefined;
  };
}

interface Replay {
  series: Map<string, StoredSeries>;
  ended: Ended[];
  attempts: StoredAttempt[];
  stops: { at: Micros; fingerprint: string; shop: string; invoice: string; stop: Stopped }[];
  declines: { at: Micros; fingerprint: string; isOf: (question: Question, shop: string) => boolean }[];
}

/** Everything up to an instant, in the order of time. */
function replay(story: Story, until: Micros): Replay {
  const replayed: Replay = { series: new Map(), ended: [], attempts: [], stops: [], declines: [] };
  const happenings = [
    ...story.series.flatMap((series) => [
      ...series.consents.map((consent, n) => ({
        at: consent.at,
        do: () => agree(story, replayed, series, consent, n),
      })),
      ...(series.revokedAt === undefined
        ? []
        : [{ at: series.revokedAt, do: () => revoke(replayed, series) }]),
    ]),
    ...story.attempts.flatMap((attempt) => [
      ...(attempt.series === undefined || attempt.payerPresent
        ? []
        : [{ at: attempt.createdAt, do: () => start(replayed, attempt) }]),
      ...(attempt.outcome === undefined
        ? []
        : [{ at: attempt.outcome.at, do: () => end(story, replayed, attempt) }]),
      ...(attempt.outcome?.kind === 'captured' && !attempt.payerPresent
        ? [{ at: attempt.outcome.capturedAt, do: () => capture(story, replayed, attempt) }]
        : []),
      ...(attempt.outcome?.kind === 'released'
        ? [{ at: attempt.outcome.releasedAt, do: () => release(replayed, attempt) }]
        : []),
    ]),
  ];
  for (const end of story.ended ?? [])
    happenings.push({ at: end.at, do: () => endOne(story, replayed, end) });
  for (const each of happenings.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)) each.do();
  return replayed;
}

function agree(
  story: Story,
  { series: all }: Replay,
  series: Series,
  { at, terms }: Consent,
  number: number,
): void {
  const { zone } = shopOf(story, series);
  const card = mustHave(story.cards.find(({ fingerprint }) => fingerprint === series.fingerprint));
  const endOf = (date: string | undefined) => (date === undefined ? undefined : endOfDay(date, zone));
  const ends = defined({ endsAt: endOf(terms.validUntil), trialEndsAt: endOf(terms.trialEnd) });
  const binds = series.isOld ? {} : { bindsAmount: true as const };
  const { rule, trialEnd, validUntil, amountAfterTrial, schedule = 'as agreed' } = terms;
  const amountRule =
    rule?.kind === 'variable'
      ? { kind: 'variable' as const, text: 'by use' }
      : rule && { kind: rule.kind, amountMinor: rule.amount };
  const mandate = {
    schedule,
    ...defined({ amountRule, trialEnd, validUntil, amountAfterTrialMinor: amountAfterTrial }),
    payment: { currency: terms.currency as Currency },
  } as SeriesTerms['mandate'];
  const stored = {
    paymentSystem: paymentSystems[card.network],
    lastDigits: '4242',
    endsAt: endOfCard(card.expires),
  };
  const root = story.attempts.find((attempt) => attempt.series === series.id && attempt.payerPresent);
  const fact: SeriesFact =
    number > 0
      ? { type: 'consent_renewed', card: stored, mandate, ...binds, ...ends }
      : {
          type: 'series_started',
          terms: {
            id: series.id,
            partyId: 'party',
            shopId: series.shop,
            kind: root ? 'parent' : 'customer',
            root: root ? paymentOf(story, root.id) : { invoiceId: 'customer', paymentId: '1' },
            card: stored,
            mandate,
            consentedAt: instantOf(at),
            ...binds,
            ...ends,
          },
        };
  all.set(series.id, evolve(all.get(series.id), fact, instantOf(at)));
}

function revoke({ series: all }: Replay, { id, revokedAt }: Series): void {
  const at = instantOf(mustHave(revokedAt));
  all.set(id, evolve(all.get(id), { type: 'consent_withdrawn', by: 'payer' }, at));
}

function start({ attempts, series: all }: Replay, attempt: Attempt): void {
  const series = mustHave(all.get(mustHave(attempt.series)));
  const now = instantOf(attempt.createdAt);
  const started = {
    type: 'recurring_charge_started',
    invoiceId: '',
    paymentId: '',
    packs: [],
    warnings: [],
  } as const;
  const after = evolve(series, { ...started, isRetry: false }, now);
  attempts.push({ attempt, isRetry: after.failingSince !== undefined });
  all.set(series.id, after);
}

function end(story: Story, replayed: Replay, attempt: Attempt): void {
  const outcome = mustHave(attempt.outcome);
  const now = instantOf(outcome.at);
  const network = mustHave(
    story.cards.find(({ fingerprint }) => fingerprint === attempt.fingerprint),
  ).network;
  const ending = endingOf(outcome, network);
  if (countsAsDecline(ending)) noteDecline(replayed, attempt);
  if (attempt.payerPresent) {
    const stop = ending.outcome === 'declined' ? stopOfDecline(ending, now) : undefined;
    if (stop) noteStop(replayed, attempt, stop);
    return;
  }
  const stored = mustHave(replayed.attempts.find((each) => each.attempt.id === attempt.id));
  const series = mustHave(replayed.series.get(mustHave(attempt.series)));
  const amount = { minor: BigInt(attempt.amount), currency: attempt.currency as Currency };
  const name = paymentOf(story, attempt.id);
  const createdAt = instantOf(attempt.createdAt);
  const result = applyOutcome(series, { ...name, createdAt, amount, isRetry: stored.isRetry }, ending, now);
  let after = series;
  for (const fact of result.facts) after = evolve(after, fact, now);
  replayed.series.set(series.id, after);
  stored.ended = { at: outcome.at, ending, stop: result.stop, declineClass: result.declineClass };
  const others = result.cardStop ?? result.invoiceStop;
  if (others) noteStop(replayed, attempt, others);
}

/** As the statement `read_obligation` reads it. Without an attempt, the series has nothing to do with the invoice. */
function endOne(story: Story, { ended, attempts, series: all }: Replay, end: Ended): void {
  const own = attempts.filter(({ attempt }) => attempt.series === end.series);
  if (!own.some(({ attempt }) => attempt.invoice.id === end.invoice)) return;
  ended.push(end);
  const series = mustHave(all.get(end.series));
  const { failingSince, deadUntil } = series;
  const failures = own.flatMap(({ attempt, isRetry, ended: result }) => {
    const isFailure = result?.ending.outcome === 'declined' || result?.ending.outcome === 'lost';
    const isOver = ended.some(
      ({ series: of, invoice }) => of === end.series && invoice === attempt.invoice.id,
    );
    const isDead = isRetry && deadUntil !== undefined && instantOf(attempt.createdAt) <= deadUntil;
    if (!isFailure || isOver || isDead || result.declineClass === 'configuration') return [];
    return failingSince !== undefined && instantOf(result.at) >= failingSince ? [result.at] : [];
  });
  const tries = usedDays(own).map(({ attempt }) => attempt.createdAt);
  const now = instantOf(end.at);
  const known = {
    timeZone: shopOf(story, mustHave(story.series.find(({ id }) => id === end.series))).zone,
    ...(failures.length > 0 && { othersFailedAt: instantOf(Math.min(...failures)) }),
    ...(tries.length > 0 && { lastAttemptAt: instantOf(Math.max(...tries)) }),
  };
  all.set(end.series, evolve(series, endObligation(series, end.invoice, known, now), now));
}

function usedDays(own: readonly StoredAttempt[]): StoredAttempt[] {
  return own.filter(
    ({ ended }) => ended?.ending.outcome !== 'unsent' && ended?.declineClass !== 'configuration',
  );
}

function release({ attempts }: Replay, { id }: Attempt): void {
  mustHave(attempts.find(({ attempt }) => attempt.id === id)).isReleased = true;
}

function capture(story: Story, { attempts, series: all }: Replay, attempt: Attempt): void {
  if (attempt.outcome?.kind !== 'captured') return;
  const now = instantOf(attempt.outcome.capturedAt);
  mustHave(attempts.find((each) => each.attempt.id === attempt.id)).capturedAt = attempt.outcome.capturedAt;
  const series = mustHave(all.get(mustHave(attempt.series)));
  const added = { type: 'parent_added', ...paymentOf(story, attempt.id) } as const;
  if (attempt.makeRecurrent) all.set(series.id, evolve(series, added, now));
}

function endingOf(outcome: Outcome, network: Network): ChargeOutcome {
  switch (outcome.kind) {
    case 'captured':
      return outcome.capturedAt === outcome.at
        ? { outcome: 'approved', isCaptured: true }
        : { outcome: 'approved', heldUntil: instantOf(outcome.at + longestHold) };
    case 'released':
      return { outcome: 'approved', heldUntil: instantOf(outcome.at + longestHold) };
    case 'declined':
      return { outcome: 'declined', network, code: outcome.code, ...defined({ advice: outcome.advice }) };
    default:
      return { outcome: outcome.kind };
  }
}

function noteDecline(
  { declines }: Replay,
  { createdAt, fingerprint, shop, amount, currency, payerPresent }: Attempt,
) {
  declines.push({
    at: createdAt,
    fingerprint,
    isOf: (question, asked) =>
      !payerPresent && shop === asked && amount === question.amount && currency === question.currency,
  });
}

function noteStop({ stops }: Replay, { fingerprint, shop, invoice, outcome }: Attempt, stop: Stopped): void {
  stops.push({ at: mustHave(outcome).at, fingerprint, shop, invoice: invoice.id, stop });
}

/** As the statement `read_charge_history` reads it. */
function historyOf(story: Story, replayed: Replay, series: Series, question: Question): ChargeHistory {
  const own = replayed.attempts.filter(({ attempt }) => attempt.series === series.id);
  const day = usedDays(own);
  const hasEnded = replayed.ended.some(
    ({ series: of, invoice }) => of === series.id && invoice === question.invoice.id,
  );
  const captured = own.flatMap(({ attempt, capturedAt = 0 }) =>
    attempt.invoice.id === question.invoice.id ? [] : [capturedAt],
  );
  const lastCaptured = Math.max(0, ...captured);
  const heldUntil = own.flatMap(({ attempt, ended, capturedAt, isReleased }) => {
    const isOpen = capturedAt === undefined && !isReleased && attempt.invoice.id !== question.invoice.id;
    const held = ended?.ending.outcome === 'approved' ? ended.ending.heldUntil : undefined;
    return isOpen && held ? [held] : [];
  });
  const stops = replayed.stops.toSorted((a, b) => a.at - b.at);
  const cardStop = stops.findLast(
    ({ fingerprint, shop, stop: { scope } }) =>
      fingerprint === series.fingerprint &&
      (scope === 'card' || (scope === 'cardInShop' && shop === series.shop)),
  );
  const chargeStop = stops.findLast(
    ({ invoice, stop }) => stop.scope === 'charge' && invoice === question.invoice.id,
  );
  const lastAttempt = Math.max(...day.map(({ attempt }) => attempt.createdAt));
  const declinesAfter = laterBy(instantOf(question.at), -declinesCountMs);
  const declines = replayed.declines
    .filter(({ at, fingerprint }) => fingerprint === series.fingerprint && instantOf(at) > declinesAfter)
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, isOf }): Decline => ({ at: instantOf(at), isOfCharge: isOf(question, series.shop) }));
  return {
    series: mustHave(replayed.series.get(series.id)),
    isAttemptPending: own.some(({ ended }) => !ended),
    timeZone: shopOf(story, series).zone,
    declines,
    ...(day.length > 0 && { lastAttemptAt: instantOf(lastAttempt) }),
    ...(lastCaptured > 0 && { lastCapturedAt: instantOf(lastCaptured) }),
    ...(heldUntil.length > 0 && { heldUntil: mustHave(heldUntil.toSorted().at(-1)) }),
    ...(cardStop && { cardStop: { ...ruleOf(cardStop.stop), at: instantOf(cardStop.at) } }),
    ...(hasEnded && { hasObligationEnded: true }),
    ...(chargeStop && { chargeStop: { ...ruleOf(chargeStop.stop), at: instantOf(chargeStop.at) } }),
  };
}

function ruleOf({ rule, pack }: Stopped) {
  return { rule, pack };
}

function shopOf(story: Story, { shop }: { shop: string }): Shop {
  return mustHave(story.shops.find(({ id }) => id === shop));
}

function paymentOf(story: Story, id: string): { invoiceId: string; paymentId: string } {
  return {
    invoiceId: mustHave(story.attempts.find((attempt) => attempt.id === id)).invoice.id,
    paymentId: id,
  };
}

function mustHave<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the story lacks it');
  return value;
}
