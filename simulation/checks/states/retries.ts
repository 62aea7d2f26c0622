// The rules for recurring charges, checked on the attempts that were made.
// Nodes' clocks differ, so order comes from the series' log and only durations come from clocks.
import { groupedBy, type AttemptRow, type Fact } from '../rows.ts';
import type { Check, Problem, Seen } from '../check.ts';
import { isWrongSetUp } from './declines.ts';
import { dateIn } from './local-days.ts';
import { defined } from '../../../src/defined.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Between two attempts, which also have different dates. */
const atLeastMs = 22.75 * hourMs;
const windowMs = 31 * dayMs;
/** The largest difference between the clocks of two nodes. */
const clocksDifferMs = 4_000;

export const retries: Check = {
  name: 'retries',
  says: 'recurring charges keep the rules: once a day after a failure, for 31 days, none after a stop, and a period waits for others',
  find: (seen) => [...episodes(seen), ...stops(seen), ...counters(seen)],
};

type Attempt = {
  readonly about: string;
  readonly invoice: string;
  readonly at: number;
  readonly end: number;
  /** Its positions in the log of its series. */
  readonly began: number;
  readonly ended: number;
  readonly outcome: string;
  readonly invoiceAt: number;
  readonly timeZone: string;
};

/** An attempt from its row and the log of its series. */
function attemptOf(row: AttemptRow, { histories }: Seen): Attempt {
  const facts = histories.get(row.series_id)?.facts ?? [];
  const place = (types: readonly string[]) => {
    const found = facts.findIndex(
      (fact) =>
        types.includes(fact.type) &&
        fact['invoiceId'] === row.invoice_id &&
        fact['paymentId'] === row.payment_id,
    );
    return found < 0 ? Infinity : found;
  };
  return {
    about: `payment ${row.invoice_id}.${row.payment_id}`,
    invoice: row.invoice_id,
    at: Date.parse(row.created_at),
    end: row.ended_at === null ? Infinity : Date.parse(row.ended_at),
    began: place(['recurring_charge_started']),
    ended: place(['recurring_charge_succeeded', 'recurring_charge_failed', 'recurring_charge_unsent']),
    // A decline for a wrong set-up is no attempt for these rules.
    outcome: isWrongSetUp(row) ? 'unsent' : row.outcome,
    invoiceAt: Date.parse(row.invoice_created_at),
    timeZone: row.time_zone,
  };
}

/** What subscriptions charge for their periods, with the time until which such a charge waits for others. */
function chargesOfPeriods({ books }: Seen): ReadonlyMap<unknown, number> {
  const waitsUntil = new Map<string, number>();
  const charges = new Map<unknown, number>();
  for (const { aggregate, aggregate_id: id, facts } of books.events) {
    if (aggregate !== 'subscription') continue;
    for (const fact of facts) {
      const { number, dueAt } = (fact['period'] ?? {}) as { number?: number; dueAt?: string };
      if (fact.type === 'period_created')
        waitsUntil.set(`${id} ${number}`, Date.parse(String(dueAt)) + dayMs);
      if (fact.type === 'charge_started')
        charges.set(fact['paymentId'], waitsUntil.get(`${id} ${String(fact['number'])}`) ?? -Infinity);
    }
  }
  return charges;
}

function episodes(seen: Seen): Problem[] {
  const ofPeriods = chargesOfPeriods(seen);
  return [...groupedBy(seen.books.attempts, (row) => row.series_id).values()].flatMap((rows) => {
    const all = rows.map((row) => attemptOf(row, seen)).sort((a, b) => a.began - b.began);
    const ends = endsIn(seen.histories.get(rows[0]?.series_id ?? '')?.facts ?? []);
    return all.flatMap((one, place) => {
      const before = all.slice(0, place);
      const waitsUntil = ofPeriods.get(one.about.slice('payment '.length));
      const waits = waitsUntil !== undefined && one.at < waitsUntil - clocksDifferMs;
      return [...(waits ? meetings(one, before) : []), ...breachesOf(one, before, ends)];
    });
  });
}

/** From then on the failures of an invoice count no more. */
type End = { readonly place: number; readonly at: number; readonly invoice: string };

function endsIn(facts: readonly Fact[]): End[] {
  return facts.flatMap((fact, place) =>
    fact.type === 'obligation_ended'
      ? [{ place, at: Date.parse(String(fact['at'])), invoice: String(fact['invoiceId']) }]
      : [],
  );
}

/** Those that a charge of a period should have let end first. */
function meetings(one: Attempt, before: readonly Attempt[]): Problem[] {
  return before
    .filter(({ ended }) => ended > one.began)
    .map((other) => [one.about, `it charges a period while ${other.about} is in progress`]);
}

/** What an attempt breaks, given those before it. */
function breachesOf(one: Attempt, before: readonly Attempt[], ends: readonly End[]): Problem[] {
  if (one.began === Infinity) return [[one.about, 'the log of its series does not have it']];
  const { failingSince, deadUntil } = standingAt(one, before, ends);
  if (deadUntil !== undefined && one.invoiceAt <= deadUntil - clocksDifferMs)
    return [[one.about, 'it retries what has been failing for more than 31 days']];
  if (failingSince === undefined) return [];
  return before.flatMap((other): Problem[] => {
    if (other.ended > one.began) return [[one.about, `it retries while ${other.about} is in progress`]];
    const isSameDay = dateIn(one.timeZone, one.at + clocksDifferMs) <= dateIn(one.timeZone, other.at);
    const isSoon = one.at - other.at < atLeastMs - clocksDifferMs;
    const isRecent = other.outcome !== 'unsent' && (isSoon || isSameDay);
    return isRecent
      ? [[one.about, `it retries ${(one.at - other.at) / hourMs} hours after ${other.about}`]]
      : [];
  });
}

/** Since when charges fail, by what had ended when that one started, and which invoices may not be retried. */
function standingAt(
  one: Attempt,
  before: readonly Attempt[],
  ends: readonly End[],
): { failingSince?: number; deadUntil?: number } {
  const over = new Set<string>();
  /** The declines since then. */
  let failures: { readonly at: number; readonly invoice: string }[] = [];
  let failingSince: number | undefined;
  let deadUntil: number | undefined;
  const madeWhileFailing = new Set<Attempt>();
  const failsSince = (at: number | undefined) => {
    failingSince = at;
    if (at === undefined) failures = [];
  };
  const reached = (at: number) => {
    if (failingSince === undefined || at <= failingSince + windowMs) return;
    deadUntil = failingSince + windowMs;
    failsSince(undefined);
  };
  const ended = ({ invoice }: End) => {
    over.add(invoice);
    if (failingSince === undefined) return;
    failsSince(failures.find((failure) => !over.has(failure.invoice))?.at);
    // What is in progress then is a failure of its own.
    if (failingSince === undefined) madeWhileFailing.clear();
  };
  const heard = (attempt: Attempt) => {
    if (attempt.outcome === 'approved') failsSince(undefined);
    if (attempt.outcome === 'approved' || attempt.outcome === 'unsent') return;
    if (failingSince === undefined && madeWhileFailing.has(attempt)) return;
    failures.push({ at: attempt.end, invoice: attempt.invoice });
    failingSince ??= attempt.end;
  };
  const happened = [
    ...ends.map((end) => ({ place: end.place, at: end.at, happens: () => ended(end) })),
    ...before.flatMap((attempt) => [
      {
        place: attempt.began,
        at: attempt.at,
        happens: () => void (failingSince === undefined || madeWhileFailing.add(attempt)),
      },
      { place: attempt.ended, at: attempt.end, happens: () => heard(attempt) },
    ]),
  ]
    .filter(({ place }) => place < one.began)
    .toSorted((a, b) => a.place - b.place);
  for (const { at, happens } of happened) {
    reached(at);
    happens();
  }
  reached(one.at);
  return {
    ...defined({ failingSince, deadUntil }),
  };
}

/** No charge follows a stop or a revoked consent until the payer has consented again. */
function stops(seen: Seen): Problem[] {
  return seen.books.attempts.flatMap((row): Problem[] => {
    const { about, began } = attemptOf(row, seen);
    let ended: string | undefined;
    for (const fact of seen.histories.get(row.series_id)?.facts.slice(0, began) ?? []) {
      if (fact.type === 'series_stopped' || fact.type === 'consent_withdrawn') ended = fact.type;
      if (fact.type === 'consent_renewed') ended = undefined;
    }
    return ended === undefined ? [] : [[about, `it was made after ${ended}`]];
  });
}

/** The networks' limits on declines of the same charge in 30 days. */
function counters(seen: Seen): Problem[] {
  const charge = (row: AttemptRow) => [row.card_key, row.shop, row.amount_minor, row.currency].join(' ');
  return [...groupedBy(seen.books.attempts, charge).values()].flatMap((rows) => {
    const all = rows.map((row) => attemptOf(row, seen));
    return rows.flatMap((row, own): Problem[] => {
      const { about, at } = all[own]!;
      const most = ['mastercard', 'maestro'].includes(row.payment_system) ? 30 : 15;
      const declined = all.filter((other, place) => {
        const isCounted = rows[place]!.outcome === 'declined' && rows[place]!.network !== 'bank';
        return isCounted && other.end <= at - clocksDifferMs && at - other.at < 30 * dayMs;
      });
      return declined.length < most ? [] : [[about, `it follows on ${declined.length} declines in 30 days`]];
    });
  });
}
