// The rules of charging without the payer, stated over the attempts that were made: whatever let one through, these must hold of
// it. After a failure one attempt a day, for 31 days; none beside another; none after a stop; the networks' counters kept.
import { groupedBy, type AttemptRow } from './books.ts';
import type { Check, Problem, Seen } from './check.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const windowMs = 31 * dayMs;

export const retries: Check = {
  name: 'retries',
  says: 'charges without the payer keep the rules: once a day after a failure, for 31 days, none after a stop',
  find: (seen) => [...episodes(seen), ...stops(seen), ...counters(seen)],
};

type Attempt = {
  readonly about: string;
  readonly at: number;
  readonly end: number;
  readonly outcome: string;
  readonly invoiceAt: number;
};

function attemptOf(row: AttemptRow): Attempt {
  return {
    about: `payment ${row.invoice_id}.${row.payment_id}`,
    at: Date.parse(row.created_at),
    end: row.ended_at === null ? Infinity : Date.parse(row.ended_at),
    outcome: row.outcome,
    invoiceAt: Date.parse(row.invoice_created_at),
  };
}

function episodes({ books }: Seen): Problem[] {
  return [...groupedBy(books.attempts, (row) => row.series_id).values()].flatMap((rows) => {
    const all = rows.map(attemptOf).sort((a, b) => a.at - b.at);
    return all.flatMap((one, place) => breachesOf(one, all.slice(0, place)));
  });
}

/** Of an attempt, by those made before it. */
function breachesOf(one: Attempt, before: readonly Attempt[]): Problem[] {
  const { failingSince, deadUntil } = standingAt(one.at, before);
  if (deadUntil !== undefined && one.invoiceAt <= deadUntil)
    return [[one.about, 'it retries what has been failing for more than 31 days']];
  if (failingSince === undefined) return [];
  return before.flatMap((other): Problem[] => {
    if (other.end > one.at) return [[one.about, `it retries while ${other.about} is under way`]];
    const isRecent = other.outcome !== 'unsent' && one.at - other.at < dayMs;
    return isRecent
      ? [[one.about, `it retries ${(one.at - other.at) / hourMs} hours after ${other.about}`]]
      : [];
  });
}

/** Since when charges fail, by what had ended by then; and which invoices are past saving. */
function standingAt(now: number, before: readonly Attempt[]): { failingSince?: number; deadUntil?: number } {
  let failingSince: number | undefined;
  let deadUntil: number | undefined;
  const madeWhileFailing = new Set<Attempt>();
  const reached = (at: number) => {
    if (failingSince === undefined || at <= failingSince + windowMs) return;
    deadUntil = failingSince + windowMs;
    failingSince = undefined;
  };
  const happened = before
    .flatMap((attempt) => [
      { at: attempt.at, attempt, isEnd: false },
      { at: attempt.end, attempt, isEnd: true },
    ])
    .filter(({ at }) => at <= now)
    .sort((a, b) => a.at - b.at || Number(a.isEnd) - Number(b.isEnd));
  for (const { at, attempt, isEnd } of happened) {
    reached(at);
    if (!isEnd) {
      if (failingSince !== undefined) madeWhileFailing.add(attempt);
    } else if (attempt.outcome === 'approved') {
      failingSince = undefined;
    } else if (attempt.outcome !== 'unsent' && failingSince === undefined && !madeWhileFailing.has(attempt)) {
      failingSince = at;
    }
  }
  reached(now);
  return {
    ...(failingSince === undefined ? {} : { failingSince }),
    ...(deadUntil === undefined ? {} : { deadUntil }),
  };
}

/** No charge of a series that was stopped or whose consent was withdrawn, until the payer has agreed again. */
function stops({ books, histories }: Seen): Problem[] {
  return books.attempts.flatMap((row): Problem[] => {
    const { about, at } = attemptOf(row);
    let ended: string | undefined;
    for (const fact of histories.get(row.series_id)?.facts ?? []) {
      if (Date.parse(fact.at) >= at) break;
      if (fact.type === 'series_stopped' || fact.type === 'consent_withdrawn') ended = fact.type;
      if (fact.type === 'consent_renewed') ended = undefined;
    }
    return ended === undefined ? [] : [[about, `it was made after ${ended}`]];
  });
}

/** So many declines of the same charge in 30 days, by network. */
function counters({ books }: Seen): Problem[] {
  const charge = (row: AttemptRow) => [row.card_key, row.shop, row.amount_minor, row.currency].join(' ');
  return [...groupedBy(books.attempts, charge).values()].flatMap((rows) =>
    rows.flatMap((row): Problem[] => {
      const { about, at } = attemptOf(row);
      const most = ['mastercard', 'maestro'].includes(row.payment_system) ? 30 : 15;
      const declined = rows.map(attemptOf).filter((other, place) => {
        const isCounted = rows[place]!.outcome === 'declined' && rows[place]!.network !== 'bank';
        return isCounted && other.end <= at && at - other.at < 30 * dayMs;
      });
      return declined.length < most ? [] : [[about, `it follows on ${declined.length} declines in 30 days`]];
    }),
  );
}
